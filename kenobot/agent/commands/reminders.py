"""Set and list reminders: `/remind` and `/reminders`.

A guest's reminders are the guest's, and those set in a group are told there. What names no time, or one with two
readings, is asked back: see `reminder_questions`. Orders in plain words: `obey_reminder`. Orders about reminders there
are: `reminder_changes`.
"""

from collections.abc import Collection
from datetime import datetime

from kenobot.agenda import jobs, wishes
from kenobot.agenda.focus_rows import jobs_of_message, note_spoken
from kenobot.agenda.job import Job, JobError, NewJob, Place, place_in
from kenobot.agenda.recurrence import to_local
from kenobot.agenda.say_reminder import say_next
from kenobot.agenda.say_time import say_rule
from kenobot.agent.commands import reminder_questions
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, button_rows, one_line
from kenobot.agent.commands.reminder_orders import ReminderOrder, read_typed
from kenobot.core import lazy, texts
from kenobot.gateway.buttons import Choice
from kenobot.language.when import Choice as TimeChoice
from kenobot.language.when import Moment, Recurrence
from kenobot.storage import edits
from kenobot.storage.connection import Connection

_PAGE_SIZE = 8  # reminders a page
_PAGE = lazy.regex(r"(?:(?:page|p[aá]gina)\s+)?0*([1-9][0-9]{0,3})", 2)
_LISTED = 90  # characters of a reminder in a list


def remind(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/remind WHEN WHAT`: set a reminder."""
    order = read_typed(call.arguments, read_local_now(connection, call, context), call.language)
    if order is None:
        return texts.REMIND_HOW(call.language)
    return set_reminder(connection, order, call, context)


def set_reminder(
    connection: Connection, order: ReminderOrder, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Set the reminder of an order, or ask for its time where that is missing or has two readings."""
    drop_edited(connection, call)
    meaning = order.when.meaning if order.when is not None else None
    if meaning is None or isinstance(meaning, TimeChoice):
        options = () if meaning is None else meaning.options
        return reminder_questions.ask_time(connection, order.what, options, call, context)
    return add_reminder(connection, order.what, meaning, call, context)


def drop_edited(connection: Connection, call: CommandCall) -> None:
    """Cancel what an edited message had asked for before."""
    if call.inbound.kind == "edit":
        for job in jobs_of_message(connection, edits.rows_of_message(connection, call.inbound)):
            jobs.cancel_job(connection, job, call.at)


def add_reminder(
    connection: Connection, what: str, meaning: Moment | Recurrence, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Store a reminder and confirm it."""
    zone = context.find_zone(connection, call)
    new = NewJob(what, describe_place(call), meaning, trust=call.principal.trust, origin=call.inbox_id or None)
    try:
        job = jobs.add_job(connection, new, zone, call.at)
    except JobError as error:
        return error.words(call.language)
    return confirm(connection, job, call, context)


def confirm(connection: Connection, job: Job, call: CommandCall, context: CommandContext) -> CommandAnswer:
    """Say what a reminder is and when it comes, with a button that takes it back."""
    what = texts.QUOTED(call.language, text=one_line(job.text))
    when = say_next(job, context.find_zone(connection, call), call.language, call.at)
    sentence = texts.REMIND_SET
    rule = ""
    if job.is_recurring:
        sentence, rule = texts.REMIND_SET_RULE, say_rule(job.rule, job.start_local, call.language)
    text = sentence(call.language, what=what, when=when, rule=rule)
    if not call.inbound.private and call.inbound.user_name:
        text = texts.REMIND_FOR(call.language, name=call.inbound.user_name, text=text)
    note_spoken(connection, call.inbound.session, job.id, call.at)
    return CommandAnswer(text, ((Choice(texts.BUTTON_UNDO(call.language), "reminder", f"undo {job.id}"),),))


def list_reminders(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/reminders`: list what is to come, the next first; `/reminders page 2`: the next page of them."""
    own = find_reminders(connection, call.principal.read_scopes)
    standing = wishes.list_wishes(connection, call.principal.read_scopes, call.at)
    if not own and not standing:
        return texts.REMINDERS_NONE(call.language)
    found = _PAGE.fullmatch(call.arguments.strip())
    page = min(int(found[1]) if found is not None else 1, max(1, -(-len(own) // _PAGE_SIZE)))
    shown = own[_PAGE_SIZE * (page - 1) : _PAGE_SIZE * page]
    lines = [_line(connection, job, call, context) for job in shown]
    if page == 1:
        lines += [texts.WISH_LINE(call.language, cue=each.cue, what=one_line(each.text, _LISTED)) for each in standing]
    turning = [Choice(texts.BUTTON_NEWER(call.language), "reminders", f"{page - 1}")] if page > 1 else []
    if len(own) > _PAGE_SIZE * page:
        turning.append(Choice(texts.BUTTON_OLDER(call.language), "reminders", f"{page + 1}"))
    openers = [Choice(f"{number}", "reminder", f"open {job.id}") for number, job in _number_jobs(shown, page)]
    openers += [
        Choice(f"✕ {one_line(each.cue, 20)}", "reminder", f"unwish {each.id}") for each in standing if page == 1
    ]
    rows = (*button_rows(openers), *([tuple(turning)] if turning else []))
    numbered = [f"{_PAGE_SIZE * (page - 1) + place}. {line}" for place, line in enumerate(lines, 1)]
    return CommandAnswer(texts.REMINDERS(call.language, lines="\n".join(numbered)), rows)


def _number_jobs(shown: list[Job], page: int) -> list[tuple[int, Job]]:
    return list(enumerate(shown, _PAGE_SIZE * (page - 1) + 1))


def _line(connection: Connection, job: Job, call: CommandCall, context: CommandContext) -> str:
    when = say_next(job, context.find_zone(connection, call), call.language, call.at)
    if job.is_recurring:
        rule = say_rule(job.rule, job.start_local, call.language)
        when = texts.REMINDER_RULE_NEXT(call.language, rule=rule, when=when)
    return texts.REMINDER_LINE(call.language, when=when, what=one_line(job.text, _LISTED))


def find_reminders(connection: Connection, scopes: Collection[str]) -> list[Job]:
    """Return the reminders of these scopes that are to come, the next first."""
    return [job for job in jobs.find_jobs(connection, scopes) if job.kind == "reminder"]


def describe_place(call: CommandCall) -> Place:
    """Return where a reminder set here is told, and whose it is."""
    return place_in(call.inbound, call.principal, call.language)


def read_local_now(connection: Connection, call: CommandCall, context: CommandContext) -> datetime:
    """Return the owner's local time."""
    return to_local(call.at, context.find_zone(connection, call))
