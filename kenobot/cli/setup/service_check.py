"""Ask services while a person sets KenoBot up: whether a secret is good, and which models a server has."""

import contextlib
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping

from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.frozen import dataclass
from kenobot.providers.openai_compatible import PRESETS

_SECONDS = 5.0
_LOCAL_SECONDS = 0.5
_LOOPBACK = ("http://127.0.0.1:", "http://localhost:")
_UNKNOWN = {"telegram_token": (401, 404)}  # how a service says no, where it is not as the others do
_MODELS, _NAME_CHARS, _ANSWER_BYTES = 50, 200, 1_000_000  # how much of a server's answer is read


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server with models on this machine. provider: the name of its provider."""

    provider: str
    title: str
    models: tuple[str, ...]


def is_refused(name: str, secret: str, base_url: str) -> bool | None:
    """Return whether the service refuses a secret; None when it cannot tell, such as without a network.

    name: of the secret's credential file.
    """
    base, body = base_url.rstrip("/"), None
    headers: Mapping[str, str] = {}
    if name == "telegram_token":
        url, body = f"{base_url}{secret}/getMe", b""
    elif name == "anthropic_api_key":
        url, headers = f"{base}/v1/models?limit=1", {"x-api-key": secret, "anthropic-version": "2023-06-01"}
    else:
        url, headers = f"{base}/models", {"authorization": f"Bearer {secret}"}
    try:
        return None if _fetch(url, headers, body, _SECONDS) is None else False
    except urllib.error.HTTPError as error:
        return True if error.code in _UNKNOWN.get(name, (401, 403)) else None


def find_local_servers(loaded: ResolvedSettings) -> list[LocalServer]:
    """Return the servers with models that answer on this machine, at the addresses of the settings."""
    found = []
    for name, preset in PRESETS.items():
        table = loaded.settings.plugin_tables("kenobot.providers").get(name, {})
        base_url = str(table.get("base_url") or preset.base_url)
        if base_url.startswith(_LOOPBACK) and (models := list_models_offered(base_url, "", _LOCAL_SECONDS)):
            found.append(LocalServer(name, preset.title, models))
    return found


def list_models_offered(base_url: str, secret: str, seconds: float = _SECONDS) -> tuple[str, ...]:
    """Return the names of the models that a server offers; none when it does not say."""
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    with contextlib.suppress(ValueError, TypeError, KeyError, urllib.error.HTTPError):
        rows = json.loads(_fetch(f"{base_url.rstrip('/')}/models", headers, None, seconds) or b"{}")["data"]
        names = [row["id"] for row in rows]
        good = [name for name in names if isinstance(name, str) and name.isprintable() and len(name) <= _NAME_CHARS]
        return tuple(good[:_MODELS])
    return ()


def _fetch(url: str, headers: Mapping[str, str], body: bytes | None, seconds: float) -> bytes | None:
    """Return what is at a URL; None when it cannot be reached. Raises HTTPError for a status that is no success."""
    try:
        request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 - an address of the settings
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds) as answer:
            content: bytes = answer.read(_ANSWER_BYTES)
            return content
    except urllib.error.HTTPError as error:
        error.close()  # its page is not read
        raise
    except (OSError, ValueError, http.client.HTTPException):
        return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a secret goes to its own service only."""

    def redirect_request(self, *_: object) -> None:
        return None
