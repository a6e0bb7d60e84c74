"""Folders for tests in memory, where the machine has room for them there."""

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 2 * 1024**3  # bytes that must be free: a container often gets 64 MB


def scratch_root() -> Path | None:
    """The folder in memory; None without room, and then a disk has to do."""
    usable = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    return _MEMORY if usable and shutil.disk_usage(_MEMORY).free >= _ROOM else None


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """A folder for one story. What a real disk keeps after a power cut is for tests/crash, which never uses this."""
    return tempfile.TemporaryDirectory(dir=scratch_root())
