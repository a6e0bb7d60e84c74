"""A bot in its own process and a fresh home, on WhatsApp: killed in between, it loses nothing and repeats nothing."""

import asyncio
import contextlib
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra `http` is not installed")

from tests.integration.channels.whatsapp_standin import ANA, BOB, PHONE_ID, SECRET, TOKEN, VERIFY, WhatsApp, standin
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.stand_in import KEY

pytestmark = pytest.mark.long

_SECONDS = 300.0  # for a machine that does much else
_MODEL = """
[provider]
name = "anthropic"
[models]
cheap = "offline"
[providers.anthropic]
base_url = "{url}"
"""
_CHAPTERS = [f"Chapter {number}. {'It was a dark and stormy night. ' * 120}".strip() for number in (1, 2, 3)]
STORY: Entry = {"match": "story", "reply": "\n\n".join(_CHAPTERS)}


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def furnish(home: Path, platform: WhatsApp, more: str = "") -> int:
    """Write the settings and secrets of a home as an owner would; return the port of its HTTP server.

    more: part of the settings.
    """
    port = a_free_port()
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(
        f'[channels]\nenabled = ["whatsapp", "http"]\n\n[channels.http]\nport = {port}\n\n'
        f'[channels.whatsapp]\nphone_number_id = "{PHONE_ID}"\nowners = ["+34 600 00 00 01"]\n'
        f'api = "{platform.address}/v26.0"\n\n[memory]\nembedder = "none"\n{more}'
    )
    secrets = home / "credentials"
    secrets.mkdir(mode=0o700)
    for name, value in {"token": TOKEN, "app_secret": SECRET, "verify_token": VERIFY}.items():
        (secrets / f"channels.whatsapp.{name}").write_text(value)
        (secrets / f"channels.whatsapp.{name}").chmod(0o600)
    return port


def bare_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("KENOBOT")}


async def command(home: Path, *words: str) -> str:
    """Run `kenobot …` beside the bot; return what it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", "--home", str(home), *words),
        stdout=asyncio.subprocess.PIPE,
        env=bare_environment(),
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


@asynccontextmanager
async def telling(home: Path, *script: Entry) -> AsyncIterator[WhatsApp]:
    """A platform that posts to the bot of a new home, whose model answers by a script."""
    async with standin() as platform, StandIn([*script]) as model, asyncio.timeout(_SECONDS):
        port = furnish(home, platform, _MODEL.format(url=model.url))
        platform.hook = f"http://127.0.0.1:{port}/hooks/whatsapp"
        posting = asyncio.create_task(platform.deliver())
        try:
            yield platform
        finally:
            platform.release.set()
            posting.cancel()
            await asyncio.gather(posting, return_exceptions=True)


@asynccontextmanager
async def run(home: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the bot; at the end it is killed without a warning."""
    environment = bare_environment() | {"ANTHROPIC_API_KEY": KEY}
    with (home / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kenobot", "--home", str(home), "run"), stdout=log, stderr=log, env=environment
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def texts(platform: WhatsApp) -> list[str]:
    """What the bot said, to whom, in order."""
    return [
        body["interactive"]["body"]["text"] if body["type"] == "interactive" else body.get("text", {}).get("body", "")
        for body in platform.sent
    ]


async def test_a_person_writes_presses_and_sends_a_photo_while_the_bot_is_killed(tmp_path: Path) -> None:
    """Each message is answered once; a stranger gets a code and nothing else."""
    home = tmp_path / "home"
    async with standin() as platform, asyncio.timeout(_SECONDS):
        platform.hook = f"http://127.0.0.1:{furnish(home, platform)}/hooks/whatsapp"
        posting = asyncio.create_task(platform.deliver())
        try:
            platform.fail_with += [(502, 0), (502, 0)]  # of an outage of Meta's
            platform.say("Remember that my sister Lucía lives in Oviedo")  # before the bot is there: Meta tries again
            async with run(home):
                await platform.until_sent(1)
                platform.say("/forget Oviedo")
                await platform.until_sent(2)
                asked, question = platform.sent[1], platform.ids[1]
                buttons = asked["interactive"]["action"]["buttons"]
            platform.press(question, buttons[0]["reply"]["id"])  # while it is dead
            async with run(home):
                await platform.until_sent(3)
                platform.files["7001"] = b"\x89PNG\r\n\x1a\n" + b"x" * 1000
                platform.message("image", {"id": "7001", "mime_type": "image/png", "caption": "What is this?"})
                await platform.until_answered(len(platform.answers) + 1)
            async with run(home):  # it was stored, and perhaps answered, before the bot died
                await platform.until_sent(4)
                platform.say("let me in", BOB)
                await platform.until_sent(5)
                platform.fail(platform.ids[3], 131047)
                platform.say("/status")
                await platform.until_sent(6)
        finally:
            posting.cancel()
            await asyncio.gather(posting, return_exceptions=True)
    assert [body["to"] for body in platform.sent] == [ANA, ANA, ANA, ANA, BOB, ANA]
    assert "Oviedo" in texts(platform)[1]
    log = (home / "log").read_text()
    assert TOKEN not in log
    assert SECRET not in log


def chapters(platform: WhatsApp) -> list[str]:
    """Which chapters the bot told, in order."""
    return [match[1] for text in texts(platform) if (match := re.match(r"Chapter (\d)", text))]


async def test_a_stranger_is_paired_and_then_answered(tmp_path: Path) -> None:
    """They get a code and no answer; once the owner has approved it, what they write is answered."""
    home = tmp_path / "home"
    async with telling(home, {"match": "and now?", "reply": "Hello, Bob."}) as platform, run(home):
        platform.say("Hello")  # else the bot does not know where to tell its owner
        await platform.until_sent(1)
        platform.say("let me in", BOB)
        await platform.until_sent(3)
        (code,) = re.findall(r"[A-Z0-9]{4}-[A-Z0-9]{4}", next(text for to, text in said(platform) if to == BOB))
        platform.say(f"/pair {code}")
        await platform.until_sent(5)
        platform.say("and now?", BOB)
        await platform.until_sent(6)
    assert sorted(to for to, _ in said(platform)) == [ANA] * 3 + [BOB] * 3
    assert said(platform)[-1] == (BOB, "Hello, Bob.")


def said(platform: WhatsApp) -> list[tuple[str, str]]:
    """To whom the bot said what, in order."""
    return [(body["to"], text) for body, text in zip(platform.sent, texts(platform), strict=True)]


@pytest.mark.parametrize(("takes", "told"), [(False, "123"), (True, "1223")], ids=["not taken", "taken"])
async def test_a_reply_that_was_broken_off_goes_on_where_it_was(tmp_path: Path, takes: bool, told: str) -> None:
    """Killed while WhatsApp has the second of three parts, the bot sends that and the third after it, not the first.

    Meta has no key by which it would know a message again: what it took without its answer being seen comes twice.
    """
    home = tmp_path / "home"
    async with telling(home, STORY) as platform:
        platform.hold_after, platform.takes_held = 1, takes
        async with run(home):
            platform.say("Tell me a story")
            await platform.held.wait()
        platform.release.set()
        async with run(home):
            await platform.until_sent(len(told))
            platform.say("Thank you")
            await platform.until_sent(len(told) + 1)
    assert "".join(chapters(platform)) == told
    assert len(platform.sent) == len(told) + 1


async def test_a_part_that_cannot_go_out_now_holds_up_those_behind_it(tmp_path: Path) -> None:
    """Meta has trouble and then asks for a pause in the middle of a reply: it arrives whole, once and in order."""
    home = tmp_path / "home"
    async with telling(home, STORY) as platform, run(home):
        platform.faults = {1: [(502, 0), (503, 131016), (429, 130429)]}
        platform.say("Tell me a story")
        await platform.until_sent(3)
        platform.say("Thank you")
        await platform.until_sent(4)
    assert chapters(platform) == ["1", "2", "3"]
    assert platform.faults == {1: []}


async def test_a_part_that_is_refused_can_be_sent_again_by_the_owner(tmp_path: Path) -> None:
    """The rest of the reply goes out; the part waits among the dead letters, and a retry sends it at once."""
    home = tmp_path / "home"
    async with telling(home, STORY) as platform, run(home):
        platform.faults = {1: [(400, 131009)]}
        platform.say("Tell me a story")
        await platform.until_sent(2)
        assert "131009" in await command(home, "deadletter", "list")
        await command(home, "deadletter", "retry", "--all")
        await platform.until_sent(3)
    assert chapters(platform) == ["1", "3", "2"]
