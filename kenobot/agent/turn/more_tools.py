"""Find tools on demand: where all schemas together would take too much of a prompt, the rest are named when asked for.

Both tools here are always the same, so that prompts keep their beginning whatever was found.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.words import words
from kenobot.ports.errors import ToolFailed
from kenobot.ports.identity import Principal
from kenobot.ports.provider import ToolCall, ToolSpec
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

MOST_TOKENS = 2000
"""Tokens that the schemas of all offered tools may take."""

CALL = "call_tool"
_SHOWN = 5
_HARMLESS = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

ListSpecs = Callable[[Principal], Sequence[ToolSpec]]


class FindArguments(ToolArguments):
    query: str = Field(min_length=1, max_length=200, description="What it should do, in a few words.")


class FindTool:
    """Tells which further tools there are."""

    name = "find_tool"
    description = "Find further tools that are not listed here. Call what it names by call_tool."
    arguments = FindArguments
    effects = _HARMLESS

    def __init__(self, list_specs: ListSpecs) -> None:
        """list_specs: of the tools that a speaker may call and that are not offered."""
        self._list_specs = list_specs

    async def run(self, arguments: FindArguments, turn: ToolContext) -> str:
        """Return the tools that fit best, with their schemas. Raises ToolFailed where there are none."""
        wanted = {*words(arguments.query)}
        specs = self._list_specs(turn.principal)
        ranked = sorted(
            specs, key=lambda spec: -len(wanted & {*words(f"{spec.name} {spec.description}".replace("_", " "))})
        )
        if not ranked:
            raise ToolFailed("There are no further tools.")
        shown = [json.dumps(_describe(spec), ensure_ascii=False) for spec in ranked[:_SHOWN]]
        others = ", ".join(spec.name for spec in ranked[_SHOWN:])
        return "\n".join(shown) + (f"\nOthers: {others}" if others else "")


class CallArguments(ToolArguments):
    name: str = Field(description="A tool that find_tool named.")
    arguments: dict[str, Any] = Field(description="By its schema.")  # bounded: one call; turn


class CallTool:
    """Offers to call a tool by its name; `unwrap_call` makes that call of it."""

    name = CALL
    description = "Call a tool that find_tool named."
    arguments = CallArguments
    effects = _HARMLESS

    async def run(self, arguments: CallArguments, turn: ToolContext) -> str:
        """Raise ToolFailed: a call that names a tool never comes here."""
        raise ToolFailed("Give the name of a tool, and its arguments as an object.")


def unwrap_call(call: ToolCall) -> ToolCall:
    """Return the call that is made through `call_tool`; any other as it is."""
    name, arguments = call.arguments.get("name"), call.arguments.get("arguments")
    if call.name != CALL or call.problem or not isinstance(name, str) or name == CALL:
        return call
    return replace(call, name=name, arguments=arguments) if isinstance(arguments, dict) else call


def count_tokens(spec: ToolSpec) -> int:
    """Estimate the tokens that a tool takes in a prompt."""
    return estimate_tokens(json.dumps(_describe(spec), ensure_ascii=False))


def _describe(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "schema": dict(spec.schema)}
