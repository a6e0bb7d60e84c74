"""In a group nobody's words end what another told, whatever rules read in them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.gateway.access import Roster
from kenobot.ports.clock import Clock
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Provider
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene
from tests.unit.cognitive.background.extraction_talk import NEUTRAL, Minds, tick

GROUP: dict[str, object] = {"chat": "-100", "private": False}
OWNER, LUIS, EVA = (
    {"user": user, "user_name": name, **GROUP} for user, name in (("1", "Ana"), ("2", "Luis"), ("3", "Eva"))
)
LIVE = "SELECT text, subject FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"


def offline(home: Path, clock: Clock) -> Provider:
    return plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))


def scene_of(folder: Path, **more: object) -> Scene:
    clock = EagerClock()
    roster = Roster.of(["1"], [], ["-100"])
    given: dict[str, object] = {"provider": offline(folder, clock), "extraction": True, **more}
    return Scene(folder, clock=clock, roster=roster, **given)  # type: ignore[arg-type]


async def say(scene: Scene, text: str, who: dict[str, object]) -> str:
    return await scene.say(text, **who)  # type: ignore[arg-type]


async def live(scene: Scene) -> list[tuple[object, ...]]:
    return await scene.rows(LIVE)


@pytest.mark.parametrize(
    ("first", "told", "second", "other"),
    [
        (EVA, "I live in Madrid", LUIS, "I live in Paris now"),
        (EVA, "My phone number is 600111222", LUIS, "My phone number is 600333444 now"),
        (OWNER, "I'm vegetarian", LUIS, "I'm not vegetarian anymore"),
        (LUIS, "I play tennis on Mondays", EVA, "I no longer play tennis"),
        (EVA, "Vivo en Madrid", LUIS, "Ahora vivo en Valencia"),
        (EVA, "Trabajo en Acme", OWNER, "Ya no trabajo en Acme"),
        (LUIS, "Calzo un 42", EVA, "Ahora calzo un 38"),
        (LUIS, "My favourite colour is blue", EVA, "My favourite colour is green now"),
    ],
)
async def test_what_one_tells_ends_nothing_of_another(
    tmp_path: Path, first: dict[str, object], told: str, second: dict[str, object], other: str
) -> None:
    """Both stand, each about who told it, whether or not who speaks may end the other's word."""
    async with scene_of(tmp_path) as scene:
        await say(scene, told, first)
        answer = await say(scene, other, second)
        assert told not in answer
        assert [(text, str(subject).capitalize()) for text, subject in await live(scene)] == [
            (told, first["user_name"]),
            (other, second["user_name"]),
        ]


async def test_each_of_three_ends_their_own(tmp_path: Path) -> None:
    """Also where the others have told the same of themselves."""
    async with scene_of(tmp_path) as scene:
        for who in (OWNER, LUIS, EVA):
            await say(scene, "I live in Madrid", who)
        answer = await say(scene, "I live in Paris now", LUIS)
        assert "I live in Madrid" in answer
        assert await live(scene) == [
            ("I live in Madrid", "ana"),
            ("I live in Madrid", "eva"),
            ("I live in Paris now", "luis"),
        ]
        assert "Madrid" in await say(scene, "where do I live?", EVA)
        assert "Paris" in await say(scene, "where do I live?", LUIS)


async def test_two_of_the_same_name_are_two(tmp_path: Path) -> None:
    """Names can be taken; the account tells who spoke."""
    other = {**LUIS, "user": "4"}
    async with scene_of(tmp_path) as scene:
        await say(scene, "I play tennis", LUIS)
        await say(scene, "I no longer play tennis", other)
        assert [text for text, _ in await live(scene)] == ["I play tennis", "I no longer play tennis"]


async def test_what_several_have_told_no_one_of_them_ends(tmp_path: Path) -> None:
    """It is no single person's word; what one has told alone is."""
    async with scene_of(tmp_path) as scene:
        for who in (EVA, LUIS):
            await say(scene, "/remember The meeting is on Friday", who)
        await say(scene, "/remember The choir is on Monday", EVA)
        await say(scene, "The meeting is not on Friday anymore", EVA)
        await say(scene, "The choir is not on Monday anymore", EVA)
        assert [text for text, _ in await live(scene)] == [
            "The meeting is on Friday",
            "The meeting is not on Friday anymore",
            "The choir is not on Monday anymore",
        ]


@pytest.mark.parametrize(
    ("told", "own", "corrected"),
    [
        ("Marta lives in Madrid", "Marta plays tennis", "Marta lives in Paris now"),
        ("The gate code is 4471", "The wifi is bad here", "The gate code is 5582 now"),
        ("The dog is vegetarian", "The cat is called Mia", "The dog is not vegetarian anymore"),
        ("El código del portal es 4471", "El gato se llama Mía", "El código del portal ahora es 5582"),
    ],
)
async def test_a_guests_correction_ends_nothing_of_another(tmp_path: Path, told: str, own: str, corrected: str) -> None:
    """Only the memory that it corrects, which is their own; their other one of the same ends."""
    replies = [f"OK. <memory>{told}</memory>", f"OK. <memory>{own}</memory>"]
    for other, left in ((EVA, [told, corrected]), (LUIS, [corrected])):
        folder = tmp_path / str(other["user"])
        async with scene_of(folder, provider=None, replies=[*replies, "OK."]) as scene:
            await say(scene, "look", other)
            await say(scene, "look", LUIS)
            ((number,),) = await scene.rows(f"SELECT id FROM record WHERE text = '{own}'")
            assert corrected in await say(scene, f"/correct {number} {corrected}", LUIS)
            assert [text for text, _ in await live(scene)] == left


async def test_an_edited_message_ends_nothing_of_another(tmp_path: Path) -> None:
    """Its new words take the place of what it taught, and of nothing that somebody else told."""
    async with scene_of(tmp_path) as scene:
        await say(scene, "I play tennis", EVA)
        await say(scene, "I like tennis", {**LUIS, "platform_id": "10"})
        await say(scene, "hello", OWNER)
        await say(scene, "hello", LUIS)
        await say(scene, "I no longer play tennis", {**LUIS, "platform_id": "10", "kind": "edit", "target": "10"})
        assert await live(scene) == [("I play tennis", "eva"), ("I no longer play tennis", "luis")]


@pytest.mark.parametrize("apart", [True, False])
async def test_where_rules_take_over_from_a_model_it_is_the_same(tmp_path: Path, *, apart: bool) -> None:
    """In turns read one after the other, and in those read together."""
    minds = Minds(lambda _: "no list of facts")
    async with scene_of(tmp_path, provider=minds) as scene:
        await _talk(scene, [("I live in Madrid", EVA), ("I play tennis", OWNER)])
        if apart:
            await _drain(scene)
        await _talk(scene, [("I live in Paris now", LUIS), ("I no longer play tennis", EVA)])
        await _drain(scene)
        found = [(text, subject) for text, subject in await live(scene) if "live" in str(text) or "tennis" in str(text)]
        assert sorted(found) == [
            ("I live in Madrid", "eva"),
            ("I live in Paris now", "luis"),
            ("I no longer play tennis", "eva"),
            ("I play tennis", "ana"),
        ]


async def test_rules_behind_a_model_end_what_the_same_person_told(tmp_path: Path) -> None:
    """In one batch with what another told in the same words."""
    async with scene_of(tmp_path, provider=Minds(lambda _: "no list of facts")) as scene:
        await _talk(scene, [("I play tennis", EVA), ("I play tennis", LUIS), ("I no longer play tennis", EVA)])
        await _drain(scene)
        found = [(text, subject) for text, subject in await live(scene) if "tennis" in str(text)]
        assert sorted(found) == [("I no longer play tennis", "eva"), ("I play tennis", "luis")]


async def _talk(scene: Scene, said: Sequence[tuple[str, dict[str, object]]]) -> None:
    for text, who in said:
        await say(scene, text, who)


async def _drain(scene: Scene) -> None:
    await _talk(scene, [(text, OWNER) for text in NEUTRAL])
    for _ in range(12):
        await scene.app.background.extraction.drain()
        await tick(scene)
