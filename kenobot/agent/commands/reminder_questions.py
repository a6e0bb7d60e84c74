"""Ask back about a reminder: when it is to come, or which one is meant; and follow the answer.

An answer counts by a button however late, and by words while the question is the last thing said: a time, "in the
afternoon", a number, "no".
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, time, timedelta
from typing import Any, Literal

from kenobot.agenda import job_rows
from kenobot.agenda.job import Job
from kenobot.agenda.mentions import mentions
from kenobot.agenda.recurrence import to_local
from kenobot.agenda.say_reminder import say_next
from kenobot.agenda.say_time import say_day, say_moment, say_rule
from kenobot.agent.commands.command import REMINDER_QUESTION, CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.natural_language import match_command, match_without_model, parse_answer
from kenobot.agent.commands.reminder_cues import LONGEST_ANSWER
from kenobot.agent.commands.reminder_orders import (
    ReminderOrder,
    match_order,
    read_choice,
    read_half,
    read_what,
    read_whole_time,
)
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway.buttons import Choice
from kenobot.language.facts.heuristic import extract_facts
from kenobot.language.facts.parse_facts import TIERS
from kenobot.language.statements.sentence_core import question_in
from kenobot.language.when import Choice as TimeChoice
from kenobot.language.when import Meaning, Moment, Recurrence
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_ANSWER_WITHIN = timedelta(hours=12)
_EVENING, _MORNING = time(20), time(9)
_MOST_ASKED = 8

Act = Literal["set", "cancel", "skip", "move", "away"]


@dataclass(frozen=True, slots=True)
class ReminderPayload:
    """Hold what a stored question is about.

    act: what is done upon the answer. what: of the reminder, the words of the order, or a zone. job: one that is moved,
    0 for a new one. after: the conversation's last message, behind which a plain answer counts. asked: inbox row of the
    order. language: of the question. times, jobs: those to choose from. suggested: words that a yes takes, where those
    of a new reminder are asked for, and `what` is empty.
    """

    act: Act
    what: str
    after: int
    asked: int
    language: Language
    job: int = 0
    times: tuple[Mapping[str, Any], ...] = ()
    jobs: tuple[int, ...] = ()
    suggested: str = ""

    @property
    def asks_what(self) -> bool:
        """Return whether the words of a new reminder are asked for."""
        return self.act == "set" and not self.what

    @property
    def moved(self) -> tuple[int, ...]:
        """Return the reminder that gets the chosen time; none for a new one."""
        return (self.job,) if self.job else ()


def ask_time(
    connection: Connection,
    what: str,
    options: Sequence[Meaning],
    call: CommandCall,
    context: CommandContext,
    job: int = 0,
) -> CommandAnswer:
    """Ask when a reminder is to come. options: readings of the words that name its time; without any some are offered.

    job: one that is moved, 0 for a new one.
    """
    now = to_local(call.at, context.find_zone(connection, call))
    given: list[Moment | Recurrence] = [each for option in options for each in _flatten(option)]
    labels = [_capitalize(_label(option, call.language, now)) for option in given]
    if not given:
        offered = _offer_times(now)
        given, labels = [moment for moment, _ in offered], [label(call.language) for _, label in offered]
    times = tuple(to_fields(option) for option in given)
    payload = _payload(connection, call, "move" if job else "set", what, job=job, times=times)
    number = _open(connection, call, payload)
    question = texts.REMIND_WHICH_TIME if options else texts.REMIND_WHEN
    text = question(
        call.language, what=texts.QUOTED(call.language, text=one_line(what)), lines=_list_labels(labels, call)
    )
    rows = tuple((Choice(label, "reminder", f"set {number} {place}"),) for place, label in enumerate(labels))
    return CommandAnswer(text, (*rows, (_leave(number, call.language),)))


def ask_what(
    connection: Connection, meaning: Meaning, suggested: str, call: CommandCall, context: CommandContext
) -> CommandAnswer:
    """Ask for the text of a reminder whose time is known. suggested: words that may be meant, "" for none."""
    now = to_local(call.at, context.find_zone(connection, call))
    options = _flatten(meaning)
    times = tuple(to_fields(option) for option in options)
    number = _open(connection, call, _payload(connection, call, "set", "", times=times, suggested=suggested))
    when = f" ({_label(options[0], call.language, now)})" if len(options) == 1 else ""
    text = texts.REMIND_WHAT(call.language, when=when)
    rows = [(_leave(number, call.language),)]
    if suggested and not question_in(suggested):
        quoted = texts.QUOTED(call.language, text=one_line(suggested))
        text = f"{text} {texts.REMIND_WHAT_SUGGESTED(call.language, what=quoted)}"
        rows.insert(0, (Choice(one_line(suggested, 30), "reminder", f"what {number}"),))
    return CommandAnswer(text, tuple(rows))


def offer(connection: Connection, order: ReminderOrder, call: CommandCall, context: CommandContext) -> CommandAnswer:
    """Ask whether to remind of what a message says, at the time that it names."""
    assert order.when is not None
    assert order.when.meaning is not None
    given = _flatten(order.when.meaning)
    call = replace(call, language=order.language)
    if len(given) > 1:
        return ask_time(connection, order.what, given, call, context)
    payload = _payload(connection, call, "set", order.what, times=(to_fields(given[0]),))
    number, language = _open(connection, call, payload), call.language
    now = to_local(call.at, context.find_zone(connection, call))
    text = texts.REMIND_OFFER(
        language, what=texts.QUOTED(language, text=one_line(order.what)), when=_label(given[0], language, now)
    )
    yes = Choice(texts.BUTTON_YES_PLAIN(language), "reminder", f"set {number} 0")
    return CommandAnswer(text, ((yes, _leave(number, language)),))


def ask_which(
    connection: Connection,
    act: Act,
    found: Sequence[Job],
    call: CommandCall,
    context: CommandContext,
) -> CommandAnswer:
    """Ask which of several reminders an order means."""
    shown = found[:_MOST_ASKED]
    numbers = tuple(job.id for job in found)
    payload = _payload(connection, call, act, call.arguments, jobs=numbers)
    number = _open(connection, call, payload)
    zone = context.find_zone(connection, call)
    lines = []
    for place, job in enumerate(shown, 1):
        when = say_next(job, zone, call.language, call.at)
        lines.append(f"{place}. {texts.REMINDER_LINE(call.language, when=when, what=one_line(job.text))}")
    buttons = [
        Choice(f"{place}. {one_line(job.text, 30)}", "reminder", f"pick {number} {job.id}")
        for place, job in enumerate(shown, 1)
    ]
    if act == "cancel" and len(found) > 1:
        buttons.append(Choice(texts.BUTTON_ALL(call.language), "reminder", f"pick {number} all"))
    rows = tuple((button,) for button in buttons)
    text = texts.REMINDER_WHICH(call.language, lines="\n".join(lines))
    return CommandAnswer(text, (*rows, (_leave(number, call.language),)))


def open_zone_question(connection: Connection, call: CommandCall, zone: str, until: datetime | None) -> int:
    """Open the question whether local times are to be those of another zone; return its number."""
    times = ({"until": until.isoformat()},) if until is not None else ()
    return _open(connection, call, _payload(connection, call, "away", zone, times=times))


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ReminderAnswer:
    """An answer to a question: the chosen time, reminders or words, or a yes; none where all is left as it is."""

    asked: ReminderPayload
    meaning: Moment | Recurrence | None = None
    jobs: tuple[int, ...] = ()
    is_yes: bool = False
    what: str = ""


def find_question(connection: Connection, inbound: Inbound, at: datetime) -> Approval | None:
    """Return the question that a plain message of this sender may answer."""
    if inbound.reply_to:
        approval = approvals.find_quoted(connection, inbound, at)
    else:
        approval = approvals.find_approval(connection, inbound.session, at) if inbound.private else None
    if approval is None or approval.kind != REMINDER_QUESTION or approval.account != inbound.user:
        return None
    is_newest = approval.payload["after"] == message_rows.newest_message_id(connection, inbound.session)
    return approval if inbound.reply_to or is_newest else None


def read_answer(connection: Connection, approval: Approval, text: str, now: datetime) -> ReminderAnswer | None:
    """Return the answer that a message gives to a question; None where it is none. now: the owner's local time."""
    if len(text) > LONGEST_ANSWER:
        return None
    asked = load_payload(approval)
    word = parse_answer(text)
    if word == "no":
        return ReminderAnswer(asked)
    if asked.act == "away":
        return ReminderAnswer(asked, is_yes=True) if word == "yes" else None
    if asked.asks_what:
        what = asked.suggested if word == "yes" else _read_words(text, asked.language, now)
        return ReminderAnswer(asked, what=what) if what else None
    if asked.jobs:
        picked = _pick_jobs(connection, asked, text, word)
        return ReminderAnswer(asked, None, picked) if picked else None
    meaning = _pick_time([from_fields(each) for each in asked.times], text, word, now)
    return ReminderAnswer(asked, meaning, asked.moved) if meaning is not None else None


def _read_words(text: str, language: Language, now: datetime) -> str:
    """Read the text of a reminder from an answer; "" where the answer is a question, an order or news."""
    is_wish = match_command(text) is not None or match_without_model(text) is not None
    if is_wish or parse_answer(text) is not None or question_in(text) or match_order(text, now) is not None:
        return ""
    facts = (fact for fact in extract_facts(text, now.date()) if fact.confidence > TIERS["implied"])
    return "" if any(fact.category != "commitment" for fact in facts) else read_what(text, language)


def _pick_time(
    options: Sequence[Moment | Recurrence], text: str, word: object, now: datetime
) -> Moment | Recurrence | None:
    """Return the time that words choose from those of a question, or name themselves; None where they do neither."""
    if word == "yes":
        return options[0] if len(options) == 1 else None
    place = int(min(word)) if isinstance(word, frozenset) and len(word) == 1 and not _is_hour(text) else 0
    place = place or _find_place(text, len(options))
    if 0 < place <= len(options):
        return options[place - 1]
    half = read_half(text)
    if half and len({_find_half(each) for each in options}) > 1:
        return next((each for each in options if _find_half(each) == half), None)
    when = read_whole_time(text, now)
    if when is None or when.meaning is None:
        return None
    named = _flatten(when.meaning)
    return next((each for each in named if each in options), named[0])


def close(connection: Connection, number: int, inbound: Inbound, *, done: bool) -> ReminderPayload | None:
    """Close a question whose button this person pressed, and return what it is about; None where it is answered."""
    approval = approvals.get_approval(connection, number)
    if approval is None or approval.kind != REMINDER_QUESTION or approval.session != inbound.session:
        return None
    approvals.close_approval(connection, approval.id, "approved" if done else "denied")
    return load_payload(approval)


def load_payload(approval: Approval) -> ReminderPayload:
    """Return what a stored question is about."""
    stored: dict[str, Any] = dict(approval.payload)
    return ReminderPayload(**{**stored, "times": tuple(stored["times"]), "jobs": tuple(stored["jobs"])})


def to_fields(meaning: Moment | Recurrence) -> dict[str, Any]:
    """Write a time as it is stored with a question."""
    if isinstance(meaning, Moment):
        return {"at": meaning.at.isoformat(), "has_time": meaning.has_time, "exact": meaning.exact}
    return {"rule": meaning.rule, "start": meaning.start.isoformat(), "has_time": meaning.has_time}


def from_fields(fields: Mapping[str, Any]) -> Moment | Recurrence:
    """Read a time as it was stored with a question."""
    if "at" in fields:
        return Moment(datetime.fromisoformat(fields["at"]), fields["has_time"], fields["exact"])
    return Recurrence(fields["rule"], datetime.fromisoformat(fields["start"]), fields["has_time"])


# ── details ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _payload(connection: Connection, call: CommandCall, act: Act, what: str, **more: Any) -> ReminderPayload:
    newest = message_rows.newest_message_id(connection, call.inbound.session)
    return replace(ReminderPayload(act, what, newest, call.inbox_id, call.language), **more)


def _open(connection: Connection, call: CommandCall, payload: ReminderPayload) -> int:
    approval = Approval(
        call.inbound.session, call.inbound.user, REMINDER_QUESTION, asdict(payload), call.at + _ANSWER_WITHIN
    )
    return approvals.open_approval(connection, approval)


def _leave(number: int, language: Language) -> Choice:
    return Choice(texts.BUTTON_LEAVE_REMINDER(language), "reminder", f"leave {number}")


def _offer_times(now: datetime) -> list[tuple[Moment, Text]]:
    """Return times for a reminder without any: in an hour, this evening, tomorrow morning."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), _MORNING)
    evening = datetime.combine(now.date(), _EVENING)
    offered: list[tuple[Moment, Text]] = [(Moment(now + timedelta(hours=1), exact=True), texts.BUTTON_IN_AN_HOUR)]
    if now + timedelta(hours=1) < evening:
        offered.append((Moment(evening), texts.BUTTON_THIS_EVENING))
    return [*offered, (Moment(tomorrow), texts.BUTTON_TOMORROW_MORNING)]


def _flatten(meaning: Meaning) -> Sequence[Moment | Recurrence]:
    return meaning.options if isinstance(meaning, TimeChoice) else (meaning,)


def _label(option: Moment | Recurrence, language: Language, now: datetime) -> str:
    if isinstance(option, Recurrence):
        return say_rule(option.rule, option.start, language, has_time=option.has_time)
    if not option.has_time:
        return say_day(option.at.date(), language, now.date())
    return say_moment(option.at, language, now.date())


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list_labels(labels: Sequence[str], call: CommandCall) -> str:
    return "\n".join(f"{place}. {label}" for place, label in enumerate(labels, 1)) if call.inbound.private else ""


def _find_half(option: Moment | Recurrence) -> str:
    at = option.at if isinstance(option, Moment) else option.start
    return "am" if at.hour < 12 else "pm"


def _is_hour(text: str) -> bool:
    """Return whether a number is rather an hour than a place in a list: "at 1", "a las 2"."""
    return not text.strip(" .").lstrip("#").isdecimal()


def _find_place(text: str, count: int) -> int:
    """Return the place from 1 that an ordinal names among some; 0 for none."""
    place = read_choice(text) or 0
    place = place if place >= 0 else count + 1 + place
    return place if 0 < place <= count else 0


def _pick_jobs(connection: Connection, asked: ReminderPayload, text: str, word: object) -> tuple[int, ...]:
    """Return the reminders that words choose from those of a question; none where they do not tell."""
    if word == "all":
        return asked.jobs if asked.act == "cancel" else ()
    if isinstance(word, frozenset):
        places = sorted(word)
        is_known = all(0 < place <= len(asked.jobs) for place in places)
        is_few = len(places) == 1 or asked.act == "cancel"
        return tuple(asked.jobs[place - 1] for place in places) if is_known and is_few else ()
    if place := _find_place(text, len(asked.jobs)):
        return (asked.jobs[place - 1],)
    found = (job_rows.get_job(connection, number) for number in asked.jobs)
    fits = tuple(job.id for job in found if job is not None and mentions(job.text, text))
    return fits if len(fits) == 1 else ()
