"""The environments of a home: where they are, which one is in use, and how far the last update has come.

    versions/0.2.0-k3x9…/   an environment: KenoBot of one version with its libraries
    versions/current        a link to the one in use, which may also be elsewhere; none before the first update
    versions/update.json    the last update, an `Update`: written by the command, read by the bot that it tries
    versions/verdict.json   a `Verdict`: what a bot on trial says of itself
    update.lock             held by the command for as long as it lives

A version reads what another one wrote: names and meanings stay, and unknown keys are ignored.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from kenobot.core.sentence_text import SentenceText
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.storage.disk import fsync_folder, replace_text

ModelT = TypeVar("ModelT", bound=BaseModel)


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Side(_Stored):
    """One of the two versions of an update. environment: its folder, with `bin/python`."""

    version: str
    environment: Path


class Update(_Stored):
    """An update. trial: a number of its own.

    phase: trial, the new version is in place and on trial; taken, for good; returning, the old one is being put back;
    returned. schema_version: of the database before. began: when the trial did. channels: those that served before, and
    have to serve again. reason: of the return. told: the owner has been. kept: the folder of the database that the new
    version had changed, set aside by a return; "" where it did not change it.
    """

    trial: str
    phase: Literal["trial", "taken", "returning", "returned"]
    old: Side
    new: Side
    schema_version: int
    began: datetime
    channels: tuple[str, ...] = ()
    reason: SentenceText = ""
    told: bool = False
    kept: str = ""


class Verdict(_Stored):
    """Verdict of a bot on trial. problem: why it will not be well; "" when it is."""

    trial: str
    problem: SentenceText = ""


class Environments:
    """The environments of one home. Making one of these changes nothing on disk."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.folder = home.versions
        self._link = home.versions / "current"
        self._update = home.versions / "update.json"
        self._verdict = home.versions / "verdict.json"

    @property
    def link(self) -> Path:
        """The path by which a service starts the environment in use."""
        return self._link

    def current(self) -> Path | None:
        """Return the environment in use; None before the first update."""
        return self._link.resolve() if self._link.is_symlink() else None

    def switch(self, environment: Path) -> None:
        """Switch to an environment, in one step that a power cut does not halve. Raises OSError."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        draft = self.folder / f".current-{secrets.token_hex(8)}"
        draft.symlink_to(environment)
        draft.replace(self._link)
        fsync_folder(self.folder)

    def read(self) -> Update | None:
        """Return the last update; None when there was none that this version understands."""
        return _read(self._update, Update)

    def write(self, update: Update) -> None:
        """Store how far an update has come, durably. Raises OSError."""
        _write(self._update, update)

    def read_verdict(self) -> Verdict | None:
        return _read(self._verdict, Verdict)

    def write_verdict(self, verdict: Verdict) -> None:
        """Raise OSError."""
        _write(self._verdict, verdict)

    def note_launcher(self, side: Side) -> None:
        """Note an environment elsewhere, which then hands its commands over to the one in use. Raises OSError."""
        path, line = self.folder / "launchers", f"{side.version} {side.environment}"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        if line not in lines:
            replace_text(path, "\n".join([*lines, line]) + "\n")

    def is_update_under_way(self) -> bool:
        """Return whether a process is updating this home."""
        try:
            with self._home.update_lock():
                return False
        except AlreadyLocked:
            return True

    def list_unused(self, used: Iterable[Path]) -> list[Path]:
        """List the environments in the home that are none of `used`."""
        kept = {path.resolve() for path in used}
        found = self.folder.iterdir() if self.folder.is_dir() else iter(())
        return sorted(path for path in found if path.is_dir() and not path.is_symlink() and path.resolve() not in kept)


def _read(path: Path, model: type[ModelT]) -> ModelT | None:
    with contextlib.suppress(OSError, ValueError, ValidationError):
        return model.model_validate(json.loads(path.read_text("utf-8")))
    return None


def _write(path: Path, value: BaseModel) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    replace_text(path, value.model_dump_json(indent=1) + os.linesep)
    fsync_folder(path.parent)
