"""Define the settings of the HTTP channel."""

import ipaddress
from typing import ClassVar

from pydantic import BaseModel, Field, SecretStr, field_validator

from kenobot.ports.sentences import Sentence

CHANNEL = "http"
_SHORTEST_SECRET = 16


class HttpSettings(BaseModel, extra="forbid", frozen=True, hide_input_in_errors=True):
    """The `[channels.http]` table of the configuration."""

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(8765, ge=0, le=65_535, description="port to listen on; 0 takes a free one")
    webhook_secret: SecretStr = Field(SecretStr(""), description="key of the webhook's signatures; empty: no webhook")
    webhook_user: str = Field("owner", min_length=1, max_length=64, description="sender of messages that name none")
    webhook_unstamped: bool = Field(False, description="also accept signatures over the body alone")
    owners: tuple[str, ...] = Field(("owner",), description="names of the owner")
    allowed_users: tuple[str, ...] = Field((), description="names of guests")
    allowed_chats: tuple[str, ...] = Field((), description="groups, such as #team, in which everybody may talk")
    server_names: tuple[str, ...] = Field((), description="names under which browsers and MCP clients reach the server")
    dashboard: bool = Field(True, description="whether the dashboard is served, where it is installed")
    wait_seconds: float = Field(60, ge=0, le=300, description="how long a caller waits for an answer")
    body_bytes: ClassVar[int] = 256 * 1024
    requests_per_minute: ClassVar[int] = 300

    @field_validator("webhook_secret")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value() and len(value.get_secret_value()) < _SHORTEST_SECRET:
            raise ValueError(Sentence("http.short_secret", shortest=_SHORTEST_SECRET))
        return value

    @property
    def is_loopback(self) -> bool:
        """Return whether only programs of this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
