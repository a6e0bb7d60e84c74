"""Change reminders there are, by plain words or by a button: cancel, move, skip, snooze, done, and take that back.

Words name a reminder by what it says, by its time, or as the one that the chat last spoke of; where two fit, the person
is asked which.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import jobs, wishes
from kenobot.agenda.focus_rows import last_spoken, last_told, note_spoken
from kenobot.agenda.job import Job, JobError, Occurrence
from kenobot.agenda.mentions import mentions
from kenobot.agenda.recurrence import to_local, to_utc
from kenobot.agenda.say_reminder import find_shown_zone, say_next
from kenobot.agenda.say_time import say_moment
from kenobot.agenda.zones import set_zone, zone_in_force
from kenobot.agent.commands import reminder_questions, reminders
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.move_time import find_moved_time
from kenobot.agent.commands.reminder_orders import ReminderOrder, match_order, read_number, read_whole_time
from kenobot.agent.commands.reminder_questions import Act, ReminderAnswer, ReminderPayload
from kenobot.core import texts
from kenobot.core.i18n import Text
from kenobot.gateway.buttons import Choice
from kenobot.language.when import Choice as TimeChoice
from kenobot.language.when import Moment, Recurrence
from kenobot.ports.identity import Principal
from kenobot.ports.messages import Inbound
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

_SNOOZES = {"10m": timedelta(minutes=10), "1h": timedelta(hours=1)}
_USUAL_SNOOZE = timedelta(minutes=10)


# ── which reminder ───────────────────────────────────────────────────────────────────────────────────────────────────


def find_meant(
    connection: Connection, order: ReminderOrder, inbound: Inbound, principal: Principal, at: datetime, now: datetime
) -> list[Job]:
    """Return the reminders that an order may mean. now: the owner's local time."""
    own = _changeable(reminders.find_reminders(connection, principal.read_scopes), inbound, principal)
    if not order.what:
        job = _find_spoken_of(connection, inbound, principal, at)
        is_within = job is not None and job.scope in principal.read_scopes and job.state != "cancelled"
        return _changeable([job], inbound, principal) if job is not None and is_within else []
    if (number := read_number(order.what)) is not None:
        listed = reminders.find_reminders(connection, principal.read_scopes)
        place = number - 1 if number > 0 else len(listed) + number
        return _changeable(listed[place : place + 1] if place >= 0 else [], inbound, principal)
    fits = [job for job in own if mentions(job.text, order.what)]
    return fits or _find_by_time(own, order.what, now, at)


def refers(
    connection: Connection, order: ReminderOrder, inbound: Inbound, principal: Principal, at: datetime, home: ZoneInfo
) -> bool:
    """Return whether an order that may be meant otherwise is about a reminder there is. home: the configured zone."""
    if order.kind == "done":
        told = _find_told(connection, inbound, principal, at)
        return told is not None and _is_last_said(connection, inbound, told[1].told_at)
    if order.kind == "cancel" and order.what and wishes.find_wishes(connection, order.what, principal.read_scopes, at):
        return True
    if order.what and read_number(order.what) is not None:
        return bool(reminders.find_reminders(connection, principal.read_scopes))
    now = to_local(at, zone_in_force(connection, home, at, principal.role))
    return bool(find_meant(connection, order, inbound, principal, at, now))


def answers(connection: Connection, inbound: Inbound, principal: Principal, at: datetime, home: ZoneInfo) -> bool:
    """Return whether a message answers the question about a reminder that is open here. home: the configured zone."""
    approval = reminder_questions.find_question(connection, inbound, at)
    if approval is None:
        return False
    now = to_local(at, zone_in_force(connection, home, at, principal.role))
    return reminder_questions.read_answer(connection, approval, inbound.text, now) is not None


def _changeable(own: Sequence[Job], inbound: Inbound, principal: Principal) -> list[Job]:
    """Select what this person may change: in a group a guest may only change their own."""
    person = _limit_to_person(inbound, principal)
    return [job for job in own if person in ("", job.person)]


def _limit_to_person(inbound: Inbound, principal: Principal) -> str:
    """Return whose reminders alone this person may change here; "" for all that they may read."""
    return "" if inbound.private or principal.role == "owner" else f"{inbound.channel}:{inbound.user}"


def _find_spoken_of(connection: Connection, inbound: Inbound, principal: Principal, at: datetime) -> Job | None:
    """Return the reminder that "it" means: what was said last in this chat is about it."""
    spoken = last_spoken(connection, inbound.session, at)
    told = _find_told(connection, inbound, principal, at)
    found = [(datetime.fromisoformat(spoken[1]), spoken[0])] if spoken is not None else []
    if told is not None and told[1].told_at is not None:
        found.append((told[1].told_at, told[0]))
    latest = max(found, key=lambda each: each[0], default=None)
    return latest[1] if latest is not None and _is_last_said(connection, inbound, latest[0]) else None


def _find_told(
    connection: Connection, inbound: Inbound, principal: Principal, at: datetime
) -> tuple[Job, Occurrence] | None:
    """Return the reminder that was last told in this chat among those that this person may change."""
    person = _limit_to_person(inbound, principal)
    told = last_told(connection, (inbound.channel, inbound.chat, inbound.thread), at, person)
    return told if told is not None and told[0].scope in principal.read_scopes else None


def _is_last_said(connection: Connection, inbound: Inbound, moment: datetime | None) -> bool:
    """Return whether nothing was talked about in a chat since a moment; stored times are whole seconds."""
    answered = conversation.last_answer_at(connection, inbound.session)
    return moment is not None and (not answered or datetime.fromisoformat(answered) <= moment + timedelta(seconds=1))


def _find_by_time(own: Sequence[Job], words: str, now: datetime, at: datetime) -> list[Job]:
    """Return the reminders that come at the day and hour that words name."""
    when = read_whole_time(words.removesuffix("'s"), now)
    meaning = when.meaning if when is not None else None
    options = meaning.options if isinstance(meaning, TimeChoice) else (meaning,)
    moments = [option for option in options if isinstance(option, Moment)]
    coming = [(job, job.next_due - at + now) for job in own if job.next_due is not None]
    exactly = [job for job, local in coming if any(_same_time(local, each) for each in moments)]
    return exactly or [job for job, local in coming if any(_same_hour(local, each) for each in moments)]


def _same_time(local: datetime, named: Moment) -> bool:
    if not named.has_time:
        return local.date() == named.at.date()
    return (local.hour, local.minute) == (named.at.hour, named.at.minute)


def _same_hour(local: datetime, named: Moment) -> bool:
    """Return whether a time has the hour and minute that words name, in either half of a day."""
    is_hour = named.has_time and not named.exact
    return is_hour and (local.hour % 12, local.minute) == (named.at.hour % 12, named.at.minute)


# ── orders in plain words ────────────────────────────────────────────────────────────────────────────────────────────


def change(
    connection: Connection, order: ReminderOrder, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Follow an order about reminders there are, or to be reminded again, or about a standing wish."""
    if order.kind == "wish":
        return _keep_wish(connection, order, call)
    if order.kind == "again":
        return _remind_again(connection, order, call, context)
    if order.kind == "done":
        told = _find_told(connection, call.inbound, call.principal, call.at)
        return _mark_done(connection, told[1].id, call) if told is not None else texts.REMINDER_NONE(call.language)
    if order.kind == "cancel" and order.all:
        return _choose_any(connection, "cancel", call, context)
    now = reminders.read_local_now(connection, call, context)
    found = find_meant(connection, order, call.inbound, call.principal, call.at, now)
    if order.kind == "cancel" and not found and order.what:
        gone = wishes.find_wishes(connection, order.what, call.principal.read_scopes, call.at)
        if len(gone) == 1:
            wishes.cancel_wish(connection, gone[0].id, call.principal.read_scopes)
            return texts.WISH_CANCELLED(call.language, cue=gone[0].cue, what=one_line(gone[0].text))
    act: Act = "cancel" if order.kind == "cancel" else "skip" if order.kind == "skip" else "move"
    if not found:
        is_open = act == "cancel" and not order.what
        return _choose_any(connection, act, call, context) if is_open else texts.REMINDER_NONE(call.language)
    if len(found) > 1:
        return reminder_questions.ask_which(connection, act, found, call, context)
    if act == "move":
        return _move(connection, found[0], order, call, context)
    return carry_out(connection, act, found[0], None, call, context)


def _move(
    connection: Connection, job: Job, order: ReminderOrder, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Move a reminder to the time of an order, or ask which of two readings of that is meant."""
    zone = find_shown_zone(job, context.find_zone(connection, call))
    due = to_local(job.next_due, zone) if job.next_due is not None else None
    meaning = find_moved_time(order, due, to_local(call.at, zone), exact=job.exact)
    if meaning is None or isinstance(meaning, TimeChoice):
        options = meaning.options if meaning is not None else ()
        return reminder_questions.ask_time(connection, job.text, options, call, context, job.id)
    return carry_out(connection, "move", job, meaning, call, context)


def _choose_any(connection: Connection, act: Act, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Ask which of all reminders is meant, where words name none."""
    own = _changeable(reminders.find_reminders(connection, call.principal.read_scopes), call.inbound, call.principal)
    if not own:
        return texts.REMINDERS_NONE(call.language)
    return reminder_questions.ask_which(connection, act, own, call, context)


def carry_out(
    connection: Connection,
    act: Act,
    job: Job,
    meaning: Moment | Recurrence | None,
    call: CommandCall,
    context: CommandContext,
) -> str | CommandAnswer:
    """Cancel, skip or move a reminder, and say so with a button that takes it back."""
    zone = context.find_zone(connection, call)
    try:
        if act == "cancel":
            return _confirm_change(
                connection, jobs.cancel_job(connection, job, call.at), texts.REMINDER_CANCELLED, call
            )
        if act == "skip":
            if not job.is_recurring:
                return _confirm_change(
                    connection, jobs.cancel_job(connection, job, call.at), texts.REMINDER_CANCELLED, call
                )
            return _skip(connection, job, zone, call)
        assert meaning is not None
        moved = jobs.move_job(connection, job, meaning, zone, call.at)
    except JobError as error:
        return error.words(call.language)
    return reminders.confirm(connection, moved, call, context)


def _skip(connection: Connection, job: Job, zone: ZoneInfo, call: CommandCall) -> CommandAnswer:
    skipped = job.next_due
    job = jobs.skip_next(connection, job, zone, call.at)
    here = find_shown_zone(job, zone)
    today = to_local(call.at, here).date()
    day = say_moment(to_local(skipped, here), call.language, today) if skipped is not None else ""
    when = say_next(job, zone, call.language, call.at)
    note_spoken(connection, call.inbound.session, job.id, call.at)
    what = texts.QUOTED(call.language, text=one_line(job.text))
    undo = Choice(texts.BUTTON_UNDO(call.language), "reminder", f"undo {job.id}")
    return CommandAnswer(texts.REMINDER_SKIPPED(call.language, what=what, day=day, when=when), ((undo,),))


def _confirm_change(connection: Connection, job: Job, sentence: Text, call: CommandCall) -> CommandAnswer:
    note_spoken(connection, call.inbound.session, job.id, call.at)
    what = texts.QUOTED(call.language, text=one_line(job.text))
    undo = Choice(texts.BUTTON_UNDO(call.language), "reminder", f"undo {job.id}")
    return CommandAnswer(sentence(call.language, what=what), ((undo,),))


def _remind_again(
    connection: Connection, order: ReminderOrder, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Remind again of what was told last, or of the message that is answered, or of what was said last."""
    meaning = order.when.meaning if order.when is not None else None
    zone = context.find_zone(connection, call)
    if meaning is None:
        meaning = Moment(to_local(call.at, zone) + _USUAL_SNOOZE, exact=True)
    what = one_line(call.inbound.quoted, 200)
    told = _find_told(connection, call.inbound, call.principal, call.at)
    is_last = told is not None and _is_last_said(connection, call.inbound, told[1].told_at)
    if told is not None and (is_last or (what and told[0].text in what)):
        what = told[0].text
        if isinstance(meaning, Moment) and meaning.has_time:
            until = call.at + (meaning.at - to_local(call.at, zone)) if meaning.exact else to_utc(meaning.at, zone)
            return _snooze(connection, told[1].id, until, call, context)
    last = _last_words(connection, call)
    if order.bare and not what:
        return reminder_questions.ask_what(connection, meaning, last, call, context)
    what = what or last or texts.REMINDER_BARE(call.language)
    return reminders.set_reminder(connection, replace(order, kind="add", what=what), call, context)


def _last_words(connection: Connection, call: CommandCall) -> str:
    """Return what the person said last in this chat, a moment ago."""
    lines = [each for each in conversation.load_latest(connection, call.inbound.session, 2) if each.role == "user"]
    recent = [each for each in lines if call.at - datetime.fromisoformat(each.at) < timedelta(minutes=15)]
    return one_line(recent[-1].text, 200) if recent and call.inbound.private else ""


# ── buttons ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def press(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow a pressed button: a verb, the number of an occurrence, a reminder, a wish or a question, and more."""
    verb, number, rest = [*call.arguments.split(maxsplit=2), "", ""][:3]
    if verb in ("set", "pick", "away", "what", "leave"):
        return _press_answer(connection, verb, int(number), rest, call, context)
    if verb in ("done", "snooze", "cancel"):
        return _press_told(connection, verb, int(number), rest, call, context)
    if verb == "unwish":
        gone = wishes.cancel_wish(connection, int(number), call.principal.read_scopes)
        if gone is None:
            return texts.REMINDER_OVER(call.language)
        return texts.WISH_CANCELLED(call.language, cue=gone.cue, what=one_line(gone.text))
    job = jobs.load_job(connection, int(number), call.principal.read_scopes)
    if job is None or not _changeable([job], call.inbound, call.principal):
        return texts.REMINDER_OVER(call.language)
    try:
        return _press_job(connection, verb, job, call, context)
    except JobError as error:
        return error.words(call.language)


def undo_last(
    connection: Connection, call: CommandCall, context: CommandContext, newer_than: str
) -> str | CommandAnswer | None:
    """Take back the last change of the reminder that this chat spoke of last; None where there is none so new."""
    spoken = last_spoken(connection, call.inbound.session, call.at)
    if spoken is None or (newer_than and datetime.fromisoformat(spoken[1]) < _truncate(newer_than)):
        return None
    own = _changeable([spoken[0]], call.inbound, call.principal)
    if not own or not own[0].undo or own[0].scope not in call.principal.read_scopes:
        return None
    try:
        return _press_job(connection, "undo", own[0], call, context)
    except JobError as error:
        return error.words(call.language)


def _truncate(moment: str) -> datetime:
    return datetime.fromisoformat(moment).replace(microsecond=0)


def _press_job(
    connection: Connection, verb: str, job: Job, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    zone = context.find_zone(connection, call)
    if verb == "open":
        return _open(job, zone, call)
    if verb == "undo":
        job = jobs.undo_job(connection, job, zone, call.at)
        if job.state == "cancelled":
            what = texts.QUOTED(call.language, text=one_line(job.text))
            return texts.REMINDER_UNDONE(call.language, what=what)
        return reminders.confirm(connection, job, call, context)
    if verb == "finish":
        jobs.mark_done(connection, job, call.at)
        return texts.REMINDER_DONE(call.language, what=texts.QUOTED(call.language, text=one_line(job.text)))
    if verb == "pause":
        return _confirm_change(connection, jobs.pause_job(connection, job, call.at), texts.REMINDER_IS_PAUSED, call)
    if verb == "resume":
        return reminders.confirm(connection, jobs.resume_job(connection, job, zone, call.at), call, context)
    return carry_out(connection, "skip" if verb == "skip" else "cancel", job, None, call, context)


def _open(job: Job, zone: ZoneInfo, call: CommandCall) -> CommandAnswer:
    """Show one reminder, with what can be done about it."""
    language = call.language
    when = say_next(job, zone, language, call.at)
    hands = [Choice(texts.BUTTON_CANCEL_REMINDER(language), "reminder", f"drop {job.id}")]
    if job.is_recurring:
        hands.insert(0, Choice(texts.BUTTON_SKIP(language), "reminder", f"skip {job.id}"))
        verb, label = ("resume", texts.BUTTON_RESUME) if job.state == "paused" else ("pause", texts.BUTTON_PAUSE)
        hands.append(Choice(label(language), "reminder", f"{verb} {job.id}"))
    back = (Choice(texts.BUTTON_BACK(language), "reminders", ""),)
    text = texts.REMINDER_LINE(language, when=when, what=job.text)
    return CommandAnswer(text, (tuple(hands), back))


def _press_told(
    connection: Connection, verb: str, number: int, rest: str, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Follow a button below a reminder that was told."""
    found = jobs.load_occurrence(connection, number, call.principal.read_scopes)
    if found is None:
        return texts.REMINDER_OVER(call.language)
    occurrence, job = found
    if not _changeable([job], call.inbound, call.principal):
        return texts.REMINDER_OVER(call.language)
    if verb == "done":
        return _mark_done(connection, number, call)
    if verb == "cancel":
        return carry_out(connection, "cancel", job, None, call, context)
    zone = find_shown_zone(job, context.find_zone(connection, call))
    return _snooze(connection, number, _find_snooze_end(occurrence, rest, zone, call.at), call, context)


def _find_snooze_end(occurrence: Occurrence, rest: str, zone: ZoneInfo, at: datetime) -> datetime:
    if rest in _SNOOZES:
        return at + _SNOOZES[rest]
    tomorrow = to_local(at, zone).date() + timedelta(days=1)
    return to_utc(datetime.combine(tomorrow, to_local(occurrence.due, zone).time()), zone)


def _mark_done(connection: Connection, occurrence: int, call: CommandCall) -> str:
    job = jobs.mark_done(connection, occurrence, call.at)
    if job is None:
        return texts.REMINDER_OVER(call.language)
    return texts.REMINDER_DONE(call.language, what=texts.QUOTED(call.language, text=one_line(job.text)))


def _snooze(
    connection: Connection, occurrence: int, until: datetime, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    try:
        job = jobs.snooze(connection, occurrence, until, call.at)
    except JobError as error:
        return error.words(call.language)
    zone = find_shown_zone(job, context.find_zone(connection, call))
    when = say_moment(to_local(until, zone), call.language, to_local(call.at, zone).date())
    note_spoken(connection, call.inbound.session, job.id, call.at)
    what = texts.QUOTED(call.language, text=one_line(job.text))
    hands = (
        Choice(texts.BUTTON_DONE(call.language), "reminder", f"done {occurrence}"),
        Choice(texts.BUTTON_CANCEL_REMINDER(call.language), "reminder", f"drop {job.id}"),
    )
    return CommandAnswer(texts.REMINDER_SNOOZED(call.language, what=what, when=when), (hands,))


# ── answers to questions ─────────────────────────────────────────────────────────────────────────────────────────────


def answer(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow the answer in words to the question that is open here."""
    approval = reminder_questions.find_question(connection, call.inbound, call.at)
    now = reminders.read_local_now(connection, call, context)
    given = reminder_questions.read_answer(connection, approval, call.arguments, now) if approval is not None else None
    if approval is None or given is None:
        return texts.NO_QUESTION(call.language)
    reminder_questions.close(connection, approval.id, call.inbound, done=given != ReminderAnswer(given.asked))
    return _follow(connection, given, replace(call, language=given.asked.language), context)


def _press_answer(
    connection: Connection, verb: str, number: int, rest: str, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    asked = reminder_questions.close(connection, number, call.inbound, done=verb != "leave")
    if asked is None:
        return texts.DECIDED(call.language)
    given = ReminderAnswer(asked, is_yes=verb == "away")
    if verb == "set":
        given = ReminderAnswer(asked, reminder_questions.from_fields(asked.times[int(rest)]), asked.moved)
    elif verb == "what":
        given = ReminderAnswer(asked, what=asked.suggested)
    elif verb == "pick":
        given = ReminderAnswer(asked, None, asked.jobs if rest == "all" else (int(rest),))
    return _follow(connection, given, call, context)


def _follow(
    connection: Connection, given: ReminderAnswer, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    asked = given.asked
    if given.is_yes:
        return _follow_zone(connection, asked, call, context)
    if given.what:
        origin = replace(call, inbox_id=asked.asked or call.inbox_id)
        options = [reminder_questions.from_fields(each) for each in asked.times]
        if len(options) > 1:
            return reminder_questions.ask_time(connection, given.what, options, origin, context)
        return reminders.add_reminder(connection, given.what, options[0], origin, context)
    if given.meaning is None and not given.jobs:
        return texts.REMINDER_LEFT(call.language)
    if asked.act == "set":
        assert given.meaning is not None
        origin = replace(call, inbox_id=asked.asked or call.inbox_id)
        return reminders.add_reminder(connection, asked.what, given.meaning, origin, context)
    chosen = [jobs.load_job(connection, number, call.principal.read_scopes) for number in given.jobs]
    found = [job for job in chosen if job is not None]
    if len(found) > 1:
        return _cancel_all(connection, found, call)
    if not found:
        return texts.REMINDER_OVER(call.language)
    if asked.act == "move" and given.meaning is None:
        order = match_order(asked.what, reminders.read_local_now(connection, call, context))
        return _move(connection, found[0], order, call, context) if order else texts.REMINDER_OVER(call.language)
    return carry_out(connection, asked.act, found[0], given.meaning, call, context)


def _cancel_all(connection: Connection, found: Sequence[Job], call: CommandCall) -> CommandAnswer:
    """Cancel several reminders; each can be taken back."""
    open_ones = [job for job in found if job.state in ("active", "paused")]
    for job in open_ones:
        jobs.cancel_job(connection, job, call.at)
    undo = texts.BUTTON_UNDO(call.language)
    hands = [Choice(f"{undo}: {one_line(job.text, 24)}", "reminder", f"undo {job.id}") for job in open_ones[:8]]
    text = texts.REMINDERS_CANCELLED(call.language, count=len(open_ones))
    return CommandAnswer(text, tuple((hand,) for hand in hands))


# ── standing wishes, and where the owner is ──────────────────────────────────────────────────────────────────────────


def _keep_wish(connection: Connection, order: ReminderOrder, call: CommandCall) -> str | CommandAnswer:
    """Keep a standing wish of the owner's."""
    wish = wishes.add_wish(connection, order.what, order.cue, reminders.describe_place(call), call.at)
    if wish is None:
        return texts.WISH_REFUSED(call.language)
    undo = Choice(texts.BUTTON_UNDO(call.language), "reminder", f"unwish {wish.id}")
    text = texts.WISH_KEPT(
        call.language, cue=wish.cue, what=texts.QUOTED(call.language, text=wish.text), times=wish.times_left
    )
    return CommandAnswer(text, ((undo,),))


def _follow_zone(connection: Connection, asked: ReminderPayload, call: CommandCall, context: CommandContext) -> str:
    """Set the zone of local times, or return to the configured one."""
    is_home = asked.what == context.zone.key
    until = datetime.fromisoformat(asked.times[0]["until"]) if asked.times else None
    set_zone(connection, None if is_home else ZoneInfo(asked.what), context.zone, call.at, until=until)
    return texts.ZONE_SET(call.language, zone=asked.what)
