"""Offer the events of a calendar file that was sent as reminders, and set them once the person says yes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs
from kenobot.agenda.focus_rows import jobs_of_message
from kenobot.agenda.job import JobError, NewJob
from kenobot.agenda.recurrence import next_due, to_local, to_utc
from kenobot.agenda.say_time import say_day, say_moment, say_rule
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.open_questions import AnsweredQuestion, close_by_button, close_by_words
from kenobot.agent.commands.reminders import describe_place
from kenobot.agent.media.formats.calendar import ALL_DAY, EVENT, LOCAL, UNKNOWN
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.buttons import Choice
from kenobot.language.when import Moment, Recurrence
from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

KIND = "calendar"
"""The kind of these questions among approvals."""

_MOST_SHOWN, _MOST_TAKEN = 20, 100
_ANSWER_WITHIN = timedelta(hours=12)
_MIDDAY = 12


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """An event of a calendar file.

    start: naive, in its zone. zone: an IANA name; "" for the owner's. unknown: the name of a zone that is not known.
    rule: an iCalendar rule; "" for an event that comes once.
    """

    text: str
    start: datetime
    has_time: bool
    zone: str
    rule: str
    unknown: str = ""

    def next_at(self, now: datetime, home: ZoneInfo) -> datetime | None:
        """Return when it comes next; None once it is over."""
        zone = ZoneInfo(self.zone) if self.zone else home
        if self.rule:
            return next_due(self.rule, self.start, zone, now)
        start = self.start if self.has_time else self.start.replace(hour=_MIDDAY)
        at = to_utc(start, zone)
        return at if at > now else None

    @property
    def meaning(self) -> Moment | Recurrence:
        """Return it as a reminder's time."""
        if self.rule:
            return Recurrence(self.rule, self.start, self.has_time)
        return Moment(self.start, self.has_time)


def offer(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """List the events that are to come, and ask whether to remind of them."""
    zone = context.find_zone(connection, call)
    found = [*read_events(call.arguments.splitlines())]
    coming = [(event, event.next_at(call.at, zone)) for event in found if _is_ahead(event, call.at, zone)]
    ahead = [event for event, _ in sorted(coming, key=lambda each: each[1] or call.at)]
    if not ahead:
        return texts.CALENDAR_OVER(call.language)
    lines = [_line(event, call.at, zone, call.language) for event in ahead[:_MOST_SHOWN]]
    if more := len(ahead) - len(lines):
        lines.append(texts.AGENDA_MORE(call.language, count=more))
    unknown = sorted({event.unknown for event in ahead if event.unknown})
    question = texts.CALENDAR_TAKE(call.language)
    if unknown:
        question = texts.CALENDAR_ZONE(call.language, zone=", ".join(f"“{name}”" for name in unknown))
    number = _ask(connection, call)
    words: tuple[str, ...] = ("yes", "no")
    labels = [texts.BUTTON_REMIND, texts.BUTTON_NO_REMINDERS]
    if unknown and len(ahead) > sum(bool(event.unknown) for event in ahead):
        words, labels = ("yes", "known", "no"), [labels[0], texts.BUTTON_KNOWN_ZONES, labels[1]]
    buttons = [
        Choice(label(call.language), KIND, f"{word} {number}") for label, word in zip(labels, words, strict=True)
    ]
    return CommandAnswer("\n".join([*lines, "", question]), (tuple(buttons),))


def _ask(connection: Connection, call: CommandCall) -> int:
    newest = message_rows.newest_message_id(connection, call.inbound.session)
    payload: dict[str, Json] = {"after": newest, "asked": call.inbox_id, "events": call.arguments}
    approval = Approval(call.inbound.session, call.inbound.user, KIND, payload, call.at + _ANSWER_WITHIN)
    return approvals.open_approval(connection, approval)


def answer(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a plain yes or no to the question that is open here."""
    answered = close_by_words(connection, call, KIND)
    if answered is None:
        return texts.NO_QUESTION(call.language)
    return _follow(connection, answered, call, context)


def press(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button."""
    word, _, number = call.arguments.partition(" ")
    if word == "undo":
        return _undo(connection, int(number), call)
    told = "no" if word == "no" else "yes"
    answered = close_by_button(connection, replace(call, arguments=f"{number} {told}"), KIND)
    if answered is None:
        return texts.DECIDED(call.language)
    return _follow(connection, answered, call, context, only_known=word == "known")


def _follow(
    connection: Connection,
    answered: AnsweredQuestion,
    call: CommandCall,
    context: CommandContext,
    *,
    only_known: bool = False,
) -> str | CommandAnswer:
    """Set the reminders of the events that are to come after a yes, but for those that there are already.

    only_known: leave out events whose time zone is not known.
    """
    if not answered.is_yes:
        return texts.CALENDAR_LEFT(call.language)
    events, asked = read_events(str(answered.payload["events"]).splitlines()), int(answered.payload["asked"])
    zone = context.find_zone(connection, call)
    place = describe_place(call)
    known = {(job.text, job.rule, job.start_local.date()) for job in jobs.find_jobs(connection, (place.scope,))}
    taken, refused = 0, list[str]()
    for event in events:
        is_known = (event.text, event.rule, event.start.date()) in known
        if is_known or (only_known and event.unknown) or not _is_ahead(event, call.at, zone) or taken == _MOST_TAKEN:
            continue
        new = NewJob(event.text, place, event.meaning, event.zone, trust=call.principal.trust, origin=asked or None)
        try:
            jobs.add_job(connection, new, zone, call.at)
        except JobError as error:
            refused.append(f"- {one_line(event.text)}: {error.words(call.language)}")
        else:
            taken += 1
    text = "\n".join([texts.CALENDAR_TAKEN(call.language, count=taken), *refused])
    if not taken or not asked:
        return text
    return CommandAnswer(text, ((Choice(texts.BUTTON_UNDO(call.language), KIND, f"undo {asked}"),),))


def _undo(connection: Connection, asked: int, call: CommandCall) -> str:
    reach = call.principal.read_scopes
    taken = [job for job in jobs_of_message(connection, (asked,)) if job.scope in reach]
    for job in taken:
        jobs.cancel_job(connection, job, call.at)
    return texts.CALENDAR_UNDONE(call.language, count=len(taken))


# ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_events(lines: Sequence[str]) -> Iterable[CalendarEvent]:
    """Read the events of lines as the reader of calendars writes them."""
    for line in lines:
        found = EVENT.fullmatch(line)
        if found is None:
            continue
        zone, unknown = found["zone"], ""
        if zone.startswith(UNKNOWN):
            zone, unknown = "", zone.removeprefix(UNKNOWN)
        start = datetime.fromisoformat(f"{found['day']}T{found['time'] or '00:00'}")
        zone = "" if zone in (ALL_DAY, LOCAL) else zone
        yield CalendarEvent(found["text"], start, found["time"] is not None, zone, found["rule"] or "", unknown)


def _is_ahead(event: CalendarEvent, now: datetime, zone: ZoneInfo) -> bool:
    try:
        return event.next_at(now, zone) is not None
    except (KenobotError, ValueError):  # a rule that is none
        return False


def _line(event: CalendarEvent, now: datetime, zone: ZoneInfo, language: Language) -> str:
    due = event.next_at(now, zone)
    assert due is not None
    today, here = to_local(now, zone).date(), to_local(due, zone)
    when = say_moment(here, language, today) if event.has_time else say_day(here.date(), language, today)
    marks = [texts.CALENDAR_UNKNOWN_ZONE(language, zone=event.unknown)] if event.unknown else []
    marks += [say_rule(event.rule, event.start, language, has_time=event.has_time)] if event.rule else []
    told = f"- {when}: {one_line(event.text)}"
    return f"{told} ({', '.join(marks)})" if marks else told
