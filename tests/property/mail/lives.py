"""What stories of a process that dies have in common: a folder, a loop, and power that may fail."""

import asyncio
import contextlib
from collections.abc import Awaitable
from pathlib import Path

from hypothesis.stateful import RuleBasedStateMachine

from kenobot.ports.errors import StoreError
from kenobot.storage.database import Database
from tests.property.mail.power import AT_ONCE, Crash, Power
from tests.scratch import scratch


class Lives(RuleBasedStateMachine):
    """A story of several lives, each over what the disk of the one before would show.

    lives: how many of them have ended. lives_on: as Power has it.
    """

    lives_on = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = scratch()
        self.root = Path(self.folder.name)
        self.runner = asyncio.Runner()
        self.power = Power(lives_on=self.lives_on)
        self.lives = 0

    def teardown(self) -> None:
        try:
            self.runner.run(self._end())
        finally:
            self.power.close()
            self.runner.close()
            self.folder.cleanup()

    async def _end(self) -> None:
        """What is to be done and to hold when the story is over."""
        raise NotImplementedError

    def _path(self) -> Path:
        return self.root / f"life {self.lives}.db"

    def _open(self) -> Database:
        """The database of this life."""
        return Database.open(self._path(), self.root / "backups")

    async def _die(self, crash: Crash, work: Awaitable[object], database: Database) -> Database:
        """Do `work` and die: as `crash` says, else when it is done. Returns the database of the next life."""
        self.lives += 1
        self.power.cut(crash, self._path())
        with contextlib.suppress(StoreError):
            await work
        if not self.power.dead.is_set():
            self.power.cut(AT_ONCE, self._path())
        with contextlib.suppress(StoreError):
            await database.write(lambda _: None)
        await database.close()
        self.power.restore()
        return self._open()
