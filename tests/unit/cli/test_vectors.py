"""The command line finds by meaning as the bot does, embeds what it brings, and tells what is embedded."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.app import embedder_choice
from kenobot.app.embedder_choice import EmbedderChoice
from kenobot.cli.memory import vectors as vectors_module
from kenobot.core.settings.home import Home
from kenobot.ports.errors import Unavailable
from kenobot.storage.migrate import migrate
from kenobot_testing.embedder import WordEmbedder

from .conftest import Cli

SAME = [("plumber", "fontanero"), ("called", "llama")]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """The model that is installed; a busy machine gets the time that it needs."""
    monkeypatch.setattr(vectors_module, "_PLACING_TIMEOUT", 60.0)
    embedder = WordEmbedder(SAME)
    monkeypatch.setattr(embedder_choice, "choose_embedder", lambda *_: EmbedderChoice(embedder))
    return embedder


@pytest.fixture
def remembered(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with two memories from before there was a model, and nothing placed."""
    home.prepare()
    migrate(home.database, home.backups)
    with monkeypatch.context() as before:
        before.setattr(embedder_choice, "choose_embedder", lambda *_: EmbedderChoice(None))
        for text in ("El fontanero se llama Ramón", "The garden gnome is green"):
            assert cli("memory", "remember", text)[0] == 0


def vectors(home: Home) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        return connection.execute("SELECT record_id, model FROM vector").fetchall()


def test_recall_and_context_find_by_meaning(cli: Cli, home: Home, model: WordEmbedder, remembered: None) -> None:
    """Not one word in common, and no bot has placed anything yet: what is new is placed for this one question."""
    code, out, _ = cli("memory", "recall", "plumber", "called?", "--json")
    assert code == 0
    assert [item["text"] for item in json.loads(out)["items"]][:1] == ["El fontanero se llama Ramón"]
    assert json.loads(out)["items"][0]["why"]["ways"] == ["meaning"]
    assert "El fontanero se llama Ramón" in cli("memory", "context", "plumber called?")[1]
    assert vectors(home) == [], "looking changes nothing"


def test_recall_says_that_memories_are_found_by_words_only(
    cli: Cli, model: WordEmbedder, remembered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there was no time to embed those that the bot has not embedded yet."""
    assert "by their words only" not in cli("memory", "recall", "fontanero")[2]
    monkeypatch.setattr(vectors_module, "_EMBEDDING_TIMEOUT", 0.0)
    code, out, told = cli("memory", "recall", "fontanero")
    assert (code, "Ramón" in out) == (0, True)
    assert "by their words only" in told


def test_the_past_is_found_by_words(cli: Cli, model: WordEmbedder, remembered: None) -> None:
    """Vectors are of what is said now."""
    assert cli("memory", "recall", "fontanero", "--as-of", "2026-02-15")[0] == 0
    assert model.embedded == []


def test_a_model_that_is_down_costs_the_meaning_alone(cli: Cli, model: WordEmbedder, remembered: None) -> None:
    """Words find what they find, and the command does not fail."""
    model.failure = Unavailable("It is down.")
    assert "Ramón" in cli("memory", "recall", "fontanero")[1]
    assert cli("memory", "recall", "plumber called")[0] == 2


def test_stats_tell_what_is_placed_and_what_waits(
    cli: Cli, home: Home, model: WordEmbedder, remembered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By which model, and where there is none, why."""
    row = b"\0" * 4 * model.dimensions
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        connection.execute("INSERT INTO vector (record_id, model, embedding) VALUES (1, 'words', ?)", (row,))
        connection.execute("INSERT INTO vector (record_id, model, embedding) VALUES (2, 'another', ?)", (row,))
    cli("memory", "recall", "anything", "at", "all")  # makes the index
    figures = json.loads(cli("memory", "stats", "--json")[1])
    assert figures["embedder"] == "words"
    assert figures["vectors"] == {"placed": 1, "waiting": 1}
    assert figures["turn_vectors"] == {"placed": 0, "waiting": 0}
    told = cli("memory", "stats")[1]
    assert "memories found by meaning             1  (1 wait)" in told
    monkeypatch.setattr(embedder_choice, "choose_embedder", lambda *_: EmbedderChoice(None, "nothing is installed"))
    told = cli("memory", "stats")[1]
    assert "none, found by words alone: nothing is installed" in told
    assert "found by meaning" not in told


def test_what_is_remembered_is_embedded_at_once(cli: Cli, home: Home, model: WordEmbedder) -> None:
    """By the command itself, with what earlier ones left behind, and found by meaning without embedding it again."""
    model.failure = Unavailable("It is down.")
    code, out, told = cli("memory", "remember", "El fontanero se llama Ramón")
    assert (code, "Ramón" in out) == (0, True)
    assert "by their words only" in told
    assert vectors(home) == []
    model.failure = None
    assert cli("memory", "remember", "The garden gnome is green")[2] == ""
    assert sorted(vectors(home)) == [(1, "words"), (2, "words")]
    model.embedded.clear()
    assert cli("memory", "correct", "1", "El fontanero se llama Rafa")[2] == ""
    assert len(vectors(home)) == 3
    assert model.embedded == [("El fontanero se llama Rafa", "passage")]
    assert "Rafa" in cli("memory", "recall", "plumber", "called?")[1]


def test_no_time_to_embed_is_said(cli: Cli, home: Home, model: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory is kept, and waits for the bot."""
    monkeypatch.setattr(vectors_module, "_PLACING_TIMEOUT", 0.0)
    code, out, told = cli("memory", "remember", "The garden gnome is green")
    assert (code, "gnome" in out) == (0, True)
    assert "The bot embeds them while it runs" in told
    assert vectors(home) == []


def test_what_is_imported_is_embedded(cli: Cli, home: Home, model: WordEmbedder, tmp_path: Path) -> None:
    """More than one batch of them."""
    lines = [f"Note {number} is about thing {number}." for number in range(40)]
    folder = tmp_path / "other" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n" + "\n".join(f"- {line}" for line in lines), "utf-8")
    code, _, told = cli("import", str(folder.parent), "--from", "kenobot-js", "--yes")
    assert (code, told) == (0, "")
    assert len(vectors(home)) == len(lines)


def test_beside_a_running_bot_nothing_is_embedded(cli: Cli, home: Home, model: WordEmbedder, remembered: None) -> None:
    """The bot does it within a second, with a model that is loaded already."""
    with home.lock():
        assert cli("memory", "remember", "The hedge is tall")[0] == 0
    assert vectors(home) == []
    assert model.embedded == []
