"""Starts that cannot succeed, as real processes: exit 78, plain lines, no secret, and a home that stays as it was."""

import asyncio
import contextlib
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

from kenobot.core.settings.home import Home
from kenobot.storage import migrate
from tests.crash.nursery import Nursery
from tests.crash.tools import mounted, no_mount
from tests.integration.stand_in import KEY, TOKEN

pytestmark = pytest.mark.long

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
    return [sys.executable, "-m", "kenobot", "--home", str(home), verb, *more]


def run(verb: str, home: Path, environ: Mapping[str, str], *more: str) -> "subprocess.CompletedProcess[str]":
    """Start KenoBot and wait for its end; a start that succeeds by mistake fails the test by its time limit."""
    return subprocess.run(
        command(verb, home, *more),
        cwd=ROOT,
        env=environment(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
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


def pipe(name: str) -> Callable[[Path], None]:
    """A pipe that nobody writes to, in the place of a file."""

    def prepare(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        (home / name).parent.mkdir(exist_ok=True)
        os.mkfifo(home / name, 0o600)

    return prepare


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
            '{home}/kenobot.toml: unknown key "media.keep_dayz"; did you mean "media.keep_days"?',
            '{home}/kenobot.toml: unknown key "channels.telegram.owner"; did you mean "channels.telegram.owners"?',
        ),
        "[media]\nkeep_dayz = 3\n" + TELEGRAM.replace("owners", "owner"),
        TOKEN_SET,
    ),
    "not TOML": Case(("{home}/kenobot.toml, line 1: *",), f"token = {TOKEN}\n"),
    "deeply nested TOML": Case(  # of which CPython 3.11's tomllib raises a RecursionError
        ("{home}/kenobot.toml, line 3: not valid TOML: nested too deeply.",),
        f"[media]\nkeep_days = 3\nx = {'[' * 5000}{']' * 5000}\n",
        TOKEN_SET,
    ),
    "deeply nested tables": Case(
        ("{home}/kenobot.toml, line 1: not valid TOML: nested too deeply.",), f"{'a.' * 5000}a = 1\n", TOKEN_SET
    ),
    "ill-formed token": Case(
        ("TELEGRAM_BOT_TOKEN: channels.telegram.token: the bot token has the wrong form: *",),
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

NO_PROXY = (
    "is not the address of a proxy, which looks like http://host:8080 or socks5://host:1080: correct it, or unset it."
)
NO_SERVER = "not the address of a server, which looks like https://host or http://127.0.0.1:8081."
CASES |= {
    f"a proxy like {value}": Case((f"{name} {NO_PROXY}",), environ={**TOKEN_SET, name: value})
    for name, value in {
        "HTTPS_PROXY": "ftp://host:1",
        "ALL_PROXY": "http://[::1",
        "https_proxy": "user:sesame:8080",
        "all_proxy": "socks4://host:1080",
        "http_proxy": "not a proxy",
        "HTTP_PROXY": "http://host:99999",
    }.items()
}
CASES |= {
    f"a server like {value}": Case(
        (f'KENOBOT_CHANNELS__TELEGRAM__BASE_URL: channels.telegram.base_url = "{value}": {NO_SERVER}',),
        environ={**TOKEN_SET, "KENOBOT_CHANNELS__TELEGRAM__BASE_URL": value},
    )
    for value in ("http://[", "http://[::1/bot", "hello", "https://", "http://a b", "http://host:port/bot", "//host")
}
CASES |= {
    f"a server of {variable}": Case(
        tuple(f'{variable}: {key} = "http://[": {NO_SERVER}' for key in keys),
        environ={**TOKEN_SET, **more, variable: "http://["},
    )
    for variable, keys, more in (
        ("ANTHROPIC_BASE_URL", ("providers.anthropic.base_url",), {"KENOBOT_PROVIDER__NAME": "anthropic"}),
        (  # sets three keys, and each is told
            "OPENAI_BASE_URL",
            ("providers.openai.base_url", "embedders.openai.base_url", "transcribers.openai.base_url"),
            {"KENOBOT_MEMORY__EMBEDDER": "openai"},
        ),
    )
}
CASES |= {
    "a proxy of the provider": Case(
        (f"ALL_PROXY {NO_PROXY}",),
        environ={**TOKEN_SET, "ANTHROPIC_API_KEY": KEY, "KENOBOT_PROVIDER__NAME": "anthropic", "ALL_PROXY": "x:y"},
    ),
    "a host's name that no host can have": Case(
        ("A connection cannot be set up (InvalidURL): correct its address in the settings.",),
        environ={
            **TOKEN_SET,
            **dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"), ""),
            "KENOBOT_PROVIDER__NAME": "anthropic",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": "http://-é-",
        },
    ),
    "exceptions of a proxy": Case(
        ("A connection cannot be set up (InvalidURL): correct or unset NO_PROXY.",),
        environ={**TOKEN_SET, "NO_PROXY": "[::1"},
    ),
    "certificates that are not there": Case(
        ("SSL_CERT_FILE names no file of certificates: correct it, or unset it.",),
        environ={**TOKEN_SET, "SSL_CERT_FILE": "/nowhere"},
    ),
    "settings that are a pipe": Case(
        ("{home}/kenobot.toml is not a file, but a folder, a pipe or a device.",),
        environ=TOKEN_SET,
        prepare=pipe("kenobot.toml"),
    ),
    "a credential that is a pipe": Case(
        ("{home}/credentials/telegram_token is not a file, but a folder, a pipe or a device.",),
        prepare=pipe("credentials/telegram_token"),
    ),
    "a home's name of 300 letters": Case(
        ("{home} cannot be used as a home: file name too long.",), None, TOKEN_SET, place="h" * 300
    ),
}


def matches(line: str, expected: str) -> bool:
    return re.fullmatch(re.escape(expected).replace(r"\*", ".+"), line) is not None


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_a_bad_start_is_78_with_plain_lines_and_changes_nothing(
    tmp_path: Path, nursery: Nursery, case: Case
) -> None:
    """What a person must fix is said in lines of its own, without a secret, and not a byte of the home changes."""
    (tmp_path / "a file").write_text("not a folder")
    home = tmp_path / case.place
    if case.config is not None:
        home.mkdir(mode=0o700)
        (home / "kenobot.toml").write_text(case.config)
        case.prepare(home)
    before = listing(tmp_path)

    done = await nursery.run(["--home", str(home), "run"], environment(case.environ))

    lines = done.stderr.splitlines()
    expected = [f"kenobot: {line.format(home=home)}" for line in case.lines]
    assert done.returncode == 78, done.stderr
    assert len(lines) == len(expected), done.stderr
    assert all(map(matches, lines, expected)), done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for secret in (TOKEN, KEY, ILL_FORMED, "sesame"):
        assert secret not in done.stderr
    assert listing(tmp_path) == before


def fill(disk: Path) -> None:
    """Leave no byte free."""
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass


def use_up(disk: Path) -> None:
    """Leave no inode free."""
    with contextlib.suppress(OSError):
        for number in range(100):
            (disk / f"file-{number}").touch()


def forbid_writing(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


@pytest.mark.skipif(bool(no_mount("tmpfs")), reason=no_mount("tmpfs"))
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("is_used", [True, False], ids=["a used home", "a new home"])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [(fill, "is full: make room"), (use_up, "is full: make room"), (forbid_writing, "is read-only: mount it")],
)
async def test_a_start_on_a_disk_that_takes_nothing_is_1(
    tmp_path: Path, nursery: Nursery, spoil: Callable[[Path], None], said: str, is_used: bool
) -> None:
    """The service tries again after 1, never after 78, and the cause passes by itself (Linux 6, tmpfs(5))."""
    disk = tmp_path / "disk"
    async with mounted("tmpfs", "none", "size=6m,nr_inodes=64", disk):
        home = disk / "home"
        home.mkdir(mode=0o700)
        (home / "kenobot.toml").write_text(f'{TELEGRAM}[memory]\nembedder = "none"\n')
        if is_used:
            Home(home).prepare()
            Home(home).seed_identity()
            migrate.migrate(home / "kenobot.db", home / "backups")
        spoil(disk)
        done = await nursery.run(["--home", str(home), "run"], environment(TOKEN_SET))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert said in done.stderr


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("verb", ["chat", "memory list", "config", "setup --yes"])
async def test_no_command_breaks_down_over_a_home_that_cannot_be(tmp_path: Path, nursery: Nursery, verb: str) -> None:
    """Each says so in one plain line."""
    done = await nursery.run(["--home", str(tmp_path / ("h" * 300)), *verb.split()], environment({}))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (78, "", 1), done.stderr
    assert done.stderr.endswith("file name too long.\n")


def test_broken_identity_files_are_named_and_the_bot_answers(tmp_path: Path) -> None:
    """Rules that are no JSON, a character that is no text, and a pipe."""
    home = tmp_path / "home"
    assert run("chat", home, {}, "-m", "hi").returncode == 0
    identity = home / "memory" / "identity"
    (identity / "rules.json").write_text('{"broken')
    (identity / "core.md").write_bytes(bytes(range(128, 256)))
    pipe("preferences.md")(identity)
    done = run("chat", home, {}, "-m", "hello again")
    assert done.returncode == 0
    assert done.stdout.strip()
    lines = done.stderr.splitlines()
    assert [
        name for name in ("core.md", "preferences.md", "rules.json") if not any(name in line for line in lines)
    ] == []
    assert all(" warning " in line for line in lines), done.stderr


async def test_a_second_instance_is_refused_and_the_first_works_on(tmp_path: Path) -> None:
    """While `kenobot chat` holds a home, `run` in it is 78 and touches nothing; the first still answers."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    # Without an embedder: the first bot would unpack its model while the second one is refused.
    (home / "kenobot.toml").write_text(f'{TELEGRAM}\n[memory]\nembedder = "none"\n')
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
            done = await asyncio.to_thread(run, "run", home, TOKEN_SET)
            assert (done.returncode, done.stdout) == (78, "")
            assert done.stderr == (
                f"kenobot: KenoBot is already running in this home (process {first.pid}): "
                "stop it first with `kenobot stop`, or use another home with --home.\n"
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
    """A listing without what a running instance writes by itself: its database, index, memory, model and log files."""
    return {
        path: seen
        for path, seen in found.items()
        if not path.startswith(("kenobot.db", "index.db", "memory/", "usem3", "logs"))
    }
