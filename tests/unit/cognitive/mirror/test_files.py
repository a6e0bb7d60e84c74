import asyncio
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.cognitive.mirror import scan
from kenobot.cognitive.mirror.paths import FileRole, path_of, role_of
from kenobot.language.calendar import local_day, local_time
from kenobot.ports.records import Record
from kenobot.storage import disk
from tests.cases import each

RECORD = Record(1, "note", "fact", "owner", "x", "owner", "daily", "active", 1.0, 1, "", "", "2026-02-14", 1)

PLACES = [
    (RECORD, "2026-02-14.md", FileRole("owner", "daily", "2026-02-14")),
    (RECORD._replace(tier="core"), "MEMORY.md", FileRole("owner", "core")),
    (RECORD._replace(category="preference"), "identity/preferences.md", FileRole("owner", "preferences")),
    (
        RECORD._replace(scope="chat:telegram-1", form="episode"),
        "chats/telegram-1/2026-02-14.md",
        FileRole("chat:telegram-1", "daily", "2026-02-14"),
    ),
    (
        RECORD._replace(scope="chat:telegram-1", tier="core"),
        "chats/telegram-1/MEMORY.md",
        FileRole("chat:telegram-1", "core"),
    ),
    (
        RECORD._replace(scope="chat:telegram-1", form="profile", key="slot:context"),
        "chats/telegram-1/context.md",
        FileRole("chat:telegram-1", "slot", "context"),
    ),
    (
        RECORD._replace(scope="chat:telegram-1", form="scratchpad"),
        "working/telegram-1.md",
        FileRole("chat:telegram-1", "slot", "working"),
    ),
    (
        RECORD._replace(scope="user:telegram-7", category="preference"),
        "users/telegram-7/2026-02-14.md",
        FileRole("user:telegram-7", "daily", "2026-02-14"),
    ),
    (
        RECORD._replace(scope="user:telegram-7", tier="core"),
        "users/telegram-7/MEMORY.md",
        FileRole("user:telegram-7", "core"),
    ),
    (RECORD._replace(source="import"), "2026-02-14.md", FileRole("owner", "daily", "2026-02-14")),
    (RECORD._replace(tier="archive"), "archive/2026-02-14.md", FileRole("owner", "daily", "2026-02-14", archived=True)),
    (
        RECORD._replace(tier="archive", scope="chat:telegram-1", form="episode"),
        "archive/chats/telegram-1/2026-02-14.md",
        FileRole("chat:telegram-1", "daily", "2026-02-14", archived=True),
    ),
    (RECORD._replace(tier="ref:n8n"), "ref-n8n.md", FileRole("owner", "ref", "n8n")),
    (
        RECORD._replace(tier="ref:茶", scope="user:telegram-7"),
        "users/telegram-7/ref-茶.md",
        FileRole("user:telegram-7", "ref", "茶"),
    ),
    (
        RECORD._replace(form="summary", key="slot:week:2026-W07"),
        "week-2026-W07.md",
        FileRole("owner", "slot", "week:2026-W07"),
    ),
    (
        RECORD._replace(form="summary", key="slot:week:2026-W07", tier="archive", scope="chat:telegram-1"),
        "archive/chats/telegram-1/week-2026-W07.md",
        FileRole("chat:telegram-1", "slot", "week:2026-W07", archived=True),
    ),
    (RECORD._replace(form="profile", key="slot:person"), "profile.md", FileRole("owner", "slot", "person")),
    (RECORD._replace(form="profile", key="slot:identity"), "IDENTITY.md", FileRole("owner", "slot", "identity")),
    (
        RECORD._replace(form="summary", key="slot:session", scope="chat:telegram-1"),
        "chats/telegram-1/SESSION.md",
        FileRole("chat:telegram-1", "slot", "session"),
    ),
]

TOPICS = [
    ("2026-02-20-some-topic.md", FileRole("owner", "topic", "2026-02-20")),
    ("chats/c/2026-02-20-mudanza.md", FileRole("chat:c", "topic", "2026-02-20")),
    ("2026-02-20-legacy.md", FileRole("owner", "topic", "2026-02-20")),
    ("MEMORY-legacy.md", FileRole("owner", "topic")),
]


@pytest.mark.parametrize(("path", "place"), TOPICS)
def test_a_persons_topic_file_goes_by_its_date(path: str, place: FileRole) -> None:
    """Files that no record has its home in are read, too: by the date that their name begins with."""
    assert role_of(path) == place


@pytest.mark.parametrize("tier", ["ref:../../x", "ref:a/b", "ref:", "ref:a\nb", f"ref:{'x' * 300}"])
def test_no_tier_leads_out_of_the_folder(tier: str) -> None:
    """A tier that cannot be a file's name, from whatever export it came, stands in the log of its day."""
    assert path_of(RECORD._replace(tier=tier)) == "2026-02-14.md"


@pytest.mark.parametrize("key", ["slot:week:../../x", "slot:week:2026-W7", "slot:other", "k"])
def test_a_summary_of_nothing_known_stands_in_no_file(key: str) -> None:
    """Only weeks and sessions have files of their own."""
    assert path_of(RECORD._replace(form="summary", key=key)) is None


@pytest.mark.parametrize(("record", "path", "place"), PLACES)
def test_a_record_and_its_file_find_each_other(record: Record, path: str, place: FileRole) -> None:
    """The file of a record is the seeds', and the file's place says what may stand in it."""
    assert path_of(record) == path
    assert role_of(path) == place


@pytest.mark.parametrize("form", ["procedure", "entity", "box", "summary", "question"])
def test_other_forms_stand_in_no_file_of_the_mirror(form: str) -> None:
    """What has no line in the seeds' tree has none here."""
    assert path_of(RECORD._replace(form=form)) is None


@each(
    "path",
    [
        "notes.md", "2026-02-30.md", "20260214.md", "MEMORY.md~", ".MEMORY.md.swp", ".#MEMORY.md", "MEMORY",
        "archive/MEMORY.md", "archive/ref-x.md", "identity/core.md", "identity/MEMORY.md", "chats/MEMORY.md",
        "chats/a b/MEMORY.md",
        "chats/../MEMORY.md", "chats/x/y/MEMORY.md", "working/a b.md", "working/x/y.md", "facts/2026-02-14.md",
        ".kenobot-0123456789abcdef.tmp", "chats/x/notes.md", "memory.md", "week-2026-W54.md", "2026-02-30-topic.md",
        "archive/2026-02-14-topic.md", "archive/working/x.md", ".x-legacy.md", "context.md", "archive/facts/x.md",
    ],
)  # fmt: skip
def test_other_files_are_left_alone(path: str) -> None:
    """Backups, hidden files and whatever else a person keeps there are none of the mirror's."""
    assert role_of(path) is None


def test_a_scan_finds_memory_and_nothing_else(tmp_path: Path) -> None:
    """Links are not followed, wherever they lead."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "MEMORY.md").write_text("- not ours")
    root = tmp_path / "memory"
    wanted = [
        "MEMORY.md", "2026-02-14.md", "chats/c/context.md", "users/u/2026-02-14.md", "working/c.md", "ref-n8n.md",
        "archive/2025-01-01.md", "archive/chats/c/week-2025-W01.md", "2026-02-20-move.md",
    ]  # fmt: skip
    for path in [*wanted, "identity/preferences.md", "identity/core.md", "archive/notes.md", "notes.md"]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / "chats" / "linked").symlink_to(outside)
    (root / "2026-02-15.md").symlink_to(outside / "MEMORY.md")
    (root / "2026-02-16.md").mkdir()
    assert set(scan.list_files(root, {})) == {*wanted, "identity/preferences.md"}
    assert scan.list_files(tmp_path / "absent", {}) == {}


async def test_a_file_is_replaced_whole_and_kept_private(tmp_path: Path) -> None:
    """The file is for its owner alone, and nothing half-written stays beside it."""
    stamp = await disk.replace(tmp_path / "m", "chats/c/MEMORY.md", "- ñ 你好\n", None)
    target = tmp_path / "m" / "chats" / "c" / "MEMORY.md"
    assert target.read_text("utf-8") == "- ñ 你好\n"
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in target.parent.iterdir()] == ["MEMORY.md"]
    assert scan.list_files(tmp_path / "m", {}) == {"chats/c/MEMORY.md": stamp}


async def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """Whoever saved in between wins; the caller looks again."""
    stamp = await disk.replace(tmp_path, "MEMORY.md", "- a\n", None)
    (tmp_path / "MEMORY.md").write_text("- b\n")
    assert await disk.replace(tmp_path, "MEMORY.md", "- c\n", stamp) is None
    assert await disk.replace(tmp_path, "MEMORY.md", "- c\n", None) is None
    assert not disk.remove(tmp_path, "MEMORY.md", stamp)
    assert (tmp_path / "MEMORY.md").read_text() == "- b\n"
    assert [path.name for path in tmp_path.iterdir()] == ["MEMORY.md"]


async def test_an_edit_right_after_a_write_is_seen(tmp_path: Path) -> None:
    """A save of as many bytes, within the same tick of the disk's clock, still shows."""
    stamp = await disk.replace(tmp_path, "MEMORY.md", "- a\n", None)
    written = (tmp_path / "MEMORY.md").stat()
    assert written.st_mtime_ns < written.st_ctime_ns - 5_000_000  # older than any tick in which an edit can fall
    (tmp_path / "MEMORY.md").write_text("- b\n")
    assert scan.list_files(tmp_path, {})["MEMORY.md"] != stamp


async def test_reading_tells_text_absence_and_trouble_apart(tmp_path: Path) -> None:
    """A byte-order mark is dropped; what cannot be read as text is named, never guessed at."""
    assert await disk.read(tmp_path, "MEMORY.md") == disk.ReadResult()
    (tmp_path / "MEMORY.md").write_bytes(b"\xef\xbb\xbf- caf\xc3\xa9\r\n")
    assert (await disk.read(tmp_path, "MEMORY.md")).text == "- café\r\n"
    (tmp_path / "MEMORY.md").write_bytes(b"- caf\xe9\n")
    assert "not UTF-8" in (await disk.read(tmp_path, "MEMORY.md")).problem
    with (tmp_path / "2026-02-14.md").open("wb") as file:
        file.truncate(disk.MAX_FILE_BYTES + 1)
    assert "larger than 5 MB" in (await disk.read(tmp_path, "2026-02-14.md")).problem
    os.mkfifo(tmp_path / "2026-02-15.md")
    assert "not a plain file" in (await asyncio.wait_for(disk.read(tmp_path, "2026-02-15.md"), 60)).problem
    (tmp_path / "chats").symlink_to(tmp_path)
    assert "link" in (await disk.read(tmp_path, "chats/c/MEMORY.md")).problem


async def test_a_file_begun_is_ended_when_its_writer_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is all there, and neither an open file nor a temporary one is left to be found later."""
    loop, opening, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    real = disk._write_one

    def slow(target: str, file: disk.PendingFile) -> disk.FileStamp | None:
        loop.call_soon_threadsafe(opening.set)
        go_on.wait(10)
        return real(target, file)

    monkeypatch.setattr(disk, "_write_one", slow)
    writer = asyncio.create_task(disk.replace(tmp_path, "MEMORY.md", "- café\n", None))
    async with asyncio.timeout(60):
        await opening.wait()
        writer.cancel()
        await asyncio.wait([writer], timeout=0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await writer
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {"MEMORY.md": "- café\n"}


def test_what_a_crash_left_half_written_is_swept_away(tmp_path: Path) -> None:
    """Only our own temporary files go."""
    (tmp_path / "chats" / "c").mkdir(parents=True)
    for path in [".kenobot-0123456789abcdef.tmp", "chats/c/.kenobot-0123456789abcdef.tmp", ".kenobot-mine.tmp"]:
        (tmp_path / path).touch()
    disk.remove_leftovers(tmp_path, scan.list_folders(tmp_path))
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {".kenobot-mine.tmp"}


def test_a_day_is_the_owners_day() -> None:
    """The calendar follows the owner's zone, not the machine's."""
    late = datetime(2026, 2, 14, 23, 30, tzinfo=UTC)
    assert (local_day(late, ZoneInfo("Europe/Madrid")), local_time(late, ZoneInfo("Europe/Madrid"))) == (
        "2026-02-15",
        "00:30",
    )
    assert local_day(late, ZoneInfo("America/Mexico_City")) == "2026-02-14"
