"""Search the web by the engine of the settings."""

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from kenobot.core.redaction import escape_controls
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

if TYPE_CHECKING:
    from kenobot.tools.web.engines import Engine, Found

_MOST_TITLE: Final = 200
_MOST_ADDRESS: Final = 500
_MOST_SNIPPET: Final = 400


def _drop_pattern(schema: dict[str, Any]) -> None:
    del schema["pattern"]


class SearchArguments(ToolArguments):
    query: str = Field(min_length=1, max_length=400)
    language: str = Field(
        "",
        pattern=r"^([a-z]{2,3}(-[A-Za-z]{2,8})?)?$",
        description='Of the results, as "es".',
        json_schema_extra=_drop_pattern,
    )


class WebSearch:
    """Searches the web."""

    name = "web_search"
    arguments = SearchArguments
    effects = ToolEffects(reads_private=False, brings_untrusted=True, way_out=True, changes_outside=False)

    def __init__(self, engine: "Engine", told: str, language: str, results: int) -> None:
        """told: where it searches, for the model. language: of results, unless a call gives one."""
        self.description = f"Search {told}; web_fetch reads what is found."
        self._engine = engine
        self._language = language
        self._results = results

    async def run(self, arguments: SearchArguments, turn: ToolContext) -> str:
        """Return the results, numbered."""
        language = arguments.language or self._language
        found = await self._engine.search(arguments.query, language, self._results)
        entries = [_write(number, each) for number, each in enumerate(_select_usable(found)[: self._results], 1)]
        return "\n\n".join(entries) or "Nothing was found: try other words, or fewer."


def _select_usable(found: "list[Found]") -> "list[Found]":
    """Return the results that have an address of the web, each address once."""
    by_address = {each.address: each for each in reversed(found) if each.address.startswith(("http://", "https://"))}
    return [each for each in reversed(by_address.values()) if len(each.address) <= _MOST_ADDRESS]


def _write(number: int, found: "Found") -> str:
    lines = (f"{number}. {found.title[:_MOST_TITLE]}", found.address, found.snippet[:_MOST_SNIPPET])
    return "\n   ".join(escape_controls(line) for line in lines if line)
