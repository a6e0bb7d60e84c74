"""`kenobot memory why-not` and `/why WORDS`: which of four reasons it was that something was not remembered."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from tests.scene import Scene
from tests.unit.cli.conftest import Cli, by_words, cli, home

__all__ = ["by_words", "cli", "home"]


def outcome(cli: Cli, *arguments: str) -> dict[str, object]:
    code, out, err = cli("memory", "why-not", "--json", *arguments)
    assert code == 0, err
    found: dict[str, object] = json.loads(out)
    return found


@pytest.mark.usefixtures("by_words")
def test_never_stored_not_eligible_and_not_shown(cli: Cli, home: Home) -> None:
    """With the reason, and what is forgotten is not told again."""
    cli("memory", "remember", "Ana", "keeps", "bees", "in", "Lugo")
    cli("memory", "remember", "the boiler code is 4417")
    cli("memory", "remember", "--scope", "chat:telegram--5", "the choir meets on Mondays")
    assert outcome(cli, "Bo repairs violins")["outcome"] == "never_stored"
    elsewhere = outcome(cli, "the choir meets on Mondays")
    assert (elsewhere["outcome"], elsewhere["reason"]) == ("not_eligible", "out of reach")
    shown = outcome(cli, "Ana keeps bees in Lugo")
    assert (shown["outcome"], shown["reason"], shown["rank"]) == ("not_shown", "found now", 1)
    cli("memory", "forget", "the boiler code is 4417")
    gone = outcome(cli, "the boiler code is 4417")
    assert (gone["outcome"], gone["reason"], gone.get("text")) == ("not_eligible", "forgotten", None)
    assert "4417" not in cli("memory", "why-not", "the", "boiler", "code")[1]
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE record SET status = 'archived' WHERE text LIKE 'Ana%'")
    assert outcome(cli, "why did you not remember that Ana keeps bees in Lugo")["reason"] == "archived"


async def test_a_chat_tells_that_it_was_shown_and_not_used(tmp_path: Path) -> None:
    """In the language of the chat; a number still asks where a memory is from."""
    async with Scene(tmp_path, ["Gut.", "No idea."]) as scene:
        await scene.say("/remember Ana keeps bees in Lugo")
        await scene.say("where does Ana keep her bees?")
        assert (await scene.say("/why Ana keeps bees in Lugo")).startswith("Shown and not used")
        assert (await scene.say("/why Bo repairs violins")).startswith("Never stored")
        assert (await scene.say("/porque Bo repara violines y guitarras")).startswith(
            ("Nunca se guardó", "Never stored")
        )
        assert "#1" in await scene.say("/why 1")
