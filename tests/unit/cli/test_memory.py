"""`kenobot memory`: the owner's hands at the command line, without a running bot."""

import json
import re

import pytest

from kenobot.cli.table import display_width, shortened
from kenobot.cognitive.sleep import night
from kenobot.core.settings.home import Home
from kenobot.storage.connection import connect
from tests.unit.cli.memory_home import files, remember, rows, texts

from .conftest import Cli

pytestmark = pytest.mark.usefixtures("by_words")


def test_remember_list_show(cli: Cli, made: Home) -> None:
    """What is remembered is listed, shown whole, found by number and key, and written into the files at once."""
    [tea] = remember(cli, "likes tea")
    remember(cli, "the plan", scope="chat:telegram-1")
    assert texts(cli) == ["the plan", "likes tea"]
    assert texts(cli, "--scope", "owner") == ["likes tea"]
    assert texts(cli, "--scope", "user:telegram-2") == []
    assert "likes tea" in files(made)
    code, out, _ = cli("memory", "show", str(tea))
    assert code == 0
    assert out.splitlines()[0] == f"#{tea}  likes tea"
    key = rows(cli, "show", str(tea))[0]["key"]
    assert rows(cli, "show", key[:8])[0]["id"] == tea
    assert rows(cli, "why", str(tea))[0]["source"] == "command"
    assert texts(cli, "--min-confidence", "1") == []


def test_a_memory_has_an_address(cli: Cli, made: Home) -> None:
    """A scope that is none is refused, a password as well; and neither leaves anything behind."""
    for arguments in (["tea", "--scope", "everybody"], ["my", "password", "is", "hunter22xyz"]):
        code, out, err = cli("memory", "remember", *arguments)
        assert (code, out) == (1, "")
        assert err
    assert texts(cli) == []


@pytest.mark.parametrize("ref", ["", " ", "%", "_", "____", "%%%%%%", "ab", "99", "#99", "zzzzzzzz", "9" * 30, "*"])
@pytest.mark.parametrize("command", ["show", "forget", "purge", "history", "why", "correct"])
def test_what_names_nothing_does_nothing(cli: Cli, made: Home, ref: str, command: str) -> None:
    """An empty or short name, a wildcard, an unknown number: exit 2, one plain line, and everything stays."""
    remember(cli, "likes tea")
    arguments = ["memory", command, ref, *(["something else"] if command == "correct" else [])]
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert texts(cli) == ["likes tea"]


def test_an_ambiguous_key_is_no_name(cli: Cli, made: Home) -> None:
    """Of several that begin alike none is taken, and their numbers are said; `_` is a letter."""
    numbers = remember(cli, "likes tea", "likes coffee", "likes water")
    connection = connect(made.database)
    for number, key in zip(numbers, ("a_cdefgh1", "abcdefgh2", "abcdefgh3"), strict=True):
        connection.execute("UPDATE record SET key = ? WHERE id = ?", (key, number))
    connection.close()
    code, _, err = cli("memory", "forget", "abcdefgh")
    assert code == 2
    assert "ambiguous" in err
    assert f"#{numbers[1]}" in err
    assert len(texts(cli)) == 3
    assert rows(cli, "forget", "a_cdefgh")[0]["forgotten"] == numbers[0]


def test_forget_and_undo(cli: Cli, made: Home) -> None:
    """Out of lists and files, and back; an undo can be undone; nothing more to undo is exit 2."""
    [tea] = remember(cli, "likes tea a lot")
    event = rows(cli, "forget", str(tea))[0]["event"]
    assert texts(cli) == []
    assert "likes tea" not in files(made)
    assert texts(cli, "--status", "forgotten") == ["likes tea a lot"]
    code, _, err = cli("memory", "forget", str(tea))
    assert code == 2
    assert "forgotten" in err
    back = rows(cli, "undo")[0]
    assert back["undone"] == event
    assert texts(cli) == ["likes tea a lot"]
    assert "likes tea" in files(made)
    code, _, err = cli("memory", "undo", str(event))
    assert code == 1
    assert f"undo {back['event']}" in err
    assert rows(cli, "undo", str(back["event"]))
    assert texts(cli) == []
    cli("memory", "undo")
    cli("memory", "undo")
    assert cli("memory", "undo")[0] == 2


def test_correct_is_one_decision(cli: Cli, made: Home) -> None:
    """The new words stand in the place of the old ones, which stay as history; one undo takes both back."""
    [old] = remember(cli, "I live in Paris")
    new = rows(cli, "correct", str(old), "I live in Lyon")[0]
    assert texts(cli) == ["I live in Lyon"]
    assert "Paris" not in (made.memory / "2026-02-14.md").read_text("utf-8")
    assert new["in_place_of"] == old
    assert rows(cli, "show", str(old))[0]["status"] == "superseded"
    assert f"before, #{old}: I live in Paris" in cli("memory", "history", str(new["id"]))[1]
    assert f"now, #{new['id']}: I live in Lyon" in cli("memory", "history", str(old))[1]
    for bad, why in ((" ", "required"), ("I live in Lyon.", "must change")):
        code, _, err = cli("memory", "correct", str(new["id"]), bad)
        assert code == 1
        assert why in err
    cli("memory", "undo")
    assert texts(cli) == ["I live in Paris"]


def test_time_travel(cli: Cli, made: Home) -> None:
    """A memory, and all of them, as they were at a moment."""
    [old] = remember(cli, "I live in Paris")
    connection = connect(made.database)
    connection.execute("UPDATE record SET created = '2026-01-01T00:00:00.000000+00:00'")
    connection.execute("UPDATE event SET at = '2026-01-01T00:00:00.000000+00:00'")
    connection.close()
    rows(cli, "correct", str(old), "I live in Lyon")
    assert texts(cli, "--as-of", "2026-02-01") == ["I live in Paris"]
    assert texts(cli, "--as-of", "2025-12-01") == []
    assert rows(cli, "show", str(old), "--as-of", "2026-02-01")[0]["status"] == "active"
    assert cli("memory", "show", str(old), "--as-of", "2025-12-01")[0] == 2
    steps = rows(cli, "history", str(old))
    assert [step["kind"] for step in steps][-1] == "created"
    assert ["status", "active", "superseded"] in steps[0]["changes"]


def test_stats(cli: Cli, made: Home) -> None:
    """Counts by state, memory and form, what waits, and disk; an empty memory is exit 2."""
    code, out, _ = cli("memory", "stats", "--json")
    assert code == 2
    assert json.loads(out)["records"] == 0
    tea, _ = remember(cli, "likes tea", "likes water")
    cli("memory", "forget", str(tea))
    figures = rows(cli, "stats")[0]
    assert figures["by_status"]["forgotten"] == 1
    assert figures["by_form"]["note"] == 1
    assert figures["embedder"].startswith("none")
    assert figures["disk"]["database"] > 0
    assert figures["room"]["memory"] > 0
    assert figures["mean_confidence"] == pytest.approx(0.95)
    told = cli("memory", "stats")[1]
    assert "by status" in told
    assert re.search(r"search index +0\.\d MB", told)


def test_recall_and_context(cli: Cli, made: Home) -> None:
    """What would be recalled, with why; what is forgotten is not; nothing found is exit 2."""
    paris, _ = remember(cli, "I live in Paris near the river", "likes tea")
    code, out, _ = cli("memory", "recall", "where", "do", "I", "live?")
    assert code == 0
    assert "I live in Paris" in out
    seen = rows(cli, "recall", "where do I live")[0]
    assert seen["items"][0]["why"]["record"] == paris
    assert "I live in Paris" in cli("memory", "context")[1]
    assert "I live in Paris" in cli("memory", "context", "where do I live")[1]
    cli("memory", "forget", str(paris))
    assert "Paris" not in cli("memory", "recall", "where do I live near the river")[1]
    assert "Paris" not in cli("memory", "context")[1]
    assert cli("memory", "recall", "xylophone")[0] == 2


def test_sync_and_rebuild(cli: Cli, made: Home) -> None:
    """An edit of a file is taken in; and with the database gone the files give the memory back."""
    remember(cli, "likes tea")
    log = made.memory / "2026-02-14.md"
    log.write_text(log.read_text("utf-8").replace("likes tea", "likes green tea"), "utf-8")
    code, out, _ = cli("memory", "sync")
    assert code == 0
    assert "1 facts" in out
    assert texts(cli) == ["likes green tea"]
    for suffix in ("", "-wal", "-shm"):
        made.database.with_name(made.database.name + suffix).unlink(missing_ok=True)
    assert rows(cli, "rebuild", "--dry-run")[0]["written"] is False
    assert cli("memory", "rebuild")[0] == 0
    assert "likes green tea" in texts(cli)
    assert cli("memory", "rebuild")[0] == 78, "it is not empty"


@pytest.mark.parametrize(
    "command",
    ["remember", "recall", "list", "show", "why", "history", "correct", "forget", "purge", "undo", "log", "context",
     "stats", "export", "import", "rebuild", "sync"],
)  # fmt: skip
def test_every_command_has_a_help_with_an_example(cli: Cli, command: str) -> None:
    """And says what its exit codes mean."""
    code, out, _ = cli("memory", command, "--help")
    assert code == 0
    assert re.search(rf"examples:\n  kenobot memory {command}", out)
    assert "exit codes" in out


def test_nothing_here_yet(cli: Cli, home: Home) -> None:
    """Before the first run every command that reads or changes says so, with what to do, and makes nothing."""
    for arguments in (
        ["list"], ["show", "1"], ["history", "1"], ["why"], ["stats"], ["recall", "tea"], ["context"], ["sync"],
        ["forget", "1"], ["purge", "1", "--yes"], ["undo"], ["correct", "1", "tea"],
    ):  # fmt: skip
        code, out, err = cli("memory", *arguments)
        assert (code, out) == (2, ""), arguments
        assert "`kenobot memory remember TEXT`" in err
    assert not home.database.exists()


def test_a_memory_is_forgotten_by_its_words(cli: Cli, made: Home) -> None:
    """The one that is surely meant; of several none, and they are listed with their numbers."""
    remember(cli, "I am allergic to nuts", "likes green tea", "likes black tea")
    code, out, _ = cli("memory", "forget", "allergic", "nuts")
    assert code == 0
    assert "I am allergic to nuts" in out
    code, out, err = cli("memory", "forget", "likes", "tea")
    assert (code, out) == (2, "")
    assert "likes green tea" in err
    assert "likes black tea" in err
    assert cli("memory", "forget", "submarine")[0] == 2
    assert texts(cli) == ["likes black tea", "likes green tea"]


def test_the_first_memory_makes_a_home(cli: Cli, home: Home) -> None:
    """With its identity and its files, before the bot was ever started."""
    assert remember(cli, "likes tea") == [1]
    assert texts(cli) == ["likes tea"]
    assert home.identity.exists()
    assert "likes tea" in files(home)


# ── lists for people ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_list_is_a_table_cut_to_the_width(cli: Cli, by_words: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads, the scope, and one line a memory whatever its text: no line is longer than the terminal."""
    remember(cli, "The printer jams\nwhen paper is humid, and then it prints 日本語 twice " + "and again " * 20)
    monkeypatch.setenv("COLUMNS", "70")
    head, line = cli("memory", "list")[1].splitlines()
    assert head.split() == ["#", "since", "scope", "kind", "memory"]
    assert line.split()[:3] == ["1", "2026-02-14", "owner"]
    assert "jams when paper" in line
    assert line.endswith("…")
    assert display_width(line) <= 70


@pytest.mark.parametrize(
    "text", ["", "plain words", "日本語のメモ", "e\u0301te\u0301", "👩‍💻 at work", "mixed 中 text"]
)
@pytest.mark.parametrize("width", [1, 5, 80])
def test_what_is_shortened_fits(text: str, width: int) -> None:
    """Whatever the script, it takes no more columns than there are, and a text that fits stays whole."""
    cut = shortened(text, width)
    assert display_width(cut) <= max(width, 1)
    assert cut == text or cut.endswith("…")


def test_an_empty_list_names_the_filter_that_left_nothing(cli: Cli, made: Home) -> None:
    """As it was typed; without one it says how to begin."""
    assert "`kenobot memory remember TEXT` begins" in cli("memory", "list")[2]
    nothing = cli("memory", "list", "--form=note", "--scope", "chat:x")[2]
    assert nothing == "No memory fits --form note --scope chat:x.\n"
    assert cli("memory", "log", "--since", "yesterday")[2] == "Nothing has happened to memory with --since yesterday.\n"
    assert cli("signals", "--type", "message:inn")[2] == 'There is no signal message:inn; did you mean "message:in"?\n'


def test_the_limit_counts_what_is_shown(cli: Cli, by_words: None) -> None:
    """Memories that are less sure than asked for take no place of those that are."""
    first = remember(cli, "My plumber is called Bruno")
    assert [row["id"] for row in rows(cli, "list", "--limit", "1", "--min-confidence", "0.9")] == first


def test_the_log_speaks_to_people_and_to_scripts(cli: Cli, by_words: None) -> None:
    """For people, what changed, in words and in their hours; for scripts, every column as it is stored."""
    (number,) = remember(cli, "My plumber is called Bruno")
    assert cli("memory", "forget", str(number))[0] == 0
    head, created, forgotten = cli("memory", "log")[1].splitlines()
    assert head.split() == ["#", "time", "what", "by", "memory"]
    assert "created" in created and "Bruno" not in created, "what is forgotten is shown nowhere"
    assert "the owner said so" in forgotten
    assert rows(cli, "log")[0]["data"]["reason"] == "it is new"


def test_parts_of_sleep_run_by_name(cli: Cli, by_words: None) -> None:
    """reflect changes nothing; merge, synthesize and prune run their passes and can be undone; backfill is done."""
    remember(cli, "The printer jams when paper is humid", "When paper is humid the printer jams")
    before = rows(cli, "log")
    code, out, _ = cli("memory", "reflect")
    assert (code, out.splitlines()[0][:25]) == (0, "# What a night would do, ")
    assert rows(cli, "log") == before
    for command, names in (
        ("merge", {"duplicates", "contradictions", "entities"}),
        ("synthesize", {"synthesize", "profile"}),
        ("prune", {one.name for one in night.MEMORY_PRUNER}),
    ):
        code, out, _ = cli("memory", command, "--json")
        assert code == 0
        assert {one["pass"] for one in json.loads(out)["passes"]} == names
    assert cli("memory", "backfill") == (0, "Turns read: 0. Turns that still wait: 0.\n", "")
