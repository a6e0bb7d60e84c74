"""What the trials share: how they run programs, talk to a bot, and say what they saw."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping

from release.page import ROOT
from tests.integration.stand_in import Telegram

NOT_HERE = 3
"""The exit code of a trial that could not be run on this machine."""


class NotSo(Exception):
    """Something that is promised does not hold."""


def tell(what: str) -> None:
    """Say that something was tried and holds."""
    print(f"  ✓ {what}", flush=True)


async def converse(telegram: Telegram, text: str) -> str:
    """Have the owner write on Telegram; returns the answer."""
    before = len(telegram.sent)
    await telegram.say(text)
    return await _next_said(telegram, before)


async def _next_said(telegram: Telegram, before: int) -> str:
    """Wait for what the bot says after so many messages; a part at which it was killed may come once more before."""
    earlier = {sent.text for sent in telegram.sent[:before]}
    while (said := (await telegram.replies(before + 1, 120))[before]) in earlier:
        before += 1
    return said


async def answers(telegram: Telegram, when: str) -> None:
    """Raise NotSo unless the bot answers now."""
    if (said := await converse(telegram, f"hello, {when}")) != f"ok: hello, {when}":
        raise NotSo(f"{when}, the bot says {said!r}")
    tell(f"it answers {when}")


async def answers_what_waited(
    telegram: Telegram, stop: Callable[[], Awaitable[object]], start: Callable[[], Awaitable[object]]
) -> None:
    """Raise NotSo unless the bot, stopped and started, answers what was written in between."""
    await stop()
    before = len(telegram.sent)
    await telegram.say("written while it was stopped")
    await start()
    if await _next_said(telegram, before) != "ok: written while it was stopped":
        raise NotSo("what was written while it was stopped is answered wrongly")
    tell("what was written while it was stopped is answered")


async def run(
    *command: str, check: bool = True, seconds: float = 1800, environ: Mapping[str, str] | None = None
) -> str:
    """Run a program in the project's root and return what it printed. Raises NotSo, with its errors, when it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        stdin=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
        env=environ,
    )
    async with asyncio.timeout(seconds):
        output, errors = await process.communicate()
    if check and process.returncode:
        said = (output + errors).decode("utf-8", "replace")
        raise NotSo(f"{shlex.join(command)}: exit code {process.returncode}\n{said[-3000:]}")
    return output.decode("utf-8", "replace")
