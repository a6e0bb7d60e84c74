"""Ask search engines, each by its own interface, and read what they found."""

import json
import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from kenobot.core.separate import run_separately
from kenobot.ports.errors import RateLimited, Rejected, ToolFailed, Unavailable
from kenobot.ports.frozen import dataclass
from kenobot.tools.web.address import check_url
from kenobot.tools.web.client import Answer, WebClient

_TAGS: Final = re.compile(r"<[^<>]*>")
_BRAVE: Final = "https://api.search.brave.com/res/v1/web/search"
_BRAVE_NAMES: Final = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}  # of languages
_TAVILY: Final = "https://api.tavily.com/search"


@dataclass(frozen=True, slots=True)
class Found:
    """A result of a search."""

    title: str
    address: str
    snippet: str


class Engine(Protocol):
    """A search engine."""

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        """Return the first results. language: as "es"; "" for any. Raises ToolFailed or RemoteError."""
        ...


@dataclass(frozen=True, slots=True)
class SearxNG:
    """A SearXNG of the owner's, whose settings allow the format json."""

    client: WebClient
    url: str

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        asked = {"q": query, "format": "json", "language": language or "all"}
        answer = await _ask(self.client, f"{self.url}/search?{urlencode(asked)}")
        if answer.status == 403:
            raise Rejected(
                "The SearXNG server refuses JSON: its owner has to add json to search.formats in its settings."
            )
        return _read_results(answer, "SearXNG", ("results",), "content")[:count]


@dataclass(frozen=True, slots=True)
class Wikipedia:
    """The search of Wikipedia, which needs no key."""

    client: WebClient

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        host = f"https://{language.partition('-')[0] or 'en'}.wikipedia.org"
        address = f"{host}/w/rest.php/v1/search/page?{urlencode({'q': query, 'limit': count})}"
        found = _read_table(await _ask(self.client, address), "Wikipedia").get("pages")
        return [
            Found(_words(each.get("title")), f"{host}/wiki/{quote(str(each.get('key', '')))}", _describe(each))
            for each in _tables(found)
        ]


def _describe(page: Mapping[str, Any]) -> str:
    return ": ".join(filter(None, (_words(page.get("description")), _words(page.get("excerpt")))))


@dataclass(frozen=True, slots=True, repr=False)
class Brave:
    """Brave's API, with a key."""

    client: WebClient
    key: str

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        asked = {"q": query, "count": count} | (
            {"search_lang": _BRAVE_NAMES.get(language, language)} if language else {}
        )
        headers = {"X-Subscription-Token": self.key}
        answer = await _ask(self.client, f"{_BRAVE}?{urlencode(asked)}", headers)
        return _read_results(answer, "Brave", ("web", "results"), "description")


@dataclass(frozen=True, slots=True, repr=False)
class Tavily:
    """Tavily's API, with a key."""

    client: WebClient
    key: str

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = json.dumps({"query": query, "max_results": count}).encode()
        answer = await _ask(self.client, _TAVILY, headers, content)
        return _read_results(answer, "Tavily", ("results",), "content")


class Ddgs:
    """Several engines by the package ddgs, which asks them as a browser does."""

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        try:
            told = await run_separately(ask_ddgs, query, language, count)
        except RuntimeError:
            raise Unavailable("No search engine answered.") from None
        return [Found(_words(title), str(address), _words(snippet)) for title, address, snippet in json.loads(told)]


def ask_ddgs(query: str, language: str, count: int) -> str:
    """Search by ddgs, and return its results as JSON. Raises ToolFailed."""
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException
    except ImportError:
        raise ToolFailed("ddgs is not installed: the owner can run pip install 'kenobot[search]'.") from None
    try:
        region = f"wt-{language.partition('-')[0] or 'wt'}"
        found = DDGS(timeout=10).text(query, region=region, max_results=count)
    except DDGSException as error:
        if "no results" in str(error).lower():
            return "[]"
        raise ToolFailed("No search engine answered. Try again later, or do without.") from None
    return json.dumps([[each.get("title"), each.get("href"), each.get("body")] for each in found])


async def _ask(client: WebClient, url: str, headers: Mapping[str, str] | None = None, content: bytes = b"") -> Answer:
    target = check_url(url, client.reach)
    method = "POST" if content else "GET"
    return await client.exchange(target, method, {"Accept": "application/json", **(headers or {})}, content)


def _read_results(answer: Answer, engine: str, path: Iterable[str], snippet: str) -> list[Found]:
    found: Any = _read_table(answer, engine)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return [
        Found(_words(each.get("title")), str(each.get("url", "")), _words(each.get(snippet))) for each in _tables(found)
    ]


def _read_table(answer: Answer, engine: str) -> dict[str, Any]:
    """Read an answer in JSON. Raises RemoteError."""
    status = f" ({answer.status})"
    if answer.status == 429:
        raise RateLimited(f"{engine} asks for a pause: its rate limit is reached.{status}")
    if answer.status in (401, 402, 403):
        raise Rejected(f"{engine} refused the search: the owner has to look at its key or its credit.{status}")
    if answer.status >= 500:
        raise Unavailable(f"{engine} cannot answer now.{status}")
    try:
        read = json.loads(answer.body) if answer.status == 200 and not answer.is_cut else None
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise Rejected(f"{engine} answered with something that is no result of a search.{status}")
    return read


def _tables(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _words(value: object) -> str:
    """Return a text of an engine on one line, without the marks of its page."""
    return " ".join(unescape(_TAGS.sub("", value)).split()) if isinstance(value, str) else ""
