"""Check addresses of the web before anything is sent there: what they name, and what their host resolves to. Pure."""

import ipaddress
import socket
from typing import Final, Literal
from urllib.parse import urlsplit

import httpx

from kenobot.core import lazy
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Fault = Literal["form", "scheme", "host", "port"]

PORTS: Final = {"http": 80, "https": 443}
_MOST_LETTERS: Final = 4000
_FORBIDDEN = lazy.regex(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NAME = lazy.regex(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER = lazy.regex(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")  # an IPv4 address in any of its spellings
_LOCAL: Final = frozenset(
    "localhost localdomain local internal intranet lan home corp private arpa onion test invalid example".split()
)  # last parts of names that no public name server answers for
_NOT_PUBLIC: Final = tuple(  # beside those that each release of Python knows; the first is Azure's server of metadata
    map(
        ipaddress.ip_network,
        "168.63.129.16/32 192.0.0.0/24 192.88.99.0/24 224.0.0.0/3 2001::/23 2002::/16 3ffe::/16 3fff::/20".split(),
    )
)
_GLOBAL: Final = ipaddress.IPv6Network("2000::/3")
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_REFUSED: Final = "That address is of this machine or of a network of its own, and is not read"
_NO_ADDRESS: Final = "That is no address of the web: write it whole, as https://host/path."


class AddressRefused(ToolFailed):
    """An address that nothing is sent to. fault: which part of it."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault


@dataclass(frozen=True, slots=True)
class Reach:
    """Addresses that a tool may reach beside public ones. own_hosts: as "host", or "host:port" for another port.

    setting: which of the settings names them. through_proxy: the proxy of the environment looks names up.
    """

    own_hosts: frozenset[str] = frozenset()
    setting: str = "[tools.web_fetch] own_hosts"
    through_proxy: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was checked. host: in ASCII. is_own: the owner named it. literal: the IP address that it is."""

    url: httpx.URL
    host: str
    port: int
    is_own: bool
    literal: IpAddress | None


def check_url(text: str, reach: Reach) -> Target:
    """Check what an address says by itself. Raises AddressRefused."""
    url = _parse(text.strip())
    if url.scheme not in PORTS:
        raise AddressRefused("scheme", "Only addresses that begin with http:// or https:// are read.")
    host, literal = _parse_host(url)
    port = url.port or PORTS[url.scheme]
    is_own = name_host(host, port, url.scheme) in reach.own_hosts
    if not is_own:
        is_local = not is_public(literal) if literal is not None else _is_local_name(host)
        if is_local:
            raise refuse_host(reach)
        if port != PORTS[url.scheme]:
            raise AddressRefused("port", f"Port {port} is not read unless the owner names it in {reach.setting}.")
    return Target(url.copy_with(fragment=None), host, port, is_own, literal)


def name_host(host: str, port: int, scheme: str) -> str:
    """Write a host as settings name it: with its port where that is not the usual one."""
    return host if port == PORTS[scheme] else f"{host}:{port}"


def refuse_host(reach: Reach) -> AddressRefused:
    """Word the refusal of an address that is not public."""
    return AddressRefused("host", f"{_REFUSED} unless the owner names it in {reach.setting}.")


def is_public(address: IpAddress) -> bool:
    """Return whether an IP address is one of the public internet, also where it is wrapped into one of IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _TRANSLATED:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
        if address not in _GLOBAL or address.scope_id:
            return False
    return address.is_global and not any(address in net for net in _NOT_PUBLIC if net.version == address.version)


def _parse(text: str) -> httpx.URL:
    """Parse an address as it will be asked for. Raises AddressRefused for what two parsers may read in two ways."""
    try:
        if _FORBIDDEN.search(text) or len(text) > _MOST_LETTERS:
            raise AddressRefused("form", _NO_ADDRESS)
        url = httpx.URL(text)
        authority = urlsplit(text).netloc
        url.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):  # of which Unicode errors are a kind
        raise AddressRefused("form", _NO_ADDRESS) from None
    if "@" in authority:
        raise AddressRefused("form", "An address with a user or a password before its host is not read.")
    return url


def _parse_host(url: httpx.URL) -> tuple[str, IpAddress | None]:
    host = url.raw_host.decode("ascii").lower().removesuffix(".")
    try:
        if ":" in host:
            return host, ipaddress.IPv6Address(host)
        if _NUMBER.fullmatch(host):
            return host, ipaddress.IPv4Address(socket.inet_aton(host))
    except (ValueError, OSError):
        raise AddressRefused("host", "The host of that address is no IP address.") from None
    if not _NAME.fullmatch(host):
        raise AddressRefused("host", "The host of that address is no name of a host.")
    return host, None


def _is_local_name(host: str) -> bool:
    first, _, last = host.rpartition(".")
    return not first or last in _LOCAL
