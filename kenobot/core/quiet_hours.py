"""Tell when the bot keeps quiet of its own accord: a stretch of each day, by the clock on the owner's wall. Pure."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence

_FORM = lazy.regex(r"([01]?[0-9]|2[0-3]):([0-5][0-9]) ?- ?([01]?[0-9]|2[0-3]):([0-5][0-9])")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `begin` to `end` of the local day, across midnight where `begin` is the later one; none where both agree."""

    begin: time
    end: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str, zone: ZoneInfo) -> "QuietHours | None":
        """Parse `22:30-08:00`; None for "". Raises ValueError."""
        if not text.strip():
            return None
        if (match := _FORM.fullmatch(text.strip())) is None:
            raise ValueError(Sentence("settings.bad_hours"))
        first, second = time(int(match[1]), int(match[2])), time(int(match[3]), int(match[4]))
        return cls(first, second, zone)

    def find_end(self, now: datetime) -> datetime | None:
        """Return when the quiet that `now` lies in is over, in UTC; None where it lies in none."""
        local = now.astimezone(self.zone)
        for day in (local.date() - timedelta(days=1), local.date()):
            begin = datetime.combine(day, self.begin, self.zone)
            ends_on = day if self.begin < self.end else day + timedelta(days=1)
            end = datetime.combine(ends_on, self.end, self.zone).astimezone(UTC)
            if self.begin != self.end and begin.astimezone(UTC) <= now < end:
                return end
        return None
