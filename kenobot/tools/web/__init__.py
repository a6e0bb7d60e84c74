"""The tools of the web, and their settings: pages, searches, and requests to hosts that the owner named."""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from kenobot.core.network import BaseAddress
from kenobot.core.settings.sources import is_secret
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.sentences import Sentence

if TYPE_CHECKING:
    from kenobot.tools.web.client import WebClient
    from kenobot.tools.web.engines import Engine
    from kenobot.tools.web.fetch import WebFetch
    from kenobot.tools.web.request import AllowedHost, HttpRequest
    from kenobot.tools.web.search import WebSearch

EngineName = Literal["wikipedia", "searxng", "brave", "tavily", "ddgs"]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

_PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_SENDABLE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SEARCH_SECONDS: Final = 15.0
_MOST_FOUND: Final = 1_000_000  # bytes of an answer of an engine
_MOST_ANSWER: Final = 200_000  # bytes of an answer to a request
_REQUEST_SECONDS: Final = 20.0
_FETCH_SECONDS: Final = 12.0  # redirects included
_LARGEST: Final = 10_000_000  # bytes of a file, unpacked
_RESULTS: Final = 6  # of a search


def _check_host(text: str) -> str:
    """Return a host as addresses are compared with it. Raises ValueError."""
    try:
        parts = urlsplit(f"//{text.strip().lower()}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or "@" in text or parts.path or parts.query or parts.fragment:
        raise ValueError(Sentence("tools.no_host", text=text))
    return host if port in (None, 80, 443) else f"{host}:{port}"


Host = Annotated[str, AfterValidator(_check_host)]


class WebFetchSettings(BaseModel, extra="forbid"):
    """The `[tools.web_fetch]` part of the configuration."""

    own_hosts: list[Host] = Field(default_factory=list)  # bounded: the settings; start
    through_proxy: bool = False


class WebSearchSettings(BaseModel, extra="forbid"):
    """The `[tools.web_search]` part of the configuration."""

    engine: EngineName = "wikipedia"
    url: BaseAddress | Literal[""] = ""
    api_key: SecretStr = SecretStr("")
    language: str = Field("", pattern=r"^([a-z]{2,3}(-[A-Za-z]{2,8})?)?$")


class HostSettings(BaseModel, extra="forbid"):
    """The settings of one host of `http_request`."""

    methods: list[Method] = Field(["GET"], min_length=1)  # bounded: the settings; start
    headers: dict[str, SecretStr] = Field(default_factory=dict)  # bounded: the settings; start
    query: dict[str, SecretStr] = Field(default_factory=dict)  # bounded: the settings; start
    private: bool = False


class HttpRequestSettings(BaseModel):
    """The `[tools.http_request]` part of the configuration; what else stands there are secrets, by their names."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SecretStr] = Field(init=False)

    hosts: dict[Host, HostSettings] = Field(default_factory=dict)  # bounded: the settings; start
    through_proxy: bool = False

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict) else ():
            if name not in cls.model_fields and not is_secret(name):
                told = 'unknown key "{name}": a secret has a name that ends in _token, _api_key or _secret'
                raise PydanticCustomError("unknown_key", told, {"name": name})
        return given


def _build_fetch(settings: WebFetchSettings, context: PluginContext) -> "WebFetch":
    from kenobot.tools.web.fetch import WebFetch
    from kenobot.tools.web.late import LateClient

    return WebFetch(LateClient(partial(_make_client, settings)), context.clock)


def _make_client(settings: WebFetchSettings) -> "WebClient":
    from kenobot.tools.web.address import Reach
    from kenobot.tools.web.client import WebClient

    reach = Reach(frozenset(settings.own_hosts), through_proxy=settings.through_proxy)
    return WebClient(reach, _FETCH_SECONDS, _LARGEST)


def _build_search(settings: WebSearchSettings, context: PluginContext) -> "WebSearch":
    """Raise ConfigError for an engine that lacks its address or its key."""
    from kenobot.tools.web.late import LateEngine
    from kenobot.tools.web.search import WebSearch

    if settings.engine == "searxng" and not settings.url:
        raise ConfigError("tools.no_searxng")
    if settings.engine in ("brave", "tavily") and not settings.api_key.get_secret_value():
        raise ConfigError("tools.no_search_key")
    told = "the web"
    if settings.engine == "wikipedia":
        told = "Wikipedia" if settings.language else "Wikipedia, in English unless `language` is given"
    return WebSearch(LateEngine(partial(_make_engine, settings)), told, settings.language, _RESULTS)


def _make_engine(settings: WebSearchSettings) -> "Engine":
    from kenobot.tools.web import engines
    from kenobot.tools.web.address import Reach
    from kenobot.tools.web.client import WebClient

    key = settings.api_key.get_secret_value()
    own = frozenset([_check_host(urlsplit(settings.url).netloc)] if settings.url else [])
    client = WebClient(Reach(own, "[tools.web_search] url", through_proxy=True), _SEARCH_SECONDS, _MOST_FOUND)
    match settings.engine:
        case "searxng":
            return engines.SearxNG(client, settings.url)
        case "brave":
            return engines.Brave(client, key)
        case "tavily":
            return engines.Tavily(client, key)
        case "ddgs":
            return engines.Ddgs()
        case _:
            return engines.Wikipedia(client)


def _build_request(settings: HttpRequestSettings, context: PluginContext) -> "HttpRequest":
    """Raise ConfigError where no host is named, or a secret is not there."""
    if not settings.hosts:
        raise ConfigError("tools.no_hosts")
    from kenobot.tools.web.address import Reach
    from kenobot.tools.web.client import WebClient
    from kenobot.tools.web.request import HttpRequest

    secrets = {name: value.get_secret_value() for name, value in settings.__pydantic_extra__.items()}
    hosts = {name: _allow_host(name, host, secrets) for name, host in settings.hosts.items()}
    reach = Reach(setting="[tools.http_request] hosts, with private = true", through_proxy=settings.through_proxy)
    return HttpRequest(WebClient(reach, _REQUEST_SECONDS, _MOST_ANSWER), hosts)


def _allow_host(name: str, settings: HostSettings, secrets: Mapping[str, str]) -> "AllowedHost":
    """Put the secrets into what is sent to a host. Raises ConfigError."""
    from kenobot.tools.web.request import AllowedHost

    used: set[str] = set()

    def put_in(place: re.Match[str]) -> str:
        secret = secrets.get(place[1], "")
        if not _SENDABLE.fullmatch(secret):
            raise ConfigError("tools.no_secret", place=place[1], name=name)
        used.add(secret)
        return secret

    def fill(table: Mapping[str, SecretStr]) -> dict[str, str]:
        return {key: _PLACE.sub(put_in, value.get_secret_value()) for key, value in table.items()}

    headers, query = fill(settings.headers), fill(settings.query)
    for key, value in headers.items():
        if not (_HEADER.fullmatch(key) and _SENDABLE.fullmatch(value)):
            raise ConfigError("tools.bad_header", key=key, name=name)
    return AllowedHost(frozenset(settings.methods), headers, query, tuple(used), settings.private)


web_fetch = Plugin(settings=WebFetchSettings, build=_build_fetch)
web_search = Plugin(settings=WebSearchSettings, build=_build_search)
http_request = Plugin(settings=HttpRequestSettings, build=_build_request)
