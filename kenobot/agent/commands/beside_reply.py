"""Add to a reply what reminders need: wishes that the message fulfils, orders among other sentences, another zone.

The message itself is answered, and remembered, as any other; this only adds or asks.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.agenda import wishes
from kenobot.agenda.recurrence import to_local, to_utc
from kenobot.agenda.say_time import say_day, say_hour
from kenobot.agent.commands import reminder_questions, reminders
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext, one_line
from kenobot.agent.commands.places import find_stay
from kenobot.agent.commands.reminder_cues import may_tell_stay
from kenobot.agent.commands.reminder_orders import find_order, match_offer
from kenobot.core import texts
from kenobot.gateway.buttons import Choice
from kenobot.language.when import Meaning, Moment
from kenobot.language.when.read import read_when
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection

_FAR = timedelta(days=3)  # so that a day is said by its date, not as today or tomorrow
_LONGEST = 1000  # characters of a message that is looked at


def follow_reply(
    connection: Connection, call: CommandCall, context: CommandContext, *, asked: bool
) -> list[CommandAnswer]:
    """Return what is said behind the reply to a message. asked: the reply asks a question already."""
    text = call.inbound.text
    own = call.principal.trust in ("owner", "guest") and not call.inbound.forwarded and call.inbound.kind == "message"
    if not own or not call.inbound.private or not text or len(text) > _LONGEST:
        return []
    told = _tell_wishes(connection, call)
    if not asked and (question := _ask_zone(connection, call, context)) is not None:
        return [*told, question]
    if context.without_model and not asked and (added := _follow_order(connection, call, context)) is not None:
        return [*told, added]
    return told


def _tell_wishes(connection: Connection, call: CommandCall) -> list[CommandAnswer]:
    """Tell what the owner wished to be told when a message mentions certain words."""
    if OWNER_SCOPE not in call.principal.read_scopes:
        return []
    found = wishes.fulfil_wishes(connection, call.inbound.text, (OWNER_SCOPE,), call.at)
    return [
        CommandAnswer(
            texts.WISH_TOLD(each.language, cue=each.cue, what=each.text),
            ((Choice(texts.BUTTON_DONE(each.language), "reminder", f"unwish {each.id}"),),),
        )
        for each in found
    ]


def _follow_order(connection: Connection, call: CommandCall, context: CommandContext) -> CommandAnswer | None:
    """Follow an order among other sentences; where an earlier one names the day, ask whether it is that."""
    now = reminders.read_local_now(connection, call, context)
    found = find_order(call.inbound.text, now)
    if found is None:
        offered = match_offer(call.inbound.text, now)
        return reminder_questions.offer(connection, offered, call, context) if offered is not None else None
    order, before = found
    call = replace(call, language=order.language)
    meaning = order.when.meaning if order.when is not None else None
    on_day = _read_on_named_day(call.inbound.text, before, meaning, now)
    if meaning is None or on_day is not None:
        options = () if on_day is None or meaning is None else (on_day, meaning)
        return reminder_questions.ask_time(connection, order.what, options, call, context)
    answer = reminders.set_reminder(connection, order, call, context)
    return CommandAnswer(answer) if isinstance(answer, str) else answer


def _read_on_named_day(text: str, before: str, meaning: Meaning | None, now: datetime) -> Moment | None:
    """Return the moment that an hour may mean behind words that name a day; None where it can mean but one."""
    day = read_when(before, now)
    named = day.meaning if day is not None else None
    if not isinstance(named, Moment) or not isinstance(meaning, Moment) or meaning.exact or not meaning.has_time:
        return None
    found = find_order(text, datetime.combine(named.at.date(), datetime.min.time()))
    moved = found[0].when.meaning if found is not None and found[0].when is not None else None
    return moved if isinstance(moved, Moment) and moved != meaning and moved.at > now else None


def _ask_zone(connection: Connection, call: CommandCall, context: CommandContext) -> CommandAnswer | None:
    """Ask whether local times are to be those of the place where the owner says that they are."""
    if OWNER_SCOPE not in call.principal.read_scopes or not may_tell_stay(call.inbound.text):
        return None
    here = context.find_zone(connection, call)
    now = to_local(call.at, here)
    stay = find_stay(call.inbound.text, now)
    if stay is None or (there := to_local(call.at, zone := ZoneInfo(stay.zone))) == now:
        return None
    until = to_utc(datetime.combine(stay.until + timedelta(days=1), datetime.min.time()), zone) if stay.until else None
    question = texts.ZONE_ASK if stay.until is not None else texts.ZONE_ASK_OPEN
    day = say_day(stay.until, call.language, stay.until - _FAR) if stay.until is not None else ""
    number = reminder_questions.open_zone_question(connection, call, stay.zone, until)
    yes = Choice(texts.BUTTON_YES_PLAIN(call.language), "reminder", f"away {number}")
    no = Choice(texts.BUTTON_LEAVE_REMINDER(call.language), "reminder", f"leave {number}")
    text = question(call.language, place=one_line(stay.place), time=say_hour(there), day=day)
    return CommandAnswer(text, ((yes, no),))
