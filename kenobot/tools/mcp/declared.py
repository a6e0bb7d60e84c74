"""The tools that a server declares, read within limits, and the names under which they are offered. Pure."""

import hashlib
from collections.abc import Collection, Iterable, Mapping

from kenobot.core import lazy
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.tool import ToolEffects
from kenobot.tools.mcp.schema import UnusableSchema, shorten, simplify_schema

MOST_TOOLS = 64
"""How many tools of one server are offered."""
_LONGEST_NAME = 64  # characters, of an offered tool
_LONGEST_OWN_NAME = 256  # characters, of a tool as the server calls it
_LONGEST_DESCRIPTION = 400  # characters
_DIGEST = 6  # characters
_UNFIT = lazy.regex(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A tool as a server declares it. reads_only, closed: what it says of itself, which nothing proves."""

    name: str
    description: str
    schema: Mapping[str, Json]
    reads_only: bool = False
    closed: bool = False

    def encode(self) -> dict[str, Json]:
        """Return it as `read_tool` reads it, as JSON has it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": dict(self.schema),
            "annotations": {"readOnlyHint": self.reads_only, "openWorldHint": not self.closed},
        }


def read_tools(declared: Iterable[object]) -> tuple[tuple[DeclaredTool, ...], tuple[str, ...]]:
    """Read what a server lists; returns the tools, sorted by name, and why others cannot be used."""
    found, left_out = dict[str, DeclaredTool](), list[str]()
    for each in declared:
        try:
            tool = read_tool(each)
        except UnusableSchema as error:
            left_out.append(str(error))
        else:
            found.setdefault(tool.name, tool)
    return tuple(found[name] for name in sorted(found)), tuple(left_out)


def read_tool(declared: object) -> DeclaredTool:
    """Read one tool. Raises UnusableSchema."""
    if not isinstance(declared, Mapping):
        raise UnusableSchema("it is no object")
    name, description = declared.get("name"), declared.get("description")
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_OWN_NAME:
        raise UnusableSchema("it has no name of a usable length")
    hints = declared.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    try:
        schema = simplify_schema(declared.get("inputSchema"))
    except UnusableSchema as error:
        raise UnusableSchema(f"{shorten(name, _LONGEST_NAME)}: {error}") from error
    return DeclaredTool(
        name,
        shorten(description if isinstance(description, str) else "", _LONGEST_DESCRIPTION) or shorten(name, 64),
        schema,
        reads_only=hints.get("readOnlyHint") is True,
        closed=hints.get("openWorldHint") is False,
    )


def choose_tool_name(server: str, tool: str, taken: Collection[str]) -> str:
    """Return the name by which models call a tool: `server_tool`, made fit and unlike the others."""
    whole = f"{server}_{tool}"
    fit = _UNFIT.sub("_", whole)
    if fit == whole and len(fit) <= _LONGEST_NAME and fit not in taken:
        return fit
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{fit[: _LONGEST_NAME - _DIGEST - 1]}_{digest}"


def effects_of(tool: DeclaredTool, settings: McpServerSettings) -> ToolEffects:
    """Return the effects that the owner's settings give a tool: all of them, unless they say less.

    Of one that may change something and leads out the owner is asked each time.
    """
    own = settings.tool_effects.get(tool.name)
    effects = {*(settings.effects if own is None else own)}
    if own is None and settings.trust_hints:
        effects -= {"changes_outside"} if tool.reads_only else set()
        effects -= {"brings_untrusted", "way_out"} if tool.closed else set()
    return ToolEffects(
        reads_private="reads_private" in effects,
        brings_untrusted="brings_untrusted" in effects,
        way_out="way_out" in effects,
        changes_outside="changes_outside" in effects,
        asks_first="asks_first" in effects,
        asks_always={"way_out", "changes_outside"} <= effects,
    )
