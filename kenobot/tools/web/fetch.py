"""Read a page of the web in words: pages, plain texts and documents, part by part."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol
from urllib.parse import unquote

from pydantic import Field

from kenobot.core.left_out import note_omission
from kenobot.core.limited_program import run_program, temporary_file
from kenobot.core.redaction import one_line
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Rejected, ToolFailed, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

if TYPE_CHECKING:
    from kenobot.tools.web.client import Answer

Show = Literal["text", "all", "links"]

_PROGRAM: Final = Path(__file__).with_name("read_page.py")
_MEGABYTES: Final = 1000  # of address space
_ARTICLE_SECONDS: Final = 8
_PAGE_SECONDS: Final = 5
_MOST_PAGE: Final = 3_000_000  # bytes of a page or text that are read
_MOST_CHARACTERS: Final = 300_000
_BYTES_A_CHARACTER: Final = 12  # in JSON
_NOTES: Final = 250  # characters at most of what is said of the part
_LEAST_PART: Final = 500
_PAGES: Final = 4
_FRESH_SECONDS: Final = 600.0
_ACCEPT: Final = {
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5"
}
_HTML: Final = frozenset(("text/html", "application/xhtml+xml"))
_PLAIN: Final = ("json", "xml", "javascript", "yaml", "toml", "csv", "markdown")
_DOCUMENTS: Final = frozenset(("text/rtf", "text/calendar", "message/rfc822"))
_UNKNOWN: Final = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-download"))
_NO_TEXT: Final = ("image/", "audio/", "video/", "font/")
_HOW: Final = {
    "article": 'Menus and the like are left out: show="all" has all words of the page, show="links" its links.',
    "page": 'All words of the page; show="links" has its links.',
}


class FetchArguments(ToolArguments):
    url: str = Field(min_length=1, max_length=4000, description="Whole address, https://…")
    show: Show = Field("text", description='"all": menus too; "links": its links.')
    offset: int = Field(0, ge=0, le=_MOST_CHARACTERS, description="Where to go on in a long page.")


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read. heads: lines about it. length: letters in all. is_cut: of its bytes there were more."""

    heads: tuple[str, ...]
    text: str
    length: int
    is_cut: bool = False


class Client(Protocol):
    """Client that fetches pages."""

    async def fetch(self, url: str, headers: Mapping[str, str]) -> "Answer":
        """Return what an address answers. Raises ToolFailed or RemoteError."""
        ...


class WebFetch:
    """Reads a page of the web at an address that was checked."""

    name = "web_fetch"
    description = "Read a web page, PDF or text at an address."
    arguments = FetchArguments
    effects = ToolEffects(
        reads_private=False, brings_untrusted=True, way_out=True, changes_outside=False, address="url"
    )

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        # bounded: _PAGES; test_the_next_part_of_a_page_is_not_fetched_again
        self._pages: dict[tuple[str, Show], tuple[float, Page]] = {}

    async def run(self, arguments: FetchArguments, turn: ToolContext) -> str:
        """Return title, address and a part of the text."""
        key = (arguments.url.strip(), arguments.show)
        now = self._clock.monotonic()
        read_at, page = self._pages.get(key, (now, None))
        if page is None or arguments.offset == 0 or now - read_at > _FRESH_SECONDS:
            page = await self._read(*key, turn)
            self._pages.pop(key, None)
            self._pages[key] = (now, page)
            if len(self._pages) > _PAGES:
                del self._pages[next(iter(self._pages))]
        return _write_part(page, arguments.offset, turn.room)

    async def _read(self, url: str, show: Show, turn: ToolContext) -> Page:
        answer = await self._client.fetch(url, _ACCEPT)
        _require_success(answer)
        kind = _find_kind(answer)
        if kind == "document":
            page = await _read_document(answer, turn)
        else:
            page = await _read_page(answer, "raw" if kind == "plain" else show)
        told = f"Address: {_shorten(answer.address)}"
        if answer.redirects:
            told += f" (redirected from {_shorten(answer.redirects[0])})"
        return replace(page, heads=(told, *page.heads))


def _require_success(answer: "Answer") -> None:
    """Raise Rejected or Unavailable for an answer that is none."""
    if 200 <= answer.status < 300:
        return
    told = f"The server answered {answer.status}"
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise Unavailable(f"{told}: it cannot answer now.")
    if answer.status in (401, 402, 403, 407, 451):
        raise Rejected(f"{told}: it shows that page to no program, or only after a login.")
    if answer.status in (404, 410):
        raise Rejected(f"{told}: there is no such page. Search for the right address.")
    raise Rejected(f"{told}, and no page.")


def _find_kind(answer: "Answer") -> Literal["html", "plain", "document"]:
    """Tell how to read an answer. Raises ToolFailed for what is no text."""
    mime, head = answer.mime, answer.body[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if mime.startswith(_NO_TEXT):
        raise ToolFailed(f"That address is no page: it is {one_line(mime[:60])}, which cannot be read as text.")
    if mime in _HTML or (mime in _UNKNOWN and head.startswith((b"<!doctype html", b"<html"))):
        return "html"
    is_plain = (mime.startswith("text/") or mime.endswith(_PLAIN)) and b"\0" not in head
    if is_plain and mime not in _DOCUMENTS and not head.startswith(b"%pdf-"):
        return "plain"
    return "document"


async def _read_page(answer: "Answer", show: Literal["text", "all", "links", "raw"]) -> Page:
    """Read the words of a page in a process of its own; all of them where its article cannot be told."""
    told = await _run_reader(answer, show, _ARTICLE_SECONDS)
    if told is None and show == "text":
        told = await _run_reader(answer, "all", _PAGE_SECONDS)
    if told is None:
        raise ToolFailed("The page is damaged, or too much to read.")
    heads = [f"Title: {one_line(told.title)}"] if told.title else []
    heads += [f"Date: {one_line(told.date)}"] if told.date else []
    heads += [_HOW[told.how]] if told.how in _HOW else []
    return Page(tuple(heads), told.text, told.length, answer.is_cut or len(answer.body) > _MOST_PAGE)


@dataclass(frozen=True, slots=True)
class _Read:
    """Output of the program."""

    title: str
    date: str
    text: str
    how: str
    length: int


async def _run_reader(answer: "Answer", show: str, seconds: int) -> _Read | None:
    """Return what the program reads; None where it fails or takes too long."""
    order = json.dumps([show, answer.charset[:40], answer.address]).encode()
    most = _BYTES_A_CHARACTER * _MOST_CHARACTERS
    try:
        async with temporary_file(order + b"\n" + answer.body[:_MOST_PAGE]) as file:
            arguments = (str(file), str(_MEGABYTES), str(seconds), str(_MOST_CHARACTERS))
            status, printed = await run_program(_PROGRAM, arguments, seconds=seconds, most_bytes=most)
        return _Read(**json.loads(printed)) if status == 0 else None
    except (TimeoutError, ValueError, TypeError):
        return None


async def _read_document(answer: "Answer", turn: ToolContext) -> Page:
    if answer.is_cut:
        raise ToolFailed(f"The document is larger than {len(answer.body) // 1_000_000} MB, and is not read.")
    name = unquote(answer.address.partition("?")[0].rpartition("/")[2])
    mime = "" if answer.mime in _UNKNOWN else answer.mime
    text = await turn.read_document(answer.body, name[-100:], mime, _MOST_CHARACTERS)
    return Page((f"Document: {one_line(name[-100:])}",) if name else (), text, len(text))


def _write_part(page: Page, offset: int, room: int) -> str:
    """Write the head and a part of a page. Raises ToolFailed for a part behind its end."""
    if offset and offset >= len(page.text):
        raise ToolFailed(f"The page ends at {len(page.text):,} characters: give a smaller offset.")
    head = "\n".join(page.heads)
    end = min(offset + max(room - len(head) - _NOTES, _LEAST_PART), len(page.text))
    is_last = end == len(page.text)
    if offset or not is_last:
        more = ", the last part" if is_last else f"; for the next part call it again with offset={end}"
        head += f"\nCharacters {offset:,} to {end:,} of {page.length:,}{more}."
    parts = [head, page.text[offset:end] or "(There are no words on it; it may need a browser.)"]
    if is_last and page.length > end:
        parts.append(note_omission(page.length - end))
    if is_last and page.is_cut:
        parts.append("[The page is longer than what is read of one.]")
    return "\n\n".join(parts)


def _shorten(address: str) -> str:
    return address if len(address) <= 300 else f"{address[:299]}…"
