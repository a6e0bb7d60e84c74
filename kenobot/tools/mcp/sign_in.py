"""Sign in with a server by OAuth, as the SDK does it, and keep what that brings between runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from kenobot.tools.mcp.token_file import TokenFile

# It logs what servers answer, with tracebacks in which their secrets may stand.
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL + 1)

M = TypeVar("M", bound=BaseModel)

_LOOPBACK = "http://127.0.0.1:8765/callback"


class SignInNeeded(Exception):
    """Raised where a person would have to sign in, and none is asked."""


class SignInFailed(Exception):
    """Raised for an address that no sign-in ended at."""


class _Storage:
    """The storage of the SDK, in a token file. It writes once there are tokens, so that no half sign-in stays."""

    def __init__(self, file: TokenFile, *, fresh: bool) -> None:
        self.file, self.fresh = file, fresh
        self.stored: dict[str, Any] = {}  # bounded: the length of a server's answer; turn
        self.provider: StoredSignIn | None = None

    async def get_tokens(self) -> OAuthToken | None:
        self.stored = {} if self.fresh else await asyncio.to_thread(self.file.load)
        return _read(OAuthToken, self.stored.get("tokens"))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _read(OAuthClientInformationFull, self.stored.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.stored["client"] = client_info.model_dump(mode="json", exclude_none=True)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        assert self.provider is not None
        self.stored["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        if (metadata := self.provider.context.oauth_metadata) is not None:
            self.stored["metadata"] = metadata.model_dump(mode="json", exclude_none=True)
        await asyncio.to_thread(self.file.save, self.stored, tokens.expires_in)


class StoredSignIn(OAuthClientProvider):
    """Signs requests in by stored tokens, and refreshes them.

    The SDK alone takes stored tokens for good for ever, and forgets by which address they are refreshed.
    """

    def __init__(
        self,
        url: str,
        file: TokenFile,
        *,
        redirect: str = _LOOPBACK,
        show: Callable[[str], Awaitable[None]] | None = None,
        hear: Callable[[], Awaitable[str]] | None = None,
        client_id: str = "",
        client_secret: str = "",
    ) -> None:
        """show: an address to the person. hear: returns that at which they ended. Without both nobody is asked.

        client_id, client_secret: under which the owner registered this client with the server.
        """

        async def refuse(_address: str) -> None:
            raise SignInNeeded

        async def read_code() -> AuthorizationCodeResult:
            if hear is None:
                raise SignInNeeded
            return read_callback(await hear())

        self._storage = _Storage(file, fresh=show is not None)
        self._client_id, self._client_secret = client_id, client_secret
        metadata = OAuthClientMetadata(
            client_name="KenoBot",
            redirect_uris=[AnyUrl(redirect)],
        )
        super().__init__(url, metadata, self._storage, show or refuse, read_code)
        self._storage.provider = self

    async def _initialize(self) -> None:
        await super()._initialize()
        stored = self._storage.stored
        if self._client_id:
            self.context.client_info = OAuthClientInformationFull(
                client_id=self._client_id,
                client_secret=self._client_secret or None,
                token_endpoint_auth_method="client_secret_basic" if self._client_secret else "none",
            )
            await self._storage.set_client_info(self.context.client_info)
        expires = stored.get("expires")
        self.context.token_expiry_time = expires if isinstance(expires, int | float) else None
        self.context.oauth_metadata = _read(OAuthMetadata, stored.get("metadata")) or self.context.oauth_metadata

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the tokens that are in use."""
        tokens = self.context.current_tokens
        return tuple(filter(None, (tokens.access_token, tokens.refresh_token))) if tokens is not None else ()


def read_callback(address: str) -> AuthorizationCodeResult:
    """Read the address at which a sign-in ended. Raises SignInFailed."""
    given = {name: values[0] for name, values in parse_qs(urlsplit(address.strip()).query).items()}
    if "error" in given:
        raise SignInFailed(f"the server refused: {given.get('error_description', given['error'])[:200]}")
    if not given.get("code"):
        raise SignInFailed("that address has no code in it")
    return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))


def _read(model: type[M], stored: object) -> M | None:
    """Return a stored part; None where it is not as it should be."""
    try:
        return None if stored is None else model.model_validate(stored)
    except ValidationError:
        return None
