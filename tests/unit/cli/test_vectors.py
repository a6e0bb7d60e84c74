"""The command line finds by meaning as the bot does, tells what is placed, and writes nothing by it."""

import json
import sqlite3

import pytest

pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.app import embedder_choice
from kenobot.app.embedder_choice import EmbedderChoice
from kenobot.cli.memory import vectors as vectors_module
from kenobot.core.settings.home import Home
from kenobot.ports.errors import Unavailable
from kenobot.storage.migrate import migrate
from kenobot.testing.embedder import WordEmbedder

from .conftest import Cli

SAME = [("plumber", "fontanero"), ("called", "llama")]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """The model that is installed."""
    embedder = WordEmbedder(SAME)
    monkeypatch.setattr(embedder_choice, "choose_embedder", lambda *_: EmbedderChoice(embedder))
    return embedder


@pytest.fixture
def remembered(cli: Cli, home: Home) -> None:
    """A home with two memories, and nothing placed."""
    home.prepare()
    migrate(home.database, home.backups)
    for text in ("El fontanero se llama Ramón", "The garden gnome is green"):
        assert cli("memory", "remember", text)[0] == 0


def vectors(home: Home) -> list[tuple[int, str]]:
    with sqlite3.connect(home.database) as connection:
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
    with sqlite3.connect(home.database) as connection:
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
