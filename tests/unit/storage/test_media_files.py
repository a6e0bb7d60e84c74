"""The media folder: whole files under their digests, and room for them."""

import asyncio
import hashlib
import os
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.ports.errors import StoreError, Unavailable
from kenobot.storage import media_files
from kenobot.storage.media_files import MediaFolder, TooLarge


async def _chunks(*pieces: bytes | Exception) -> AsyncIterator[bytes]:
    for piece in pieces:
        if isinstance(piece, Exception):
            raise piece
        yield piece


async def test_a_file_lies_under_its_digest_for_the_owner_alone(tmp_path: Path) -> None:
    """The same bytes twice are one file."""
    folder = MediaFolder(tmp_path / "media")
    pieces = [b"a" * 300_000, b"b"]
    digest = await folder.save(_chunks(*pieces), 1_000_000)
    assert digest == hashlib.sha256(b"".join(pieces)).hexdigest() == await folder.save(_chunks(*pieces), 1_000_000)
    assert [path.name for path in folder.path.iterdir()] == [digest]
    assert folder.file(digest).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("error", [Unavailable("cut"), None])
async def test_of_a_file_that_does_not_come_whole_nothing_stays(tmp_path: Path, error: Exception | None) -> None:
    """Neither of one that breaks off, nor of one that is too large."""
    folder = MediaFolder(tmp_path / "media")
    with pytest.raises(TooLarge if error is None else Unavailable):
        await folder.save(_chunks(b"x" * 400_000, *([error] if error else [b"y" * 400_000])), 500_000)
    assert list(folder.path.iterdir()) == []


async def test_a_folder_that_cannot_be_written_is_the_disks_trouble(tmp_path: Path) -> None:
    """The message waits until it can."""
    (tmp_path / "media").write_text("a file")
    with pytest.raises(StoreError, match="media folder"):
        await MediaFolder(tmp_path / "media").save(_chunks(b"x"), 10)


async def test_what_nothing_refers_to_goes_and_then_the_oldest(tmp_path: Path) -> None:
    """What is new stays for an hour, unless it was erased; what is somebody else's stays."""
    folder = MediaFolder(tmp_path / "media")
    digests = [await folder.save(_chunks(bytes([number]) * 1000), 2000) for number in range(6)]
    old = time.time() - 7200
    for number in (0, 1, 2, 3):
        os.utime(folder.file(digests[number]), (old + number, old + number))
    (folder.path / "notes.txt").write_text("mine")
    part = folder.path / ".part-1"
    part.write_bytes(b"half")

    def left() -> list[str]:
        return [digest for digest in digests if folder.file(digest).exists()]

    assert folder.remove_unused({digests[0], digests[1]}, 10_000) == 2
    assert left() == [digests[0], digests[1], digests[4], digests[5]]
    assert folder.remove_unused({digests[0], digests[1]}, 10_000, at_once=True) == 2
    assert left() == digests[:2]
    assert folder.remove_unused(set(digests), 1500) == 1
    assert left() == [digests[1]]
    assert part.exists() and (folder.path / "notes.txt").exists()
    os.utime(part, (old, old))
    assert folder.remove_unused(set(), 1500, at_once=True) == 2
    assert sorted(path.name for path in folder.path.iterdir()) == ["notes.txt"]


async def test_receiving_that_is_cancelled_while_its_file_is_opened_closes_and_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk opens the file after the receiver is gone; no descriptor and no part of a file stays."""
    opening, disk_ready, opened = threading.Event(), threading.Event(), list[int]()

    def open_slowly(path: str, flags: int) -> int:
        opening.set()
        disk_ready.wait(10)
        opened.append(os.open(path, flags, 0o600))
        return opened[-1]

    monkeypatch.setattr(media_files, "_private", open_slowly)
    folder = MediaFolder(tmp_path / "media")
    receiving = asyncio.ensure_future(folder.save(_chunks(b"photo"), 100))
    await asyncio.to_thread(opening.wait, 10)
    receiving.cancel()
    disk_ready.set()
    with pytest.raises(asyncio.CancelledError):
        await receiving
    assert len(opened) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
    assert not list((tmp_path / "media").iterdir())
