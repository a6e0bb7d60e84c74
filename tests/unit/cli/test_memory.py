"""`kenobot memory`: the owner's hands at the command line, without a running bot."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kenobot.db import connect
from kenobot.home import Home
from kenobot.schema import migrate

from .conftest import Cli


@pytest.fixture(autouse=True)
def by_words(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is found by words: what a model adds is tested where there is one."""
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")


@pytest.fixture
def made(home: Home) -> Home:
    """A home with an empty memory."""
    home.prepare()
    migrate(home.database, home.backups)
    return home


def remember(cli: Cli, *texts: str, scope: str = "owner") -> list[int]:
    numbers = []
    for text in texts:
        code, out, err = cli("memory", "remember", text, "--scope", scope, "--json")
        assert code == 0, err
        numbers.append(json.loads(out)["id"])
    return numbers


def rows(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    code, out, _ = cli("memory", *arguments, "--json")
    assert code in (0, 2)
    return [json.loads(line) for line in out.splitlines()]


def texts(cli: Cli, *arguments: str) -> list[str]:
    return [row["text"] for row in rows(cli, "list", *arguments)]


def files(home: Home) -> str:
    """Every file of the live tree: what was forgotten is kept in the archive alone, until it is purged."""
    paths = (path for path in sorted(home.memory.rglob("*.md")) if home.memory / "archive" not in path.parents)
    return "\n".join(path.read_text("utf-8") for path in paths)


def told(connection: sqlite3.Connection, turn: int, said: str, answer: str, session: str = "telegram-1") -> None:
    """A turn of a conversation, as the bot leaves it behind."""
    at = f"2026-02-14T14:{turn:02d}:00+00:00"
    connection.execute(
        "INSERT INTO inbox (id, channel, external_id, chat, session, sender, text, sent_at, received_at, trace, state, "
        "done_at) VALUES (?, 'telegram', ?, '1', ?, '1', ?, ?, ?, 't', 'answered', ?)",
        (turn, str(turn), session, said, at, at, at),
    )
    connection.execute(
        "INSERT INTO turn (inbox_id, session, trace, state, reply, stop_reason, model, replied_at) "
        "VALUES (?, ?, 't', 'committed', ?, 'end_turn', 'm', ?)",
        (turn, session, answer, at),
    )
    for role, text, trust in (("user", said, "owner"), ("assistant", answer, "model")):
        connection.execute(
            "INSERT INTO message (session, role, text, context, at, inbox_id, trust, scope) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'owner')",
            (session, role, text, "", at, turn, trust),
        )


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
    assert out.splitlines()[-1] == "likes tea"
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


def every_byte(home: Home) -> bytes:
    """All that a home holds, backups excepted."""
    paths = [path for path in home.path.rglob("*") if path.is_file() and home.backups not in path.parents]
    return b"\n".join(path.read_bytes() for path in sorted(paths))


def test_purge_leaves_no_byte(cli: Cli, made: Home) -> None:
    """Neither in the database's file, its log, the index, nor in Markdown: of it, what it replaced, and its turns."""
    connection = connect(made.database)
    told(connection, 1, "My salary is quetzalcoatl 90k", "Noted, quetzalcoatl 90k.")
    told(connection, 2, "Nice weather", "Yes.")
    told(connection, 3, "What is my salary?", "Your salary is quetzalcoatl 90k")
    connection.close()
    [old, kept] = remember(cli, "salary is quetzalcoatl 90k", "likes tea")
    connection = connect(made.database)
    connection.execute("UPDATE record SET evidence = '[1]' WHERE id = ?", (old,))
    connection.execute(
        "INSERT INTO frame (session, scopes, text, day, seen, known, first, made_after) "
        "VALUES ('telegram-1', 'owner chat:telegram-1', 'quetzalcoatl', '2026-02-14', 1, 1, 1, 1)"
    )
    connection.execute("UPDATE message SET context = '## 14:30 — salary is quetzalcoatl 90k' WHERE inbox_id = 2")
    connection.close()
    new = rows(cli, "correct", str(old), "salary is quetzalcoatl 95k")[0]["id"]
    assert cli("memory", "recall", "salary")[0] == 0  # so that there is an index
    assert b"quetzalcoatl" in every_byte(made)

    code, out, _ = cli("memory", "purge", str(new), "--dry-run")
    assert code == 0
    assert "quetzalcoatl 90k" in out
    assert "quetzalcoatl 95k" in out
    assert b"quetzalcoatl" in every_byte(made)
    assert cli("memory", "purge", str(new))[0] == 2, "nobody agreed"

    code, out, err = cli("memory", "purge", str(new), "--yes", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["purged"] == [new, old]
    assert set(report["turns"]) == {1, 3}
    assert report["left"] == []
    assert b"quetzalcoatl" not in every_byte(made)
    assert texts(cli) == ["likes tea"]
    assert rows(cli, "show", str(kept))
    connection = connect(made.database)
    assert [row[0] for row in connection.execute("SELECT text FROM message ORDER BY id")] == [
        "", "", "Nice weather", "Yes.", "", "",
    ]  # fmt: skip
    assert connection.execute("SELECT count(*) FROM tombstone").fetchone()[0] >= 2
    connection.close()
    assert cli("memory", "undo", "--json")[1].find("quetzalcoatl") < 0


def test_purge_says_what_it_does_not_reach(cli: Cli, made: Home) -> None:
    """Backups by name before anything is done, and a file of the owner's own that still says it."""
    [tea] = remember(cli, "likes lapsang souchong")
    (made.backups / "kenobot-before-0004.db").write_bytes(b"old")
    (made.memory / "archive").mkdir()
    (made.memory / "archive" / "mine.md").write_text("she likes lapsang souchong", "utf-8")
    _, out, _ = cli("memory", "purge", str(tea), "--dry-run")
    assert "Backups are NOT covered" in out
    assert "kenobot-before-0004.db" in out
    _, out, _ = cli("memory", "purge", str(tea), "--yes")
    assert "mine.md" in out


def test_what_was_purged_is_not_imported_again(cli: Cli, made: Home, tmp_path: Path) -> None:
    """An export from before brings everything back but that."""
    tea, _ = remember(cli, "likes lapsang souchong", "likes water")
    out = tmp_path / "all.jsonl"
    assert cli("memory", "export", str(out))[0] == 0
    cli("memory", "purge", str(tea), "--yes")
    report = rows(cli, "import", str(out))[0]
    assert report["left_out"] == {"it was erased for good here": 1}
    assert texts(cli) == ["likes water"]


def test_export_and_import_are_complete(cli: Cli, made: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column of every record, its past, links, veil, tombstones and turns come back; twice is once."""
    connection = connect(made.database)
    told(connection, 7, "I live in Paris", "Good.")
    connection.close()
    paris, tea, gone = remember(cli, "I live in Paris", "likes tea", "has lapsang souchong")
    connection = connect(made.database)
    connection.execute("UPDATE record SET evidence = '[7]' WHERE id = ?", (paris,))
    connection.execute("INSERT INTO vector (record_id, model, embedding) VALUES (?, 'toy', ?)", (tea, b"\0\0\x80?"))
    connection.close()
    rows(cli, "correct", str(paris), "I live in Lyon")
    rows(cli, "forget", str(tea))
    cli("memory", "purge", str(gone), "--yes")
    first = tmp_path / "first.jsonl"
    assert cli("memory", "export", str(first))[0] == 0
    assert first.stat().st_mode & 0o077 == 0
    held = [json.loads(line) for line in first.read_text("utf-8").splitlines()]

    monkeypatch.setenv("KENOBOT_HOME", str(tmp_path / "other"))
    report = rows(cli, "import", str(first), "--dry-run")[0]
    assert report["added"]["record"] == held[0]["head"]["counts"]["record"]
    assert texts(cli) == []
    report = rows(cli, "import", str(first))[0]
    assert report["left_out"] == {}
    second = tmp_path / "second.jsonl"
    cli("memory", "export", str(second))
    back = [json.loads(line) for line in second.read_text("utf-8").splitlines()]
    for kind in ("record", "link", "veil", "tombstone", "vector", "message"):
        assert [line for line in held if kind in line] == [line for line in back if kind in line], kind
    events = [line for line in back if "event" in line and line["event"]["type"] != "imported"]
    assert events == [line for line in held if "event" in line]
    assert texts(cli) == ["I live in Lyon"]
    assert "Lyon" in files(Home(tmp_path / "other"))
    again = rows(cli, "import", str(first))[0]
    assert not any(again["added"].values())


@pytest.mark.parametrize(
    ("number", "line", "why"),
    [
        (1, "{}", "line 1: not an object"),
        (1, "null", "line 1: not an object"),
        (1, '{"record": {}}', "line 1: invalid import format"),
        (1, '{"head": {"format": "kenobot-memory", "version": 2, "exported": "2026-01-01"}}', "version 2"),
        (2, "not json", "line 2: not valid JSON"),
        (2, '{"record": {"id": 1}}', "line 2: record.form"),
        (2, '{"wish": {}}', "line 2: unknown kind"),
        (3, "", "line 3: it is empty"),
        (3, '{"link": {"src": 1, "dst": 99, "type": "related", "first_at": "2026-01-01", "last_at": "2026-01-01"}}',
         "line 3: it speaks of record 99"),
        (4, None, "ends early"),
    ],
)  # fmt: skip
def test_a_broken_file_brings_in_nothing(
    cli: Cli, made: Home, tmp_path: Path, number: int, line: str | None, why: str
) -> None:
    """The line is named, exit 1, and what came before it is not kept."""
    head = '{"head": {"format": "kenobot-memory", "version": 1, "exported": "2026-01-01", "counts": {"record": 3}}}'
    lines = [head, *(
        json.dumps({"record": {"id": n, "form": "note", "scope": "owner", "text": f"f {n}", "created": "2026-01-01"}})
        for n in (1, 2, 3)
    )]  # fmt: skip
    if line is None:
        lines.pop()
    else:
        lines[number - 1] = line
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    code, out, err = cli("memory", "import", str(path))
    assert (code, out) == (1, "")
    assert why in err
    assert texts(cli, "--status", "all") == []


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
    assert figures["mean_confidence"] == pytest.approx(0.95)
    assert "by status" in cli("memory", "stats")[1]


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
    """Before the first run every command says so and makes nothing."""
    for arguments in (
        ["list"], ["show", "1"], ["history", "1"], ["why"], ["stats"], ["recall", "tea"], ["context"], ["sync"],
        ["remember", "tea"], ["forget", "1"], ["purge", "1", "--yes"], ["undo"], ["correct", "1", "tea"],
    ):  # fmt: skip
        code, out, err = cli("memory", *arguments)
        assert (code, out) == (2, ""), arguments
        assert err
    assert not home.database.exists()
