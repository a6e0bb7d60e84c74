"""Keep what signing in with a server brought: a credential file of one line, readable by the owner only."""

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenobot.storage import disk

_log = logging.getLogger(__name__)

SIGN_IN = "oauth"
"""The name of the secret, among those of a server."""

_MOST_BYTES = 100_000


class TokenFile:
    """The tokens of one server. They count for its address alone."""

    def __init__(self, folder: Path, server: str, url: str) -> None:
        """folder: of the credentials."""
        self.server, self.path = server, folder / f"mcp.{server}.{SIGN_IN}"
        self._url = url

    def load(self) -> dict[str, Any]:
        """Return what was stored; {} where there is nothing, or it cannot be read."""
        try:
            stored = disk.load_json(self.path, _MOST_BYTES)
        except (OSError, ValueError) as error:
            _log.warning("the tokens of the MCP server %s cannot be read: %s", self.server, type(error).__name__)
            return {}
        return stored if isinstance(stored, dict) and stored.get("url") == self._url else {}

    def save(self, stored: Mapping[str, object], expires_in: int | None) -> None:
        """Write what signing in brought. expires_in: seconds. Raises OSError."""
        expires = None if expires_in is None else time.time() + expires_in
        disk.replace_text(self.path, json.dumps({**stored, "url": self._url, "expires": expires}) + "\n")
