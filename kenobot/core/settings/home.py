"""The home: the folder of one KenoBot's settings, secrets, database and memory."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import resources
from pathlib import Path

from kenobot.core.disk_fault import find_fault, name_fault
from kenobot.ports.errors import ConfigError, KenobotError
from kenobot.ports.frozen import dataclass

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_DRAFT = ".identity-"

REPLACED_PREFIX = "replaced-"
"""How the names of folders begin that hold what restored backups replaced."""


class AlreadyLocked(ConfigError):
    """Another process holds the lock. holder: its number as text, or "unknown"."""

    def __init__(self, key: str, /, holder: str = "unknown") -> None:
        super().__init__(key, holder=holder)
        self.holder = holder


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of a home. Making one changes nothing on disk."""

    path: Path

    @classmethod
    def find(cls, environ: Mapping[str, str], argument: str | Path | None = None) -> "Home":
        """Return the home named by `argument`, else by KENOBOT_HOME, else `~/.kenobot`; always absolute.

        Raises ConfigError for one that no folder can have.
        """
        chosen = str(argument or environ.get("KENOBOT_HOME") or Path("~", ".kenobot"))
        if chosen == "~" or chosen.startswith("~/"):
            chosen = (environ.get("HOME") or str(Path.home())) + chosen[1:]
        home = cls(Path(chosen).absolute())
        try:
            home.config_file.exists()
        except OSError as error:  # a name that is too long, a folder that is closed
            raise home._name_trouble(error) from error
        except ValueError as error:  # a NUL
            raise ConfigError("home.unusable", path=home.path, reason=error) from error
        return home

    @property
    def config_file(self) -> Path:
        return self.path / "kenobot.toml"

    @property
    def credentials(self) -> Path:
        return self.path / "credentials"

    @property
    def database(self) -> Path:
        return self.path / "kenobot.db"

    @property
    def index(self) -> Path:
        """The search index; it can be deleted at any time and is made anew."""
        return self.path / "index.db"

    @property
    def socket(self) -> Path:
        """Path of the socket for chats and commands of other processes of the owner."""
        return self.path / "kenobot.sock"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def plugins(self) -> Path:
        """Plugins of the owner's own: each a file or a folder, off until `plugins.enabled` names it."""
        return self.path / "plugins"

    @property
    def plugin_markers(self) -> Path:
        """Files that stand while a plugin is loaded."""
        return self.path / ".plugins-loading"

    @property
    def skills(self) -> Path:
        """Skills, each a folder with a SKILL.md, off until their owner trusts them."""
        return self.path / "skills"

    @property
    def mcp(self) -> Path:
        """Folder of the trusted tools of MCP servers, a file for each server."""
        return self.path / "mcp"

    @property
    def media(self) -> Path:
        """Bytes of attachments, each file under the SHA-256 of its content."""
        return self.path / "media"

    @property
    def channels(self) -> Path:
        """Folder of the positions of channels on their platforms, where these do not know them."""
        return self.path / "channels"

    @property
    def cache(self) -> Path:
        """Can be deleted at any time: all of it is made anew."""
        return self.path / "cache"

    @property
    def logs(self) -> Path:
        """Folder of the log, if it goes to files, and of stacks."""
        return self.path / "logs"

    @property
    def stacks(self) -> Path:
        """Folder of dumped stacks."""
        return self.logs / "stacks"

    @property
    def versions(self) -> Path:
        """Environments that `kenobot update` made, and which one is in use; see `kenobot.storage.updates`."""
        return self.path / "versions"

    @property
    def memory(self) -> Path:
        return self.path / "memory"

    @property
    def identity(self) -> Path:
        return self.memory / "identity"

    @property
    def restore_mark(self) -> Path:
        """Stands here while a backup is moved in."""
        return self.path / "restore-under-way"

    def check_restored(self) -> None:
        """Raise ConfigError when a restore was cut off: the home is then half of one and half of another."""
        if self.restore_mark.exists():
            raise ConfigError("home.half_restored", path=self.path)

    def begin_restore(self) -> None:
        """Mark the home as being restored, durably. Raises OSError."""
        self.restore_mark.touch(mode=0o600)
        _sync(self.path)

    def end_restore(self) -> None:
        """Take the mark away. Raises OSError."""
        self.restore_mark.unlink(missing_ok=True)
        _sync(self.path)

    def prepare(self) -> None:
        """Create the folders, readable by the owner only. Raises ConfigError when the place is unfit, and StoreError.

        An open home is closed only when it is plainly ours: `--home /tmp` must not lock others out of /tmp.
        """
        self.check_restored()
        try:
            self._close()
            for folder in (self.path, self.credentials, self.backups, self.memory):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._name_trouble(error) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise find_fault(self.path) or ConfigError("home.unwritable", path=self.path)

    def _name_trouble(self, error: OSError) -> KenobotError:
        return name_fault(self.path, error, "home.unusable")

    def _close(self) -> None:
        if not self.path.exists() or not self.path.stat().st_mode & _OTHERS:
            return
        ours = any(mark.exists() for mark in (self.config_file, self.database, self.credentials))
        if not ours and any(self.path.iterdir()):
            raise ConfigError("home.too_open", path=self.path)
        self.path.chmod(0o700)

    def lock(self) -> AbstractContextManager[None]:
        """Hold the home for this process. Raises AlreadyLocked. A crash releases the lock."""
        return _hold(self.path / "kenobot.lock", "home.running")

    def sleep_lock(self) -> AbstractContextManager[None]:
        """Hold the right to sleep, which may run beside a conversation. Raises AlreadyLocked."""
        return _hold(self.path / "sleep.lock", "home.asleep")

    def backup_lock(self) -> AbstractContextManager[None]:
        """Hold the right to make a backup, which may run beside the bot. Raises AlreadyLocked."""
        return _hold(self.path / "backup.lock", "home.being_backed_up")

    def update_lock(self) -> AbstractContextManager[None]:
        """Hold the right to update this home, which may be done beside the bot. Raises AlreadyLocked."""
        return _hold(self.path / "update.lock", "home.being_updated")

    def seed_identity(self) -> bool:
        """Copy the identity templates into a home without any; returns whether it did.

        All or nothing: a file that the owner removed, or a finished BOOTSTRAP.md, must not come back.
        Raises ConfigError or StoreError.
        """
        try:
            return self._seed_identity()
        except OSError as error:
            raise name_fault(self.identity, error, "files.unmakeable") from error

    def _seed_identity(self) -> bool:
        if self.identity.exists() and any(self.identity.iterdir()):
            return False
        self.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self.memory.glob(f"{_DRAFT}*"):  # by a crash
            shutil.rmtree(left, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self.memory))
        try:
            for template in resources.files("kenobot").joinpath("config", "identity").iterdir():
                (draft / template.name).write_text(template.read_text("utf-8"), "utf-8")
                (draft / template.name).chmod(0o600)
                _sync(draft / template.name)  # or a power cut leaves empty files, and those are the owner's to keep
            _sync(draft)
            draft.rename(self.identity)
            _sync(self.memory)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return True


@contextmanager
def _hold(path: Path, key: str) -> Iterator[None]:
    """Hold a lock file. key: of AlreadyLocked."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise name_fault(path, error, "files.unopenable") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            raise AlreadyLocked(key, holder) from None
        except OSError as error:
            raise name_fault(path, error, "files.unlockable") from error
        # The pid is a courtesy: a disk that cannot store it is no reason to refuse.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
