"""`kenobot import`: what comes out of other agents' homes, and what does not."""

import argparse
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from kenobot.cli.context import CommandContext
from kenobot.core.settings.home import Home
from kenobot_importers.apply_plan import apply_plan
from kenobot_importers.import_command import _plan
from kenobot_testing.clock import ManualClock
from tests.unit.cli.conftest import Cli, by_words, cli, home
from tests.unit.cli.importers import homes

__all__ = ["by_words", "cli", "home"]

pytestmark = pytest.mark.usefixtures("by_words")


def records(home: Home) -> list[sqlite3.Row]:
    with closing(sqlite3.connect(home.database)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute("SELECT * FROM record ORDER BY id").fetchall()


def found(home: Home, text: str) -> sqlite3.Row:
    rows = [row for row in records(home) if text in row["text"]]
    assert len(rows) == 1, [row["text"] for row in rows]
    return rows[0]


def told(out: str) -> dict[str, dict[str, object]]:
    rows = [json.loads(line) for line in out.splitlines()]
    return {str(row.get("path", "total")): row for row in rows}


def test_a_dry_run_shows_all_and_writes_nothing(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Every file with what would be taken in, what not and why; the home is not even made."""
    code, out, _ = cli("import", str(homes.javascript(tmp_path / "old")), "--dry-run")
    assert code == 0
    assert "memory/MEMORY.md · long-term memory: 4 new" in out
    assert "1 refused: it looks like a Telegram bot token" in out
    assert "1 left alone: template text that nobody filled in" in out
    assert "memory/identity/core.md · left to you: your bot's character" in out
    assert not home.database.exists()


def test_a_javascript_home_keeps_its_dates_places_and_trust(home: Home, cli: Cli, tmp_path: Path) -> None:
    """A fact of a log is of that log's day, a chat's own stays in that chat, and only typed lines are the owner's."""
    code, _, err = cli("import", str(homes.javascript(tmp_path / "old")), "--yes")
    assert code == 0, err
    dog = found(home, "Toby")
    assert (dog["day"], dog["created"][:16], dog["trust"], dog["tier"]) == (
        "2026-02-12",
        "2026-02-12T10:00",
        "model",
        "daily",
    )
    assert dog["source"] == "import"
    assert found(home, "Two lines")["text"] == "Two lines\n  of one fact"
    assert found(home, "Tuesdays")["valid_from"][:10] == "2026-02-10"
    assert (found(home, "PostgreSQL")["category"], found(home, "PostgreSQL")["tier"]) == ("decision", "core")
    assert found(home, "Fridays")["scope"] == "chat:telegram--100200"
    assert found(home, "hiking")["form"] == "profile"
    assert found(home, "packing")["form"] == "scratchpad"
    assert found(home, "query params")["form"] == "procedure"
    assert (found(home, "short answers")["category"], found(home, "short answers")["trust"]) == ("preference", "model")
    assert (found(home, "Háblame")["trust"], found(home, "Háblame")["text"]) == ("owner", "Háblame de tú")
    assert found(home, "PostgreSQL")["text"] == "Usamos PostgreSQL"
    assert not [row for row in records(home) if "AAAA" in row["text"] or row["text"] == "no"]


def test_an_old_conversation_goes_on_where_it_was(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Its messages come without secrets and count as read; a chat that was begun here is left as it is."""
    old = str(homes.javascript(tmp_path / "old"))
    _, out, _ = cli("import", old, "--yes", "--json")
    talk = told(out)["data/sessions/telegram-1.jsonl"]
    assert (talk["new"], talk["secrets"], talk["skipped"]) == (2, {"a Telegram bot token": 1}, {"a damaged line": 1})
    with closing(sqlite3.connect(home.database)) as connection:
        rows = connection.execute("SELECT id, role, text, trust FROM message ORDER BY id").fetchall()
        cursor = connection.execute("SELECT value FROM key_value WHERE key = 'extracted:telegram-1'").fetchone()
    assert [row[1:] for row in rows] == [
        ("user", "¿Qué hora es en Lima?", "guest"),
        ("assistant", "Las nueve.", "model"),
    ]
    assert int(cursor[0]) == rows[-1][0]
    _, out, _ = cli("import", old, "--yes", "--json")
    again = told(out)["data/sessions/telegram-1.jsonl"]
    assert (again["new"], again["skipped"]) == (
        0,
        {"a damaged line": 1, "this chat has been talked in here already": 2},
    )


def test_an_openclaw_workspace_is_taken_in(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Forms give their answers, lists their items under their label, days their date; a transcript gives nothing."""
    code, out, err = cli("import", str(homes.openclaw(tmp_path / "claw")), "--yes")
    assert code == 0, err
    assert "From openclaw" in out
    texts = {row["text"] for row in records(home)}
    assert {
        "Name: Marta",
        "She restores violins.",
        "Omar: her brother",
        "Violins: Stradivari copy is due in May",
        "Violins: Varnish comes from Cremona",
        "Tool: Plane; Use: wood",
        "The bow needs new hair.",
        "The cello has a wolf note at F",
        "The bridge cracked\nand was replaced.",
    } <= texts
    assert found(home, "Glue")["created"][:16] == "2026-02-10T09:15"
    assert found(home, "bridge")["created"][:16] == "2026-02-10T16:30"
    assert found(home, "luthier")["category"] == "commitment"
    assert found(home, "bow")["day"] == "2026-02-11"
    assert found(home, "Omar")["category"] == "relationship"
    assert not any("secret plan" in text or "Pronouns" in text or "Session" in text for text in texts)
    assert not (home.identity / "SOUL.md").exists()
    assert "AGENTS.md · instructions" in out
    assert "SOUL.md · left to you" in out
    assert {row["trust"] for row in records(home)} == {"model"}


def test_a_nanobot_workspace_is_taken_in(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Both kinds of history give episodes at their own times; a raw transcript is none. The files have it at once."""
    code, out, err = cli("import", str(homes.nanobot(tmp_path / "nano")), "--yes", "--json")
    assert code == 0, err
    rows = told(out)
    assert '"from": "nanobot"' in out
    assert "The user lives in Chengdu." in (home.memory / "MEMORY.md").read_text("utf-8")
    assert rows["memory/history.jsonl"]["skipped"] == {
        "a conversation as it was, and no memory": 1,
        "a damaged line": 1,
    }
    assert found(home, "dark mode")["created"][:16] == "2026-02-03T00:02"
    assert found(home, "Chose a flat")["day"] == "2026-02-02"
    assert found(home, "move to Chengdu")["text"].endswith("A second line.")
    assert found(home, "Li Wei")["text"] == "Name: Li Wei"
    texts = {row["text"] for row in records(home)}
    assert {"The user lives in Chengdu.", "Communication Style: Technical", "Topics of Interest: Go"} <= texts
    assert not any("Casual" in text or "automatically" in text or "ongoing" in text for text in texts)


def test_a_history_without_dates_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    """It is named with the reason, and the rest is shown all the same."""
    (tmp_path / "old" / "memory").mkdir(parents=True)
    (tmp_path / "old" / "memory" / "HISTORY.md").write_text("We talked about boats.\n")
    code, out, err = cli("import", str(tmp_path / "old"), "--dry-run", "--from", "nanobot")
    assert (code, err) == (0, "")
    assert "1 left alone: it has no dates, so it is no history" in out


@pytest.mark.parametrize("make", [homes.javascript, homes.openclaw, homes.nanobot])
def test_a_second_import_finds_nothing_new(home: Home, cli: Cli, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """The store is the same to the byte, seen counts and beliefs included."""
    old = str(make(tmp_path / "old"))
    assert cli("import", old, "--yes")[0] == 0
    before = [tuple(row) for row in records(home)]
    code, out, _ = cli("import", old, "--yes")
    assert (code, out.splitlines()[-1].split(" new")[0]) == (0, "0")
    assert [tuple(row) for row in records(home)] == before


def test_what_was_forgotten_here_stays_forgotten(home: Home, cli: Cli, tmp_path: Path) -> None:
    """An old file does not bring back what its owner wanted gone, not even from another old file."""
    homes.lay(tmp_path / "a", {"memory/MEMORY.md": "- I like jazz\n", "memory/working/x.md": ""})
    homes.lay(tmp_path / "b", {"memory/2026-02-01.md": "## 09:00 — I like jazz\n", "memory/working/x.md": ""})
    cli("import", str(tmp_path / "a"), "--yes")
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        connection.execute("UPDATE record SET status = 'forgotten'")
    for old in ("a", "b"):
        _, out, _ = cli("import", str(tmp_path / old), "--yes", "--json")
        assert told(out)["total"]["new"] == 0
    assert [row["status"] for row in records(home)] == ["forgotten"]


def test_one_undo_takes_all_of_it_back_and_it_can_come_again(home: Home, cli: Cli, tmp_path: Path) -> None:
    """An import is one decision."""
    old = str(homes.openclaw(tmp_path / "claw"))
    _, out, _ = cli("import", old, "--yes", "--json")
    event = told(out)["total"]["event"]
    count = sum(row["status"] == "active" for row in records(home))
    code, _, err = cli("memory", "undo", str(event))
    assert code == 0, err
    assert not [row for row in records(home) if row["status"] == "active" and row["source"] == "import"]
    cli("import", old, "--yes")
    assert sum(row["status"] == "active" for row in records(home)) == count


def test_nothing_outside_of_the_folder_is_read(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Links that lead out, rings, pipes and huge files are refused by name."""
    homes.lay(tmp_path, {"outside.md": "- somebody else's diary\n"})
    old = homes.lay(tmp_path / "old", {"memory/2026-02-01.md": "## 09:00 — mine\n", "memory/working/x.md": ""})
    (old / "memory" / "MEMORY.md").symlink_to(tmp_path / "outside.md")
    (old / "memory" / "2026-02-02.md").symlink_to("2026-02-02.md")
    os.mkfifo(old / "memory" / "2026-02-03.md")
    (old / "memory" / "2026-02-04.md").write_bytes(b"x" * 5_000_001)
    (old / "memory" / "2026-02-05.md").write_bytes(b"\x00\x01binary")
    code, out, err = cli("import", str(old), "--yes", "--json")
    assert code == 0, err
    rows = told(out)
    assert rows["memory/MEMORY.md"]["skipped"] == {"it is a link to something outside of the folder": 1}
    assert rows["memory/2026-02-03.md"]["skipped"] == {"it is no plain file": 1}
    assert rows["memory/2026-02-04.md"]["skipped"] == {"it is larger than 5 MB": 1}
    assert rows["memory/2026-02-05.md"]["skipped"] == {"it is no text": 1}
    assert [row["text"] for row in records(home)] == ["mine"]


def test_every_encoding_is_read(home: Home, cli: Cli, tmp_path: Path) -> None:
    """UTF-16 and UTF-8 with a mark as they are, Windows-1252 with a note; every kind of line end."""
    old = homes.lay(
        tmp_path / "old",
        {
            "memory/working/x.md": "",
            "memory/2026-02-01.md": "## 09:00 — el año pasado\r\n\r\n## 09:01 — 你好\r\n".encode("utf-16"),
            "memory/2026-02-02.md": b"\xef\xbb\xbf## 09:00 \xe2\x80\x94 marked\n",
            "memory/2026-02-03.md": "## 09:00 - mañana\n".encode("cp1252"),
        },
    )
    _, out, _ = cli("import", str(old), "--yes")
    assert {row["text"] for row in records(home)} == {"el año pasado", "你好", "marked", "mañana"}
    assert "(it is not UTF-8 and was read as Windows-1252)" in out


def test_a_home_cannot_be_imported_into_itself(home: Home, cli: Cli) -> None:
    """Its own files are taken in by the mirror; and a bot that runs keeps its home to itself."""
    homes.javascript(home.path)
    assert cli("import", str(home.path), "--yes")[0] == 78


def test_beside_a_bot_the_same_is_taken_in(home: Home, cli: Cli, tmp_path: Path) -> None:
    """In short transactions; it is one decision all the same, without what the bot decides meanwhile."""
    old = str(homes.openclaw(tmp_path / "claw"))
    assert cli("memory", "remember", "mine")[0] == 0
    with home.lock():
        assert cli("import", old, "--dry-run")[0] == 0
        code, out, err = cli("import", old, "--yes", "--json")
        assert (code, err) == (0, "")
        assert told(cli("import", old, "--yes", "--json")[1])["total"]["new"] == 0
        event = told(out)["total"]["event"]
        assert cli("memory", "undo", str(event))[0] == 0
        assert [row["text"] for row in records(home) if row["status"] == "active"] == ["mine"]
        assert told(cli("import", old, "--yes", "--json")[1])["total"]["new"] == told(out)["total"]["new"]


def test_an_import_that_was_killed_beside_a_bot_goes_on_with_the_next(home: Home, tmp_path: Path, cli: Cli) -> None:
    """What its steps brought is known by then; one undo takes back each part."""
    old = str(homes.lay(tmp_path / "old", {"memory/working/x.md": "", "memory/MEMORY.md": _notes(35)}))
    assert cli("memory", "remember", "mine")[0] == 0
    context = CommandContext(
        argparse.Namespace(home=None, path=old, origin="kenobot-js", me=[], first=None), ManualClock()
    )
    with context.write_in_steps() as (connection, _):
        steps = apply_plan(connection, _plan(context))
        for _ in range(2):
            next(steps)
    assert len(records(home)) == 21
    with home.lock():
        assert told(cli("import", old, "--yes", "--json")[1])["total"]["new"] == 15
    assert len({row["text"] for row in records(home)}) == len(records(home)) == 36


def _notes(count: int) -> str:
    """So many facts about different things."""
    return "# Facts\n\n" + "".join(f"- The {Random(n).randbytes(6).hex()} stands in hall {n}\n" for n in range(count))


def test_without_anybody_to_agree_nothing_happens(home: Home, cli: Cli, tmp_path: Path) -> None:
    """In a script it takes --yes."""
    code, _, err = cli("import", str(homes.nanobot(tmp_path / "nano")))
    assert code == 2
    assert "--yes" in err
    assert not home.database.exists()


def test_a_folder_of_another_kind_is_named_as_such(home: Home, cli: Cli, tmp_path: Path) -> None:
    """With the kinds there are."""
    homes.lay(tmp_path / "other", {"README.txt": "hello"})
    code, _, err = cli("import", str(tmp_path / "other"))
    assert code == 78
    assert "openclaw" in err


def test_a_crash_in_the_middle_leaves_nothing(
    home: Home, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it or nothing, and the next try takes in everything."""
    from kenobot.cognitive.remember.admit import admit as real
    from kenobot.ports.memory import Candidate, Decision

    old = str(homes.openclaw(tmp_path / "claw"))

    def failing(*arguments: object) -> Decision:
        candidate = arguments[1]
        assert isinstance(candidate, Candidate)
        if "bow" in candidate.text:
            raise sqlite3.OperationalError("disk I/O error")
        return real(*arguments)  # type: ignore[arg-type]

    cli("import", str(homes.nanobot(tmp_path / "nano")), "--yes")
    before = [tuple(row) for row in records(home)]
    monkeypatch.setattr("kenobot.cognitive.remember.admit.admit", failing)
    assert cli("import", old, "--yes")[0] == 1
    assert [tuple(row) for row in records(home)] == before


def test_a_pattern_of_pictures_and_prose_is_bounded(home: Home, cli: Cli, tmp_path: Path) -> None:
    """A very long paragraph is one memory, cut; hostile Markdown costs linear time."""
    old = homes.lay(
        tmp_path / "old",
        {
            "memory/working/x.md": "",
            "memory/MEMORY.md": "word " * 50_000
            + "\n\n"
            + "**" * 40_000
            + "\n\n"
            + "|" * 50_000
            + "\n\n"
            + "_(" * 30_000,
        },
    )
    assert cli("import", str(old), "--yes")[0] == 0
    assert max(len(row["text"]) for row in records(home)) <= 16_000
