"""Word what happened to a memory as people would: its text word by word, its columns by name, inner ones not at all."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kenobot_dashboard.differences import Piece, compare_texts
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.wording import Texts

_INNER: Final = frozenset({"attributes", "key", "lang", "source_messages", "changed_event", "policy_class", "scope"})
"""Columns that say nothing to people."""
_INNER_ATTRIBUTES: Final = frozenset({"hand", "of", "voices", "through", "at", "session", "trace", "sealed", "version"})
_UNDO: Final = re.compile(r"undo of \d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A changed value in words: what it is of, before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WordedChange:
    """Changes of a decision, in words. pieces: of the text."""

    pieces: tuple[Piece, ...]
    rows: tuple[Value, ...]


def word_changes(changes: Iterable[tuple[str, object, object]], t: Texts, f: Formats) -> WordedChange:
    """Word the changed columns of a memory, each with what it was and is."""
    pieces: tuple[Piece, ...] = ()
    rows = list[Value]()
    for name, before, after in changes:
        if name == "text":
            pieces = compare_texts(f.write_plain(str(before or "")), f.write_plain(str(after or "")))
        elif name not in _INNER:
            rows.append(Value(t.name("column", name), word_value(name, before, t, f), word_value(name, after, t, f)))
    return WordedChange(pieces, tuple(rows))


def word_value(column: str, value: object, t: Texts, f: Formats) -> str:
    """Word a value of a column."""
    text = str(value) if value is not None else ""
    if text in ("", "None", "[]", "{}"):
        return t("nothing_there")
    if column == "tier":
        tier, _, name = text.partition(":")
        return t("tier_ref", name=name) if tier == "ref" else t.name("tier", tier)
    if column == "subject":
        return t("the_owner") if text == "owner" else text
    return f.value(text)


def word_reason(reason: str, t: Texts, f: Formats) -> str:
    """Word why something was decided; "" where that says no more than what was done."""
    return "" if _UNDO.fullmatch(reason) else f.reason(t.name("reason", reason))


def list_attributes(attributes: Mapping[str, str], t: Texts, f: Formats) -> list[tuple[str, str]]:
    """List what a memory says of its subject, by name, without what is kept for the bot itself."""
    return [
        (t.name("attribute", name), f.value(value))
        for name, value in attributes.items()
        if name not in _INNER_ATTRIBUTES
    ]
