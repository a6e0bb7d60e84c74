"""`kenobot mcp serve`: the owner's own programs reach memory and agenda, beside a running bot or without one."""

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kenobot.cli.context import CommandContext
from kenobot.cli.memory.sync_files import make_home
from kenobot.core.settings.home import Home
from kenobot_testing.clock import ManualClock

from .conftest import Cli
from .memory_home import files, texts, told

if TYPE_CHECKING:
    from mcp import Client

mcp = pytest.importorskip("mcp", reason="the MCP server needs the package mcp")

_ROOT = Path(__file__).resolve().parents[3]


@asynccontextmanager
async def program(era: str = "auto") -> AsyncIterator["Client"]:
    """Connect a client made by others with the home of the test."""
    from kenobot_http.api.mcp.server import build_server
    from kenobot_http.commands.mcp_home import OpenHome

    context = CommandContext(argparse.Namespace(home=None), ManualClock())
    await asyncio.to_thread(make_home, context)
    opened = OpenHome(context)
    try:
        async with mcp.Client(build_server(opened.find_caller), mode=era) as client:
            yield client
    finally:
        await opened.close()


async def call(client: "Client", name: str, **arguments: object) -> str:
    """Call a tool; a refusal begins with "Refused: "."""
    result = await client.call_tool(name, arguments)
    text = "\n".join(part.text for part in result.content if part.type == "text")
    return f"Refused: {text}" if result.is_error else text


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_program_has_all_tools_without_a_key(home: Home, by_words: None, era: str) -> None:
    """Both eras of the protocol list the same, in the same order."""
    async with program(era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["agenda", "cancel_reminder", "forget", "recall", "remember", "remind", "undo"]


async def test_what_a_program_remembers_is_the_owners(home: Home, by_words: None) -> None:
    """The command line shows it, and the files of memory have it when the program ends."""
    async with program() as client:
        await call(client, "remember", text="Laura lives in Vitoria.")
        assert "trust owner" in await call(client, "recall", query="Where does Laura live?")
    assert "Laura lives in Vitoria." in files(home)


async def test_what_the_command_line_changes_is_seen_at_once(home: Home, cli: Cli, by_words: None) -> None:
    """Neither has to be started again for the other."""
    async with program() as client:
        await call(client, "remember", text="Laura lives in Vitoria.")
        assert await asyncio.to_thread(texts, cli) == ["Laura lives in Vitoria."]
        await asyncio.to_thread(cli, "memory", "remember", "Laura has a dog.")
        assert "Laura has a dog." in await call(client, "recall", query="Does Laura have a dog?")


async def test_a_forgetting_names_what_repeats_it_and_what_was_said(
    home: Home, database: sqlite3.Connection, by_words: None
) -> None:
    """Before it is done and when it is done, in the same words; the messages are shown again after an undo."""
    told(database, 1, "My sister Laura lives in Vitoria", "Noted.")
    async with program() as client:
        await call(client, "remember", text="Laura lives in Vitoria.")
        preview = await call(client, "forget", memory=1)
        gone = await call(client, "forget", memory=1, confirm=True)
        for text in (preview, gone):
            assert "#1 Laura lives in Vitoria." in text
            assert "what was said in telegram-1, 2026-02-14 14:01: My sister Laura lives in Vitoria" in text
        assert await call(client, "recall", query="Where does Laura live?") == "No memory fits that."
        await call(client, "undo")
        assert "#1 Laura lives in Vitoria." in await call(client, "recall", query="Where does Laura live?")


async def test_a_reminder_set_before_the_owner_wrote_anywhere_comes_in_the_console(home: Home, by_words: None) -> None:
    """There is no other chat in which they would read it."""
    async with program() as client:
        await call(client, "remind", text="call Laura", when="2126-12-01T09:00")
        with sqlite3.connect(home.database) as connection:
            assert connection.execute("SELECT channel, text FROM job").fetchall() == [("console", "call Laura")]


async def test_a_database_that_took_the_place_of_another_is_used(home: Home, by_words: None) -> None:
    """After a restore nothing is written into a file that is gone; that of a newer program is left alone."""
    async with program() as client:
        await call(client, "remember", text="Laura lives in Vitoria.")
        copy = home.database.with_suffix(".copy")
        with sqlite3.connect(home.database) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        for name in ("-wal", "-shm"):
            home.database.with_name(home.database.name + name).unlink(missing_ok=True)
        copy.replace(home.database)
        await call(client, "remember", text="Laura has a dog.")
        with sqlite3.connect(home.database) as connection:
            assert connection.execute("SELECT count(*) FROM record WHERE text = 'Laura has a dog.'").fetchone() == (1,)
            connection.execute("PRAGMA user_version = 999")
        assert "newer KenoBot" in await call(client, "remember", text="Laura has a cat.")


def test_the_output_carries_the_protocol_alone(home: Home) -> None:
    """What is no message is passed over, and the end of the input is a good end."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b"no message \xff",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}).encode(),
    ]
    command = [sys.executable, "-m", "kenobot", "mcp", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        served.stdin.write(b"\n".join(lines) + b"\n")
        served.stdin.flush()
        answers = [json.loads(served.stdout.readline()) for _ in range(2)]
        rest, _ = served.communicate(timeout=60)
    assert (served.returncode, rest) == (0, b"")
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "kenobot"


def test_without_the_distribution_http_its_extra_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence, as a mistake of the installation; other commands of `kenobot mcp` need none."""
    monkeypatch.setitem(sys.modules, "kenobot_http", None)
    told = """kenobot: The command "mcp serve" is not installed: run pip install 'kenobot[http]'\n"""
    assert cli("mcp", "serve", "--home", "/nowhere") == cli("--home", "/nowhere", "mcp", "serve") == (78, "", told)
    assert "kenobot mcp add" in cli("mcp", "list")[2]
