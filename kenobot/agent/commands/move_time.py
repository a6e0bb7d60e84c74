"""Work out the time that a reminder is moved to: "to Friday" keeps its hour, "to 10" its day, "an hour later" both."""

from dataclasses import replace
from datetime import datetime, timedelta

from kenobot.agent.commands.reminder_orders import ReminderOrder, names_half
from kenobot.language.named_days import days_named
from kenobot.language.when import Choice, Meaning, Moment, Recurrence
from kenobot.language.words import fold

_HALF = timedelta(hours=12)


def find_moved_time(order: ReminderOrder, due: datetime | None, now: datetime, *, exact: bool) -> Meaning | None:
    """Return the time that an order moves a reminder to; None where it names none.

    due: when that comes next, in the owner's local time; None where it was told. exact: it was counted from a moment.
    """
    if order.shift:
        return Moment((due or now) + order.shift, exact=exact or due is None)
    meaning = order.when.meaning if order.when is not None else None
    if meaning is None or due is None:
        return meaning
    options = meaning.options if isinstance(meaning, Choice) else (meaning,)
    first = options[0]
    if (
        isinstance(first, Moment)
        and first.has_time
        and not first.exact
        and not days_named(fold(order.time), now.date())
    ):
        return _set_on_day(due, first, now, is_sure=names_half(order.time))
    if isinstance(meaning, Choice):
        return Choice(tuple(_keep_hour(due, each) for each in options))
    return _keep_hour(due, first)


def _keep_hour(due: datetime, meaning: Moment | Recurrence) -> Moment | Recurrence:
    if isinstance(meaning, Recurrence) or meaning.has_time:
        return meaning
    return replace(meaning, at=datetime.combine(meaning.at.date(), due.time()), has_time=True)


def _set_on_day(due: datetime, meaning: Moment, now: datetime, *, is_sure: bool) -> Moment:
    """Return an hour on the day of a reminder, in the half of it that is nearer; as it was read where that is over."""
    same = datetime.combine(due.date(), meaning.at.time())
    other = same + (_HALF if same.hour < 12 else -_HALF)
    ahead = [each for each in ((same,) if is_sure or same.hour % 12 == 0 else (same, other)) if each > now]
    nearest = min(ahead, key=lambda each: abs(each - due), default=meaning.at)
    return replace(meaning, at=nearest)
