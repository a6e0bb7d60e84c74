"""Recognise the times of a day that a folded text names, in Spanish and English; the forms are clock_times.toml."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kenobot.core import lazy
from kenobot.language.dates import WEEKDAYS
from kenobot.language.lexicon import fill_parts, load_tables
from kenobot.language.number_words import NUMBER_WORDS, read_number
from kenobot.ports.frozen import dataclass

_LONGEST = 2000  # characters of a text that are read


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of a day and the place of its words. Its hour is of twelve hours or, where `sure`, of twenty-four.

    part: the part of the day that is said of it, "" for none. joined: "y" or "o" where it follows another by that.
    shifted: how many days later it is than the day that is said with it.
    """

    hour: int
    minute: int
    start: int
    end: int
    sure: bool = False
    part: str = ""
    joined: str = ""
    split: int | None = None

    def hours_of(self, part: str) -> tuple[int, ...]:
        """Return the hours that it may be in a part of the day, one or two; 24 is the midnight that ends the day."""
        hour = self.hour
        if self.sure:
            return (hour,)
        half = self.part or part
        if half in _MORNINGS:
            return (hour if half == "morning" else hour % 12,)
        if half == "night":
            late = (24,) if hour == 12 else (hour + 12,) if hour > _SMALL else (hour + 24,)
            return (hour + 12, hour + 24) if hour in (_SMALL - 1, _SMALL) else late
        if half == "noon" and hour in (10, 11):
            return (hour,)
        if half:
            return (hour % 12 + 12,)
        return (12,) if hour == 12 else (hour, hour + 12)


_SMALL = 5  # the last of the small hours, which are of the night
_MORNINGS = frozenset({"dawn", "morning", "am"})


def clock_times(plain: str) -> list[ClockTime]:
    """Find all times of a day that a folded text names, in order."""
    text = plain[:_LONGEST]
    found: list[ClockTime] = []
    for form in _find_forms(text):
        if any(form.start < other.end and other.start < form.end for other in found):
            continue
        found.append(form)
        while (another := _read_more(text, found[-1])) is not None:
            last = found[-1]
            if another.joined == "o" and another.part and not (last.part or last.sure) and last.hour < another.hour:
                found[-1] = replace(last, part=another.part)
            found.append(another)
    return sorted((time for time in found if not _is_verse(text, time)), key=lambda time: time.start)


def _is_verse(text: str, time: ClockTime) -> bool:
    word = _WORD_BEFORE.search(text, max(0, time.start - _LONGEST_CUE), time.start)
    return word is not None and text[time.start].isdigit() and word[1] in _NO_TIMES_BEHIND


def clock_behind(plain: str, place: int) -> ClockTime | None:
    """Read the time right behind a day, such as "Monday 15.30"; it needs no other word there."""
    blank = _BLANK.match(plain, place)
    if blank is None:
        return None
    found = (pattern.match(plain, blank.end()) for pattern in _BEHIND_DAY)
    return next((replace(time, start=place) for match in found if match and (time := _read(plain, match))), None)


def clock_ahead(plain: str, place: int) -> tuple[ClockTime, bool] | None:
    """Read the time right before a day, such as "11.45 tomorrow", and whether it is a number that may count."""
    for pattern in _AHEAD:
        match = pattern.search(plain, max(0, place - _LONGEST_CUE), place)
        if match and (time := _read(plain, match)):
            return replace(time, end=min(time.end, place)), "bare" in pattern.groupindex
    return None


def clock_behind_part(plain: str, place: int) -> ClockTime | None:
    """Read the time right behind a part of the day, such as "tomorrow morning 11.45"."""
    blank = _BLANK.match(plain, place)
    if blank is None:
        return None
    found = (pattern.match(plain, blank.end()) for pattern in _BEHIND_PART)
    return next((replace(time, start=place) for match in found if match and (time := _read(plain, match))), None)


def time_named(plain: str) -> str:
    """Find the time of day that a folded text names, as HH:MM; "" for none."""
    found = clock_times(plain)
    if not found:
        return ""
    first = found[0]
    part = "" if first.part else "afternoon" if _AFTER_NOON.search(plain) else ""
    return f"{first.hours_of(part)[0] % 24:02}:{first.minute:02}"


def _find_forms(text: str) -> Iterator[ClockTime]:
    for pattern in _FREE:
        for match in pattern.finditer(text):
            if time := _read(text, match):
                cue = _ANY_CUE.search(text, max(0, match.start() - _LONGEST_CUE), match.start())
                yield replace(time, start=cue.start()) if cue else time
    for pattern in _CUED:
        for match in pattern.finditer(text):
            if time := _read(text, match):
                yield time


def _read_more(text: str, last: ClockTime) -> ClockTime | None:
    join = _JOIN.match(text, last.end)
    if join is None:
        return None
    for pattern in _MORE:
        if (match := pattern.match(text, join.end())) and (time := _read(text, match)):
            return replace(time, start=last.end, joined="o" if join["or"] else "y")
    return None


def _read(text: str, match: re.Match[str]) -> ClockTime | None:
    """Read what a form says, with the part of the day behind it."""
    said = {name: value for name, value in match.groupdict().items() if value is not None}
    start, end = match.span()
    if "noon" in said or "midnight" in said:
        past, to = (_read_minutes(said.get(name, "")) for name in ("past", "to"))
        hour, minute = divmod(60 * (12 if "noon" in said else 24) + past - to, 60)
        return ClockTime(hour, minute, start, end, sure=True)
    hour = int(said["hour"]) if "hour" in said else _HOURS[said["word"]]
    past, to = (_read_minutes(said.get(name, "")) for name in ("past", "to"))
    minutes = 60 * hour + int(said.get("minute", 0)) + past - to
    if not 0 <= minutes <= 24 * 60 or past > 59 or to > 59:
        return None
    sure = "sure" in said or minutes >= 13 * 60 or said.get("hour", "")[:1] == "0" or (minutes < 60 and to == 0)
    part = f"{said['half']}m" if "half" in said and said["half"] in "ap" else ""
    tail = _TAIL.match(text, end)
    if tail is not None:
        end = tail.end()
        named = {name: value for name, value in tail.groupdict().items() if value is not None}
        part = f"{named['half']}m" if "half" in named else next((name for name in named if name in _OF_DAY), part)
    split = past if " y " in match[0] and said.get("past", "").isdecimal() and past <= 24 else None
    hour, minute = divmod(minutes, 60)
    if (sure and part in ("pm", "afternoon", "evening") and hour < 12) or (part == "am" and hour == 12):
        sure = False
    return ClockTime(hour or (0 if sure else 12), minute, start, end, sure, part, split=split)


def _read_minutes(said: str) -> int:
    return next((count for words, count in _MINUTES.items() if re.fullmatch(words, said)), read_number(said))


_TABLES = load_tables(__package__, "clock_times.toml")
_HOURS = {word: hour for hour, row in enumerate(_TABLES["words"]["hours"].split("\n"), 1) for word in row.split()}
_MINUTES: Mapping[str, int] = _TABLES["minutes"]
_OF_DAY: Mapping[str, str] = _TABLES["of_day"]
_NO_TIMES_BEHIND = frozenset(_TABLES["no_times"]["before"].split())
_WORD_BEFORE = lazy.regex(r"([^\W\d_]+) \Z")
_LONGEST_CUE = 40
HOUR_WORDS = "|".join(sorted(_HOURS, key=len, reverse=True))
_HALF_WORD = "|".join(word for word, hour in _HOURS.items() if hour <= 12 and word not in ("una",))
_PARTS = dict(_TABLES["parts"]) | {
    "of_day": rf",? (?:{'|'.join(_OF_DAY.values())})(?!\w)",
    "min_words": rf"(?:{NUMBER_WORDS})",
    "hour": HOUR_WORDS,
    "half_word": rf"(?P<word>{_HALF_WORD})(?!\w)",
    "weekday": "|".join(WEEKDAYS),
}


def _fill(pattern: str) -> str:
    for _ in range(3):  # parts stand in parts
        pattern = fill_parts(pattern, _PARTS)
    return pattern


_BEFORE = r"(?<![\w/.,€$£#+-])(?<!\d:)"
_STRONG, _WEAK = (_fill(rf"(?<!\w)(?:{{{name}}})") for name in ("strong_cue", "weak_cue"))
_ANY_CUE = lazy.regex(rf"(?:{_STRONG}|{_WEAK}|(?<!\w)for) \Z")
_FREE = tuple(lazy.regex(_BEFORE + _fill(pattern)) for pattern in _TABLES["free"]["patterns"])
_CUED = tuple(
    lazy.regex(f"{cue} ?{_fill(pattern)}{closed}") if cue == _STRONG else lazy.regex(f"{cue} {_fill(pattern)}{closed}")
    for cue, closed in ((_STRONG, ""), (_WEAK, _fill("{closed}")))
    for pattern in _TABLES["cued"]["patterns"]
)
_MORE = tuple(lazy.regex(_fill(pattern)) for pattern in _TABLES["more"]["patterns"])
_BEHIND_DAY = tuple(lazy.regex(_fill(pattern)) for pattern in _TABLES["behind_day"]["patterns"])
_BESIDE = _TABLES["beside"]
_AHEAD = tuple(
    lazy.regex(_fill(f"{_BESIDE['lead']}{pattern}{_BESIDE['link']}\\Z"))
    for pattern in [*_BESIDE["patterns"], *_BESIDE["bare"]]
)
_BEHIND_PART = (
    *(lazy.regex(_fill(f"{pattern}{{no_thing}}")) for pattern in [*_BESIDE["patterns"], *_BESIDE["digits"]]),
    lazy.regex(_fill(r"{h}(?=\W*$)")),
)
_BLANK = lazy.regex(r",? |t(?=\d\d:)")
_JOIN = lazy.regex(
    r",? ?(?:(?P<or>\bor\b|\bo\b|\bu\b|/)|,|\band\b|\by\b|&) ?(?:(?:again|also|then|tambien|otra vez|luego) )?"
    r"(?:(?:at|a las?|las?) )?"
)
_TAIL = lazy.regex(
    _fill(
        r"(?:(?:,? (?:en punto|sharp|on the dot|exactly|o'?clock|ish|horas|hrs?|hs?)|-?ish)(?!\w)\.?)?"
        r"(?:{half}|,? (?:" + "|".join(f"(?P<{name}>{words})" for name, words in _OF_DAY.items()) + r"))?(?!\w)"
    )
)
_AFTER_NOON = lazy.regex(
    r"(?<!\w)(?:(?:de|por|en) la (?:tarde|noche)|esta (?:tarde|noche)|(?:in the|this) (?:afternoon|evening)|tonight"
    r"|afternoon|evening)(?!\w)"
)
