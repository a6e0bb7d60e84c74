"""Each engine is asked in its own way, and all results are told in one."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kenobot.core.redaction import escape_controls
from kenobot.ports.errors import ConfigError, RateLimited, Rejected, RemoteError, ToolFailed, Unavailable
from kenobot.ports.plugin import PluginContext
from kenobot.tools.web import WebSearchSettings, engines, web_search
from kenobot.tools.web.address import Reach
from kenobot.tools.web.engines import Engine, Found
from kenobot.tools.web.search import SearchArguments, WebSearch
from kenobot_testing.clock import ManualClock
from tests.cases import each
from tests.unit.tools.web.site import Site, answer, context, open_site

_JSON = "application/json"
_FOUND = [
    {
        "title": "Tides &amp; <b>moon</b>",
        "url": "https://a.example.com/1",
        "content": "First\n  one",
        "description": "First\n  one",
    },
    {"title": "Two", "url": "https://a.example.com/2", "content": "Second", "description": "Second"},
]
_TOLD = "1. Tides & moon\n   https://a.example.com/1\n   First one\n\n2. Two\n   https://a.example.com/2\n   Second"


class Scripted:
    """An engine that finds what it is given."""

    def __init__(self, *found: Found) -> None:
        self.found, self.asked = list(found), list[tuple[str, str, int]]()

    async def search(self, query: str, language: str, count: int) -> list[Found]:
        self.asked.append((query, language, count))
        return self.found


def engine_of(name: str, site: Site) -> Engine:
    client = site.client(Reach(frozenset({"search.home:8080"}), through_proxy=True))
    match name:
        case "searxng":
            return engines.SearxNG(client, "http://search.home:8080")
        case "brave":
            return engines.Brave(client, "key-1")
        case "tavily":
            return engines.Tavily(client, "key-1")
    return engines.Wikipedia(client)


async def search(engine: Engine, query: str = "tides", language: str = "es") -> str:
    arguments = SearchArguments(query=query, language=language)
    return await WebSearch(engine, "the web", "", 5).run(arguments, context())


@pytest.mark.parametrize(
    ("name", "asked", "body"),
    [
        ("searxng", "search.home:8080/search?q=mareas+%26+luna&format=json&language=es", {"results": _FOUND}),
        (
            "brave",
            "api.search.brave.com/res/v1/web/search?q=mareas+%26+luna&count=5&search_lang=es",
            {"web": {"results": _FOUND}},
        ),
        ("tavily", "api.tavily.com/search", {"results": _FOUND}),
    ],
)
async def test_results_are_told_with_number_title_address_and_snippet(name: str, asked: str, body: object) -> None:
    """In words, without the marks of a page; the key travels in a header."""
    async with open_site() as site:
        site.names["search.home"] = ["192.168.1.5"]
        site.pages[asked] = answer(json.dumps(body), _JSON)
        assert await search(engine_of(name, site), "mareas & luna") == _TOLD
        assert site.asked == [asked]
        assert ("key-1" in site.heads[0]) == (name != "searxng")


async def test_wikipedia_is_searched_in_the_language_that_is_wanted() -> None:
    """In English without one; its results lead to its articles."""
    page = {
        "key": "Marea_(física)",
        "title": "Marea",
        "excerpt": "La <span>marea</span> sube",
        "description": "fenómeno",
    }
    async with open_site() as site:
        for host in ("es.wikipedia.org", "en.wikipedia.org"):
            site.pages[f"{host}/w/rest.php/v1/search/page?q=marea&limit=5"] = answer(
                json.dumps({"pages": [page]}), _JSON
            )
        told = await search(engine_of("wikipedia", site), "marea")
        assert told == "1. Marea\n   https://es.wikipedia.org/wiki/Marea_%28f%C3%ADsica%29\n   fenómeno: La marea sube"
        assert "en.wikipedia.org" in await search(engine_of("wikipedia", site), "marea", "")


@pytest.mark.parametrize("language", ["es/../x", "es.evil.com", "ES", "e", "es-", "es\n", "a" * 9])
def test_a_language_that_is_none_is_refused(language: str) -> None:
    """It becomes a part of a host's name."""
    with pytest.raises(ValueError, match="language"):
        SearchArguments(query="x", language=language)


@each(
    ("raw", "error"),
    [
        (answer("{}", status="429 Slow"), RateLimited),
        (answer("{}", status="401 No"), Rejected),
        (answer("{}", status="403 No"), Rejected),
        (answer("{}", status="503 No"), Unavailable),
        (answer("<html>", status="200 OK"), Rejected),
        (answer("[" * 100_000, _JSON), Rejected),
        (answer("[1]", _JSON), Rejected),
        (answer("", status="302 Found", headers="Location: http://127.0.0.1/\r\n"), Rejected),
        (answer(" " * 2_000_000, _JSON), Rejected),
    ],
)
@each("name", ["searxng", "brave", "tavily", "wikipedia"])
async def test_an_engine_that_does_not_answer_is_told_in_words(name: str, raw: bytes, error: type[RemoteError]) -> None:
    """Without the key, and with what to do."""
    async with open_site() as site:
        for path in (
            "/search?q=tides&format=json&language=es",
            "/search",
            "/w/rest.php/v1/search/page?q=tides&limit=5",
        ):
            site.pages[path] = raw
        site.pages["/res/v1/web/search?q=tides&count=5&search_lang=es"] = raw
        with pytest.raises(error) as told:
            await search(engine_of(name, site))
        assert "key-1" not in str(told.value)


@pytest.mark.parametrize(
    "body", [{}, {"results": None}, {"results": [1, None, []]}, {"results": {"a": 1}}, {"web": []}]
)
async def test_nothing_found_is_said(body: object) -> None:
    """Also by an answer of another shape."""
    async with open_site() as site:
        site.pages["/search?q=tides&format=json&language=es"] = answer(json.dumps(body), _JSON)
        assert "Nothing was found" in await search(engine_of("searxng", site))


async def test_results_are_bounded() -> None:
    """In their number and length, each address once, and none that is no page of the web."""
    long, odd = "word " * 1000, "line\x1b[31m\u202e"
    found = [Found(long, f"https://a.example.com/{number // 2}", long) for number in range(60)]
    engine = Scripted(
        Found("x", "javascript:alert(1)", ""), Found("y", f"https://{long}", ""), Found(odd, "https://b.c", ""), *found
    )
    told = await search(engine)
    assert told.count("https://") == 5 and len(told) < 4000
    assert told.startswith(f"1. {escape_controls(odd)}\n   https://b.c\n\n2. word")


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"engine": "brave"}, "credentials/tools.web_search.api_key"), ({"engine": "searxng"}, "tools.web_search.url")],
)
def test_an_engine_that_lacks_something_is_refused_at_the_start(settings: dict[str, str], words: str) -> None:
    """In one line that says where to put it."""
    with pytest.raises(ConfigError, match=words):
        web_search.build(WebSearchSettings.model_validate(settings), _surroundings())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"engine": "searxng", "url": "http://127.0.0.1:8080/searx/"},
        {"engine": "brave", "api_key": "k"},
        {"engine": "tavily", "api_key": "k"},
        {"engine": "ddgs"},
    ],
)
def test_each_engine_can_be_chosen(settings: dict[str, str]) -> None:
    """By its name in the settings."""
    assert web_search.build(WebSearchSettings.model_validate(settings), _surroundings()).name == "web_search"


async def test_ddgs_that_is_not_installed_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the model, which tells the owner."""
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(ToolFailed, match=r"kenobot\[search\]"):
        engines.ask_ddgs("x", "es", 5)


async def test_ddgs_is_told_as_any_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the language that is wanted; none found is no error, and all else is told without its words."""
    asked: list[dict[str, object]] = []

    class NoResults(Exception):
        """As ddgs raises it."""

    class Engines:
        def __init__(self, timeout: int) -> None: ...

        def text(self, query: str, **given: object) -> list[dict[str, str]]:
            asked.append(given)
            if query == "nothing":
                raise NoResults("No results found.")
            if query == "refused":
                raise NoResults("Ratelimit")
            return [{"title": "A", "href": "https://a.b/", "body": "words"}]

    monkeypatch.setitem(sys.modules, "ddgs", SimpleNamespace(DDGS=Engines))
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", SimpleNamespace(DDGSException=NoResults))
    assert json.loads(engines.ask_ddgs("x", "pt-BR", 5)) == [["A", "https://a.b/", "words"]]
    assert asked == [{"region": "wt-pt", "max_results": 5}]
    assert engines.ask_ddgs("nothing", "", 5) == "[]"
    with pytest.raises(ToolFailed, match="No search engine answered"):
        engines.ask_ddgs("refused", "", 5)


def _surroundings() -> PluginContext:
    return PluginContext(Path(), ManualClock(), "Keno")
