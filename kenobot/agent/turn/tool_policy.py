"""Decide by the owner's rules whether a tool call is run, refused, or put to the owner first. Pure."""

import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import Final, Literal
from urllib.parse import unquote

from kenobot.core import lazy
from kenobot.core.settings.schema import ToolRule
from kenobot.ports.json_value import Json
from kenobot.ports.provider import ToolCall
from kenobot.ports.tool import ToolEffects
from kenobot.ports.workspace import SANDBOX_ROOT

Decision = Literal["allow", "ask", "deny"]

_PORTS: Final = {"http": 80, "https": 443}
_SLASHES: Final = 2  # in an address without a path
_AUTHORITY_ENDS = lazy.regex(r"[/?#]")


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

    every: both have to match, so that no odd spelling is allowed; otherwise one is enough, or another name of the same,
    so that none gets around.
    """
    if not isinstance(value, str | int | float):
        return False
    text = str(value)
    spellings = {text} if name == "command" else {text, _simplify(text)}
    if name != "command" and not every:
        spellings |= {*_find_aliases(_simplify(text))}
    found = [fnmatchcase(each, pattern) or fnmatchcase(each, unquote(pattern)) for each in spellings]
    return all(found) if every else any(found)


def _simplify(text: str) -> str:
    """Return an address or a path without detours; any other text as it is."""
    stripped = text.strip()
    if "://" in stripped:
        return _plain_address(stripped)
    if "/" not in stripped:
        return text
    return _without_detours(stripped).removeprefix(f"{SANDBOX_ROOT}/")


def _find_aliases(plain: str) -> Iterator[str]:
    """Yield other names of a page or a file: with the path that goes without saying, from a folder further down."""
    if "://" in plain:
        yield f"{plain}/" * (plain.count("/") == _SLASHES)
    elif plain.startswith("/"):  # maybe of a workspace, by where that is on the disk
        for place, letter in enumerate(plain):
            if letter == "/":
                yield plain[place + 1 :]


def _plain_address(text: str) -> str:
    """Return an address as servers read it: with no letter written in figures, and no port that goes without saying."""
    scheme, _, rest = text.partition("://")
    scheme = scheme.lower()
    told = unicodedata.normalize("NFKC", unquote(rest)).replace("\u3002", ".")
    host = _AUTHORITY_ENDS.split(told, maxsplit=1)[0]
    slash, path = "/" * (told != host), told.removeprefix(host).removeprefix("/")
    name, colon, port = host.lower().rpartition(":")
    if colon and (not port or (port.isdecimal() and int(port) == _PORTS.get(scheme))):
        host = name
    return f"{scheme}://{host.lower().rstrip('.')}{slash}{_without_detours(f'/{path}')[1:]}"


def _without_detours(path: str) -> str:
    plain = normpath(path)
    return f"{plain}/" if path.endswith("/") and not plain.endswith("/") else plain
