"""Read a zip archive like a folder, without unpacking it: nothing is written, and no more is read than is allowed."""

import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, cast

from kenobot_importers.folder import LARGEST, LARGEST_TALK, MOST_FILES, TOO_MUCH, SourceFile, SourceFolder, decode

_MOST_NAMES = 200_000
_ENCRYPTED = 0x1
_MESS = ("__MACOSX/", ".")  # what a Mac adds, and hidden files
UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
"""What reading a damaged, locked or foreign archive raises."""


class SourceArchive(SourceFolder):
    """A zip archive. Names that lead out of it are passed over. Raises BadZipFile or OSError."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip = zipfile.ZipFile(path)
        if len(self._zip.namelist()) > _MOST_NAMES:
            raise zipfile.BadZipFile(f"it holds more than {_MOST_NAMES} files")
        plain = {info.filename.replace("\\", "/"): info for info in self._zip.infolist() if not info.is_dir()}
        fit = {name: info for name, info in plain.items() if _is_fit(name)}
        tops = {name.partition("/")[0] if "/" in name else "" for name in fit}
        begin = len(tops.pop()) + 1 if len(tops) == 1 and "" not in tops else 0  # a folder that was packed as such
        self._infos = {name[begin:]: info for name, info in fit.items()}

    def has(self, path: str) -> bool:
        return path in self._infos or any(name.startswith(f"{path}/") for name in self._infos)

    def read(self, path: str) -> SourceFile | None:
        info = self._infos.get(path)
        if info is None:
            return None
        if info.flag_bits & _ENCRYPTED:
            return SourceFile(path, None, "it is locked with a password")
        try:
            with self._zip.open(info) as file:
                raw = file.read(LARGEST + 1)  # whatever the archive says of its size
        except UNREADABLE:
            return SourceFile(path, None, "it is damaged")
        self._left -= len(raw)
        if len(raw) > LARGEST or self._left < 0:
            return SourceFile(
                path, None, TOO_MUCH if self._left < 0 else f"it is larger than {LARGEST // 1_000_000} MB"
            )
        return SourceFile(path, *decode(raw), self.get_modified(path))

    def open(self, path: str) -> BinaryIO:
        info = self._infos.get(path)
        if info is None:
            raise OSError("it is no file within the archive")
        try:
            return cast("BinaryIO", _Bounded(self._zip.open(info)))
        except UNREADABLE as error:
            raise OSError("it is locked or damaged") from error

    def get_modified(self, path: str) -> datetime:
        info = self._infos.get(path)
        try:
            return datetime(*info.date_time, tzinfo=UTC) if info is not None else datetime(1980, 1, 1, tzinfo=UTC)
        except ValueError:
            return datetime(1980, 1, 1, tzinfo=UTC)

    def files(self, under: str, *endings: str) -> Iterator[str]:
        prefix = f"{under.strip('/')}/" if under.strip("/") else ""
        found = [name for name in self._infos if name.startswith(prefix) and name.endswith(endings)]
        yield from sorted(found, key=lambda name: (name.count("/"), name))[:MOST_FILES]

    def folders(self, under: str) -> list[str]:
        prefix = f"{under.strip('/')}/" if under.strip("/") else ""
        inside = (name.removeprefix(prefix) for name in self._infos if name.startswith(prefix))
        return sorted({name.partition("/")[0] for name in inside if "/" in name})


class _Bounded(BufferedIOBase):
    """A member of an archive that ends, with an error, where it grows beyond all bounds."""

    def __init__(self, member: object) -> None:
        self._member = cast("BinaryIO", member)
        self._left = LARGEST_TALK

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            found = self._member.read(-1 if size is None else size)
        except UNREADABLE as error:
            raise OSError("it is damaged") from error
        self._left -= len(found)
        if self._left < 0:
            raise OSError(f"it is larger than {LARGEST_TALK // 1_000_000} MB")
        return found

    def read1(self, size: int = -1, /) -> bytes:
        return self.read(size if size > 0 else 65536)

    def close(self) -> None:
        self._member.close()
        super().close()


def _is_fit(name: str) -> bool:
    parts = name.split("/")
    return bool(parts[-1]) and ".." not in parts and not any(part.startswith(_MESS) for part in (*parts, name))
