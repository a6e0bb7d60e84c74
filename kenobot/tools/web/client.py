"""Exchange messages with servers of the web: at the address that was checked, within a size and a time."""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Final
from urllib import request as environment

import httpx

from kenobot import __version__
from kenobot.core.network import check_environment
from kenobot.ports.errors import AnswerLost, ConfigError, ToolFailed, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.tools.web.address import IpAddress, Reach, Target, check_url, is_public, refuse_host

Resolve = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
OpenTransport = Callable[[str], Awaitable[httpx.AsyncBaseTransport]]

_MOST_REDIRECTS: Final = 5
_CONNECT_SECONDS: Final = 5.0  # for each of the addresses of a host
_MOST_ADDRESSES: Final = 4
_AGENT: Final = f"KenoBot/{__version__} (a personal assistant)"
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_NETWORK_BITS: Final = 64  # of an IPv6 address, that all machines of a network share
_GZIP: Final = 31  # as zlib names the format
_GZIP_BEGINS: Final = b"\x1f"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a server. body: decompressed; is_cut: it was longer. redirects: addresses asked before."""

    address: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False
    redirects: tuple[str, ...] = ()

    @property
    def mime(self) -> str:
        """Return the type of the body, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """Return the charset of the body, as far as it is told."""
        told = self.headers.get("content-type", "").lower().partition("charset=")[2]
        return told.partition(";")[0].strip("\"' ")


async def look_up(host: str, port: int) -> Sequence[IpAddress]:
    """Look up the IP addresses of a host. Raises ToolFailed."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolFailed(f"There is no host {host}, or its name cannot be looked up now.") from None
    return list(dict.fromkeys(ip_address(address[0]) for *_, address in found))


async def open_transport(proxy: str) -> httpx.AsyncBaseTransport:
    """Open connections for one exchange: a pool would take one that was made for another host of an address."""
    certificates = await asyncio.to_thread(_load_certificates)
    return httpx.AsyncHTTPTransport(verify=certificates, trust_env=False, proxy=proxy or None)


_load_certificates = lru_cache(maxsize=1)(httpx.create_ssl_context)


@dataclass(slots=True)
class WebClient:
    """Ask servers of the web. seconds: for one exchange, redirects included. most: bytes of a body."""

    reach: Reach
    seconds: float
    most: int
    resolve: Resolve = look_up
    open_transport: OpenTransport = open_transport

    async def fetch(self, url: str, headers: Mapping[str, str]) -> Answer:
        """Get a page, also where redirects lead to it. Raises ToolFailed or RemoteError."""
        asked: list[str] = []  # bounded: redirects; turn
        was_own = False
        async with _deadline(self.seconds, url):
            while len(asked) <= _MOST_REDIRECTS:
                target = check_url(url, self.reach)
                if asked and target.is_own and not was_own:  # a page of a stranger's sends the request there
                    raise refuse_host(self.reach)
                was_own = target.is_own
                answer = await self._exchange(target, "GET", headers, b"")
                location = answer.headers.get("location", "")
                if answer.status not in _REDIRECTS or not location:
                    return replace(answer, redirects=tuple(asked))
                asked.append(answer.address)
                url = _join(target.url, location)
        raise ToolFailed(f"That address redirects more than {_MOST_REDIRECTS} times: it leads nowhere.")

    async def exchange(self, target: Target, method: str, headers: Mapping[str, str], content: bytes) -> Answer:
        """Exchange one message, and follow no redirect. Raises ToolFailed or RemoteError."""
        async with _deadline(self.seconds, target.host):
            return await self._exchange(target, method, headers, content)

    async def _exchange(self, target: Target, method: str, headers: Mapping[str, str], content: bytes) -> Answer:
        proxy = self._find_proxy(target)
        if proxy:
            return await self._send(target, target.url, proxy, method, headers, content)
        addresses = await self._look_up(target)
        for place, address in enumerate(addresses, 1):
            try:
                pinned = target.url.copy_with(host=str(address))
                return await self._send(target, pinned, "", method, headers, content)
            except _NotReached as error:
                if place == len(addresses):
                    raise Unavailable(str(error)) from None
        raise ToolFailed(f"The host {target.host} has no address.")

    async def _look_up(self, target: Target) -> Sequence[IpAddress]:
        """Return the addresses of a host, all of them checked. Raises AddressRefused."""
        found = [target.literal] if target.literal is not None else await self.resolve(target.host, target.port)
        if not target.is_own and not all(is_public(each) and not _is_near(each) for each in found):
            raise refuse_host(self.reach)
        return found[:_MOST_ADDRESSES]

    def _find_proxy(self, target: Target) -> str:
        """Return the proxy of the environment for a host; "" to connect directly. Raises ToolFailed."""
        proxies = environment.getproxies_environment()
        proxy = proxies.get(target.url.scheme) or proxies.get("all", "")
        if not proxy or environment.proxy_bypass_environment(f"{target.host}:{target.port}", proxies):  # type: ignore[attr-defined]
            return ""
        if not self.reach.through_proxy:
            if target.is_own:
                return ""
            raise ToolFailed(
                "This machine is behind a proxy, where the address of a host cannot be checked. Nothing is read from "
                f"the web unless the owner sets through_proxy = true in {self.reach.setting.partition(' ')[0]}."
            )
        try:
            check_environment({f"{target.url.scheme}_proxy": proxy})
        except ConfigError as error:
            raise ToolFailed(str(error)) from None
        return proxy if "://" in proxy else f"http://{proxy}"

    async def _send(
        self, target: Target, url: httpx.URL, proxy: str, method: str, headers: Mapping[str, str], content: bytes
    ) -> Answer:
        """Send a request to `url`, as one for the host of `target`. Raises RemoteError or ToolFailed."""
        sent = httpx.Headers({"Accept-Encoding": "gzip", "User-Agent": _AGENT})
        sent.update(headers)
        sent.update({"Host": target.url.netloc.decode("ascii"), "Connection": "close"})
        request = httpx.Request(
            method,
            url,
            headers=sent,
            content=content or None,
            extensions={
                "sni_hostname": target.host if target.literal is None else str(target.literal),
                "timeout": httpx.Timeout(self.seconds, connect=_CONNECT_SECONDS).as_dict(),
            },
        )
        try:
            async with await self.open_transport(proxy) as transport:
                response = await transport.handle_async_request(request)
                try:
                    is_redirect = response.status_code in _REDIRECTS and "location" in response.headers
                    body, is_cut = (b"", False) if is_redirect or method == "HEAD" else await self._read(response)
                finally:
                    await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            why = " Its certificate is not valid." if "certificate" in str(error).lower() else ""
            raise _NotReached(f"The host {target.host} cannot be reached.{why}") from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise AnswerLost(f"The connection to {target.host} failed ({type(error).__name__}).") from None
        return Answer(str(target.url), response.status_code, response.headers, body, is_cut)

    async def _read(self, response: httpx.Response) -> tuple[bytes, bool]:
        """Read a body as far as `most`, and whether that is not all of it. Raises ToolFailed."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "", "gzip", "x-gzip"):
            raise ToolFailed("The server answered in a compression that is not known here.")
        assert isinstance(response.stream, AsyncIterable)
        unpacked = _Gunzip() if "gzip" in encoding else None
        body = bytearray()
        async for chunk in response.stream:
            room = self.most + 1 - len(body)
            body += chunk[:room] if unpacked is None else unpacked.feed(chunk, room)
            if len(body) > self.most:
                return bytes(body[: self.most]), True
        return bytes(body), unpacked is not None and unpacked.is_cut


class _NotReached(Unavailable):
    """A host that was not reached at one of its addresses."""


class _Gunzip:
    """Decompress gzip as it comes, within the room that there is."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)

    @property
    def is_cut(self) -> bool:
        """Return whether the data ended before its end."""
        return not self._member.eof

    def feed(self, chunk: bytes, room: int) -> bytes:
        """Return what a chunk unpacks to, of at most `room` bytes. Raises ToolFailed."""
        unpacked = bytearray()
        try:
            while chunk and len(unpacked) < room:
                if self._member.eof:
                    if not chunk.startswith(_GZIP_BEGINS):  # what browsers leave out
                        break
                    self._member = zlib.decompressobj(_GZIP)
                unpacked += self._member.decompress(chunk, room - len(unpacked))
                chunk = self._member.unused_data
        except zlib.error:
            raise ToolFailed("The server's answer is damaged: it cannot be decompressed.") from None
        return bytes(unpacked)


def _is_near(address: IpAddress) -> bool:
    """Return whether a public address is this machine's, or of a network that it stands in by IPv6."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))  # sends nothing: it chooses the address to send from
            own = ip_address(probe.getsockname()[0])
    except OSError:  # no way leads there
        return False
    length = 32 if address.version == 4 else _NETWORK_BITS
    return address in ip_network((own, length), strict=False)


@asynccontextmanager
async def _deadline(seconds: float, asked: str) -> AsyncIterator[None]:
    """Break off after some seconds. asked: of whom, for the error. Raises AnswerLost."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise AnswerLost(f"{asked[:200]} took longer than {seconds:g} seconds to answer.") from None


def _join(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except (httpx.InvalidURL, ValueError):
        raise ToolFailed("That address redirects to something that is no address.") from None
