"""`kenobot doctor`: each thing that is broken is found, named with what to do, and mended where that is safe."""

import getpass
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.cli.setup import service_check
from kenobot.core.settings.home import Home
from kenobot.storage.backup.backups import BackupPlan, make_backup
from kenobot_deploy import service
from kenobot_testing.clock import START

from .conftest import Cli

pytestmark = pytest.mark.usefixtures("by_words")

_SETTINGS = '[channels]\nenabled = ["telegram"]\n[channels.telegram]\nowners = ["1"]\n'


@pytest.fixture
def well(cli: Cli, made: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which nothing is wrong."""
    home = made
    cli("memory", "remember", "My sister lives in Bilbao")
    (home.path / "kenobot.toml").write_text(_SETTINGS)
    (home.path / "kenobot.toml").chmod(0o600)
    token = home.credentials / "telegram_token"
    token.write_text("123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    token.chmod(0o600)
    make_backup(home, BackupPlan(home.backups), START, lambda done, whole: None)
    if os.geteuid() == 0:
        os.chown(home.path, 1000, 1000)
        monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(service_check, "is_refused", lambda *_: False)
    return home


def _found(cli: Cli, check: str) -> tuple[int, list[tuple[str, str]]]:
    """The exit code, and what a check found that is not well: severity and text."""
    code, printed, _ = cli("doctor", "--json")
    rows = [json.loads(line) for line in printed.splitlines()]
    assert all(row["advice"] for row in rows if row["severity"] != "ok")
    return code, [(r["severity"], r["text"]) for r in rows if r["check"] == check and r["severity"] != "ok"]


def test_a_bot_that_is_well_has_no_warnings(cli: Cli, well: Home) -> None:
    assert cli("doctor", "--json")[0] == 0


def _forget_the_sender(home: Home) -> None:
    (home.path / "kenobot.toml").write_text("[bot]\nnmae = 1\n")


def _open_to_all(home: Home) -> None:
    home.path.chmod(0o755)


def _cut_the_database(home: Home) -> None:
    home.database.write_bytes(home.database.read_bytes()[:40_000])


def _scramble_the_schema(home: Home) -> None:
    whole = home.database.read_bytes()
    at = whole.index(b"CREATE TABLE record")
    home.database.write_bytes(whole[:at] + b"\xff\xfe" + whole[at + 2 :])


def _write_a_row_that_is_not_allowed(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE record SET status = 'moon'")


def _scramble_the_index(home: Home) -> None:
    home.index.write_bytes(b"no database at all" * 1000)


def _delete_a_file(home: Home) -> None:
    next(home.memory.glob("2*.md")).unlink()


def _edit_a_file(home: Home) -> None:
    path = next(home.memory.glob("2*.md"))
    path.write_text(path.read_text() + "\n- one more\n")


def _letter(home: Home, state: str, at: str) -> None:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as database:
        database.execute(
            "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace, state, "
            "done_at) VALUES ('telegram', '1', '42', 's', '42', 'hello', ?, ?, 't', ?, ?)",
            (at, at, state, None if state == "pending" else at),
        )


def _leave_a_message_waiting(home: Home) -> None:
    _letter(home, "pending", "2026-02-14T07:00:00.000001+00:00")


def _fail_a_message(home: Home) -> None:
    _letter(home, "dead", "2026-02-14T07:00:00.000001+00:00")


def _be_ahead_of_the_clock(home: Home) -> None:
    _letter(home, "answered", "2031-02-14T07:00:00.000001+00:00")


def _lose_the_backups(home: Home) -> None:
    for path in home.backups.glob("*.tar.gz"):
        path.unlink()


def _restore_a_backup(home: Home) -> None:
    (home.path / "replaced-20260214T070000Z-x").mkdir()


def _take_the_token(home: Home) -> None:
    (home.credentials / "telegram_token").unlink()


def _have_no_owner(home: Home) -> None:
    (home.path / "kenobot.toml").write_text(_SETTINGS.replace("owners", "allowed_users"))


def _write_a_secret_into_the_settings(home: Home) -> None:
    (home.credentials / "telegram_token").unlink()
    token = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    (home.path / "kenobot.toml").write_text(f'{_SETTINGS}token = "{token}"\n')


def _open_a_port(home: Home) -> None:
    (home.path / "kenobot.toml").write_text(
        _SETTINGS.replace('"telegram"]', '"telegram", "http"]') + '[channels.http]\nhost = "0.0.0.0"\n'
    )


def _enable_a_broken_plugin(home: Home) -> None:
    (home.plugins).mkdir(mode=0o700)
    plugin = home.plugins / "weather.py"
    plugin.write_text("raise RuntimeError('no forecast')\n")
    plugin.chmod(0o600)
    (home.path / "kenobot.toml").write_text(f'{_SETTINGS}[plugins]\nenabled = ["weather"]\n')


def _cut_off_a_restore(home: Home) -> None:
    home.begin_restore()


@pytest.mark.parametrize(
    ("break_it", "check", "code", "severity", "words"),
    [
        (_forget_the_sender, "settings", 1, "error", "bot.nmae"),
        (_open_to_all, "rights", 1, "error", "Other accounts"),
        (_cut_the_database, "database", 1, "error", "damaged"),
        (_scramble_the_schema, "database", 1, "error", "damaged"),
        (_write_a_row_that_is_not_allowed, "database", 1, "error", "CHECK constraint failed in record"),
        (_cut_off_a_restore, "database", 1, "error", "cut off"),
        (_be_ahead_of_the_clock, "clock", 1, "error", "clock"),
        (_scramble_the_index, "index", 3, "warning", "search index is damaged"),
        (_delete_a_file, "files", 3, "warning", "are gone"),
        (_edit_a_file, "files", 0, "note", "not read yet"),
        (_leave_a_message_waiting, "messages", 3, "warning", "waits since"),
        (_fail_a_message, "messages", 0, "note", "1 messages"),
        (_lose_the_backups, "backups", 0, "note", "no backup"),
        (_restore_a_backup, "replaced", 0, "note", "replaced-2026"),
        (_take_the_token, "plugins", 1, "error", "telegram cannot be used"),
        (_have_no_owner, "access", 3, "warning", "no owner"),
        (_write_a_secret_into_the_settings, "secrets", 3, "warning", "channels.telegram.token"),
        (_open_a_port, "exposure", 3, "warning", "0.0.0.0"),
        (_enable_a_broken_plugin, "plugins", 3, "warning", "weather is off"),
    ],
)
def test_what_is_broken_is_found(
    cli: Cli, well: Home, break_it: Callable[[Home], None], check: str, code: int, severity: str, words: str
) -> None:
    break_it(well)
    returned, found = _found(cli, check)
    assert [one for one in found if one[0] == severity and words in one[1]]
    assert returned >= code if code == 3 else returned == code


def test_services_that_refuse_or_are_silent_are_told_apart(
    cli: Cli, well: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_check, "is_refused", lambda *_: None)
    code, found = _found(cli, "services")
    assert (code, found[0][0]) == (3, "warning")
    monkeypatch.setattr(service_check, "is_refused", lambda *_: True)
    code, found = _found(cli, "services")
    assert (code, found) == (1, [("error", "Telegram refuses the key.")])


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_key_that_is_missing_is_told_alone(
    cli: Cli, well: Home, monkeypatch: pytest.MonkeyPatch, answer: bool | None
) -> None:
    """Nothing is asked of a service without the key that it needs: the plugin says that it has none."""
    _take_the_token(well)
    monkeypatch.setattr(service_check, "is_refused", lambda *_: answer)
    assert _found(cli, "services")[1] == []
    assert "has no bot token" in _found(cli, "plugins")[1][0][1]


def test_a_full_disk_is_an_error(cli: Cli, well: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert _found(cli, "disk")[1][0][0] == "error"


def test_what_is_safe_is_mended(cli: Cli, well: Home) -> None:
    _open_to_all(well)
    _scramble_the_index(well)
    assert cli("doctor", "--fix")[0] == 0
    assert well.path.stat().st_mode & 0o077 == 0
    assert not well.index.exists()
    assert cli("memory", "recall", "sister")[0] == 0


def test_a_home_that_cannot_be_written_to_is_an_error(cli: Cli, well: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != well.path and allowed(path, mode))
    assert ("error", f"{well.path} cannot be written to.") in _found(cli, "rights")[1]


def test_memory_files_that_cannot_be_looked_at_are_not_said_to_be_gone(
    cli: Cli, well: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "lstat", refuse)
    code, found = _found(cli, "files")
    assert (code, [severity for severity, _ in found]) == (1, ["error"])
    assert "could not be checked" in found[0][1]


def test_the_index_of_a_running_bot_is_not_taken_away(cli: Cli, well: Home) -> None:
    _scramble_the_index(well)
    with well.lock():
        assert "stop the bot first" in cli("doctor", "--fix")[1]
    assert well.index.exists()


@pytest.mark.usefixtures("by_words")  # a model's own cache is written where it is first loaded
def test_nothing_is_changed_without_being_asked(cli: Cli, well: Home) -> None:
    _open_to_all(well)
    _scramble_the_index(well)
    before = {path: path.stat().st_mtime_ns for path in well.path.rglob("*") if path.is_file()}
    cli("doctor")
    after = {path: path.stat().st_mtime_ns for path in well.path.rglob("*") if path.is_file()}
    assert {path.name for path in after.keys() ^ before.keys()} <= {"kenobot.lock", "kenobot.db-wal", "kenobot.db-shm"}
    assert all(after[path] == then for path, then in before.items() if path.name in ("kenobot.db", "index.db"))


def test_a_running_bot_is_examined_beside_its_work(cli: Cli, well: Home) -> None:
    with well.lock():
        assert _found(cli, "running") == (0, [])


def test_no_home_is_said(cli: Cli, tmp_path: Path) -> None:
    assert cli("--home", str(tmp_path / "nowhere"), "doctor")[0] == 2


# ── the installed service ────────────────────────────────────────────────────────────────────────────────────────────

_SYSTEMCTL = """#!/bin/sh
case "$*" in
    *is-enabled*) cat "{folder}/enabled" ;;
    *is-active*) cat "{folder}/active" ;;
esac
"""


@pytest.fixture
def unit(cli: Cli, well: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A service as `kenobot service install` leaves it, on a machine whose systemd answers from files."""
    (tmp_path / "bin").mkdir()
    for name, text in (("enabled", "enabled"), ("active", "active")):
        (tmp_path / name).write_text(text)
    program = tmp_path / "bin" / "systemctl"
    program.write_text(_SYSTEMCTL.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(service, "MACHINE_FOLDER", tmp_path / "etc")
    monkeypatch.setattr(service, "_LINGER", tmp_path / "linger")
    (tmp_path / "linger").mkdir()
    (tmp_path / "linger" / getpass.getuser()).touch()
    assert cli("service", "install")[0] == 0
    return tmp_path / "config" / "systemd" / "user" / "kenobot.service"


def test_a_service_that_is_as_installed_is_well(cli: Cli, unit: Path) -> None:
    assert _found(cli, "service") == (0, [])


def _edit_the_unit(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("NoNewPrivileges=yes\n", ""))


def _lose_the_python(unit: Path) -> None:
    unit.write_text(unit.read_text().replace(sys.executable, "/old/bin/python"))


def _lose_a_credential(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("[Service]\n", "[Service]\nLoadCredential=telegram_token:/old/token\n"))


def _disable(unit: Path) -> None:
    (unit.parents[3] / "enabled").write_text("disabled")


def _fail(unit: Path) -> None:
    (unit.parents[3] / "active").write_text("failed")


def _linger_no_more(unit: Path) -> None:
    (unit.parents[3] / "linger" / getpass.getuser()).unlink()


def _install_for_the_machine_too(unit: Path) -> None:
    folder = unit.parents[3] / "etc"
    folder.mkdir()
    (folder / unit.name).write_text(unit.read_text())


@pytest.mark.parametrize(
    ("break_it", "severity", "words"),
    [
        (_edit_the_unit, "warning", "not the one that this KenoBot installs"),
        (_lose_the_python, "error", "/old/bin/python, which is gone"),
        (_lose_a_credential, "error", "/old/token, which is gone"),
        (_disable, "warning", "not enabled"),
        (_fail, "error", "has failed"),
        (_linger_no_more, "warning", "ends when you log out"),
        (_install_for_the_machine_too, "warning", "Two services"),
    ],
)
def test_what_is_wrong_with_the_service_is_found(
    cli: Cli, unit: Path, break_it: Callable[[Path], None], severity: str, words: str
) -> None:
    break_it(unit)
    code, found = _found(cli, "service")
    assert code == (1 if severity == "error" else 3)
    assert [one for one in found if one[0] == severity and words in one[1]], found


def test_a_service_of_another_home_is_none_of_this_ones(cli: Cli, unit: Path) -> None:
    unit.write_text(unit.read_text().replace("--home ", "--home /elsewhere"))
    assert _found(cli, "service") == (0, [])


def test_a_channel_whose_owner_nobody_changed_has_one(cli: Cli, well: Home) -> None:
    """As that of http, where programs talk as the owner."""
    _open_a_port(well)
    assert not [text for severity, text in _found(cli, "access")[1] if severity == "warning"]


def test_tools_skills_and_servers_are_looked_over(cli: Cli, well: Home) -> None:
    """Each tool that is off is named with what to do; none of them keeps the bot from running."""
    (well.path / "kenobot.toml").write_text(
        _SETTINGS
        + '[tools]\nenabled = ["default", "http_request"]\n[tools.web_search]\nengine = "brave"\n'
        + '[mcp.hub]\ncommand = "not-there"\n[mcp.half]\nseconds = 3\n'
    )
    (well.skills / "forms").mkdir(parents=True)
    code, tools = _found(cli, "tools")
    assert code == 3
    assert [(severity, text.partition(" is off: ")[0]) for severity, text in tools] == [
        ("warning", "mcp.half"),
        ("warning", "web_search"),
        ("warning", "http_request"),
    ]
    assert _found(cli, "servers")[1] == [("note", "The MCP server hub has not offered any tools yet.")]
    assert [severity for severity, _ in _found(cli, "skills")[1]] == ["warning"]
    assert not _found(cli, "plugins")[1]
