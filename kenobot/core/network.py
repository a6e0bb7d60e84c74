"""Check addresses of servers, and what the environment says of proxies and certificates, before a client is built."""

import importlib.util
import ipaddress
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator

from kenobot.core import lazy
from kenobot.ports.errors import ConfigError, KenobotError
from kenobot.ports.sentences import Sentence

_PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
_ALL: Final = (*_PROXIES, "no_proxy")
_HOST: Final = lazy.regex(r"[\w~-]+(?:\.[\w~-]+)*\.?")
_BLANK_OR_CONTROL: Final = lazy.regex(r"[\s\x00-\x1f\x7f]")


def check_address(text: str) -> str:
    """Return the address of a server as it is. Raises ValueError for what is none."""
    if not _is_url(text, ("http", "https")):
        raise ValueError(Sentence("settings.bad_address"))
    return text


HttpAddress = Annotated[str, AfterValidator(check_address)]
"""The address of a server, as a setting."""
BaseAddress = Annotated[HttpAddress, AfterValidator(lambda address: address.rstrip("/"))]
"""The address of a server to which paths are added, as a setting."""


@contextmanager
def building_client() -> Iterator[None]:
    """Build an HTTP client within. Raises ConfigError, one plain line, when the environment does not allow for one."""
    check_environment(os.environ)
    try:
        yield
    except KenobotError:
        raise
    except Exception as error:
        named = [found for name in _ALL if (found := _variable(name, os.environ))]
        advice = f"correct or unset {', '.join(named)}" if named else "correct its address in the settings"
        raise ConfigError("network.unset", kind=type(error).__name__, advice=advice) from error


def check_environment(environ: Mapping[str, str]) -> None:
    """Check the variables that HTTP clients read. Raises ConfigError without their values: proxies have passwords."""
    for name in _PROXIES:
        variable = _variable(name, environ)
        address = environ.get(variable, "").strip()
        address = address if "://" in address or not address else f"http://{address}"
        if address and not _is_url(address, _PROXY_SCHEMES):
            raise ConfigError("network.bad_proxy", variable=variable)
        if address.startswith("socks") and importlib.util.find_spec("socksio") is None:
            raise ConfigError("network.socks_package_missing", variable=variable)
    certificates = environ.get("SSL_CERT_FILE")
    try:
        if certificates:
            ssl.create_default_context(cafile=certificates)
    except (OSError, ValueError) as error:
        raise ConfigError("network.bad_certificates") from error


def _is_url(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        if "[" in parts.netloc:
            ipaddress.IPv6Address(host.partition("%")[0])
        elif not _HOST.fullmatch(host):
            return False
        return parts.port != 0 and parts.scheme in schemes and not _BLANK_OR_CONTROL.search(text)
    except ValueError:  # brackets that do not match, a port that is no number or too large
        return False


def _variable(name: str, environ: Mapping[str, str]) -> str:
    """Name the variable of that name that counts, of two spellings; "" when neither is set."""
    return next((spelling for spelling in (name, name.upper()) if environ.get(spelling)), "")
