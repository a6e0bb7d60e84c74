"""On a new machine a command that brings something makes the home; one that only changes says where to start."""

from pathlib import Path

import pytest

from kenobot.core.settings.home import Home

from .conftest import Cli


@pytest.fixture(autouse=True)
def _by_words(by_words: None) -> None:
    """Without a model."""


@pytest.mark.parametrize(
    "words",
    [
        ["memory", "remember", "I like tea"],
        ["config", "set", "bot.name", "Ana"],
        ["import", "{folder}", "--from", "openclaw", "--yes"],
        ["memory", "import", "{export}"],
        ["http", "key", "add", "phone"],
        ["schedule", "add", "tea", "--at", "2999-01-01T00:00"],
        ["setup", "--yes"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_brings_something_makes_the_home(cli: Cli, home: Home, tmp_path: Path, words: list[str]) -> None:
    other = tmp_path / "other"
    assert cli("--home", str(other), "memory", "remember", "My sister lives in Bilbao")[0] == 0
    export = tmp_path / "export.jsonl"
    assert cli("--home", str(other), "memory", "export", str(export))[0] == 0
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "MEMORY.md").write_text("# Memory\n\n- Laura drinks tea\n")
    code, out, err = cli(*(word.format(folder=tmp_path / "workspace", export=export) for word in words))
    assert code == 0, out + err
    assert home.path.is_dir()
    assert home.path.stat().st_mode & 0o077 == 0
    assert cli("memory", "remember", "It goes on from there")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["memory", "forget", "tea"],
        ["memory", "correct", "1", "coffee"],
        ["memory", "undo"],
        ["memory", "purge", "1"],
        ["memory", "sync"],
        ["memory", "rebuild"],
        ["memory", "import", "/nowhere/export.jsonl"],
        ["sleep", "run"],
        ["proposals", "approve", "1"],
        ["deadletter", "retry", "in-1"],
        ["access", "approve", "ABCD-2345"],
        ["schedule", "cancel", "1"],
        ["backup"],
        ["doctor", "--fix"],
    ],
    ids=" ".join,
)
def test_what_has_nothing_to_work_on_makes_none(cli: Cli, home: Home, words: list[str]) -> None:
    code, out, err = cli(*words)
    assert (code, out) in [(1, ""), (2, "")]
    assert err
    assert not home.path.exists()


def test_status_says_how_to_begin(cli: Cli, home: Home) -> None:
    """By a setup where there was none, else by a start."""
    code, _, said = cli("status")
    assert (code, "start with `kenobot setup`" in said) == (3, True)
    assert cli("setup", "--yes")[0] == 0
    code, _, said = cli("status")
    assert (code, "Start it with `kenobot run`" in said) == (3, True)
