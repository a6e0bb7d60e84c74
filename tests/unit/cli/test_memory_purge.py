"""`kenobot memory purge`, `export` and `import`: what leaves a home for good, and what comes into it."""

import json
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.storage.connection import connect
from tests.unit.cli.memory_home import every_byte, files, remember, rows, texts, told

from .conftest import Cli

pytestmark = pytest.mark.usefixtures("by_words")


def test_purge_leaves_no_byte(cli: Cli, made: Home) -> None:
    """Neither in the database's file, its log, the index, nor in Markdown: of it, what it replaced, and its turns."""
    connection = connect(made.database)
    told(connection, 1, "My salary is quetzalcoatl 90k", "Noted, quetzalcoatl 90k.")
    told(connection, 2, "Nice weather", "Yes.")
    told(connection, 3, "What is my salary?", "Your salary is quetzalcoatl 90k")
    connection.close()
    [old, kept] = remember(cli, "salary is quetzalcoatl 90k", "likes tea")
    connection = connect(made.database)
    connection.execute("UPDATE record SET source_messages = '[1]' WHERE id = ?", (old,))
    connection.execute(
        "INSERT INTO prompt_prefix (session, scopes, text, day, last_event, last_record, first_message, last_message) "
        "VALUES ('telegram-1', 'owner chat:telegram-1', 'quetzalcoatl', '2026-02-14', 1, 1, 1, 1)"
    )
    connection.execute("UPDATE message SET context = '## 14:30 — salary is quetzalcoatl 90k' WHERE inbox_id = 2")
    connection.executemany(  # of a channel that keeps what it sent: a list of memories, as a text and as a file
        "INSERT INTO outbox (part, channel, chat, text, spans, payload, trace, created_at, state, done_at) "
        "VALUES (0, 'whatsapp', '1', ?, '[]', ?, '', '2026-02-14', 'sent', '2026-02-14')",
        [("- salary is quetzalcoatl 90k", "{}"), ("Here", '{"attachments": [{"text": "salary is quetzalcoatl 90k"}]}')],
    )
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
    assert report["skipped"] == {"it was erased for good here": 1}
    assert texts(cli) == ["likes water"]


def test_export_and_import_are_complete(cli: Cli, made: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column of every record, its past, links, veil, tombstones and turns come back; twice is once."""
    connection = connect(made.database)
    told(connection, 7, "I live in Paris", "Good.")
    connection.close()
    paris, tea, gone = remember(cli, "I live in Paris", "likes tea", "has lapsang souchong")
    connection = connect(made.database)
    connection.execute("UPDATE record SET source_messages = '[7]' WHERE id = ?", (paris,))
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
    assert report["skipped"] == {}
    second = tmp_path / "second.jsonl"
    cli("memory", "export", str(second))
    back = [json.loads(line) for line in second.read_text("utf-8").splitlines()]
    for kind in ("record", "link", "hidden_turn", "tombstone", "vector", "message"):
        assert [line for line in held if kind in line] == [line for line in back if kind in line], kind
    events = [line for line in back if "event" in line and line["event"]["type"] != "imported"]
    assert events == [line for line in held if "event" in line]
    assert texts(cli) == ["I live in Lyon"]
    assert "Lyon" in files(Home(tmp_path / "other"))
    again = rows(cli, "import", str(first))[0]
    assert not any(again["added"].values())


def test_a_whole_export_brings_the_character_and_the_rules_into_a_fresh_home(
    cli: Cli, made: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that the introductions are over; of a home that has its own, all stays."""
    file = tmp_path / "memory.jsonl"
    assert cli("memory", "remember", "Se llama Lucía")[0] == 0
    made.seed_identity()
    (made.identity / "core.md").write_text("You are Ada.\r\n", "utf-8", newline="")
    (made.identity / "rules.json").write_text('{"behavioral": []}')
    (made.identity / "BOOTSTRAP.md").unlink()
    assert cli("memory", "export", str(file))[0] == 0
    fresh = Home(tmp_path / "fresh")
    monkeypatch.setenv("KENOBOT_HOME", str(fresh.path))
    assert json.loads(cli("memory", "import", str(file), "--dry-run", "--json")[1])["added"]["state"] == 3
    assert (fresh.identity / "BOOTSTRAP.md").exists()
    assert cli("memory", "import", str(file))[0] == 0
    assert (fresh.identity / "core.md").read_bytes() == b"You are Ada.\r\n"
    assert (fresh.identity / "rules.json").read_text() == '{"behavioral": []}'
    assert not (fresh.identity / "BOOTSTRAP.md").exists()
    (fresh.identity / "core.md").write_text("You are mine.")
    assert json.loads(cli("memory", "import", str(file), "--json")[1])["added"]["state"] == 0
    assert (fresh.identity / "core.md").read_text() == "You are mine."


def test_an_export_of_one_scope_has_no_character(cli: Cli, made: Home) -> None:
    """That belongs to the whole home."""
    assert cli("memory", "remember", "Likes tea")[0] == 0
    assert "identity:" not in cli("memory", "export", "-", "--scope", "owner")[1]


@pytest.mark.parametrize(
    ("number", "line", "why"),
    [
        (1, "{}", "line 1: not an object"),
        (1, "null", "line 1: not an object"),
        (1, '{"record": {}}', "line 1: invalid import format"),
        (1, '{"head": {"format": "kenobot-memory", "version": 3, "exported": "2026-01-01"}}', "version 3"),
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
