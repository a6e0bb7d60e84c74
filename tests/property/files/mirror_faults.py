"""What may happen to memory's files while the mirror is at work on them. Each is a context in which it happens."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kenobot.storage import disk
from kenobot.storage.disk import FileStamp, PendingFile


class Killed(BaseException):
    """The process died here."""


@contextlib.contextmanager
def somebody_edits(root: Path, edit: Callable[[str], None], *, writing: bool) -> Iterator[None]:
    """`edit` is called with the path of each file below `root` that is about to be replaced, or else to be read."""
    real, look = disk._write_one, disk._look

    def replacing(target: str, file: PendingFile) -> FileStamp | None:
        edit(file.path)
        return real(target, file)

    def looking(folder: Path, path: str) -> os.stat_result | None:
        edit(path)
        return look(folder, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, *(("_write_one", replacing) if writing else ("_look", looking)))
        yield


@contextlib.contextmanager
def full_disk(left: int) -> Iterator[None]:
    """No file can be written after `left` more."""
    real, done = disk._write_one, 0

    def failing(target: str, file: PendingFile) -> FileStamp | None:
        nonlocal done
        done += 1
        if done > left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(target, file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_write_one", failing)
        yield


@contextlib.contextmanager
def death_between_files(
    left: int | None, *, swapped: bool, is_dead: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """The process dies at the file after `left` more (None: at none), with the new one in place or half-written."""
    real, done = disk._write_one, 0

    def dying(target: str, file: PendingFile) -> FileStamp | None:
        nonlocal done
        if is_dead():
            raise Killed
        if left is not None and done >= left:
            half = file.text.encode()[: len(file.text) // 2]
            if swapped:
                real(target, file)
            elif file.appends:
                with Path(target).open("ab") as written:
                    written.write(half)
            else:
                Path(target).with_name(f".kenobot-{done:016x}.tmp").write_bytes(half)
            raise Killed
        done += 1
        return real(target, file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_write_one", dying)
        with contextlib.suppress(Killed):
            yield
