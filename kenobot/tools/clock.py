"""Tell the time in a place, now or for a moment elsewhere."""

import asyncio
from datetime import datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from kenobot.ports.errors import ToolFailed
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.tool import ToolArguments, ToolContext, ToolEffects

_MOST_NAMED = 12


class ClockArguments(ToolArguments):
    zone: str = Field("", max_length=100, description='IANA zone, as "Asia/Tokyo"; without one the person\'s.')
    at: str = Field("", max_length=40, description='Moment to convert, as "2026-03-01T18:30"; without one now.')
    at_zone: str = Field("", max_length=100, description="IANA zone of `at`; without one the person's.")


class Clock:
    """Converts times between zones, with the rules of summer time of the year in question."""

    name = "clock"
    description = (
        "Tell the date, weekday and time in another time zone, now or at a given moment, and how long until or since."
    )
    arguments = ClockArguments
    effects = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)

    async def run(self, arguments: ClockArguments, turn: ToolContext) -> str:
        """Return the moment in both zones, and its distance from now."""
        own = turn.now.tzinfo
        assert own is not None
        wanted, given = await asyncio.to_thread(lambda: (_zone(arguments.zone, own), _zone(arguments.at_zone, own)))
        moment = _moment(arguments.at, given) if arguments.at.strip() else turn.now
        try:
            lines = [_render_time(moment.astimezone(wanted), arguments.zone), _render_time(moment.astimezone(own), "")]
        except (OverflowError, ValueError):
            raise ToolFailed("That moment is out of the calendar: give a year between 2 and 9998.") from None
        if arguments.at.strip():
            lines.append(_distance(moment, turn.now))
        return "\n".join(dict.fromkeys(lines))


_zones = lru_cache(maxsize=1)(available_timezones)  # which looks through folders


def _zone(name: str, own: tzinfo) -> tzinfo:
    """Return the zone of a name, also of its last part alone: "tokyo". Raises ToolFailed with names like it."""
    sought = "_".join(name.split()).casefold()
    if not sought:
        return own
    known = _zones()
    exact = [each for each in known if each.casefold() == sought]
    cities = sorted(each for each in known if each.casefold().rpartition("/")[2] == sought)
    if exact or len(cities) == 1:
        return ZoneInfo((exact or cities)[0])
    near = cities or sorted(each for each in known if sought in each.casefold())[:_MOST_NAMED]
    hint = f"; did you mean {', '.join(near)}?" if near else ": use the zone of the nearest large city."
    raise ToolFailed(f'There is no time zone "{name.strip()}"{hint}')


def _moment(written: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        raise ToolFailed(f'"{written.strip()}" is no moment: write it as 2026-03-01T18:30.') from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _render_time(moment: datetime, zone: str) -> str:
    where = f" in {moment.tzinfo}" if zone.strip() else " where the person is"
    return f"{moment:%A %Y-%m-%d %H:%M} ({moment:%Z, UTC%z}){where}"


def _distance(moment: datetime, now: datetime) -> str:
    minutes = round((moment - now).total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    days, left = divmod(hours, 24)
    told = f"{days} d {left} h {rest} min"
    return f"{told} from now" if minutes >= 0 else f"{told} ago"


plugin = Plugin(settings=NoSettings, build=lambda _settings, _context: Clock())
