"""Send a request to one of the hosts that the owner named, with the secrets that the settings put in."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field, replace
from html import escape
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from pydantic import Field

from kenobot.core import lazy
from kenobot.core.left_out import cut_text
from kenobot.core.redaction import REDACTED, escape_controls
from kenobot.ports.errors import AnswerLost, ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects
from kenobot.tools.web.address import Reach, Target, check_url, name_host
from kenobot.tools.web.client import Answer, WebClient

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

_NAME = lazy.regex(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,60}")
_VALUE = lazy.regex(r"[\x20-\x7e]{0,1000}")
_MOST_HEADERS: Final = 20
_OURS: Final = frozenset(
    "host connection content-length transfer-encoding te trailer upgrade expect cookie authorization accept-encoding "
    "idempotency-key x-http-method x-http-method-override x-method-override".split()  # the owner names methods
)
_SHOWN: Final = ("content-type", "location", "retry-after", "etag", "last-modified", "link")
_REPEATABLE: Final = frozenset(("GET", "HEAD", "PUT", "DELETE"))
_LONGEST_VALUE: Final = 300
_NOTES: Final = 1500  # characters at most before a body
_LOST: Final = "It is not known whether the request was carried out: look before you send it again."


class RequestArguments(ToolArguments):
    method: Method = "GET"
    url: str = Field(min_length=1, max_length=4000, description="Whole address, https://…")
    headers: dict[str, str] = Field(  # bounded: the arguments of one call; turn
        default_factory=dict, description="Without secrets: those are added."
    )
    body: str = Field("", max_length=200_000)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host of the settings. headers, query: what is put into every request. secrets: that these hold."""

    methods: frozenset[str]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # bounded: the settings; start
    query: Mapping[str, str] = field(default_factory=dict, repr=False)  # bounded: the settings; start
    secrets: tuple[str, ...] = field(default=(), repr=False)
    is_private: bool = False


class HttpRequest:
    """Sends requests to hosts that the owner named."""

    name = "http_request"
    arguments = RequestArguments
    effects = ToolEffects(
        reads_private=False, brings_untrusted=True, way_out=True, changes_outside=True, asks_first=True
    )

    def __init__(self, client: WebClient, hosts: Mapping[str, AllowedHost]) -> None:
        """hosts: by their names, with a port where that is not the usual one."""
        self._client = client
        self._hosts = hosts
        told = ", ".join(f"{name} ({' '.join(sorted(host.methods))})" for name, host in sorted(hosts.items()))
        self.description = f"Send an HTTP request to an API. Allowed: {told[:600]}."

    async def run(self, arguments: RequestArguments, turn: ToolContext) -> str:
        """Return the answer: its status, some headers, its body."""
        target, host = self._find_host(arguments)
        headers = _collect_headers(arguments, host, turn)
        try:
            answer = await self._client.exchange(target, arguments.method, headers, arguments.body.encode())
        except AnswerLost as error:
            if arguments.method in _REPEATABLE:
                raise
            raise AnswerLost(f"{error} {_LOST}") from None
        return _write(answer, turn.room, host.secrets)

    def _find_host(self, arguments: RequestArguments) -> tuple[Target, AllowedHost]:
        """Return the address, with its query, and what the settings say of its host. Raises ToolFailed."""
        named = check_url(arguments.url, Reach(frozenset(self._hosts), "[tools.http_request] hosts"))
        name = name_host(named.host, named.port, named.url.scheme)
        host = self._hosts.get(name)
        if host is None:
            raise ToolFailed(
                f"{name} is not among the hosts of [tools.http_request]: {', '.join(sorted(self._hosts))}."
            )
        if arguments.method not in host.methods:
            raise ToolFailed(f"{name} takes {', '.join(sorted(host.methods))} alone: the owner can allow more.")
        if host.secrets and named.url.scheme != "https" and not host.is_private:
            raise ToolFailed(f"{name} is asked by https alone, for the request holds a secret.")
        url = named.url.copy_merge_params(dict(host.query)) if host.query else named.url
        return replace(named, url=url, is_own=host.is_private), host


def _collect_headers(arguments: RequestArguments, host: AllowedHost, turn: ToolContext) -> dict[str, str]:
    """Return the headers of a request. Raises ToolFailed for those that are not the model's to give."""
    given = arguments.headers
    taken = _OURS | {name.lower() for name in host.headers}
    if len(given) > _MOST_HEADERS:
        raise ToolFailed(f"Give {_MOST_HEADERS} headers at most.")
    for name, value in given.items():
        if name.lower() in taken or name.lower().startswith("proxy-"):
            raise ToolFailed(f"The header {name[:60]} is not given by you: leave it out.")
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise ToolFailed(f"The header {name[:60]!r} cannot be sent: use plain letters, on one line.")
    headers = {name.lower(): value for name, value in given.items()}
    if arguments.body:
        headers.setdefault(
            "content-type", "application/json" if _is_json(arguments.body) else "text/plain; charset=utf-8"
        )
    if arguments.method not in _REPEATABLE:
        headers["idempotency-key"] = _name_call(turn)
    return {**headers, **host.headers}


def _name_call(turn: ToolContext) -> str:
    """Name a call for the server, the same however often it is sent."""
    return hashlib.sha256(f"{turn.session}\0{turn.trace}\0{turn.call}".encode()).hexdigest()[:32]


def _write(answer: Answer, room: int, secrets: tuple[str, ...]) -> str:
    shown = {name: _hide(answer.headers[name], secrets) for name in _SHOWN if name in answer.headers}
    lines = [f"Status: {answer.status}", *(f"{name}: {value[:_LONGEST_VALUE]}" for name, value in shown.items())]
    text = _hide(_read_body(answer), secrets)
    cut = cut_text(text, max(room - _NOTES, room // 2)) if text else "(The answer has no body.)"
    return escape_controls("\n".join(lines)) + f"\n\n{cut}" + ("\n[The answer is longer.]" if answer.is_cut else "")


def _read_body(answer: Answer) -> str:
    if b"\0" in answer.body[:4000] or answer.mime.startswith(("image/", "audio/", "video/", "font/")):
        return f"({len(answer.body):,} bytes that are no text)"
    return answer.body.decode("utf-8", "replace").strip()


def _hide(text: str, secrets: tuple[str, ...]) -> str:
    """Take secrets out that a server sends back, also as addresses, JSON and pages spell them."""
    for secret in secrets:
        in_json = json.dumps(secret)[1:-1]
        addresses = [quote(secret, safe=""), quote_plus(secret)]
        others = [in_json, in_json.replace("/", "\\/"), escape(secret), escape(secret, quote=False)]
        for spelt in (secret, *addresses, *others):
            text = text.replace(spelt, REDACTED)
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
