"""A note of several sentences: one of them can be put right or ended, the others stay, and all of it can be undone."""

import json
from pathlib import Path

from kenobot.providers.offline import OfflineProvider
from tests.scene import Scene


async def _live(scene: Scene) -> list[str]:
    rows = await scene.rows(
        "SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"
    )
    return [str(text) for (text,) in rows]


async def test_a_sentence_that_ends_leaves_the_others(tmp_path: Path) -> None:
    """And an undo brings it back, with the note that ended it gone."""
    told = "Ensayo con el coro los martes. La directora es Maruja. Llevo yo las partituras a la iglesia"
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say(f"{told}.")
        assert await _live(scene) == [told]
        await scene.say("Ya no ensayo con el coro los martes")
        left = "La directora es Maruja. Llevo yo las partituras a la iglesia"
        assert await _live(scene) == [left, "Ya no ensayo con el coro los martes"]
        await scene.say("deshaz eso")
        assert await _live(scene) == [told]


async def test_a_value_that_is_put_right_leaves_the_other_sentences(tmp_path: Path) -> None:
    """The sentence that is put right goes; what replaces it says its own words."""
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say("Mi tutora se llama Consuelo. Taquilla 118. Candado 4071.")
        await scene.say("La taquilla es la 181, no la 118")
        assert await _live(scene) == ["Mi tutora se llama Consuelo. Candado 4071", "La taquilla es la 181, no la 118"]


async def test_the_day_goes_with_the_sentence_that_names_it(tmp_path: Path) -> None:
    """What is left is due on no day."""
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say("The workshop is on Saturday. Parking is on Elm Street.")
        await scene.say("The workshop isn't on Saturday, it's on Sunday")
        found = await scene.rows("SELECT attributes FROM record WHERE status = 'active' AND text LIKE 'Parking%'")
        assert [json.loads(str(attributes)) for (attributes,) in found] == [{}]
