"""Plays the month of `scenario.toml` in one home: people talk, files are edited, commands are given, nights pass.

Everything is fixed: the clock, the seed, the folder, the pairing codes. The only thing that the script does not decide
is how long the machine takes, and the clock of the home does not move while the machine works.
"""

import asyncio
import contextlib
import io
import logging
import os
import re
import secrets
import shutil
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from kenobot.cli import main
from kenobot.gateway.access import Roster
from kenobot.language.fingerprint import key_of
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import Provider
from kenobot.storage.database import Database
from kenobot_testing.simulation import Simulation
from tests.golden.model import Offline, Row, Witness

SCRIPT = Path(__file__).with_name("scenario.toml")
_WINDOW, _WORK = 0.03, 0.001  # seconds: who uses less of the processor than the second in the first, is waiting
_WINDOWS = 3
_STEPS = 12  # of the event loop, in which whatever can go on comes to where it waits
_NAP = 300.0  # seconds; what sleeps longer is not waited for
_LOOK = timedelta(hours=3)  # between two looks at the schedule while nobody talks
_LULL = timedelta(minutes=20)  # after which what was said is due to be read
_CODE = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b")


class _Steps(asyncio.SelectorEventLoop):
    """What is given to other threads is done at once and here."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """See `asyncio`."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def _one_by_one() -> Iterator[None]:
    """Have the database do one thing at a time, in the order asked, and answer when all else has come to rest.

    It has threads of its own, and which of two workers comes first would depend on them.
    """
    submit, read, survey = Database.submit, Database.read, Database.read_long
    locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def alone(work: Callable[[], Awaitable[Any]]) -> Any:
        async with locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            try:
                return await work()
            finally:
                for _ in range(_STEPS):
                    await asyncio.sleep(0)

    def submitted(self: Database, *args: Any, **_: Any) -> Awaitable[Any]:  # nobody waits for company
        return asyncio.ensure_future(alone(lambda: submit(self, *args)))

    async def was_read(self: Database, work: Any) -> Any:
        return await alone(lambda: read(self, work))

    async def surveyed(self: Database, work: Any) -> Any:
        return await alone(lambda: survey(self, work))

    Database.submit = submitted  # type: ignore[assignment,method-assign]
    Database.read = was_read  # type: ignore[method-assign]
    Database.read_long = surveyed  # type: ignore[method-assign]
    try:
        yield
    finally:
        Database.submit = submit  # type: ignore[method-assign]
        Database.read = read  # type: ignore[method-assign]
        Database.read_long = survey  # type: ignore[method-assign]


class _Home(Simulation):
    """A house whose clock moves for a nap only when the machine has nothing left to do."""

    async def wait_idle(self) -> None:
        """See `Simulation`: how fast the machine is makes no difference here."""
        waiting = asyncio.ensure_future(self._all_is_quiet())
        used, idle = time.process_time(), 0
        while not (await asyncio.wait({waiting}, timeout=_WINDOW))[0]:
            now = time.process_time()
            idle = idle + 1 if now - used < _WORK else 0
            used = now
            naps = [nap for nap in self.clock.pending_sleeps if nap <= _NAP]
            if idle >= _WINDOWS and naps:
                self.clock.advance(max(0.001, min(naps)))
                idle = 0
        await waiting

    async def _all_is_quiet(self) -> None:
        app = self.app
        while True:
            await app.wait_drained()
            await app.embedding.wait_idle()
            if app.background.extraction.idle and app.background.compaction.idle and app.background.sleep_worker.idle:
                return
            await app.background.extraction.wait_idle()
            await app.background.compaction.wait_idle()
            await app.background.sleep_worker.wait_idle()


@dataclass(slots=True)
class Played:
    """What a home came to. commands: each order on the command line with what it printed."""

    home: Path
    witness: Witness
    sent: list[tuple[str, str, str, str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    said: int = 0


class Play:
    """One home, played from the first step to the last. checkpoint: called with a name and the folders to keep."""

    def __init__(self, folder: Path, which: str, keep: Callable[[str, Path, Path], None], offline: Provider | None):
        self._script = tomllib.loads(SCRIPT.read_text("utf-8"))
        self._zone = ZoneInfo(self._script["zone"])
        rows, usual = self._script["step"], self._script["usual"]
        self._steps = sorted((row for row in rows if which in row.get("homes", usual)), key=self._moment)
        self._keep = keep
        model = Witness(self._steps, self._now) if offline is None else Offline(self._steps, self._now, offline)
        self._house = _Home(
            folder,
            model,
            Roster.of(self._script["owners"], self._script["users"], self._script["chats"]),
            start=self._moment(self._steps[0]) - timedelta(minutes=1),
            channels=("telegram", "desk"),
            config=self._script["config"][which],
            embedder=self._script["embedder"][which],
            files=self._script["files"],
        )
        self.played = Played(self._house.home.path, model)

    def _now(self) -> datetime:
        return self._house.clock.now()

    def _moment(self, step: Row) -> datetime:
        at: datetime = step["at"]
        return at.replace(tzinfo=self._zone).astimezone(UTC)

    async def run(self) -> None:
        """Play everything; then the home is closed."""
        async with self._house as house:
            for step in self._steps:
                await self._until(self._moment(step))
                await self._play(step)
            await self._until(house.clock.now() + 3 * _LULL)
            await house.wait_idle()
            self._look("end")
        sent = ((line, each) for line in house.channels.values() for each in line.sent)
        self.played.sent = [(line.name, each.chat, each.part.text, repr(each.part.entities)) for line, each in sent]

    def afterwards(self) -> None:
        """Give the orders that are given when the bot has stopped for good."""
        for words in self._script["afterwards"]:
            self._order(words)

    async def _play(self, step: Row) -> None:
        house, model = self._house, self.played.witness
        if step.get("restart"):
            await house.restart()
        if "off_until" in step:
            await house.stop_until(self._moment({"at": step["off_until"]}))
        if step.get("down") or step.get("up"):
            model.down = bool(step.get("down"))
            await house.run_schedule()
        for edit in step.get("edits", ()):
            self._edit(edit)
        if "command" in step:
            apart = threading.Thread(target=self._order, args=(step["command"],))
            apart.start()
            while apart.is_alive():
                await asyncio.sleep(0.005)
            await house.app.check_external_changes()
            await house.wait_idle()
        if "says" in step:
            await self._say(step)
        if "checkpoint" in step:
            self._look(step["checkpoint"])

    async def _say(self, step: Row) -> None:
        house, who = self._house, self._script["people"][step["who"]]
        self.played.witness.step, self.played.witness.fails = step, list(step.get("fails", ()))
        self.played.said += 1
        text = step["says"]
        if "{code}" in text:
            codes = [_CODE.search(each.part.text) for each in house.channels["telegram"].sent]
            text = text.replace("{code}", [found[0] for found in codes if found][-1])
        inbound = Inbound(
            channel=who.get("channel", "telegram"),
            external_id=f"m{self.played.said}",
            chat=who["chat"],
            user=who["user"],
            text=text,
            sent_at=house.clock.now(),
            user_name=who["name"],
            private=who.get("private", True),
            forwarded=step.get("forwarded", False),
        )
        await house.app.loop(inbound)
        await house.wait_idle()

    def _order(self, words: Sequence[str]) -> None:
        """Give an order on the command line, beside the running bot or after it."""
        home = self._house.home.path
        words = [key_of(word.removeprefix("key:")) if word.startswith("key:") else word for word in words]
        argv, out = ["--home", str(home), *words], io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(argv, self._house.clock)
        at = self._house.clock.now().isoformat()
        self.played.commands.append(f"##### {at} · kenobot {' '.join(words)} · exit {code}\n{out.getvalue()}")

    def _edit(self, edit: Row) -> None:
        """Change a file as its owner would. What it works on is found by a text that it holds, or named."""
        home = self._house.home
        root = home.identity if edit.get("in") == "identity" else home.memory
        if "path" in edit:
            path = root / edit["path"]
        else:
            holding = [each for each in sorted(root.rglob("*.md")) if edit["holds"] in each.read_text("utf-8")]
            if not holding:
                return
            path = holding[0]
        match edit["do"]:
            case "append":
                path.write_text((path.read_text("utf-8") if path.exists() else "") + edit["text"], "utf-8")
            case "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(edit["text"], "utf-8")
            case "replace":
                path.write_text(path.read_text("utf-8").replace(edit["holds"], edit["text"]), "utf-8")
            case "cut":  # the line
                lines = path.read_text("utf-8").splitlines(keepends=True)
                path.write_text("".join(line for line in lines if edit["holds"] not in line), "utf-8")
            case "delete":
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            case "move":
                (root / edit["to"]).parent.mkdir(parents=True, exist_ok=True)
                path.rename(root / edit["to"])

    def _look(self, name: str) -> None:
        self._keep(name, self._house.home.memory, self._house.home.identity)

    async def _until(self, moment: datetime) -> None:
        """Move the clock, with a stop at which what was said is due, and with the nights on the way."""
        house = self._house
        pause = house.clock.now() + _LULL
        if moment > pause:
            house.advance_to(pause)
            await house.run_schedule()
        await house.run_until(moment, _LOOK)


def play(folder: Path, which: str, keep: Callable[[str, Path, Path], None], offline: Provider | None = None) -> Play:
    """Play one of the script's homes in `folder`, which is emptied first. The home is closed then."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("KENOBOT_")]:
        del os.environ[name]
    logging.disable()
    with mock.patch.object(secrets, "randbelow", Random(11).randrange), _one_by_one():
        one = Play(folder, which, keep, offline)
        with asyncio.Runner(loop_factory=_Steps) as runner:
            runner.run(one.run())
    return one
