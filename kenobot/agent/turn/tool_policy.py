"""Decide by the owner's rules whether a tool call is run, refused, or put to the owner first. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from kenobot.core.settings.schema import ToolRule
from kenobot.ports.provider import Json, ToolCall
from kenobot.ports.tool import ToolEffects

Decision = Literal["allow", "ask", "deny"]


def decide(rules: Sequence[ToolRule], call: ToolCall, effects: ToolEffects, *, private: bool) -> Decision:
    """Return the decision of the first rule that matches a call, or else that of the tool's own effects.

    private: whether the call belongs to a private chat.
    """
    for rule in rules:
        if _matches(rule, call, private=private):
            return rule.decision
    return "ask" if effects.asks_always else "allow"


def _matches(rule: ToolRule, call: ToolCall, *, private: bool) -> bool:
    is_here = rule.where == "anywhere" or (rule.where == "private") == private
    return is_here and fnmatchcase(call.name, rule.tool) and _match_arguments(rule.arguments, call.arguments)


def _match_arguments(patterns: Mapping[str, str], arguments: Mapping[str, Json]) -> bool:
    """Return whether each named argument is a text or a number that matches its pattern."""
    return all(
        isinstance(value := arguments.get(name), str | int | float) and fnmatchcase(str(value), pattern)
        for name, pattern in patterns.items()
    )
