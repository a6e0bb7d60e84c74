"""Seal secrets for a key of age that PostgreSQL never sees: its rows and backups hold nothing that opens them."""

from collections.abc import Mapping
from pathlib import Path

import pyrage

from kenobot.ports.errors import ConfigError

KEY_FILE = "KENOBOT_HOST_KEY_FILE"
_CREDENTIAL = "host_key"
_SECRET = ("credentials/", "channels/", "kenobot.toml")


def is_secret(path: str) -> bool:
    """Return whether a file of a home is sealed: settings may name tokens, and channels keep keys."""
    return path.startswith(_SECRET)


class Sealer:
    """Seal and open files with one key."""

    def __init__(self, key_file: Path) -> None:
        """Read a key that `kenobot host key` made. Raises ConfigError."""
        try:
            lines = key_file.read_text("utf-8").splitlines()
            (line,) = (line.strip() for line in lines if line.startswith("AGE-SECRET-KEY-"))
            self._identity = pyrage.x25519.Identity.from_str(line)
        except (OSError, ValueError, pyrage.IdentityError):
            raise ConfigError("host.bad_key", path=key_file) from None

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> "Sealer | None":
        """Find the key by the environment or among the service's credentials. Raises ConfigError for an unfit one."""
        if named := environ.get(KEY_FILE):
            return cls(Path(named))
        folder = environ.get("CREDENTIALS_DIRECTORY")
        if folder and (path := Path(folder, _CREDENTIAL)).exists():
            return cls(path)
        return None

    def seal(self, content: bytes) -> bytes:
        """Encrypt a file."""
        sealed: bytes = pyrage.encrypt(content, [self._identity.to_public()])
        return sealed

    def open(self, path: str, content: bytes) -> bytes:
        """Decrypt a file. Raises ConfigError where it was sealed for another key."""
        try:
            opened: bytes = pyrage.decrypt(content, [self._identity])
        except pyrage.DecryptError:
            raise ConfigError("host.key_wrong", path=path) from None
        return opened
