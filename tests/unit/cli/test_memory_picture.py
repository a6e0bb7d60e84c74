"""`kenobot memory graph` and `kenobot memory timeline`: what they print, draw and refuse."""

import json
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from tests.unit.cli.conftest import Cli, by_words, cli, home

__all__ = ["by_words", "cli", "home"]


@pytest.mark.usefixtures("by_words")
def test_what_memory_is_about_is_listed(cli: Cli) -> None:
    """By subject and topic; for programs with what joins them."""
    assert cli("memory", "graph")[0] == 2
    cli("memory", "remember", "Ana keeps bees in Lugo")
    cli("memory", "remember", "I like green tea")
    code, out, _ = cli("memory", "graph", "--json", "--detail", "memories")
    found = json.loads(out)
    assert code == 0
    assert {node["label"] for node in found["nodes"]} >= {"Ana keeps bees in Lugo", "I like green tea"}
    assert {edge["kind"] for edge in found["edges"]} >= {"about"}
    assert "owner" in cli("memory", "graph")[1]
    assert cli("memory", "graph", "--subject", "nobody")[0] == 2


@pytest.mark.usefixtures("by_words")
def test_how_memory_grew_is_listed_by_period(cli: Cli) -> None:
    """With what was forgotten; nothing before its first day."""
    assert cli("memory", "timeline")[0] == 2
    cli("memory", "remember", "I like green tea")
    cli("memory", "forget", "I like green tea")
    (row,) = map(json.loads, cli("memory", "timeline", "--by", "day", "--json")[1].splitlines())
    assert (row["learned"], row["forgotten"]) == (1, 1)
    assert "learned" in cli("memory", "timeline")[1]


@pytest.mark.usefixtures("by_words")
def test_both_are_drawn_and_what_was_forgotten_is_in_neither(cli: Cli, home: Home, tmp_path: Path) -> None:
    """A file that cannot be written is a plain line."""
    for library in ("matplotlib", "networkx"):
        pytest.importorskip(library, reason="nothing draws: pip install 'kenobot[plots]'")
    cli("memory", "remember", "I like green tea")
    cli("memory", "remember", "The boiler code is 4417")
    cli("memory", "forget", "The boiler code is 4417")
    for what in ("graph", "timeline"):
        file = tmp_path / f"{what}.svg"
        code, out, err = cli("memory", what, "--svg", str(file))
        assert (code, str(file) in out) == (0, True), err
        assert "green tea" in file.read_text("utf-8") or what == "graph"
        assert "4417" not in file.read_text("utf-8")
        code, _, err = cli("memory", what, "--svg", str(tmp_path / "none" / "a.svg"))
        assert (code, "cannot be written" in err) == (78, True)
    assert home.database.exists()
