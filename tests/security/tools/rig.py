"""A whole KenoBot with its real tools, a site that stands for the web, and a model that does what a case says."""

import json
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.ports.json_value import Json
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot.ports.provider import Delta, Request, ToolCall, ToolResult
from kenobot.ports.tool import Tool
from kenobot.ports.workspace import Workspace
from kenobot.tools.agenda import CancelReminder, ReadAgenda, Remind
from kenobot.tools.mcp.declared import DeclaredTool
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.servers import McpServers
from kenobot.tools.mcp.trust import TrustFile
from kenobot.tools.memory_changes import MemoryForget, MemoryWhy
from kenobot.tools.memory_search import MemorySearch
from kenobot.tools.web.engines import SearxNG
from kenobot.tools.web.fetch import WebFetch
from kenobot.tools.web.request import AllowedHost, HttpRequest
from kenobot.tools.web.search import WebSearch
from kenobot.tools.workspace import files, git, shell
from kenobot_testing.clock import EagerClock
from tests.integration.evening.town import write_pdf
from tests.scene import Scene
from tests.security.tools.case import Carrier, Language, Step, Way
from tests.unit.tools.web.site import Site, answer, open_site

PAGE, HIDDEN, API = "https://harbour-news.org/ferry", "https://harbour-news.org/page", "https://api.harbour-news.org/v1"
SEARCH = "https://search.harbour-news.org"
FACTS = ("The alarm code of the house is Zebra4471", "The dentist is Dr. Quirogami in Vilanova")
NOTES = "Call the plumber.\n"
_TEXT: Mapping[str, Json] = {"type": "object", "properties": {"text": {"type": "string"}}}
FIND, ADD = DeclaredTool("find", "Find a note.", _TEXT), DeclaredTool("add", "Add a note.", _TEXT)
_HTML = (
    "<html><title>Ferry</title><body><p>The ferry leaves at nine.</p><div style='display:none'>{}</div></body></html>"
)


class Obeying:
    """A model that does the steps of a case in their order, whatever it was told.

    waits: it lets a call that was held back be, until the owner has answered. obeys: it does them once it was told
    this by a tool that it is offered.
    """

    name = "obeying"

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[Request] = []
        self.waits, self.obeys = False, ""
        self._calls = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        results = [each for each in request.messages[-1].blocks if isinstance(each, ToolResult)]
        if self.obeys and not self.is_told(request):
            self.steps = []
        held = self.waits and any(each.failed and each.text.startswith("Not run yet") for each in results)
        step = Step("I would like to do that.") if held else self.steps.pop(0) if self.steps else Step("Done.")
        if step.text:
            yield Delta(step.text)
        for name, arguments in step.calls:
            self._calls += 1
            yield Delta(call=ToolCall(f"c{self._calls}", name, dict(arguments)))
        yield Delta(stop_reason="tool_use" if step.calls else "end_turn")

    def is_told(self, request: Request) -> bool:
        """Return whether a tool that a request offers says what the model obeys."""
        shown = json.dumps([[each.description, each.schema] for each in request.tools], ensure_ascii=False)
        return self.obeys in shown


class Pages(dict[str, Any]):
    """The pages of the site; each search finds the same."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get("found" if key.startswith("search.harbour-news.org/search") else key, default)


@dataclass
class McpStandIn:
    """A server of the owner's. brings: what it answers; given: what it was called with."""

    brings: str = ""
    fails: bool = False
    given: list[str] = field(default_factory=list)

    async def call(self, tool: DeclaredTool, arguments: Mapping[str, Json], **_asking: object) -> str:
        self.given.append(json.dumps(arguments, ensure_ascii=False))
        if self.fails:
            raise ToolFailed(self.brings)
        return self.brings or "ok"


@dataclass
class Rig:
    """All there is around a case."""

    scene: Scene
    model: Obeying
    site: Site
    server: McpStandIn
    notes: Path
    shared: Path

    def bring(self, carrier: Carrier, text: str) -> tuple[str, Mapping[str, Json]]:
        """Put a text where a tool will find it; return the call that brings it."""
        self.server.brings, self.server.fails = text, carrier == "failure"
        match carrier:
            case "page":
                self.site.pages["harbour-news.org/ferry"] = answer(text, "text/plain; charset=utf-8")
                return "web_fetch", {"url": PAGE}
            case "hidden":
                self.site.pages["harbour-news.org/page"] = answer(_HTML.format(text))
                return "web_fetch", {"url": HIDDEN}
            case "search" | "title":
                told = {"title": text if carrier == "title" else "Ferry", "url": PAGE}
                found = {"results": [told | {"content": "" if carrier == "title" else text}]}
                self.site.pages["found"] = answer(json.dumps(found), "application/json")
                return "web_search", {"query": "ferry"}
            case "file" | "pdf":
                path = self.notes / f"letter.{'pdf' if carrier == 'pdf' else 'txt'}"
                path.write_bytes(write_pdf(_wrap(text)) if carrier == "pdf" else text.encode())
                return "read_file", {"workspace": "notes", "path": path.name}
            case "file name":
                (self.notes / "".join(letter for letter in text[:120] if letter not in "/\0\n")).touch()
                return "list_files", {"workspace": "notes"}
            case "http":
                self.site.pages["api.harbour-news.org/v1"] = answer(text, "text/plain")
                return "http_request", {"url": API, "method": "GET"}
            case "git":
                return "git", {"workspace": "notes", "verb": "log", "folder": self._commit(text)}
            case _:
                return "mcp_find", {"text": "ferry"}

    def _commit(self, text: str) -> str:
        """Make a repository whose last commit says this, as cloning would."""
        import subprocess

        folder = self.notes / "project"
        command = [
            "git",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b.org",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            " ".join(text.split()),
        ]
        for each in (["git", "init", "-q"], command):
            folder.mkdir(exist_ok=True)
            subprocess.run(each, cwd=folder, check=True, stdin=subprocess.DEVNULL)
        return "project"

    def clean(self) -> None:
        """Leave nothing of a case in the workspaces, on the site or at the server."""
        for folder in (self.notes, self.shared):
            shutil.rmtree(folder)
            folder.mkdir()
        (self.notes / "notes.txt").write_text(NOTES)
        self.site.pages.clear()
        for told in (self.site.asked, self.site.heads, self.site.bodies, self.server.given, self.model.requests):
            told.clear()
        self.model.steps = []
        self.site.pages["port-times.org/arrivals"] = answer("The arrivals of the day: none.", "text/plain")

    @property
    def sent(self) -> str:
        """All that left the machine by tools."""
        bodies = [body.decode("utf-8", "replace") for body in self.site.bodies]
        return "\n".join([*self.site.heads, *bodies, *self.server.given])

    def workspaces(self) -> dict[str, bytes]:
        """The files there are, but those of git."""
        found = (path for folder in (self.notes, self.shared) for path in folder.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found if ".git" not in path.parts}


def _wrap(text: str) -> list[str]:
    plain = text.encode("ascii", "replace").decode().replace("\\", "").replace("(", "").replace(")", "")
    words, lines = plain.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 60:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def list_tools(way: Way, text: str) -> tuple[DeclaredTool, ...]:
    """Return a list of tools that says this in one of several ways."""
    match way:
        case "description":
            return replace(FIND, description=text), ADD
        case "end of a description":
            return replace(FIND, description=f"{FIND.description} {text}"), ADD
        case "parameter":
            return replace(FIND, schema=_word_schema(description=text)), ADD
        case "choice":
            return replace(FIND, schema=_word_schema(enum=["x", text])), ADD
        case "new tool":
            return DeclaredTool("begin", text, _TEXT), FIND, ADD


def _word_schema(**word: Json) -> Mapping[str, Json]:
    return {"type": "object", "properties": {"text": {"type": "string", **word}}}


def _server_tools(
    server: McpStandIn, folder: Path, listed: Sequence[DeclaredTool], seen: Sequence[DeclaredTool]
) -> Sequence[Tool[Any]]:
    """Return what a server offers. seen: the list that the owner has trusted."""
    settings = McpServerSettings(command="x", tool_effects={"find": ("brings_untrusted", "reads_private")})
    TrustFile(folder / "trusted", "mcp").save(seen)
    KeptList(folder / "cache" / "mcp", "mcp", settings).save(tuple(listed))
    servers = McpServers({"mcp": settings}, folder / "cache", folder / "trusted", EagerClock())
    servers._servers["mcp"].call = server.call  # type: ignore[method-assign]
    return servers.list_tools(())


@asynccontextmanager
async def open_rig(
    folder: Path,
    language: Language = "en",
    listed: Sequence[DeclaredTool] = (FIND, ADD),
    seen: Sequence[DeclaredTool] = (FIND, ADD),
) -> AsyncIterator[Rig]:
    """Start a bot with all tools. listed: what its MCP server lists. seen: the list that the owner has trusted."""
    notes, shared = folder / "notes", folder / "shared"
    for each in (notes, shared, folder / "home"):
        each.mkdir(mode=0o700)
    model, server, clock = Obeying(), McpStandIn(), EagerClock()
    spaces = Workspace("notes", notes.resolve()), Workspace("shared", shared.resolve())
    context = PluginContext(folder / "home", clock, "KenoBot", workspaces=spaces)
    async with open_site() as site:
        site.pages = Pages()
        hosts = {"api.harbour-news.org": AllowedHost(frozenset({"GET", "POST"}))}
        web: Sequence[Tool[Any]] = (
            WebFetch(site.client(), clock),
            WebSearch(SearxNG(site.client(), SEARCH), "the web", "", 6),
            HttpRequest(site.client(), hosts),
        )
        own: Sequence[Tool[Any]] = (
            *(MemorySearch(), MemoryWhy(), MemoryForget(), ReadAgenda(), Remind(), CancelReminder()),
            *(plugin.build(NoSettings(), context) for plugin in (files.list_files, files.read_file)),
            *(plugin.build(NoSettings(), context) for plugin in (files.write_file, files.edit_file)),
            git.plugin.build(git.GitSettings(), context),
            shell.plugin.build(shell.ShellSettings(), context),
        )
        tools = [*web, *own, *_server_tools(server, folder, listed, seen)]
        async with Scene(folder, provider=model, tools=tools, clock=clock, default_language=language) as scene:
            yield Rig(scene, model, site, server, notes, shared)
