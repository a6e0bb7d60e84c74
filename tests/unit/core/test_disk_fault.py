"""Faults of a disk, told from what a person must mend in the home."""

import errno
import os
from pathlib import Path

import pytest

from kenobot.core.disk_fault import find_fault, name_fault
from kenobot.ports.errors import ConfigError, StoreError, StoreFull


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [
        (errno.ENOSPC, StoreFull, "is full"),
        (errno.EDQUOT, StoreFull, "is full"),
        (errno.EROFS, StoreFull, "is read-only"),
        (errno.EIO, StoreError, "fails"),
        (errno.EACCES, ConfigError, "unfit"),
        (errno.ENOTDIR, ConfigError, "unfit"),
    ],
)
def test_an_error_of_the_disk_is_told_from_one_of_the_home(number: int, kind: type[Exception], said: str) -> None:
    """What passes by itself is a StoreError that names the disk, all else a ConfigError (errno(3), Linux 6)."""
    found = name_fault(Path("/srv/home"), OSError(number, os.strerror(number)), "unfit")
    assert type(found) is kind
    assert said in str(found)


def test_a_disk_with_room_has_no_fault(tmp_path: Path) -> None:
    """A disk that can be written to is well, also for a path that is not there yet."""
    assert find_fault(tmp_path / "not" / "there") is None
