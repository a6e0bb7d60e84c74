"""Tell what a night did as people would: a sentence for each decision, with what it changed, in words."""

from dataclasses import dataclass
from typing import Final

from kenobot.ports.nights import ChangeReport, NightReport, PassReport
from kenobot_dashboard.changes import WordedChange, word_changes, word_reason
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.wording import Texts

_BOOKKEEPING: Final = ("judged", "compared", "pondered")
"""Kinds of decisions that change no memory: they say how far a night has looked."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A decision. text: of its memory. others: how many more it changed. can_undo: it holds, and can be taken back."""

    event: int
    title: str
    record: int | None
    text: str
    change: WordedChange
    others: int
    reason: str
    undone: bool
    can_undo: bool


@dataclass(frozen=True, slots=True)
class Chapter:
    """Work of one pass. more: how many decisions are not shown."""

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
    return Deed(
        event=change.event,
        title=f"{title}: {week}" if week else title,
        record=change.record,
        text=change.text,
        change=word_changes(change.changes, t, f),
        others=change.other_records,
        reason=word_reason(change.reason, t, f),
        undone=change.undone,
        can_undo=change.is_change and not change.undone,
    )
