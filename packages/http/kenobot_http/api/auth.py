"""Authenticate requests by their key, limit how many there are, and check what the key opens."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from starlette.exceptions import HTTPException

from kenobot.app.bot_services import BotServices
from kenobot.ports.sentences import Sentence
from kenobot.storage import api_keys
from kenobot_http.api.scopes import OWNER_ONLY
from kenobot_http.api.services import Caller
from kenobot_http.channel import HttpChannel
from kenobot_http.rate_limit import RateLimiter, peer_address
from kenobot_http.settings import CHANNEL

_bearer = HTTPBearer(auto_error=False, description="A key that `kenobot http key add` made")


def bearer_secret(header: str | None) -> str | None:
    """Read the key out of an Authorization header; None where it brings none."""
    scheme, _, secret = (header or "").partition(" ")
    return secret.strip() or None if scheme.lower() == "bearer" else None


class Authenticator:
    """Finds out who makes a request. It counts against its key, without a good one against its address."""

    def __init__(self, channel: HttpChannel, services: BotServices) -> None:
        self._channel, self._services = channel, services
        self._requests = RateLimiter(services.clock, channel.settings.requests_per_minute)

    async def admit(self, request: Request, scopes: Sequence[str]) -> Caller:
        """Return who makes a request whose route these scopes open. Raises HTTPException."""
        secret = bearer_secret(request.headers.get("authorization"))
        key = None
        if secret is not None:
            key = await self._services.database.read(lambda connection: api_keys.find_key(connection, secret))
        if pause := self._requests.pause(f"key {key.id}" if key else peer_address(request.scope.get("client"))):
            raise HTTPException(429, Sentence("api.too_many"), {"Retry-After": str(max(1, round(pause)))})
        if key is None:
            raise HTTPException(401, Sentence("api.key_needed"), _CHALLENGE)
        caller = Caller(key, self._services, self._channel)
        self._check(caller, scopes)
        return caller

    def _check(self, caller: Caller, scopes: Sequence[str]) -> None:
        for scope in scopes:
            if scope not in caller.key.scopes:
                raise HTTPException(403, Sentence("api.scope_missing", scope=scope))
            if scope in OWNER_ONLY and not caller.is_owner:
                raise HTTPException(403, Sentence("api.owner_only", scope=scope))
        access = self._services.access
        if not caller.is_owner and not access.lets_in(CHANNEL, caller.user):
            raise HTTPException(403, Sentence("api.user_not_let_in"))


_CHALLENGE = {"WWW-Authenticate": "Bearer"}


async def _authenticate(
    request: Request, scopes: SecurityScopes, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
) -> Caller:
    authenticator: Authenticator = request.app.state.authenticator
    return await authenticator.admit(request, scopes.scopes)


Messenger = Annotated[Caller, Security(_authenticate, scopes=["messages"])]
MemoryReader = Annotated[Caller, Security(_authenticate, scopes=["memory"])]
MemoryWriter = Annotated[Caller, Security(_authenticate, scopes=["memory:write"])]
Scheduler = Annotated[Caller, Security(_authenticate, scopes=["schedule"])]
SleepKeeper = Annotated[Caller, Security(_authenticate, scopes=["sleep"])]
MailKeeper = Annotated[Caller, Security(_authenticate, scopes=["mail"])]
CostReader = Annotated[Caller, Security(_authenticate, scopes=["cost"])]
ToolKeeper = Annotated[Caller, Security(_authenticate, scopes=["tools"])]
SettingsKeeper = Annotated[Caller, Security(_authenticate, scopes=["settings"])]
AccessKeeper = Annotated[Caller, Security(_authenticate, scopes=["access"])]
HealthReader = Annotated[Caller, Security(_authenticate, scopes=["health"])]
