"""A bot in its own process and a fresh home, on WhatsApp: killed in between, it loses nothing and repeats nothing."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra `http` is not installed")

from tests.integration.channels.whatsapp_standin import ANA, BOB, PHONE_ID, SECRET, TOKEN, VERIFY, WhatsApp, standin

_SECONDS = 300.0  # for a machine that does much else


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def furnish(home: Path, platform: WhatsApp) -> int:
    """Write the settings and secrets of a home as an owner would; return the port of its HTTP server."""
    port = a_free_port()
    home.mkdir(mode=0o700)
    (home / "kenobot.toml").write_text(
        f'[channels]\nenabled = ["whatsapp", "http"]\n\n[channels.http]\nport = {port}\n\n'
        f'[channels.whatsapp]\nphone_number_id = "{PHONE_ID}"\nowners = ["+34 600 00 00 01"]\n'
        f'api = "{platform.address}/v26.0"\n\n[memory]\nembedder = "none"\n'
    )
    secrets = home / "credentials"
    secrets.mkdir(mode=0o700)
    for name, value in {"token": TOKEN, "app_secret": SECRET, "verify_token": VERIFY}.items():
        (secrets / f"channels.whatsapp.{name}").write_text(value)
        (secrets / f"channels.whatsapp.{name}").chmod(0o600)
    return port


@asynccontextmanager
async def run(home: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the bot; at the end it is killed without a warning."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KENOBOT")}
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
