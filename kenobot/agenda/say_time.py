"""Say moments and recurrences in English and Spanish, with day, date and hour."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.language.lexicon import load_tables

_TABLES = load_tables(__package__, "say_time.toml")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKDAYS = "MO,TU,WE,TH,FR"
_BY_DAY = lazy.regex(r"([+-]?\d+)?(MO|TU|WE|TH|FR|SA|SU)")
_SAID_PARTS = frozenset({"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "UNTIL", "WKST"})
_SAID_HOURS = frozenset({"BYHOUR", "BYMINUTE", "BYSECOND"})
_HOURLY = frozenset({"HOURLY", "MINUTELY"})


def say_day(day: date, language: Language, today: date) -> str:
    """Say a day with its date: "tomorrow, Monday 30 November"; with its year where that is not this one."""
    table = _TABLES[language]
    form = table["day"] if day.year == today.year or abs(day - today) < timedelta(days=60) else table["day_of_year"]
    said: str = form.format(
        weekday=table["weekdays"][day.weekday()], day=day.day, month=table["months"][day.month - 1], year=day.year
    )
    near = {today: "today", today + timedelta(days=1): "tomorrow"}.get(day)
    return table[near].format(day=said) if near is not None else said


def say_date(day: date, language: Language) -> str:
    """Say a day of this year by its date alone: "30 November"."""
    table = _TABLES[language]
    said: str = table["date"].format(day=day.day, month=table["months"][day.month - 1])
    return said


def say_moment(local: datetime, language: Language, today: date) -> str:
    """Say a local time with its day and date: "Friday 4 December, 9:00"."""
    at: str = _TABLES[language]["at"]
    return at.format(day=say_day(local.date(), language, today), time=say_hour(local))


def say_hour(local: datetime) -> str:
    """Say the hour of a local time: "9:00"."""
    return f"{local.hour}:{local:%M}"


def say_rule(rule: str, start: datetime, language: Language, *, has_time: bool = True) -> str:
    """Say a recurrence: "every Monday at 9:00"; its parts that no phrase has are left to the moments it names."""
    table = _TABLES[language]
    if rule.startswith("cron:"):
        return str(table["cron"].format(line=f"`{rule.removeprefix('cron:')}`"))
    parts = dict(part.partition("=")[::2] for part in rule.upper().removeprefix("RRULE:").split(";") if part)
    if not parts.keys() <= _SAID_PARTS | _SAID_HOURS:
        return str(table["several"])
    said = _days_of(parts, start, table)
    if has_time and parts["FREQ"] not in _HOURLY:
        form = table["rule_at_one"] if start.hour == 1 and "rule_at_one" in table else table["rule_at"]
        said = form.format(rule=said, time=_hours_of(parts, start, table))
    if until := parts.get("UNTIL"):
        last = date.fromisoformat(until[:8])
        said = table["until"].format(rule=said, day=say_day(last, language, last - timedelta(days=2)))
    return said


def _hours_of(parts: Mapping[str, str], start: datetime, table: Mapping[str, Any]) -> str:
    hours = parts.get("BYHOUR", str(start.hour)).split(",")
    minutes = parts.get("BYMINUTE", str(start.minute)).split(",")
    return _join([f"{int(hour)}:{int(minute):02}" for hour in hours for minute in minutes], table)


def _days_of(parts: Mapping[str, str], start: datetime, table: Mapping[str, Any]) -> str:
    """Say on which days a recurrence falls."""
    frequency, count = parts["FREQ"], int(parts.get("INTERVAL", "1"))
    each: str = table["each"][frequency] if count == 1 else table["each_of"][frequency].format(n=count)
    if parts.get("BYDAY") == _WORKDAYS and frequency in ("DAILY", "WEEKLY") and count == 1:
        return str(table["workdays"])
    if frequency == "YEARLY" and count == 1 and "BYDAY" not in parts:
        month, day = int(parts.get("BYMONTH", start.month)), parts.get("BYMONTHDAY", str(start.day))
        return str(table["yearday"].format(day=day, month=table["months"][month - 1]))
    if days := _BY_DAY.findall(parts.get("BYDAY", "")):
        return _weekdays_of(days, parts.get("BYSETPOS", ""), each, table, weeks=count if frequency == "WEEKLY" else 0)
    if frequency == "WEEKLY":
        day = table["weekdays"][start.weekday()]
        return str(table["on_weekdays"].format(days=day) if count == 1 else f"{each}, {day}")
    if frequency == "MONTHLY":
        days_told = parts.get("BYMONTHDAY", str(start.day))
        if days_told == "-1":
            return str(table["last_monthday"].format(each=each))
        return str(table["monthday"].format(each=each, days=_join(days_told.split(","), table)))
    return each


def _weekdays_of(
    days: Sequence[tuple[str, str]], place: str, each: str, table: Mapping[str, Any], *, weeks: int
) -> str:
    names = _join([table["weekdays"][_DAYS.index(day)] for _, day in days], table)
    nth = table["nth"].get(str(int(days[0][0] or place or "0")))
    if nth is not None and len({number for number, _ in days}) == 1:
        return str(table["nth_weekday"].format(each=each, nth=nth, days=names))
    if weeks > 1:
        return str(table["on_weekdays_of"].format(n=weeks, days=names))
    return str(table["on_weekdays"].format(days=names))


def _join(names: Sequence[str], table: Mapping[str, Any]) -> str:
    if len(names) < 2:
        return "".join(names)
    return str(table["and"].format(some=", ".join(names[:-1]), last=names[-1]))
