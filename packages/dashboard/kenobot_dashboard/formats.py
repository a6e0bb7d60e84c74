"""Write times, numbers and money as people read them, in their language and time zone."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from markupsafe import Markup

from kenobot.agenda.say_time import say_date, say_day, say_hour
from kenobot.channels.markup import as_html, render_parts
from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.cli.language import translate
from kenobot.ports.sentences import Language

_SHORT = 280
_MARKS = re.compile(r"^\s*(?:#{1,6}|[-*>])\s+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:[+-]\d\d:\d\d|Z)")
_WEEK = re.compile(r"\b(\d{4})-W(\d\d)\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) (.+)")
_SUMMARY = re.compile(r"\s*# \d{4}-W\d\d\s*$|\s*- \d{4}-\d\d-\d\d ", re.MULTILINE)
_WHOLE = 10**9  # units of a part: a page shows a message in one


@dataclass(frozen=True, slots=True)
class Formats:
    """The language and the time zone of a reader. now: the moment of the request."""

    language: Language
    zone: ZoneInfo
    now: datetime

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def local(self, moment: str | datetime) -> datetime:
        """Return a stored moment in the reader's zone, in which one without an offset is."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return at.replace(tzinfo=self.zone) if at.tzinfo is None else at.astimezone(self.zone)

    def when(self, moment: str | datetime | None) -> str:
        """Say a moment with day and hour; a dash for none."""
        if not moment:
            return "–"
        local = self.local(moment)
        if local.date() == self.today:
            return f"{'hoy' if self.language == 'es' else 'today'}, {say_hour(local)}"
        return f"{self.day(local.date())}, {say_hour(local)}"

    def day(self, day: date | str) -> str:
        """Say a day with its date."""
        found = date.fromisoformat(day[:10]) if isinstance(day, str) else day
        if found == self.today - timedelta(days=1):
            return "ayer" if self.language == "es" else "yesterday"
        return say_day(found, self.language, self.today)

    def number(self, value: float, digits: int = 0) -> str:
        """Write a number with separators, those of the language."""
        text = f"{value:,.{digits}f}"
        return text.translate(str.maketrans(",.", ".,")) if self.language == "es" else text

    def percent(self, share: float) -> str:
        """Write a share from 0 to 1 as a percentage."""
        return f"{round(100 * share)} %" if self.language == "es" else f"{round(100 * share)}%"

    def money(self, dollars: float) -> str:
        """Write dollars, with cents; smaller amounts with two digits that count."""
        digits = 2 if dollars == 0 or dollars >= 0.01 else 4 if dollars >= 0.0001 else 6
        return f"{self.number(dollars, digits)} $" if self.language == "es" else f"${self.number(dollars, digits)}"

    def span(self, seconds: float) -> str:
        """Write how long something takes, in its largest unit."""
        if seconds < 1:
            return f"{round(1000 * seconds)} ms"
        for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
            if seconds >= size:
                return f"{self.number(seconds / size, 0 if seconds >= 10 * size else 1)} {unit}"
        return f"{self.number(seconds, 0 if seconds >= 10 else 1)} s"

    def word(self, text: str) -> str:
        """Word a sentence, or a fixed word such as a status, in the reader's language."""
        return translate(text, self.language)

    def markdown(self, text: str) -> Markup:
        """Render a message of the bot's as a chat shows it; what is no formatting is escaped."""
        return Markup("").join(Markup(as_html(part)) for part in render_parts(text, _WHOLE))  # noqa: S704 - escaped there

    def strip_marks(self, text: str, longest: int = _SHORT) -> str:
        """Write a message of the bot's on one line, without its formatting."""
        return self.short(parse_markdown(text)[0], longest)

    def value(self, value: object) -> str:
        """Write a stored value of a memory: a moment as people say it, a dash for nothing."""
        text = str(value) if value is not None else ""
        return self.when(text) if _MOMENT.fullmatch(text) else self.short(self.word(text)) or "–"

    def sign(self, value: float, digits: int = 3) -> str:
        """Write a number with its sign."""
        return ("+" if value >= 0 else "−") + self.number(abs(value), digits)

    def write_plain(self, text: str) -> str:
        """Write a text without marks of Markdown; headings that are a week or a day in words."""
        return "\n".join(filter(None, (self._word_line(line) for line in text.strip().splitlines())))

    def week(self, year: int, number: int) -> str:
        """Say a week by its first and last day."""
        first = date.fromisocalendar(year, number, 1)
        last = first + timedelta(days=6)
        end = say_date(last, self.language)
        begin = str(first.day) if first.month == last.month else say_date(first, self.language)
        return f"la semana del {begin} al {end}" if self.language == "es" else f"the week of {begin} – {end}"

    def name_week(self, text: str) -> str:
        """Return the week that a summary is of, in words; "" for any other text."""
        found = _WEEK.fullmatch(_MARKS.sub("", text.partition("\n")[0]).strip())
        return self._word_week(found) if found is not None and text.startswith("# ") else ""

    def span_of_days(self, first: date | str, last: date | str) -> str:
        """Say the days from one to another; one alone where they are the same."""
        begin, end = (date.fromisoformat(day[:10]) if isinstance(day, str) else day for day in (first, last))
        if begin == end:
            return self.day(begin)
        year = "" if end.year == self.today.year else f" {end.year}"
        from_day = (
            str(begin.day) if (begin.month, begin.year) == (end.month, end.year) else say_date(begin, self.language)
        )
        return f"{from_day} – {say_date(end, self.language)}{year}"

    def reason(self, text: str) -> str:
        """Word why something was decided, with weeks and days as people say them."""
        told = _WEEK.sub(self._word_week, self.word(text))
        return _DAY.sub(self._word_day, told)

    def _word_week(self, found: "re.Match[str]") -> str:
        try:
            return self.week(int(found[1]), int(found[2]))
        except ValueError:
            return found[0]

    def _word_day(self, found: "re.Match[str]") -> str:
        try:
            return self.day(found[0])
        except ValueError:
            return found[0]

    def _word_date(self, day: str) -> str:
        try:
            return say_date(date.fromisoformat(day), self.language)
        except ValueError:
            return day

    def _word_line(self, line: str) -> str:
        heading = _MARKS.sub("", line).strip()
        if heading != line.strip():
            if found := _WEEK.fullmatch(heading):
                week = self._word_week(found).partition(" ")[2]
                return week[:1].upper() + week[1:]
            if _DAY.fullmatch(heading):
                return f"{_DAY.sub(self._word_day, heading)}:"
            if found := _DATED.fullmatch(heading):
                return f"{self._word_date(found[1])}: {found[2]}"
        return heading

    def short(self, text: str, longest: int = _SHORT) -> str:
        """Write a text on one line, cut where it is long; lines of several become parts, without marks of Markdown."""
        text = self.write_plain(text).replace(":\n", ": ") if _SUMMARY.match(text) else text
        lines = text.strip().splitlines()
        parts = lines if len(lines) < 2 else filter(None, (_MARKS.sub("", each).strip() for each in lines))
        line = " ".join(" · ".join(parts).split())
        return line if len(line) <= longest else f"{line[: longest - 1]}…"
