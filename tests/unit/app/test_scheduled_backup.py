"""Backups by schedule: a process makes one when the newest is too old, and the owner hears of a failure."""

from datetime import UTC, datetime
from pathlib import Path

from kenobot.app.scheduled_backup import ScheduledBackups
from kenobot.core.bus import Bus
from kenobot.core.settings.home import Home
from kenobot.core.settings.schema import BackupSettings
from kenobot.ports.signals import HEALTH_DEGRADED
from kenobot.storage import migrate
from kenobot.storage.backup.names import find_archives
from kenobot_testing.clock import ManualClock


class _Night:
    """A home with scheduled backups, and what the owner would hear."""

    def __init__(self, folder: Path, backups: str = "") -> None:
        self.home = Home(folder / "home")
        self.home.prepare()
        migrate.migrate(self.home.database, self.home.backups)
        self.clock = ManualClock(datetime.now(UTC))  # a backup is dated by the machine's own clock
        self.told: list[str] = []
        bus = Bus(self.clock)
        bus.wake_on(HEALTH_DEGRADED, lambda envelope: self.told.append(str(envelope.payload["reason"])))
        (self.home.path / "kenobot.toml").write_text(f"[backup]\nfolder = {backups!r}\n")
        self.backups = ScheduledBackups(self.home, BackupSettings(every_hours=24, folder=backups), self.clock, bus)

    @property
    def made(self) -> int:
        return len(find_archives(self.home.backups))


async def test_a_backup_is_made_once_the_newest_is_a_day_old(tmp_path: Path) -> None:
    night = _Night(tmp_path)
    await night.backups.run_if_due()
    await night.backups.run_if_due()
    assert (night.made, night.told) == (1, [])
    night.clock.advance(25 * 3600)
    await night.backups.run_if_due()
    assert night.made == 2


async def test_a_failure_is_told_and_tried_again_after_an_hour(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("a file")
    night = _Night(tmp_path, str(tmp_path / "in the way"))
    await night.backups.run_if_due()
    await night.backups.run_if_due()
    assert len(night.told) == 1
    assert night.told[0].startswith("the backup failed: No backup could be made: ")
    night.clock.advance(3601)
    await night.backups.run_if_due()
    assert len(night.told) == 2


async def test_a_backup_that_a_wrong_clock_dated_does_not_stand_for_the_next_ones(tmp_path: Path) -> None:
    night = _Night(tmp_path)
    (night.home.backups / "kenobot-20990114T031500Z-00ff.tar.gz").write_bytes(b"")
    await night.backups.run_if_due()
    await night.backups.run_if_due()
    assert (night.made, night.told) == (2, [])
