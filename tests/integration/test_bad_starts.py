"""Starts that cannot succeed, as real processes: exit 78, plain lines, no secret, and a home that stays as it was."""

import asyncio
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.harness import KEY, TOKEN

ROOT = Path(__file__).resolve().parents[2]
ILL_FORMED = "123456789:canary-that-is-far-too-short"
TELEGRAM = "[channels]\nenabled = ['telegram']\n[channels.telegram]\nowners = ['1']\n"
TOKEN_SET = {"TELEGRAM_BOT_TOKEN": TOKEN}

Listing = dict[str, tuple[int, int, bytes]]


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without any setting of KenoBot's, and with `more`."""
    ours = ("KENOBOT_", "TELEGRAM_", "ANTHROPIC_", "CREDENTIALS_DIRECTORY")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | dict(more)


def command(verb: str, home: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "kenobot", verb, "--home", str(home), *more]


def run(verb: str, home: Path, more: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Start KenoBot and wait for its end; a start that succeeds by mistake fails the test by its time limit."""
    return subprocess.run(
        command(verb, home),
        cwd=ROOT,
        env=environment(more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def listing(folder: Path) -> Listing:
    """Everything at and below `folder`: its mode, size and bytes, by its path; {} when there is nothing."""
    found: Listing = {}
    if not folder.exists():
        return found
    for path in (folder, *sorted(folder.rglob("*"))):
        seen = path.lstat()
        plain = stat.S_ISREG(seen.st_mode)
        found[str(path.relative_to(folder))] = (
            stat.S_IMODE(seen.st_mode),
            seen.st_size if plain else 0,
            path.read_bytes() if plain else b"",
        )
    return found


def newer_database(home: Path) -> None:
    with closing(sqlite3.connect(home / "kenobot.db")) as connection:
        connection.execute("CREATE TABLE mine (text TEXT)")
        connection.execute("INSERT INTO mine VALUES ('precious')")
        connection.execute("PRAGMA user_version = 999")
        connection.commit()


def newer_database_in_its_log(home: Path) -> None:
    """As a kill leaves it: the newer version stands only in the write-ahead log."""
    with closing(sqlite3.connect(home / "work.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE mine (text TEXT)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA user_version = 999")
        connection.commit()
        for ending in ("", "-wal"):
            (home / f"kenobot.db{ending}").write_bytes((home / f"work.db{ending}").read_bytes())
    (home / "work.db").unlink()


def no_database(home: Path) -> None:
    (home / "kenobot.db").write_text("my shopping list: apples, pears\n" * 50)


def open_home(home: Path) -> None:
    """Somebody else's folder, open to everybody."""
    (home / "kenobot.toml").unlink()
    (home / "holiday.txt").write_text("photos")
    home.chmod(0o755)


@dataclass(frozen=True)
class Case:
    """A home's kenobot.toml (None: there is no home), what else is in it, the environment, and the lines expected."""

    lines: tuple[str, ...]
    config: str | None = TELEGRAM
    environ: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda home: None
    place: str = "home"


CASES = {
    "unknown keys": Case(
        (
            '{home}/kenobot.toml: unknown key "memory.dayz"; did you mean "memory.days"?',
            '{home}/kenobot.toml: unknown key "channels.telegram.owner"; did you mean "channels.telegram.owners"?',
        ),
        "[memory]\ndayz = 3\n" + TELEGRAM.replace("owners", "owner"),
        TOKEN_SET,
    ),
    "not TOML": Case(("{home}/kenobot.toml, line 1: *",), f"token = {TOKEN}\n"),
    "ill-formed token": Case(
        ("The Telegram bot token has the wrong form: copy it again from @BotFather and run `kenobot setup`.",),
        environ={"TELEGRAM_BOT_TOKEN": ILL_FORMED},
    ),
    "no Anthropic key, no home": Case(
        ("There is no Anthropic API key: run `kenobot setup` or set ANTHROPIC_API_KEY.",),
        None,
        {**TOKEN_SET, "KENOBOT_PROVIDER__NAME": "anthropic", "KENOBOT_CHANNELS__ENABLED": "telegram"},
    ),
    "no Telegram token": Case(
        ("Telegram has no bot token: get one from @BotFather and run `kenobot setup`.",),
        "[provider]\nname = 'anthropic'\n" + TELEGRAM,
        {"ANTHROPIC_API_KEY": KEY},
    ),
    "nobody allowed": Case(
        ("Nobody may talk to the Telegram bot yet: put your Telegram user id into `owners` or run `kenobot setup`.",),
        "[channels]\nenabled = ['telegram']\n",
        TOKEN_SET,
    ),
    "no channel, no home": Case(
        ("No channel is enabled: run `kenobot setup`, or talk right here with `kenobot chat`.",), None
    ),
    "a home below a file": Case(
        ("{home} cannot be used as a home: not a directory.",),
        None,
        {**TOKEN_SET, "KENOBOT_CHANNELS__ENABLED": "telegram", "KENOBOT_CHANNELS__TELEGRAM__OWNERS": "1"},
        place="a file/home",
    ),
    "somebody else's folder": Case(
        ("{home} holds other things and is open to other people: *",),
        "",
        {**TOKEN_SET, "KENOBOT_CHANNELS__ENABLED": "telegram", "KENOBOT_CHANNELS__TELEGRAM__OWNERS": "1"},
        open_home,
    ),
    "a newer database": Case(
        ("The database in {home}/kenobot.db was written by a newer KenoBot (version 999, this one knows *",),
        environ=TOKEN_SET,
        prepare=newer_database,
    ),
    "a newer database, by its log": Case(
        ("The database in {home}/kenobot.db was written by a newer KenoBot (version 999, this one knows *",),
        environ=TOKEN_SET,
        prepare=newer_database_in_its_log,
    ),
    "no database": Case(
        ("{home}/kenobot.db is not a database: set it aside, or put a copy from the backups folder in its place.",),
        environ=TOKEN_SET,
        prepare=no_database,
    ),
}


def matches(line: str, expected: str) -> bool:
    return re.fullmatch(re.escape(expected).replace(r"\*", ".+"), line) is not None


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_bad_start_is_78_with_plain_lines_and_changes_nothing(tmp_path: Path, case: Case) -> None:
    """What a person must fix is said in lines of its own, without a secret, and not a byte of the home changes."""
    (tmp_path / "a file").write_text("not a folder")
    home = tmp_path / case.place
    if case.config is not None:
        home.mkdir(mode=0o700)
        (home / "kenobot.toml").write_text(case.config)
        case.prepare(home)
    before = listing(tmp_path)

    done = run("run", home, case.environ)

    lines = done.stderr.splitlines()
    expected = [f"kenobot: {line.format(home=home)}" for line in case.lines]
    assert done.returncode == 78, done.stderr
    assert len(lines) == len(expected), done.stderr
    assert all(map(matches, lines, expected)), done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for secret in (TOKEN, KEY, ILL_FORMED):
        assert secret not in done.stderr
    assert listing(tmp_path) == before


async def test_a_second_instance_is_refused_and_the_first_works_on(tmp_path: Path) -> None:
    """While `kenobot chat` holds a home, `run` and `chat` in it are 78 and touch nothing; the first still answers."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(TELEGRAM)
    first = await asyncio.create_subprocess_exec(
        *command("chat", home),
        cwd=ROOT,
        env=environment({}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert first.stdin is not None
    assert first.stdout is not None
    try:
        async with asyncio.timeout(60):
            first.stdin.write(b"hello\n")
            assert await first.stdout.readline()
            before = quiet(listing(home))
            for verb in ("run", "chat"):
                done = await asyncio.to_thread(run, verb, home, TOKEN_SET)
                assert (done.returncode, done.stdout) == (78, "")
                assert done.stderr == (
                    f"kenobot: KenoBot is already running in this home (process {first.pid}): stop it first, "
                    "or use another home with --home.\n"
                )
                assert quiet(listing(home)) == before
            rest, complaints = await first.communicate(b"are you still there?\n/exit\n")
            code = await first.wait()
    finally:
        if first.returncode is None:
            first.kill()
            await first.wait()
    assert (code, complaints.decode()) == (0, "")
    assert rest.strip()
    with closing(sqlite3.connect(home / "kenobot.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT text, state FROM inbox ORDER BY id").fetchall() == [
            ("hello", "answered"),
            ("are you still there?", "answered"),
        ]


def quiet(found: Listing) -> Listing:
    """A listing without what a running instance writes by itself: its database, its index and its memory files."""
    return {path: seen for path, seen in found.items() if not path.startswith(("kenobot.db", "index.db", "memory/"))}
