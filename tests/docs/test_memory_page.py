"""The examples of docs/memory.md are played, each with a bot of its own."""

from pathlib import Path

import pytest

from kenobot.providers.offline import OfflineProvider
from tests.docs.test_readme import ROOT
from tests.scene import Scene

PAGE = (ROOT / "docs" / "memory.md").read_text("utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.partition("| known | you say | |")[2].partition("\n\n")[0].splitlines()[2:]
]


@pytest.mark.parametrize(("known", "said", "outcome"), ROWS)
async def test_an_example_of_the_page_does_as_it_says(tmp_path: Path, known: str, said: str, outcome: str) -> None:
    """What the table says ends, is asked about or is left alone does so, and what is left is there word for word."""
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say(known)
        reply = await scene.say(said)
        live = [
            text for (text,) in await scene.rows("SELECT text FROM record WHERE form = 'note' AND status = 'active'")
        ]
        assert (known in live) is (outcome != "ends it")
        asked = "Does this take the place" in reply or "¿Sustituye esto a" in reply
        assert asked is (outcome == "is asked about")
