"""Keep the tokens of bots sealed in PostgreSQL, where the host has a key."""

import base64
from typing import Final

from kenobot.ports.errors import ConfigError
from kenobot_host.sealing import Sealer

_SEALED: Final = "age:"


class BotTokens:
    """Seals and opens tokens. sealer: None keeps them as they are, and opens none that is sealed."""

    def __init__(self, sealer: Sealer | None) -> None:
        self._sealer = sealer

    def seal(self, token: str) -> str:
        """Return a token as it is stored."""
        if self._sealer is None:
            return token
        return _SEALED + base64.b64encode(self._sealer.seal(token.encode())).decode()

    def open(self, account: str, stored: str) -> str:
        """Return a token of a bot that was stored. Raises ConfigError without its key, or with another."""
        if not stored.startswith(_SEALED):
            return stored
        if self._sealer is None:
            raise ConfigError("host.key_missing")
        return self._sealer.open(f"bot {account}", base64.b64decode(stored.removeprefix(_SEALED))).decode()
