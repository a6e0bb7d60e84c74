"""Decide by the owner's rules whether a tool call is run, refused, or put to the owner first. Pure."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import Literal

from kenobot.core.settings.schema import ToolRule
from kenobot.ports.provider import Json, ToolCall
from kenobot.ports.tool import ToolEffects
from kenobot.ports.workspace import SANDBOX_ROOT

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
    if not (is_here and fnmatchcase(call.name, rule.tool)):
        return False
    every = rule.decision == "allow"
    return all(_match(name, call.arguments.get(name), pattern, every=every) for name, pattern in rule.arguments.items())


def _match(name: str, value: Json, pattern: str, *, every: bool) -> bool:
    """Return whether a text or a number matches a pattern, as it is written and in its plain spelling.

    every: both have to match, so that no odd spelling is allowed; otherwise one is enough, so that none gets around.
    """
    if not isinstance(value, str | int | float):
        return False
    text = str(value)
    spellings = {text} if name == "command" else {text, _plain(text)}
    found = [fnmatchcase(each, pattern) for each in spellings]
    return all(found) if every else any(found)


def _plain(text: str) -> str:
    """Return an address or a path without detours; any other text as it is."""
    stripped = text.strip()
    scheme, mark, rest = stripped.partition("://")
    if mark and scheme.isalpha():
        host, slash, path = rest.partition("/")
        host = host.lower().removesuffix({"http": ":80", "https": ":443"}.get(scheme.lower(), ":")).rstrip(".")
        return f"{scheme.lower()}://{host}{slash}{_without_detours(f'/{path}')[1:]}"
    if "/" not in stripped:
        return text
    return _without_detours(stripped).removeprefix(f"{SANDBOX_ROOT}/")


def _without_detours(path: str) -> str:
    plain = normpath(path)
    return f"{plain}/" if path.endswith("/") and not plain.endswith("/") else plain
