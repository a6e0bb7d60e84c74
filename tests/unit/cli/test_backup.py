"""`kenobot backup` and `kenobot restore`: a home as one file, whole or not at all, and back."""

import gzip
import json
import sqlite3
import stat
import sys
import tarfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.storage import browser_sessions, keyboards, migrate

from .conftest import Cli

pytestmark = pytest.mark.usefixtures("by_words")


@pytest.fixture
def kept(cli: Cli, made: Home) -> Path:
    """A home with a memory and a key, and its backup."""
    home = made
    home.seed_identity()
    cli("memory", "remember", "My sister lives in Bilbao")
    (home.credentials / "telegram_token").write_text("123456789:AAF-secret_secret_secret_secret_sec")
    (home.credentials / "telegram_token").chmod(0o600)
    (home.path / "kenobot.toml").write_text('[bot]\nname = "Keno"\n')
    code, printed, said = cli("backup", "--json")
    assert code == 0, said
    return Path(json.loads(printed)["file"])


def _memories(cli: Cli) -> list[str]:
    return [json.loads(line)["text"] for line in cli("memory", "list", "--json")[1].splitlines()]


def test_a_backup_is_one_file_for_its_owner_without_keys_and_what_is_made_anew(kept: Path, home: Home) -> None:
    with tarfile.open(kept) as tar:
        names = tar.getnames()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert {"manifest.json", "home/kenobot.db", "home/kenobot.toml", "home/memory/identity/core.md"} <= {*names}
    assert not [name for name in names if "credentials" in name or "index.db" in name or ".lock" in name]
    assert not [path for path in home.path.iterdir() if path.name.startswith(".backup-")]


def test_what_was_learned_after_a_backup_is_set_aside_by_restoring_it(kept: Path, cli: Cli, home: Home) -> None:
    cli("memory", "remember", "The cat is called Tom")
    code, printed, _ = cli("restore", str(kept), "--yes", "--json")
    replaced = Path(json.loads(printed)["replaced"])
    assert (code, _memories(cli)) == (0, ["My sister lives in Bilbao"])
    assert (home.credentials / "telegram_token").read_text() == "123456789:AAF-secret_secret_secret_secret_sec"
    with closing(sqlite3.connect(replaced / "kenobot.db", isolation_level=None)) as before:
        assert before.execute("SELECT count(*) FROM record WHERE text LIKE '%Tom%'").fetchone() == (1,)


def test_a_new_machine_goes_on_from_a_backup(
    kept: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENOBOT_HOME", str(tmp_path / "elsewhere"))
    code, printed, _ = cli("restore", str(kept), "--yes")
    assert code == 0
    assert "no credentials" in printed
    assert _memories(cli) == ["My sister lives in Bilbao"]
    assert cli("config", "get", "bot.name")[1].strip() == "Keno"


def test_messages_that_were_on_their_way_are_neither_answered_nor_sent_again(
    cli: Cli, home: Home, database: sqlite3.Connection
) -> None:
    at = "2026-02-14T07:00:00.000001+00:00"
    database.execute(
        "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace) "
        "VALUES ('telegram', '1', '42', 's', '42', 'are you there?', ?, ?, 't')",
        (at, at),
    )
    database.execute(
        "INSERT INTO outbox (inbox_id, part, channel, chat, text, trace, created_at) "
        "VALUES (1, 0, 'telegram', '42', 'yes', 't', ?)",
        (at,),
    )
    database.commit()
    archive = json.loads(cli("backup", "--json")[1])["file"]
    database.close()
    assert cli("restore", archive, "--yes")[0] == 0
    letters = [json.loads(line) for line in cli("deadletter", "list", "--json")[1].splitlines()]
    assert [(letter["id"], letter["state"]) for letter in letters] == [("in-1", "expired"), ("out-1", "undelivered")]
    assert cli("deadletter", "retry", "in-1")[0] == 0


def test_a_file_is_as_it_was_when_the_database_was(cli: Cli, home: Home) -> None:
    """Nobody can write to the database while files are copied; a file that is appended to later keeps its length."""
    cli("memory", "remember", "My sister lives in Bilbao")
    listed = next(home.memory.glob("2*.md"))
    before = listed.read_text()
    archive = json.loads(cli("backup", "--json")[1])["file"]
    with listed.open("a") as file:
        file.write("- appended later\n")
    assert cli("restore", archive, "--yes")[0] == 0
    assert next(home.memory.glob("2*.md")).read_text() == before


@pytest.mark.parametrize("cut", [10, 400, 0.5, 0.99])
def test_a_backup_that_is_cut_off_changes_nothing(kept: Path, cli: Cli, cut: float) -> None:
    whole = kept.read_bytes()
    kept.write_bytes(whole[: int(cut if cut > 1 else cut * len(whole))])
    code, _, said = cli("restore", str(kept), "--yes")
    assert code == 1
    assert "cut off or damaged" in said
    assert _memories(cli) == ["My sister lives in Bilbao"]


@pytest.mark.parametrize(
    "junk",
    [b"x" * 40, b"\0" * 40, b"\0", gzip.compress(b""), gzip.compress(b"\0" * 10_240), gzip.compress(b"x")],
    ids=["text", "zeros", "one zero", "an empty gzip", "a gzip of zeros", "a gzip"],
)
def test_a_backup_with_junk_behind_it_is_refused(kept: Path, cli: Cli, junk: bytes) -> None:
    """Every byte counts, also what gunzip 1.12 and CPython 3.11's tarfile pass over."""
    assert cli("restore", str(kept), "--check")[0] == 0
    with kept.open("ab") as file:
        file.write(junk)
    code, _, said = cli("restore", str(kept), "--yes")
    assert (code, "something stands behind its end" in said) == (1, True)
    assert _memories(cli) == ["My sister lives in Bilbao"]


def test_a_backup_with_junk_within_it_is_refused(kept: Path, cli: Cli) -> None:
    """Behind the last file of the tar, within the gzip."""
    whole = gzip.decompress(kept.read_bytes())
    kept.write_bytes(gzip.compress(whole[:-20] + b"x" * 20))
    code, _, said = cli("restore", str(kept), "--check")
    assert (code, "something stands behind its last file" in said) == (1, True)
    kept.write_bytes(gzip.compress(whole)[:-8] + bytes(8))
    assert cli("restore", str(kept), "--check")[0] == 1


def test_a_backup_with_other_bytes_than_were_put_in_is_refused(kept: Path, cli: Cli, tmp_path: Path) -> None:
    forged = tmp_path / "forged.tar.gz"
    with tarfile.open(kept) as before, tarfile.open(forged, "w:gz") as after:
        for member in before:
            content = before.extractfile(member)
            assert content is not None
            if member.name == "home/kenobot.toml":
                member.name = "home/../../outside"
            after.addfile(member, content)
    code, _, said = cli("restore", str(forged), "--check")
    assert code == 1
    assert "does not belong there" in said
    assert not (tmp_path.parent / "outside").exists()


def test_a_newer_kenobots_backup_is_refused(kept: Path, cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "migrations", lambda: [(1, "")])
    code, _, said = cli("restore", str(kept), "--yes")
    assert code == 78
    assert "newer KenoBot" in said


def test_a_restore_that_is_cut_off_keeps_the_home_from_being_used_until_it_is_done_again(
    kept: Path, cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if target == home.database:
            raise OSError(5, "Input/output error")
        return moved(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        assert cli("restore", str(kept), "--yes")[0] == 1
    for command in (("memory", "remember", "too early"), ("memory", "list"), ("backup",)):
        code, _, said = cli(*command)
        assert code == 78
        assert "run `kenobot restore FILE` again" in said
    assert "kenobot restore FILE" in cli("doctor", "--offline")[1]
    assert cli("restore", str(kept), "--yes")[0] == 0
    assert _memories(cli) == ["My sister lives in Bilbao"]


def test_a_restore_that_is_cut_off_before_the_database_moved_keeps_it_from_being_written(
    kept: Path, cli: Cli, home: Home
) -> None:
    home.begin_restore()
    assert cli("memory", "remember", "too early")[0] == 78


def test_a_running_bot_is_not_replaced(kept: Path, cli: Cli, home: Home) -> None:
    with home.lock():
        code, _, said = cli("restore", str(kept), "--yes")
    assert code == 78
    assert "already running" in said


def test_nobody_is_asked_about_a_restore_that_cannot_be_done(kept: Path, cli: Cli, home: Home) -> None:
    """Without --yes the question would come first."""
    code, _, why = cli("restore", "/nowhere.tar.gz")
    assert (code, why) == (1, "kenobot: /nowhere.tar.gz cannot be used: no such file or directory.\n")
    with home.lock():
        code, _, why = cli("restore", str(kept))
    assert (code, "stop it first with `kenobot stop`" in why) == (78, True)


def test_without_agreement_nothing_is_restored(kept: Path, cli: Cli) -> None:
    cli("memory", "remember", "The cat is called Tom")
    assert cli("restore", str(kept))[0] == 2
    assert len(_memories(cli)) == 2


def test_an_encrypted_backup_is_read_by_its_key_alone(cli: Cli, home: Home, tmp_path: Path) -> None:
    pytest.importorskip("pyrage", reason="the extra encryption is not installed")
    cli("memory", "remember", "My sister lives in Bilbao")
    right, wrong = tmp_path / "right.key", tmp_path / "wrong.key"
    cli("backup", "--new-key", str(wrong))
    setting = cli("backup", "--new-key", str(right))[1].splitlines()[-1].split("backup.recipients ")[1].strip("'")
    assert cli("config", "set", "backup.recipients", setting)[0] == 0
    archive = Path(json.loads(cli("backup", "--json", "--credentials")[1])["file"])
    assert archive.suffix == ".age"
    assert b"Bilbao" not in archive.read_bytes()
    assert stat.S_IMODE(right.stat().st_mode) == 0o600
    assert [cli("restore", str(archive), "--check", *key)[0] for key in ((), ("--key", str(wrong)))] == [78, 78]
    assert cli("restore", str(archive), "--yes", "--key", str(right))[0] == 0
    assert _memories(cli) == ["My sister lives in Bilbao"]


def test_the_oldest_backups_go_and_the_newest_stays(kept: Path, cli: Cli, home: Home) -> None:
    (home.path / "kenobot.toml").write_text("[backup]\nkeep = 2\nkeep_days = 30\n")
    old = [kept.with_name(f"kenobot-20260{month}14T031500Z-00ff.tar.gz") for month in (1, 2)]
    for path in old:
        path.write_bytes(b"")
    notes = kept.with_name("my notes.txt")
    notes.write_text("mine")
    removed = json.loads(cli("backup", "--json")[1])["removed"]
    assert {*removed} == {str(path) for path in old}
    assert notes.exists()
    assert len(cli("backup", "--list", "--json")[1].splitlines()) == 2


def test_the_owners_command_gets_the_backup_and_its_failure_is_told(kept: Path, cli: Cli, home: Home) -> None:
    copied = home.path.parent / "copied"
    script = f"import shutil, sys; shutil.copy(sys.argv[1], {str(copied)!r})"
    (home.path / "kenobot.toml").write_text(f"[backup]\ncommand = {json.dumps([sys.executable, '-c', script])}\n")
    assert cli("backup")[0] == 0
    assert copied.stat().st_size > 1000
    (home.path / "kenobot.toml").write_text('[backup]\ncommand = ["/nowhere/upload"]\n')
    code, printed, said = cli("backup")
    assert (code, "Backed up" in printed) == (1, True)
    assert "backup.command failed" in said


def test_links_are_left_out_and_named(cli: Cli, home: Home, tmp_path: Path) -> None:
    cli("memory", "remember", "My sister lives in Bilbao")
    (tmp_path / "elsewhere").mkdir()
    (home.path / "photos").symlink_to(tmp_path / "elsewhere")
    assert json.loads(cli("backup", "--json")[1])["skipped"] == ["photos"]


def test_an_empty_home_has_nothing_to_back_up(cli: Cli) -> None:
    assert cli("backup")[0] == 2


def test_backups_in_a_folder_of_the_home_hold_no_earlier_ones(cli: Cli, home: Home) -> None:
    cli("memory", "remember", "My sister lives in Bilbao")
    (home.path / "kenobot.toml").write_text('[backup]\nfolder = "copies"\n')
    counts = [json.loads(cli("backup", "--json")[1])["files"] for _ in range(3)]
    assert counts[0] == counts[1] == counts[2]
    assert len([*(home.path / "copies").iterdir()]) == 3


def test_a_name_that_is_no_text_is_left_out_and_named(cli: Cli, home: Home) -> None:
    cli("memory", "remember", "My sister lives in Bilbao")
    try:
        Path(f"{home.memory}/note-\udcff.md").write_text("from elsewhere")
    except OSError:
        pytest.skip("this disk takes only names that are text")
    code, printed, _ = cli("backup", "--json")
    assert (code, json.loads(printed)["skipped"]) == (0, ["memory/note-\\udcff.md"])


def test_media_on_a_disk_of_their_own_are_copied(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    cli("memory", "remember", "My sister lives in Bilbao")
    home.media.mkdir()
    (home.media / "photo").write_bytes(b"pixels")
    monkeypatch.setattr("os.link", refuse)
    with tarfile.open(json.loads(cli("backup", "--json")[1])["file"]) as tar:
        assert "home/media/photo" in tar.getnames()


def test_what_a_killed_backup_or_restore_left_goes_with_the_next(kept: Path, cli: Cli, home: Home) -> None:
    for command in (("backup",), ("restore", str(kept), "--yes")):
        (home.path / ".restore-killed" / "memory").mkdir(parents=True)
        (home.path / ".backup-killed").mkdir()
        (home.path / ".backup-decrypted").write_text("plain")
        assert cli(*command)[0] == 0
        assert not [path for path in home.path.iterdir() if path.name.startswith((".restore-", ".backup-"))]
    part = kept.with_name(f".{kept.name}.part")
    part.write_bytes(b"half")
    assert cli("backup")[0] == 0
    assert not part.exists()


def test_the_backup_just_made_stays_though_a_wrong_clock_dated_another_later(kept: Path, cli: Cli, home: Home) -> None:
    (home.path / "kenobot.toml").write_text("[backup]\nkeep = 1\n")
    later = kept.with_name("kenobot-20990114T031500Z-00ff.tar.gz")
    kept.rename(later)
    made = json.loads(cli("backup", "--json")[1])
    assert Path(made["file"]).exists()
    assert made["removed"] == [str(later)]


def test_a_backup_under_way_is_waited_for(kept: Path, cli: Cli, home: Home) -> None:
    with home.backup_lock():
        assert cli("restore", str(kept), "--yes")[0] == 78


def test_buttons_of_before_a_restore_never_give_the_commands_of_later_ones(
    cli: Cli, home: Home, database: sqlite3.Connection
) -> None:
    """Their numbers are given again, and their chat is the same."""
    keyboards.signing_key(database, make=True)
    database.commit()
    archive = json.loads(cli("backup", "--json")[1])["file"]
    before = keyboards.signing_key(database)
    database.close()
    assert cli("restore", archive, "--yes")[0] == 0
    with closing(sqlite3.connect(home.database, isolation_level=None)) as restored:
        assert keyboards.signing_key(restored, make=True) != before


def test_no_browser_is_let_in_by_what_a_backup_holds(cli: Cli, home: Home, database: sqlite3.Connection) -> None:
    """A session or a link of then may have been ended since."""
    at = datetime(2026, 2, 14, 7, tzinfo=UTC)
    link = browser_sessions.make_link(database, at)
    session = browser_sessions.open_session(database, browser_sessions.make_link(database, at), at)
    assert session
    archive = json.loads(cli("backup", "--json")[1])["file"]
    assert cli("restore", archive, "--yes")[0] == 0
    with closing(sqlite3.connect(home.database, isolation_level=None)) as restored:
        assert not browser_sessions.has_session(restored, session, at)
        assert browser_sessions.open_session(restored, link, at) is None


def test_a_restore_does_not_take_a_channel_back_in_a_rooms_history(kept: Path, cli: Cli, home: Home) -> None:
    home.channels.mkdir()
    position = home.channels / "matrix-bot"
    position.write_text("s1")
    archive = json.loads(cli("backup", "--json")[1])["file"]
    position.write_text("s2")
    assert cli("restore", archive, "--yes")[0] == 0
    assert position.read_text() == "s2"


def test_a_purge_names_every_copy_of_the_home(kept: Path, cli: Cli, home: Home) -> None:
    replaced = json.loads(cli("restore", str(kept), "--yes", "--json")[1])["replaced"]
    purged = json.loads(cli("memory", "purge", "1", "--yes", "--json")[1])
    assert {str(kept), replaced} <= {*purged["backups"]}
