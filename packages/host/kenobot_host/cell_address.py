"""Find the address of a cell's database: by the environment or as a credential, never in a command that a log shows."""

from collections.abc import Mapping
from pathlib import Path

from kenobot.ports.errors import ConfigError

VARIABLE = "KENOBOT_HOST_DATABASE"
_CREDENTIAL = "host_database"


def find_address(environ: Mapping[str, str]) -> str:
    """Return the address of the database, as libpq takes it. Raises ConfigError."""
    if address := environ.get(VARIABLE, "").strip():
        return address
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if folder and (path := Path(folder, _CREDENTIAL)).exists():
        return read_address(path)
    raise ConfigError("host.no_url")


def read_address(path: Path) -> str:
    """Read an address from a file. Raises ConfigError."""
    try:
        if address := path.read_text("utf-8").strip():
            return address
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("files.unreadable", path=path, reason=error) from error
    raise ConfigError("host.bad_url")
