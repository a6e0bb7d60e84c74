"""Sessions of the dashboard as requests use them: their cookie, and the token that each change has to bring."""

import hashlib
import hmac
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from kenobot_dashboard.guard import is_own_machine
from kenobot_dashboard.paths import BASE

_COOKIE: Final = "kenobot_dashboard"
CSRF_FIELD: Final = "csrf"


def read_cookie(request: Request) -> str:
    """Return the secret of the session that a request brings; "" without one."""
    return request.cookies.get(_name(request), "")


def set_cookie(request: Request, response: Response, secret: str) -> None:
    """Give a browser a session. Under a name other than this machine's it is sent over TLS alone."""
    response.set_cookie(
        _name(request), secret, path=BASE, httponly=True, samesite="strict", secure=not is_own_machine(request)
    )


def drop_cookie(request: Request, response: Response) -> None:
    """Take a session from a browser."""
    response.delete_cookie(
        _name(request), path=BASE, httponly=True, samesite="strict", secure=not is_own_machine(request)
    )


def csrf_token(secret: str) -> str:
    """Return the token that the forms of a session hold."""
    return hmac.new(secret.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token(secret: str, given: str) -> bool:
    """Return whether a request brings the token of its session."""
    return hmac.compare_digest(csrf_token(secret).encode(), given.encode("utf-8", "replace"))


def _name(request: Request) -> str:
    """Return the name of the cookie, with the port: browsers send those of one port to the others of a machine."""
    name = f"{_COOKIE}_{request.url.port or 0}"
    return name if is_own_machine(request) else f"__Secure-{name}"
