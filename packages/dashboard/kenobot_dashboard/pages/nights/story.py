"""Tell what a night did as people would: a sentence for each decision, with what it changed, in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kenobot.ports.nights import ChangeReport, NightReport, PassReport
from kenobot_dashboard.differences import Piece, compare_texts
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.wording import Texts

_INNER: Final = frozenset({"attributes", "key", "lang", "source_messages", "changed_event", "policy_class", "scope"})
"""Columns that say nothing to people."""
_BOOKKEEPING: Final = ("judged", "compared", "pondered")
"""Kinds of decisions that change no memory: they say how far a night has looked."""


@dataclass(frozen=True, slots=True)
class Value:
    """A changed value in words: what it is of, before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Deed:
    """A decision. pieces: what became of its text. can_undo: it holds, and can be taken back."""

    event: int
    title: str
    record: int | None
    text: str
    pieces: tuple[Piece, ...]
    values: tuple[Value, ...]
    others: int
    reason: str
    undone: bool
    can_undo: bool


@dataclass(frozen=True, slots=True)
class Chapter:
    """What one pass did. more: how many decisions are not shown."""

    name: str
    title: str
    deeds: tuple[Deed, ...]
    more: int
    skipped: int
    trouble: str
    is_large: bool


def tell_night(report: NightReport, t: Texts, f: Formats) -> list[Chapter]:
    """Tell what the passes of a night did, those without anything to tell left out."""
    chapters = [_tell_pass(one, t, f) for one in report.passes]
    return [each for each in chapters if each.deeds or each.more or each.trouble or each.skipped]


def _tell_pass(one: PassReport, t: Texts, f: Formats) -> Chapter:
    shown = [change for change in one.shown_changes if change.kind not in _BOOKKEEPING or change.is_change]
    return Chapter(
        name=one.result.name,
        title=f.word(one.description or one.result.name),
        deeds=tuple(_tell_change(change, t, f) for change in shown),
        more=one.omitted,
        skipped=one.result.skipped,
        trouble=f.word(one.result.trouble),
        is_large=one.is_large,
    )


def _tell_change(change: ChangeReport, t: Texts, f: Formats) -> Deed:
    title, week = f.word(t.name("what", change.kind)), f.name_week(change.text)
    texts = {name: (before, after) for name, before, after in change.changes}
    return Deed(
        event=change.event,
        title=f"{title}: {week}" if week else title,
        record=change.record,
        text=change.text,
        pieces=_compare(*texts["text"], f) if "text" in texts else (),
        values=tuple(_word_values(change, t, f)),
        others=change.other_records,
        reason=f.reason(change.reason),
        undone=change.undone,
        can_undo=change.is_change and not change.undone,
    )


def _compare(before: str, after: str, f: Formats) -> tuple[Piece, ...]:
    return compare_texts(f.plain(before), f.plain(after))


def _word_values(change: ChangeReport, t: Texts, f: Formats) -> Iterator[Value]:
    for name, before, after in change.changes:
        if name == "text" or name in _INNER:
            continue
        yield Value(t.name("column", name), word_value(name, before, t, f), word_value(name, after, t, f))


def word_value(column: str, value: str, t: Texts, f: Formats) -> str:
    """Word a value of a column as people say it."""
    if value in ("", "None"):
        return t("nothing_there")
    if column == "tier":
        tier, _, name = value.partition(":")
        return t("tier_ref", name=name) if tier == "ref" else t.name("tier", tier)
    return f.value(value)
