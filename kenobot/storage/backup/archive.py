"""Write a copied home as one archive, and read it back: every file is compared with the manifest that leads it.

An archive is a gzipped tar, perhaps encrypted for age recipients (https://age-encryption.org).
"""

import hashlib
import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO

from pydantic import BaseModel, Field, ValidationError

from kenobot.ports.errors import ConfigError, KenobotError
from kenobot.storage.backup.names import ENCRYPTED_SUFFIX, PART
from kenobot.storage.disk import fsync_folder

FORMAT = 1
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 100_000_000  # bytes
_CHUNK = 1024 * 1024

Progress = Callable[[int, int], None]
"""Is told how many bytes are done, and of how many."""


class DamagedBackup(KenobotError):
    """Raised for an archive that is no backup of KenoBot, is cut off, or holds other bytes than were put in."""


class FileEntry(BaseModel, extra="forbid", frozen=True):
    """A file of the home. mode: its permission bits."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)
    mode: int = Field(ge=0, le=0o777)


class Manifest(BaseModel, frozen=True):
    """Contents of an archive. schema_version: of its database. files: by path in the home."""

    format: int
    made_at: datetime
    kenobot: str
    schema_version: int
    credentials: bool
    files: dict[str, FileEntry]  # bounded: one archive; call

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files.values())


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def write_archive(
    staging: Path, target: Path, manifest: Manifest, recipients: Sequence[str], progress: Progress
) -> None:
    """Write the files of `staging` into a new archive, all or nothing, and read it back.

    recipients: of age, who alone can read it; it is then read back before it is encrypted. Raises DamagedBackup,
    ConfigError and OSError.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}{PART}")
    packed = staging.with_name(f"{staging.name}.tar.gz") if recipients else part
    try:
        _pack(staging, packed, manifest, progress)
        read_archive(packed)
        if recipients:
            _encrypt(packed, part, recipients)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(target)
        fsync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)


def list_files(staging: Path) -> dict[str, FileEntry]:
    """Describe each file of a folder, by its path in it. Raises OSError."""
    return {path.relative_to(staging).as_posix(): _entry(path) for path in sorted(staging.rglob("*")) if path.is_file()}


def _entry(path: Path) -> FileEntry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    found = path.stat()
    return FileEntry(sha256=digest, size=found.st_size, mode=found.st_mode & 0o777)


def _pack(staging: Path, target: Path, manifest: Manifest, progress: Progress) -> None:
    done, whole = 0, manifest.size
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar:
        listed = manifest.model_dump_json(indent=1).encode()
        tar.addfile(_member(_MANIFEST, len(listed), 0o600), io.BytesIO(listed))
        for name, entry in manifest.files.items():
            with (staging / name).open("rb") as content:
                tar.addfile(_member(f"home/{name}", entry.size, entry.mode), content)
            done += entry.size
            progress(done, whole)


def _member(name: str, size: int, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, mode
    return member


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_archive(archive: Path, into: Path | None = None) -> Manifest:
    """Compare each file of a plain archive with its manifest; put them into the folder `into`, where one is given.

    Raises DamagedBackup, and OSError.
    """
    try:
        with archive.open("rb") as file, tarfile.open(fileobj=_Unpacked(file), mode="r|") as tar:
            manifest = _read_manifest(tar)
            seen = set()
            while member := tar.next():
                seen.add(_read_member(tar, member, manifest, into))
            _read_end(tar)
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DamagedBackup("backup.not_whole", archive=archive, reason=error) from None
    if missing := manifest.files.keys() - seen:
        raise DamagedBackup("backup.lacks_files", archive=archive, count=len(missing), first=min(missing))
    return manifest


class _Unpacked(io.RawIOBase):
    """Content of a gzipped file; tarfile itself reads no further than the last member, and gzip takes several files."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._inflate = zlib.decompressobj(wbits=31)  # of gzip, with its checksum

    def read(self, size: int = _CHUNK) -> bytes:
        """Read up to `size` bytes; b"" at the end. Raises zlib.error, EOFError, and ValueError for what is behind."""
        while not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._file.read(_CHUNK)
            if not packed:
                raise EOFError("its end is missing")
            if content := self._inflate.decompress(packed, size):
                return content
        if self._inflate.unused_data or self._file.read(1):
            raise ValueError("something stands behind its end")
        return b""


def _read_end(tar: tarfile.TarFile) -> None:
    """Read what is behind the last member: nothing but zeros."""
    assert tar.fileobj is not None
    while chunk := tar.fileobj.read(_CHUNK):
        if chunk.strip(b"\0"):
            raise ValueError("something stands behind its last file")


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    content = tar.extractfile(first) if first is not None and first.name == _MANIFEST and first.isreg() else None
    if content is None or first is None or first.size > _LARGEST_MANIFEST:
        raise ValueError("it begins with something else than a manifest")
    try:
        found = json.loads(content.read())
        if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] > FORMAT:
            raise ConfigError("backup.made_by_newer")
        return Manifest.model_validate(found)
    except (ValidationError, RecursionError):
        raise ValueError("its manifest is not one of KenoBot's") from None


def _read_member(tar: tarfile.TarFile, member: tarfile.TarInfo, manifest: Manifest, into: Path | None) -> str:
    name = member.name.removeprefix("home/")
    entry, path = manifest.files.get(name), PurePosixPath(name)
    content = tar.extractfile(member) if member.isreg() else None
    if entry is None or content is None or path.is_absolute() or {"..", ""} & {*path.parts} or "\0" in name:
        raise ValueError(f"{member.name!r} does not belong there")
    digest, size = hashlib.sha256(), 0
    with _target(into, name, entry.mode) as target:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if target is not None:
                target.write(chunk)
    if (size, digest.hexdigest()) != (entry.size, entry.sha256):
        raise ValueError(f"{name} is not as it was")
    return name


@contextmanager
def _target(into: Path | None, name: str, mode: int) -> Iterator[IO[bytes] | None]:
    if into is None:
        yield None
        return
    path = into / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode & 0o700)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(descriptor)


# ── encryption ───────────────────────────────────────────────────────────────────────────────────────────────────


def new_key(path: Path) -> str:
    """Write a new secret key of age to a file that only its owner can read; returns its recipient.

    Raises ConfigError and OSError.
    """
    pyrage = _age()
    identity = pyrage.x25519.Identity.generate()
    recipient = str(identity.to_public())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"# public key: {recipient}\n{identity}\n")
    return recipient


@contextmanager
def plain_archive(archive: Path, key_file: Path | None, beside: Path | None) -> Iterator[Path]:
    """Decrypt an archive for a moment; one that is not encrypted is given as it is.

    beside: the folder for the decrypted one, None for the system's. Raises ConfigError without the right key, OSError.
    """
    if archive.suffix != ENCRYPTED_SUFFIX:
        yield archive
        return
    if key_file is None:
        raise ConfigError("backup.key_missing", name=archive.name)
    pyrage = _age()
    identities = _identities(key_file)
    with tempfile.NamedTemporaryFile(dir=beside, prefix=".backup-") as plain:
        try:
            pyrage.decrypt_file(str(archive), plain.name, identities)
        except pyrage.DecryptError as error:
            raise ConfigError("backup.wrong_key", name=archive.name, reason=error) from None
        yield Path(plain.name)


def check_recipients(recipients: Sequence[str]) -> None:
    """Raise ConfigError for what is no recipient of age, and when the package is missing."""
    if recipients:
        _recipients(recipients)


def _encrypt(source: Path, target: Path, recipients: Sequence[str]) -> None:
    pyrage = _age()
    pyrage.encrypt_file(str(source), str(target), _recipients(recipients))
    target.chmod(0o600)


def _recipients(texts: Sequence[str]) -> list[object]:
    pyrage = _age()
    try:
        return [pyrage.x25519.Recipient.from_str(text.strip()) for text in texts]
    except pyrage.RecipientError:
        raise ConfigError("backup.bad_recipient") from None


def _identities(key_file: Path) -> list[object]:
    pyrage = _age()
    try:
        lines = key_file.read_text("utf-8").splitlines()
        found = [pyrage.x25519.Identity.from_str(line.strip()) for line in lines if line.startswith("AGE-SECRET-KEY-")]
    except (OSError, UnicodeDecodeError, pyrage.IdentityError):
        found = []
    if not found:
        raise ConfigError("backup.no_age_key", key_file=key_file)
    return found


def _age() -> ModuleType:
    try:
        return import_module("pyrage")
    except ImportError:
        raise ConfigError("backup.package_missing") from None
