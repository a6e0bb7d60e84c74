"""Talk that was held elsewhere: found by recall with speakers and days, hearsay, once, and taken back as a whole."""

import argparse
import json
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.cli.context import CommandContext
from kenobot.core.settings.home import Home
from kenobot_importers.apply_plan import apply_plan
from kenobot_importers.import_command import _plan
from kenobot_testing.clock import ManualClock
from tests.unit.cli.conftest import Cli, by_words, cli, home
from tests.unit.cli.importers import exports
from tests.unit.cli.importers.exports import chatgpt_node, claude_message, telegram_message

__all__ = ["by_words", "cli", "home"]

pytestmark = pytest.mark.usefixtures("by_words")
ASKED = "¿Cómo se llama el dentista de Toby?"


def rows(home: Home, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home.database)) as connection:
        return connection.execute(sql).fetchall()


def total(out: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(out.splitlines()[-1])
    return found


def chat(path: Path, messages: Sequence[str]) -> Path:
    """A chat of Android, a minute a message."""
    lines = [f"13/1/26, {9 + at // 60}:{at % 60:02} - {said}\n" for at, said in enumerate(messages)]
    path.write_text("".join(lines), "utf-8")
    return path


def test_a_chat_is_found_with_its_speaker_and_day(home: Home, cli: Cli, tmp_path: Path) -> None:
    """As hearsay; the words of the one who is named as the owner are the owner's."""
    (tmp_path / "chat.txt").write_text(exports.WHATSAPP_IPHONE, "utf-8")
    code, out, _ = cli("import", str(tmp_path / "chat.txt"), "--yes", "--me", "ana garcía")
    assert code == 0
    assert "From whatsapp, taken in:" in out
    _, out, _ = cli("memory", "recall", ASKED)
    assert "Luis said in talk imported from whatsapp: (quoted from an imported note" in out
    assert "2026-01-13 21:05" in out
    assert rows(home, "SELECT trust, text FROM message ORDER BY id")[2] == (
        "owner",
        "Ana García (owner, id Ana%20Garc%C3%ADa): mira",
    )
    assert {row[0] for row in rows(home, "SELECT trust FROM message WHERE text NOT LIKE '%(owner%'")} == {"model"}


def test_one_undo_takes_all_of_it_back_and_another_brings_it_again(home: Home, cli: Cli, tmp_path: Path) -> None:
    """What was undone may be imported again; what was forgotten may not."""
    (tmp_path / "chat.txt").write_text(exports.WHATSAPP_IPHONE, "utf-8")
    event = total(cli("import", str(tmp_path / "chat.txt"), "--yes", "--json")[1])["event"]
    assert total(cli("import", str(tmp_path / "chat.txt"), "--yes", "--json")[1])["new"] == 0
    assert cli("memory", "undo", str(event))[0] == 0
    assert cli("memory", "recall", ASKED)[0] == 2
    again = rows(home, "SELECT max(id) FROM event WHERE type = 'undone'")[0][0]
    assert cli("memory", "undo", str(again))[0] == 0
    assert "Quintanilla" in cli("memory", "recall", ASKED)[1]
    assert cli("memory", "undo", str(event))[0] == 0
    assert total(cli("import", str(tmp_path / "chat.txt"), "--yes", "--json")[1])["new"] == 3
    record = rows(home, "SELECT id FROM record WHERE status = 'active' AND text LIKE 'Talk imported%'")[0][0]
    assert cli("memory", "forget", str(record))[0] == 0
    assert cli("memory", "recall", ASKED)[0] == 2
    assert total(cli("import", str(tmp_path / "chat.txt"), "--yes", "--json")[1])["new"] == 0


def test_a_longer_export_of_the_same_chat_brings_what_is_new(home: Home, cli: Cli, tmp_path: Path) -> None:
    """The same words twice in a minute are two messages, and stay two."""
    path = chat(tmp_path / "chat.txt", ["Ana: hola", "Ana: qué tal"])
    path.write_text(path.read_text("utf-8") + "13/1/26, 9:01 - Ana: qué tal\n", "utf-8")
    assert total(cli("import", str(path), "--yes", "--json")[1])["new"] == 3
    path.write_text(path.read_text("utf-8") + "13/1/26, 9:05 - Ana: adiós\n", "utf-8")
    found = total(cli("import", str(path), "--yes", "--json")[1])
    assert found["new"] == 1
    assert len(rows(home, "SELECT * FROM message")) == 4


def test_an_import_that_was_killed_goes_on_as_the_same_decision(home: Home, cli: Cli, tmp_path: Path) -> None:
    """No message comes twice, and one undo takes both parts back."""
    path = chat(tmp_path / "chat.txt", [f"Ana: message {number} about hall {number * 7}" for number in range(450)])
    assert cli("memory", "remember", "mine")[0] == 0
    arguments = argparse.Namespace(home=None, path=str(path), origin="auto", me=[], first=None)
    context = CommandContext(arguments, ManualClock())
    with context.write_in_steps() as (connection, _):
        steps = apply_plan(connection, _plan(context))
        for _ in range(2):
            next(steps)
    begun = len(rows(home, "SELECT * FROM message"))
    assert 0 < begun < 450
    found = total(cli("import", str(path), "--yes", "--json")[1])
    assert found["new"] == 450 - begun
    assert rows(home, "SELECT count(*), count(DISTINCT platform_id) FROM message") == [(450, 450)]
    assert cli("memory", "undo", str(found["event"]))[0] == 0
    assert rows(home, "SELECT count(*) FROM hidden_turn") == [(450,)]


def test_exports_of_five_kinds_in_one_folder_are_each_what_they_are(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Archives as they come from the services too; every line and message is counted, and secrets are left out."""
    folder = tmp_path / "past"
    folder.mkdir()
    with zipfile.ZipFile(folder / "WhatsApp Chat - Ana.zip", "w") as archive:
        archive.writestr("_chat.txt", exports.WHATSAPP_IPHONE)
        archive.writestr("00001-PHOTO.jpg", b"\xff\xd8")
    telegram = exports.telegram_chat(
        [telegram_message(1, "Bo repairs the roof"), telegram_message(2, "my password is hunter22x!")]
    )
    (folder / "result.json").write_text(json.dumps(telegram), "utf-8")
    nodes = [
        chatgpt_node("u", "root", "user", "Note: rye?"),
        chatgpt_node("a", "u", "assistant", "Rye rises twelve hours."),
    ]
    with zipfile.ZipFile(folder / "chatgpt.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([exports.chatgpt_conversation(nodes, "a")]))
        archive.writestr("user.json", "{}")
    claude = [
        exports.claude_conversation(
            [claude_message(1, "human", "white tea?"), claude_message(2, "assistant", "Seventy degrees.")]
        )
    ]
    (folder / "conversations.json").write_text(json.dumps(claude), "utf-8")
    (folder / "Ana.md").write_text("Birthday: 1 May\n", "utf-8")
    code, out, _ = cli("import", str(folder), "--yes", "--json")
    assert code == 0
    found = {row["path"]: row for row in map(json.loads, out.splitlines()) if "path" in row}
    assert found["WhatsApp Chat - Ana.zip/_chat.txt"]["lines"] == {"kept": 4, "system": 2, "media": 1, "empty": 1}
    assert found["result.json"]["secrets"] == {"a password": 1}
    assert {path: row["new"] for path, row in found.items() if row["new"]} == {
        "WhatsApp Chat - Ana.zip/_chat.txt": 3,
        "result.json": 1,
        "chatgpt.zip/conversations.json": 2,
        "conversations.json": 2,
        "Ana.md": 1,
    }
    assert found["chatgpt.zip/user.json"]["skipped"] == {"it is no export that is known": 1}
    assert (
        "another assistant answered in talk imported from chatgpt"
        in cli("memory", "recall", "how long does rye rise?")[1]
    )
    assert rows(home, "SELECT subject, text FROM record WHERE text LIKE '%1 May%'") == [("ana", "Ana: Birthday: 1 May")]


def test_where_nothing_tells_days_from_months_a_flag_does(home: Home, cli: Cli, tmp_path: Path) -> None:
    """Without anybody to ask."""
    path = tmp_path / "chat.txt"
    path.write_text("1/2/26, 9:00 - Ana: hola\n", "utf-8")
    code, _, err = cli("import", str(path), "--yes")
    assert (code, "--day-first" in err) == (78, True)
    assert cli("import", str(path), "--yes", "--month-first")[0] == 0
    assert rows(home, "SELECT at FROM message") == [("2026-01-02T09:00:00+00:00",)]


def test_what_was_not_understood_is_written_down(home: Home, cli: Cli, tmp_path: Path) -> None:
    """By its file and line."""
    path = chat(tmp_path / "chat.txt", ["Ana: hola"])
    path.write_text("who wrote this\n" + path.read_text("utf-8"), "utf-8")
    cli("import", str(path), "--dry-run", "--report", str(tmp_path / "report.txt"))
    assert (tmp_path / "report.txt").read_text("utf-8") == "chat.txt:1: who wrote this\n"
    assert not home.database.exists()


def test_imported_talk_is_neither_summed_up_nor_read_for_facts(home: Home, cli: Cli, tmp_path: Path) -> None:
    """It is there to be found; facts come from what is said here."""
    from kenobot.cognitive.remember.extract.buffer import sessions_with_pending

    cli("import", str(chat(tmp_path / "chat.txt", ["Ana: I live in Lyon"])), "--yes")
    with closing(sqlite3.connect(home.database)) as connection:
        assert sessions_with_pending(connection) == []
    assert rows(home, "SELECT count(*) FROM record WHERE text LIKE '%Lyon%'") == [(0,)]
