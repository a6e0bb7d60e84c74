"""What may happen to memory's files while the mirror is at work on them. Each is a context in which it happens."""

import contextlib
import errno
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from kenobot.cognitive.mirror import disk, record_paths

Replace = Callable[[Path, str, str, disk.FileStamp | None], Awaitable[disk.FileStamp | None]]


class Killed(BaseException):
    """The process died here."""


@contextlib.contextmanager
def somebody_edits(root: Path, edit: Callable[[str], None], *, writing: bool) -> Iterator[None]:
    """`edit` is called with the path of each file below `root` that is about to be replaced, or else to be read."""
    swap, look = disk._swap, disk._look

    def swapping(temporary: Path, target: Path, expected: disk.FileStamp | None) -> disk.FileStamp | None:
        edit(str(target.relative_to(root)))
        return swap(temporary, target, expected)

    def looking(folder: Path, path: str) -> os.stat_result | None:
        edit(path)
        return look(folder, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, *(("_swap", swapping) if writing else ("_look", looking)))
        yield


@contextlib.contextmanager
def full_disk(left: int) -> Iterator[None]:
    """No file can be written after `left` more."""
    real, done = disk.replace, 0

    async def failing(root: Path, path: str, text: str, expected: disk.FileStamp | None) -> disk.FileStamp | None:
        nonlocal done
        done += 1
        if done > left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return await real(root, path, text, expected)

    with _replacing(failing):
        yield


@contextlib.contextmanager
def death_between_files(is_dead: Callable[[], bool], left: int | None, *, swapped: bool) -> Iterator[None]:
    """The process dies at the file after `left` more (None: at none), with the new one in place or half-written."""
    real, done = disk.replace, 0

    async def dying(root: Path, path: str, text: str, expected: disk.FileStamp | None) -> disk.FileStamp | None:
        nonlocal done
        if is_dead():
            raise Killed
        if done == left and not swapped:
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(f".kenobot-{done:016x}.tmp").write_bytes(text.encode("utf-8")[: len(text) // 2])
            raise Killed
        done += 1
        stamp = await real(root, path, text, expected)
        if left is not None and done > left:
            raise Killed
        return stamp

    with _replacing(dying), contextlib.suppress(Killed):
        yield


@contextlib.contextmanager
def death_between_cards(left: int | None, *, swapped: bool) -> Iterator[None]:
    """The process dies at the card after `left` more (None: at none), with the new one in place or half-written."""
    real, done = record_paths._write, 0

    def dying(target: Path, draft: record_paths.PendingFile) -> disk.FileStamp | None:
        nonlocal done
        if left is not None and done >= left:
            if swapped:
                real(target, draft)
            else:
                half = draft.text.encode()[: len(draft.text) // 2]
                target.with_name(f".kenobot-{done:016x}.tmp").write_bytes(half)
            raise Killed
        done += 1
        return real(target, draft)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_paths, "_write", dying)
        with contextlib.suppress(Killed):
            yield


@contextlib.contextmanager
def _replacing(replace: Replace) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "replace", replace)
        yield
