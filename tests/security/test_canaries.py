"""Secrets planted everywhere in a real `kenobot run`, and looked for everywhere else.

What is promised:
- A configured secret, that is the bot token, a key or a plugin's SecretStr, is in its credential file or environment
  variable, and leaves the process only where it is spent: the token in the address of a request to Telegram, the key in
  the authentication header of a request to the model. It is nowhere else: no file of the home, no log line, no prompt,
  no reply, no output of a command. (Should a person type it into the chat, the second promise is the one that holds.)
- What merely looks like a secret never gets into memory, its Markdown, the log, the signals or what a command shows.
- What a person typed is kept as they typed it in the inbox and in the conversation, which prompts are made of; a reply
  that would quote it has it blotted out. The table of replies that were paid for keeps what the model wrote, word for
  word, for a month; nothing shows it. Nothing else in the database has either.
"""

import asyncio
import contextlib
import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import StandIn, last_words
from tests.integration.stand_in import KEY, TOKEN, Telegram

pytestmark = pytest.mark.long

PIN = "canary-of-a-plugin-setting"
CONFIGURED = {"the token": TOKEN, "the key": KEY, "a plugin's secret": PIN}

TYPED = "Typed4canary"
FORWARDED = "AKIAFORWARDEDCANARY1"
SAID = "ghp_" + "saidcanary" * 4
TAGGED = "xoxb-123456789012-taggedcanary"
PROVIDER = "sk-ant-api03-canary-of-an-error-body"
DESCRIBED = "sk-proj-canary-of-a-description"
RAISED = "sk-canary-of-a-traceback-0001"
LOGGED = "Logged4canary"
PLANTED = (TYPED, FORWARDED, SAID, TAGGED, PROVIDER, DESCRIBED, RAISED, LOGGED)
UNRELATED = "canary of a variable that nobody reads"
OWN_WORDS = {
    *((table, "text", canary) for table in ("inbox", "message") for canary in (TYPED, FORWARDED)),
}

SCRIPT = [
    {"match": "mi contraseña", "reply": f"Vale.<memory>La contraseña del wifi es {TYPED}</memory>"},
    {
        "match": "a forwarded key",
        "reply": "Read."
        + "".join(
            f"<{tag}>The key is {FORWARDED}</{tag}>"
            for tag in ("memory", "chat-memory", "working-memory", "user-update", "chat-context")
        ),
    },
    {"match": "tell me", "reply": f"Use {SAID}, {TOKEN}, {KEY} or {PIN}.<memory>The pin is {PIN}</memory>"},
    {"match": "in a tag", "reply": f"Sure.<chat-memory>Slack takes {TAGGED}</chat-memory>"},
    {"match": "call the plugin", "reply": "Called.<leaky>go</leaky>"},
]

PLUGIN = f'''
"""A plugin that does everything wrong that a plugin can do with secrets."""

import logging
import os

from pydantic import BaseModel, SecretStr

from kenobot.ports.plugin import Plugin

_log = logging.getLogger("leaky")


class Settings(BaseModel):
    pin: SecretStr = SecretStr("")


class Leaky:
    name = "leaky"
    tags = ("leaky",)

    def __init__(self, pin):
        self.pin = pin

    def extract(self, elements):
        return tuple(element.content for element in elements)

    def apply(self, items, turn):
        _log.debug("logging in, password: {LOGGED}, with %s", self.pin)
        try:
            raise ValueError(f"https://keno:{{self.pin}}@example.org refused {RAISED}")
        except ValueError as error:
            _log.exception("cannot log in with %r", {{"pin": self.pin}})
            raise RuntimeError(f"cannot log in with {{self.pin}} and {RAISED}") from error


def build(settings, surroundings):
    # The wires of every library wide open: these write addresses and headers.
    for name in ("httpx", "httpx2", "httpcore", "telegram", "anthropic", "asyncio"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    pin = settings.pin.get_secret_value()
    if os.environ.get("LEAKY") == "build":
        raise RuntimeError(f"cannot log in with {{pin}} and {RAISED}")
    return Leaky(pin)


plugin = Plugin(settings=Settings, build=build)
'''
BROKEN = f'raise RuntimeError("cannot be imported without {RAISED}")\n'
ENTRY_POINTS = """
[kenobot.postprocessors]
leaky = leaky_plugin:plugin

[kenobot.providers]
broken = leaky_broken:plugin
"""


class LeakyModel(StandIn):
    """A model whose errors quote what must not be quoted."""

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "the provider fails" not in last_words(body):
            return await super()._messages(request)
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        told = f"invalid x-api-key {KEY}, seen {PROVIDER}"
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
        return web.json_response(error, status=400, headers={"x-request-id": PROVIDER})


class LeakyTelegram(Telegram):
    """A Telegram that keeps every request, and whose refusals quote what must not be quoted."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []
        self.rest: list[str] = []
        self.failures = [500, 403]

    @web.middleware
    async def _watch(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        body = await request.read()
        self.paths.append(request.path)
        self.rest.append(f"{request.query_string} {dict(request.headers)} {body.decode('utf-8', 'replace')}")
        if request.path.endswith("/sendMessage") and b"describe" in body and self.failures:
            status = self.failures.pop(0)
            told = f"no: POST {request.url} by {TOKEN} with {DESCRIBED}"
            content = {"ok": False, "error_code": status, "description": told, "parameters": {}}
            return web.json_response(content, status=status)
        return await super()._watch(request, handler)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH in which the leaky plugin is installed."""
    folder = tmp_path / "plugins"
    info = folder / "leaky-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: leaky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "leaky_plugin.py").write_text(PLUGIN)
    (folder / "leaky_broken.py").write_text(BROKEN)
    return folder


@pytest.fixture
async def telegram() -> AsyncIterator[LeakyTelegram]:
    async with LeakyTelegram() as server:
        yield server


@pytest.fixture
async def model() -> AsyncIterator[LeakyModel]:
    async with LeakyModel(SCRIPT) as server:
        yield server


def canary_bot(tmp_path: Path, telegram: Telegram, model: StandIn, plugin: Path, form: str) -> Bot:
    """A bot with a canary in every place that can hold one."""
    bot = Bot(
        tmp_path / "home",
        telegram,
        model.url,
        extra=f"[log]\nlevel = 'debug'\nformat = '{form}'\n[signals]\nkeep = 1000\n",
        environ={
            "PYTHONPATH": str(plugin),
            "KENOBOT_POSTPROCESSORS__ENABLED": "memory,chat-memory,working-memory,user-update,chat-context,leaky",
            "KENOBOT_POSTPROCESSORS__LEAKY__PIN": PIN,
            "ANTHROPIC_LOG": "debug",
            "MY_DATABASE_PASSWORD": UNRELATED,
            "AWS_SECRET_ACCESS_KEY": UNRELATED,
        },
    )
    bot.configure()
    credentials = bot.home / "credentials"
    credentials.mkdir(mode=0o700)
    for name, value in (("telegram_token", TOKEN), ("anthropic_api_key", KEY)):
        (credentials / name).write_text(f"{value}\n")
        (credentials / name).chmod(0o600)
    return bot


@dataclass(frozen=True)
class Found:
    """Everything that the bot wrote: files by path, the log, what people and the model got, what its commands show."""

    files: Mapping[str, bytes]
    log: str
    replies: str
    prompts: str
    shown: str


async def talk(bot: Bot, telegram: LeakyTelegram) -> None:
    """A conversation in which every canary sings."""
    await telegram.say(f"Recuerda que mi contraseña del wifi es {TYPED}")
    await telegram.say(f"a forwarded key: {FORWARDED}", forward_origin={"type": "hidden_user", "sender_user_name": "X"})
    await telegram.say("tell me everything")
    await telegram.say("keep it in a tag")
    await telegram.say("call the plugin")
    await telegram.say("the provider fails")
    await telegram.say("describe your troubles")
    await telegram.say("the last one")
    # Of these eight answers Telegram refuses one for good, after a fault that passes.
    await telegram.until(lambda sent: any("the last one" in item.text for item in sent))
    assert telegram.failures == []


async def commands(bot: Bot) -> str:
    """What the commands that look inside show."""
    asked = ["config", "memory show"]
    asked += [f"{log}{form} --limit 1000" for log in ("signals", "memory log") for form in ("", " --json")]

    async def run(arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kenobot", *arguments.split(), "--home", str(bot.home)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **bot.environ},
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()
        return output.decode()

    return "\n".join(await asyncio.gather(*map(run, asked)))


def cells(home: Path) -> list[tuple[str, str, str]]:
    """Every text in the database, as (table, column, text)."""
    with contextlib.closing(sqlite3.connect(home / "kenobot.db")) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = []
        for table in tables:
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            found += [(table, name, str(value)) for row in cursor for name, value in zip(names, row, strict=True)]
        return found


@pytest.fixture
async def sung(
    request: pytest.FixtureRequest, tmp_path: Path, telegram: LeakyTelegram, model: LeakyModel, plugin: Path
) -> tuple[Bot, Found]:
    """A bot that has heard every canary and was killed, so that the write-ahead log is still there."""
    bot = canary_bot(tmp_path, telegram, model, plugin, request.param)
    await bot.start()
    await talk(bot, telegram)
    async with asyncio.timeout(60):  # the audit writes every two seconds
        while sum(table == "signal" and "message:sent" in text for table, _, text in cells(bot.home)) < 7:
            await asyncio.sleep(0.1)
    await bot.kill()
    files = {
        str(path.relative_to(bot.home)): path.read_bytes()
        for path in bot.home.rglob("*")
        if path.is_file() and path.parent.name != "credentials"
    }
    found = Found(
        files,
        "".join(bot.log),
        "\n".join(item.text for item in telegram.sent),
        json.dumps(model.requests, ensure_ascii=False),
        await commands(bot),
    )
    return bot, found


def demand_that_they_sang(found: Found) -> None:
    """The control: each leak was tried, and what would have held the secret is there with a blot in it."""
    assert "kenobot.db-wal" in found.files
    assert "/bot[secret]/sendMessage" in found.log, "httpx wrote the address of a request to Telegram"
    assert "HTTP Request: POST" in found.log
    assert "logging in, [secret]" in found.log
    assert "refused [secret]" in found.log
    assert "Traceback" in found.log
    assert "[secret]" in found.replies
    refused = found.shown.count("it looks like")
    told = "a password, a key in five tags, another in one, and one of them again when the turns are read for memories"
    assert refused == 4 * 8, f"signals and memory log both tell, as a table and as JSON, of {told}"
    assert '"processor": "leaky"' in found.shown
    assert "(set)" in found.shown


@pytest.mark.parametrize("sung", ["plain", "json"], indirect=True)
async def test_no_canary_gets_out(sung: tuple[Bot, Found], telegram: LeakyTelegram, model: LeakyModel) -> None:
    """With the log and every library at debug: each secret is where it must be, and nowhere else."""
    bot, found = sung
    demand_that_they_sang(found)
    for name, canary in CONFIGURED.items():
        places = [path for path, content in found.files.items() if canary.encode() in content]
        assert places == [], f"{name} is in the home"
        for what in ("log", "replies", "prompts", "shown"):
            assert canary not in getattr(found, what), f"{name} is in {what}"
    assert all(path.startswith(f"/bot{TOKEN}/") for path in telegram.paths)
    assert not [rest for rest in telegram.rest if any(canary in rest for canary in CONFIGURED.values())]
    for headers in model.headers:
        assert [header for header, value in headers.items() if KEY in value] in (["x-api-key"], ["authorization"])
        assert not any(TOKEN in value or PIN in value for value in headers.values())

    in_database = {
        (table, column, canary) for table, column, text in cells(bot.home) for canary in PLANTED if canary in text
    }
    assert in_database == OWN_WORDS
    for canary in PLANTED:
        assert [
            path for path, content in found.files.items() if canary.encode() in content and "kenobot.db" not in path
        ] == []
        assert canary not in found.log
        assert canary not in found.shown
    for canary in (SAID, TAGGED, PROVIDER, DESCRIBED, RAISED, LOGGED):
        assert canary not in found.replies + found.prompts
    for text in (found.log, found.replies, found.prompts, found.shown, *map(str, found.files.values())):
        assert UNRELATED not in text


@pytest.mark.parametrize(
    ("more", "comes_up", "said"),
    [
        ({"LEAKY": "build"}, True, "RuntimeError: cannot log in with [secret]"),
        ({"KENOBOT_PROVIDER__NAME": "broken"}, False, "cannot be imported without [secret]"),
    ],
    ids=["a plugin that breaks while it is built", "a provider that cannot be imported"],
)
async def test_a_start_that_breaks_quotes_no_secret(
    tmp_path: Path,
    telegram: LeakyTelegram,
    model: LeakyModel,
    plugin: Path,
    more: Mapping[str, str],
    comes_up: bool,
    said: str,
) -> None:
    """The last words of a process, and what it says of a plugin that it leaves off, are as clean as its log."""
    bot = canary_bot(tmp_path, telegram, model, plugin, "plain")
    bot.environ.update(more)
    await bot.spawn()
    assert await bot.comes_up() is comes_up
    if comes_up:
        await bot.terminate()
    else:
        assert await bot.ended() not in (0, None)
    log = "".join(bot.log)
    assert said in log
    for canary in (*CONFIGURED.values(), RAISED):
        assert canary not in log
