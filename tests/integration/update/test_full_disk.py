"""A disk that becomes full during an update: the bot goes on, a sentence says what to do, and nothing is left."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.storage import migrate
from tests.crash.tools import no_mount

from .bot import Product

pytestmark = [
    pytest.mark.crash,
    pytest.mark.slow,
    pytest.mark.skipif(bool(no_mount("tmpfs")), reason=no_mount("tmpfs") or "-"),
]

NOW = migrate.migrations()[-1][0]
MEGA = 1_000_000
FILLER = "cache/filler"
BIKE = "What colour is my bike?"

Wheels = Callable[[str], Path]


@pytest.fixture(autouse=True)
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 60 MB, on which the home lies."""
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m,mode=0700", "none", home], check=True)
    yield home
    subprocess.run(["umount", "-l", home], check=True)


def test_a_new_version_that_does_not_fit_is_cleared_away(product: Product, wheels: Wheels, disk: Path) -> None:
    """Once there is room again, the same command is all it takes."""
    _serve(product, least=0)
    wheel, before = wheels("0.2.0"), product.process
    _fill(disk, leave=2 * MEGA)
    _fails(product, wheel, before, "The disk is full (")
    done = product.run("update", "--from", wheel)
    assert done.returncode == 0, done.stderr
    assert product.run("version").stdout == "kenobot 0.2.0\n"


def test_what_the_bot_needs_is_left_to_it(product: Product, wheels: Wheels, disk: Path) -> None:
    """An update begins with no less than a tenth of `watch.disk_mb`, and is stopped when it takes of that."""
    _serve(product, least=20)
    wheel, before = wheels("0.2.0"), product.process
    _fill(disk, leave=19 * MEGA)
    _fails(product, wheel, before, "are free, and 20 MB are needed")
    _fill(disk, leave=22 * MEGA)
    _fails(product, wheel, before, "are free, and 20 MB are needed")


def test_a_copy_of_the_database_that_does_not_fit_is_not_begun(product: Product, wheels: Wheels, disk: Path) -> None:
    _serve(product, least=0, padding=20 * MEGA)
    wheel, before = wheels("0.2.0"), product.process
    _fill(disk, leave=30 * MEGA)
    _fails(product, wheel, before, "are free, and 2")


def test_a_migration_that_finds_the_disk_full_fails_on_the_copy(product: Product, wheels: Wheels, disk: Path) -> None:
    _serve(product, least=0, padding=12 * MEGA)
    wheel, before = wheels("0.2.0"), product.process
    _fill(disk, leave=38 * MEGA)
    _fails(product, wheel, before, "The disk is full (")


def test_the_old_version_returns_on_a_disk_that_filled_up_on_trial(
    product: Product, wheels: Wheels, disk: Path
) -> None:
    """Its room was held from before the trial on."""
    _serve(product, least=0, padding=4 * MEGA)
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "10") as updating:
        product.wait(lambda: product.schema() == NOW + 1, "the new version to migrate")
        _fill(disk, leave=0)
        said = updating.communicate(timeout=200)[0]
    assert "version 0.1.0 is back. No message was lost." in said
    assert product.schema() == NOW
    (disk / FILLER).unlink()
    product.have_answered(BIKE, "bike")
    assert product.rows("PRAGMA integrity_check") == [("ok",)]
    assert len(list(product.home.versions.glob("0.*"))) == 0


def _serve(product: Product, *, least: int, padding: int = 0) -> None:
    """Have a bot serve. padding: bytes by which its database is larger."""
    with closing(sqlite3.connect(product.home.database)) as connection, connection:
        connection.execute("CREATE TABLE padding AS SELECT zeroblob(?) AS bytes", (padding,))
    product.serve(f"[watch]\ndisk_mb = {10 * least}\n")


def _fill(disk: Path, *, leave: int) -> None:
    """Fill a disk but for some bytes."""
    found = os.statvfs(disk)
    (disk / "cache").mkdir(exist_ok=True)  # of which no copy is made
    with (disk / FILLER).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, found.f_bavail * found.f_frsize - leave))


def _fails(product: Product, wheel: Path, before: int, told: str) -> None:
    """Update in vain: what runs is the same process, and nothing is left of the new version."""
    done = product.run("update", "--from", wheel)
    assert done.returncode == 1, done.stdout
    assert told in done.stderr, done.stderr
    assert "run the command again; the version in use goes on." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert product.process == before
    assert list(product.home.versions.glob("*")) == []
    assert list(product.home.path.glob(".backup-*")) == []
    assert product.run("version").stdout == "kenobot 0.1.0\n"
    assert product.schema() == NOW
    (product.home.path / FILLER).unlink()
    product.have_answered(f"{BIKE} {told}", told)
