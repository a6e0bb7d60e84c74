"""Check a secret against the service that gave it: whether the service knows it, as far as it can be reached."""

import contextlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping

_SECONDS = 5.0
_UNKNOWN = {"telegram_token": (401, 404), "anthropic_api_key": (401, 403)}  # how each service says no


def is_refused(name: str, secret: str, base_url: str) -> bool | None:
    """Return whether the service refuses a secret; None when it cannot tell, such as without a network."""
    headers: Mapping[str, str] = {}
    body = None
    if name == "telegram_token":
        url, body = f"{base_url}{secret}/getMe", b""
    else:
        url = f"{base_url.rstrip('/')}/v1/models?limit=1"
        headers = {"x-api-key": secret, "anthropic-version": "2023-06-01"}
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 - an address of the settings
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS):
                return False
        except urllib.error.HTTPError as error:
            return True if error.code in _UNKNOWN[name] else None
    return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a secret goes to its own service only."""

    def redirect_request(self, *_: object) -> None:
        return None
