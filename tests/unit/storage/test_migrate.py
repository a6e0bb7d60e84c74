"""The schema: a database is brought up to date, or left alone to the last byte."""

import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.ports.errors import ConfigError, KenobotError, StoreCorrupt, StoreError
from kenobot.storage import migrate
from kenobot.storage.connection import Connection, connect
from kenobot.storage.database import Database
from tests.samples import scalar

_SHIPPED = migrate.migrations()
_NEWEST = _SHIPPED[-1][0]


def _keep(key: str) -> Callable[[Connection], object]:
    return lambda connection: connection.execute("INSERT INTO key_value (key, value) VALUES (?, '1')", (key,))


def _keys(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT key FROM key_value ORDER BY key")]


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def _open(folder: Path) -> None:
    await Database.open(folder / "kenobot.db", folder / "backups").close()


async def test_the_file_is_for_its_owner_only(tmp_path: Path, database: Database) -> None:
    """The database and its companions are readable by nobody else."""
    await database.write(_keep("private"))
    files = sorted(tmp_path.glob("kenobot.db*"))
    assert [file.name for file in files] == ["kenobot.db", "kenobot.db-shm", "kenobot.db-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize(
    "content", [b"# not a database\n", b"x" * 5000, b"\0" * 4096, b"SQLite format 3\0" + b"\0" * 900]
)
async def test_what_is_not_a_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """A damaged file is reported and stays exactly as it was."""
    (tmp_path / "kenobot.db").write_bytes(content)
    (tmp_path / "kenobot.db").chmod(0o600)
    with pytest.raises(StoreCorrupt):
        await _open(tmp_path)
    assert _listing(tmp_path) == {"kenobot.db": content}


async def test_a_folder_in_its_place_is_for_a_person_to_mend(tmp_path: Path) -> None:
    """What cannot be opened at all is a ConfigError that names the file."""
    (tmp_path / "kenobot.db").mkdir()
    with pytest.raises(ConfigError, match=r"kenobot\.db"):
        await _open(tmp_path)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreError),
        (sqlite3.SQLITE_IOERR_READ, StoreError),
        (sqlite3.SQLITE_BUSY, StoreError),
        (sqlite3.SQLITE_FULL, StoreError),
        (sqlite3.SQLITE_CANTOPEN, ConfigError),
        (sqlite3.SQLITE_READONLY_DIRECTORY, ConfigError),
    ],
)
async def test_what_passes_by_itself_is_not_for_a_person_to_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[KenobotError]
) -> None:
    """A failing disk is a StoreError, rights are a ConfigError (SQLite 3.46, sqlite.org/rescode.html)."""

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(kind, match=r"kenobot\.db|database"):
        migrate.open_writer(tmp_path / "kenobot.db")


async def test_a_missing_folder_is_for_a_person_to_mend(tmp_path: Path) -> None:
    """The folder is the home's affair, the database does not make it."""
    with pytest.raises(ConfigError):
        await _open(tmp_path / "nowhere")


async def test_a_newer_database_is_refused_untouched(tmp_path: Path) -> None:
    """A file from a newer KenoBot keeps every byte, and nothing appears beside it."""
    await _open(tmp_path)
    connection = sqlite3.connect(tmp_path / "kenobot.db")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.close()
    before = _listing(tmp_path)
    with pytest.raises(ConfigError, match="newer KenoBot"):
        await _open(tmp_path)
    assert _listing(tmp_path) == before


@pytest.mark.parametrize("files", [("", "-wal"), ("", "-wal", "-shm")])
async def test_a_newer_version_that_stands_only_in_the_log_is_refused_untouched(
    tmp_path: Path, files: tuple[str, ...]
) -> None:
    """After a kill the newer version may not have reached the main file yet; it counts all the same."""
    await _open(tmp_path)
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(tmp_path / "kenobot.db")
    connection.execute("CREATE TABLE filler (x)")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.execute("INSERT INTO filler VALUES (1)")
    connection.commit()
    for file in files:
        shutil.copy(tmp_path / f"kenobot.db{file}", killed / f"kenobot.db{file}")
    connection.close()
    before = _listing(killed)
    assert int.from_bytes(before["kenobot.db"][60:64], "big") == _NEWEST
    with pytest.raises(ConfigError, match="newer KenoBot"):
        await _open(killed)
    assert _listing(killed) == before


async def test_a_newer_version_that_was_never_committed_does_not_count(tmp_path: Path) -> None:
    """What SQLite itself would discard from the log is no reason to refuse."""
    await _open(tmp_path)
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(tmp_path / "kenobot.db", isolation_level=None)
    connection.execute("CREATE TABLE filler (x)")
    committed = (tmp_path / "kenobot.db-wal").stat().st_size
    connection.execute("BEGIN")
    connection.execute(f"PRAGMA user_version = {_NEWEST + 1}")
    connection.execute("CREATE TABLE more (x)")
    connection.execute("COMMIT")
    shutil.copy(tmp_path / "kenobot.db", killed)
    log = (tmp_path / "kenobot.db-wal").read_bytes()
    assert len(log) > committed + 2000
    (killed / "kenobot.db-wal").write_bytes(log[:-2000])
    connection.close()
    await _open(killed)


async def test_a_database_that_was_killed_opens_with_all_it_had(tmp_path: Path, database: Database) -> None:
    """What stands only in the log is there after a kill."""
    await database.write(_keep("precious"))
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in ("kenobot.db", "kenobot.db-wal"):
        shutil.copy(tmp_path / file, killed)
    again = Database.open(killed / "kenobot.db", killed / "backups")
    assert await again.read(_keys) == ["precious"]
    await again.close()


# ── migrations ───────────────────────────────────────────────────────────────────────────────────────────────────


def _ship(monkeypatch: pytest.MonkeyPatch, *scripts: str) -> None:
    extra = [(_NEWEST + number, script) for number, script in enumerate(scripts, 1)]
    monkeypatch.setattr(migrate, "migrations", lambda: [*_SHIPPED, *extra])


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a link"])
async def test_a_log_without_its_database_is_refused_untouched(tmp_path: Path, database: Database, left: str) -> None:
    """SQLite would drop what only the log holds, without a word: here it stays, and the sentence names it."""
    await database.write(_keep("kept"))
    home = tmp_path / "killed"
    home.mkdir()
    shutil.copyfile(tmp_path / "kenobot.db-wal", home / "kenobot.db-wal")
    if left == "an empty file":
        (home / "kenobot.db").touch()
    elif left == "a link":
        shutil.copyfile(tmp_path / "kenobot.db", tmp_path / "elsewhere")
        (home / "kenobot.db").symlink_to(tmp_path / "elsewhere")
    before = _listing(home)
    with pytest.raises(StoreCorrupt, match=r"kenobot\.db-wal holds what was written last"):
        migrate.check(home / "kenobot.db")
    assert _listing(home) == before


async def test_a_folder_in_the_place_of_its_index_is_for_a_person_to_mend(tmp_path: Path) -> None:
    """The sentence names it, instead of speaking of a full disk."""
    (tmp_path / "kenobot.db-shm").mkdir()
    with pytest.raises(ConfigError, match=r"kenobot\.db-shm is a folder"):
        migrate.check(tmp_path / "kenobot.db")


async def test_the_migrations_are_numbered_without_gaps() -> None:
    """1, 2, 3 … so that a number says what a database has been through."""
    assert [number for number, _ in _SHIPPED] == list(range(1, len(_SHIPPED) + 1))


async def test_a_new_database_needs_no_backup(tmp_path: Path) -> None:
    """There is nothing yet to keep."""
    await _open(tmp_path)
    assert not (tmp_path / "backups").exists()


async def test_each_migration_is_preceded_by_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy holds everything as it was, at the version it was, for the owner's eyes only."""
    database = Database.open(tmp_path / "kenobot.db", tmp_path / "backups")
    await database.write(_keep("old"))
    await database.close()
    _ship(monkeypatch, "CREATE TABLE one (x);", "CREATE TABLE two (x); INSERT INTO key_value VALUES ('new', '1');")
    await _open(tmp_path)
    names = [f"kenobot-before-{_NEWEST + number:04d}.db" for number in (1, 2)]
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == names
    for number, name in enumerate(names):
        assert stat.S_IMODE((tmp_path / "backups" / name).stat().st_mode) == 0o600
        copy = connect(tmp_path / "backups" / name, readonly=True)
        assert _keys(copy) == ["old"]
        assert copy.execute("PRAGMA user_version").fetchone() == (_NEWEST + number,)
        copy.close()
    await _open(tmp_path)
    assert len(list((tmp_path / "backups").iterdir())) == 2


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database stays at the version before it, and the backup is there."""
    await _open(tmp_path)
    _ship(monkeypatch, "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(ConfigError):
        await _open(tmp_path)
    connection = connect(tmp_path / "kenobot.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (_NEWEST,)
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []
    connection.close()
    assert len(list((tmp_path / "backups").iterdir())) == 1


async def test_a_backup_that_cannot_be_made_stops_the_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a copy nothing is changed, and a person is told."""
    await _open(tmp_path)
    (tmp_path / "backups").write_text("in the way")
    _ship(monkeypatch, "CREATE TABLE one (x);")
    with pytest.raises(ConfigError):
        await _open(tmp_path)
    connection = connect(tmp_path / "kenobot.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (_NEWEST,)
    connection.close()


async def test_only_the_newest_backups_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five of them, so that a disk does not fill with copies; the one from before the update is always among them."""
    await _open(tmp_path)
    _ship(monkeypatch, *(f"CREATE TABLE t{number} (x);" for number in range(8)))
    await _open(tmp_path)
    kept = sorted(path.name for path in (tmp_path / "backups").iterdir())
    assert kept == [f"kenobot-before-{_NEWEST + number:04d}.db" for number in (1, 5, 6, 7, 8)]


@pytest.mark.parametrize("table", ["inbox", "outbox", "message", "record", "event"])
async def test_a_number_is_never_given_twice(database: Database, table: str) -> None:
    """Rows elsewhere refer to these numbers, so the newest row's must not come back after it was pruned."""
    sql = await scalar(database, "SELECT sql FROM sqlite_master WHERE name = ?", table)
    assert "PRIMARY KEY AUTOINCREMENT" in str(sql)


_JOB = (
    "INSERT INTO job (kind, text, person, scope, channel, chat, private, language, start_local, state, trust, origin, "
    "created) VALUES (?, 'x', ?, 'user:owner', ?, ?, ?, 'en', '2026-01-01T09:00', 'active', 'owner', ?, '2026-01-01')"
)


@pytest.mark.parametrize(
    ("job", "account"),
    [
        (("reminder", "owner", "matrix", "!room", 1, 1), "@ana"),
        (("morning", "owner", "matrix", "!room", 1, None), "@ana"),
        (("reminder", "owner", "telegram", "7", 1, 1), "7"),
        (("reminder", "owner", "telegram", "555", 1, None), ""),
        (("reminder", "owner", "matrix", "!group", 0, 1), ""),
        (("reminder", "user:telegram-8", "telegram", "8", 1, 1), ""),
    ],
    ids=["asked for in a chat", "the morning word", "a chat of Telegram", "placed by a command", "a group", "a guest"],
)
async def test_a_reminder_of_an_older_version_is_of_the_account_that_wrote_in_its_chat(
    tmp_path: Path, job: tuple[object, ...], account: str
) -> None:
    """One that a command placed is told where it was placed, whoever that is."""
    with closing(connect(tmp_path / "kenobot.db")) as connection:
        for number, script in _SHIPPED:
            if number < 29:
                connection.executescript(script)
        connection.execute("PRAGMA user_version = 28")
        connection.execute(
            "INSERT INTO inbox (channel, external_id, chat, session, sender, sender_name, private, text, sent_at, "
            "received_at, trace, state) VALUES ('matrix', '1', '!room', 'm', '@ana', 'Ana', 1, 'hi', "
            "'2026-01-01T09:00:00+00:00', '2026-01-01T09:00:00+00:00', 't', 'answered')"
        )
        connection.execute(_JOB, job)
    await _open(tmp_path)
    with closing(connect(tmp_path / "kenobot.db")) as connection:
        assert connection.execute("SELECT account FROM job").fetchall() == [(account,)]
