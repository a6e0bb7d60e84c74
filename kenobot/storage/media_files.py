"""Keep the bytes of attachments in the media folder, each file under the SHA-256 of its content."""

import asyncio
import contextlib
import hashlib
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import TYPE_CHECKING

import aiofiles

from kenobot.core import lazy
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.storage.disk import entries, fsync_folder

if TYPE_CHECKING:
    from aiofiles.threadpool.binary import AsyncBufferedIOBase

_DIGEST = lazy.regex(r"[0-9a-f]{64}")
_PART = ".part-"
_IN_FLIGHT = 3600.0  # seconds for which a file may lie here before anything refers to it
_BUFFER = 256 * 1024  # bytes that are written at once


class TooLarge(ValueError):
    """The file has more bytes than are taken."""


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """The media folder of a home, made at the first file."""

    path: Path

    def file(self, digest: str) -> Path:
        """Locate stored bytes."""
        return self.path / digest

    async def save(self, chunks: AsyncIterator[bytes], most: int) -> str:
        """Store a file, durably; returns its digest. most: its bytes.

        Raises TooLarge, StoreError, and what `chunks` raises.
        """
        part = self.path / f"{_PART}{secrets.token_hex(8)}"
        try:
            await asyncio.to_thread(self.path.mkdir, mode=0o700, exist_ok=True)
            try:
                async with _open_part(part) as file:
                    digest = await self._receive(file, chunks, most)
                    await asyncio.to_thread(self._finish, file.fileno(), part, digest)
                    return digest
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise _store_error(error) from error

    @staticmethod
    async def _receive(file: "AsyncBufferedIOBase", chunks: AsyncIterator[bytes], most: int) -> str:
        """Write chunks into a file; return the digest of all. Raises TooLarge and OSError."""
        digest, size, waiting = hashlib.sha256(), 0, bytearray()
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise TooLarge
            waiting += chunk
            if len(waiting) >= _BUFFER:
                await file.write(waiting)
                await asyncio.to_thread(digest.update, waiting)
                waiting.clear()
        await file.write(waiting)
        await asyncio.to_thread(digest.update, waiting)
        await file.flush()
        return digest.hexdigest()

    def _finish(self, descriptor: int, part: Path, digest: str) -> None:
        """Make a received file durable under its digest."""
        os.fsync(descriptor)
        target = self.file(digest)
        part.replace(target)
        os.utime(target)
        fsync_folder(self.path)

    def remove_unused(self, used: Collection[str], most: int = sys.maxsize, *, at_once: bool = False) -> int:
        """Remove what nothing refers to, and the oldest files beyond `most` bytes in all; returns how many. Blocks.

        A file that is new may only be about to be referred to, and stays an hour. at_once: it does not, because what it
        holds was erased; what is being received stays all the same.
        """
        removed, kept = 0, list[tuple[float, int, str]]()
        for entry in entries(self.path):
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            is_part = entry.name.startswith(_PART)
            if not is_part and not _DIGEST.fullmatch(entry.name):
                continue  # not from here
            is_young = time.time() - found.st_mtime < _IN_FLIGHT
            if entry.name in used or (is_young and (is_part or not at_once)):
                kept.append((found.st_mtime, found.st_size, entry.path))
                continue
            removed += _remove(entry.path)
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= most:
                break
            total -= size
            removed += _remove(path)
        return removed


@contextlib.asynccontextmanager
async def _open_part(part: Path) -> "AsyncIterator[AsyncBufferedIOBase]":
    """Open a new file to receive into, and close it at the end, also where the opening is cancelled. Raises OSError."""
    opening = asyncio.ensure_future(aiofiles.open(part, "xb", opener=_private))
    try:
        await asyncio.shield(opening)
        yield opening.result()
    finally:  # the thread opens the file even if nobody waits for it any more
        await (await opening).close()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _remove(path: str) -> bool:
    try:
        Path(path).unlink()
    except OSError:
        return False
    return True


def _store_error(error: OSError) -> StoreError:
    return StoreError("database.media_unwritable", reason=error)
