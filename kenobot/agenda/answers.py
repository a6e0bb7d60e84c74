"""Answer questions for what is planned, was done or was said, from reminders, memories and what people wrote.

It needs no model; a model is given the same answers by its tool.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from kenobot.agenda.entry import Entry
from kenobot.agenda.log import LogReach, find_done, find_last_said, find_told
from kenobot.agenda.past_question import PastQuestion
from kenobot.agenda.plans import find_plans
from kenobot.agenda.say_time import say_day, say_rule
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection

MOST_SHOWN = 20
"""Entries of an answer."""

_LONGEST = 200  # characters of an entry


@dataclass(frozen=True, slots=True)
class Asker:
    """Asker, place and moment. account: whose messages alone they may be shown, "" for all in their scopes."""

    scopes: tuple[str, ...]
    session: str
    account: str
    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        """Return their calendar day."""
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True)
class AgendaAnswer:
    """The entries that answer a question, in order."""

    question: AgendaQuestion | PastQuestion
    entries: tuple[Entry, ...]

    @property
    def is_of_plans(self) -> bool:
        """Return whether the question is for what is ahead."""
        return isinstance(self.question, AgendaQuestion)


def answer_question(connection: Connection, question: AgendaQuestion | PastQuestion, asker: Asker) -> AgendaAnswer:
    """Find what answers a question."""
    if isinstance(question, AgendaQuestion):
        found = find_plans(connection, asker.scopes, question, asker.now, asker.zone)
        return AgendaAnswer(question, tuple(found))
    if question.days is None:
        return AgendaAnswer(question, tuple(_last_said(connection, asker)))
    reach = LogReach(asker.scopes, asker.account, asker.now, asker.zone)
    find = find_told if question.about == "told" else find_done
    return AgendaAnswer(question, tuple(find(connection, reach, question.days)))


def _last_said(connection: Connection, asker: Asker) -> Iterator[Entry]:
    said = find_last_said(connection, asker.session, asker.account)
    if said is not None:
        local = datetime.fromisoformat(said.at).astimezone(asker.zone)
        yield Entry("message", said.line.text, local.date().isoformat(), f"{local:%H:%M}")


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def render_answer(answer: AgendaAnswer, language: Language, today: date, *, numbered: bool = False) -> str:
    """Render an answer by day, in order; "" for plans of which there are none. numbered: with ids of reminders."""
    question, entries = answer.question, answer.entries
    if isinstance(question, PastQuestion):
        if not entries:
            return texts.AGENDA_NOTHING_TOLD(language) if question.days else texts.AGENDA_NOTHING_BEFORE(language)
        if question.days is None:
            [said] = entries
            return texts.AGENDA_LAST_SAID(language, what=_one_line(said.text), time=_hour(said))
    late_before = today if answer.is_of_plans else None
    return "\n".join(_lines(entries, language, today, late_before, numbered=numbered))


def _lines(
    entries: Sequence[Entry], language: Language, today: date, late_before: date | None, *, numbered: bool
) -> Iterator[str]:
    shown = entries[:MOST_SHOWN]
    for day, of_day in groupby(shown, key=lambda each: _heading(each, language, today, late_before)):
        yield f"**{day}**"
        yield from (f"- {_line(entry, language, late_before, numbered=numbered)}" for entry in of_day)
    if len(entries) > len(shown):
        yield texts.AGENDA_MORE(language, count=len(entries) - len(shown))


def _heading(entry: Entry, language: Language, today: date, late_before: date | None) -> str:
    if not entry.day:
        return texts.AGENDA_NO_DAY(language)
    day = date.fromisoformat(entry.day)
    if late_before is not None and day < late_before:
        return texts.AGENDA_OVERDUE(language)
    said = say_day(day, language, today)
    said = texts.AGENDA_YESTERDAY(language, day=said) if day == today - timedelta(days=1) else said
    return said[:1].upper() + said[1:]


def _line(entry: Entry, language: Language, late_before: date | None, *, numbered: bool) -> str:
    """Render an entry: its time, what it says, and whose words they are or what became of it."""
    marks = [texts.AGENDA_REMINDER(language)] if entry.kind == "reminder" else []
    if numbered and entry.job is not None:
        marks[-1] += f" {entry.job.id}"
    if entry.job is not None and entry.job.is_recurring:
        rule, start = entry.job.rule, entry.job.start_local
        marks.append(say_rule(rule, start, language, has_time=entry.job.has_time))
    if late_before is not None and entry.day and date.fromisoformat(entry.day) < late_before:
        marks.append(texts.AGENDA_WAS_DUE(language, day=say_day(date.fromisoformat(entry.day), language, late_before)))
    marks += [_MARKS[mark](language) for mark in entry.marks]
    marks += [entry.record.by] if entry.record is not None and entry.record.by else []
    what = _one_line(entry.text)
    if entry.kind != "reminder":
        what = texts.AGENDA_QUOTED(language, what=what)
    told = f"{_hour(entry)} {what}" if entry.time else what
    return f"{told} ({', '.join(marks)})" if marks else told


def _hour(entry: Entry) -> str:
    return entry.time.removeprefix("0")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


_MARKS = {
    "done": texts.AGENDA_DONE,
    "maybe_over": texts.AGENDA_MAYBE_OVER,
    "confided": texts.AGENDA_CONFIDED,
    "of_others": texts.AGENDA_OF_OTHERS,
}
