"""Read WhatsApp's export of a chat as text, in the forms of phones and languages.

"[5/1/26, 9:03:07 p. m.] Ana: …" of an iPhone, "5/1/26, 21:03 - Ana: …" of Android; a message goes on until the next
line that begins with a date in the same form.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import NamedTuple

from kenobot.core import lazy
from kenobot.language.words import fold
from kenobot_importers.talk import LONGEST_SAID, Open, TalkFormat, TalkKind, TalkOptions, TalkRecord
from kenobot_importers.text_lines import iterate_lines
from kenobot_importers.written_dates import WrittenDate, find_day_first, to_moment

_SNIFFED = 60  # lines in which one must begin with a date
_BLANKS = str.maketrans(dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "))
_MARK = "\u200e"  # on an iPhone before what the program writes
_INVISIBLE = lazy.regex("[\u200b\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BEGIN = lazy.regex(
    r"(?P<open>\[)?(?P<date>\d{1,4}[./\-] ?\d{1,2}[./\-] ?\d{1,4})\.?(?P<comma>[,،])? ?"
    r"(?P<before>[^\d\[\]:]{0,16}?) ?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?: ?(?P<after>[^\d\s\[\]:\-–—][^\d\[\]:\-–—]{0,16}?))?(?P<end>\]| ?[-–—](?=[ \u200e]|$)|:(?= )) ?(?P<rest>.*)",
    re.DOTALL,
)
_CLOCK = lazy.regex(r"[\s.]+")
_DATE_PART = lazy.regex(r"[./\-] ?")
_SPEAKER = lazy.regex(r"([^:\n]{1,100}): ?(.*)", re.DOTALL)
_ENDINGS = (
    "jpe?g|png|webp|gif|heic|mp4|mov|3gp|avi|mkv|webm|opus|m4a|mp3|aac|amr|wav|ogg|"
    "pdf|docx?|xlsx?|pptx?|vcf|txt|zip|apk|csv"
)
_FILE = rf"[^\n<>]{{1,200}}\.(?:{_ENDINGS})"
_ATTACHED = lazy.regex(rf"(?:<[^<>:\n]{{2,40}}: ?{_FILE}>|{_FILE} ?\([^()\n]{{4,40}}\))", re.IGNORECASE)
_FILE_PAGES = lazy.regex(rf"{_FILE}(?: ?• ?[^\n]{{1,30}})?", re.IGNORECASE)
_BRACKETED = lazy.regex(r"<[^<>\n]{3,60}>")
_PLACE = lazy.regex(r"[^\s:]{3,20}: ?https?://(?:maps\.google|www\.google|goo\.gl|maps\.app)\S*")
_TITLED = lazy.regex(r"[^\W\d]{3,20}:")  # of a poll, above its question
_QUOTES = frozenset('"“”«»„')
_TABLE = tomllib.loads(resources.files(__package__).joinpath("whatsapp.toml").read_text("utf-8"))
_MORNING, _EVENING, _BETWEEN = (frozenset(_TABLE[name].split()) for name in ("morning", "evening", "between"))
_OMITTED, _EDITED, _INSTEAD, _EVENTS = (
    tuple(each.strip() for line in _TABLE[name].strip().splitlines() for each in line.split("|"))
    for name in ("omitted", "edited", "instead", "events")
)


class _Style(NamedTuple):
    """The form of dates, which is the same in all of a file."""

    bracketed: bool
    comma: bool
    seconds: bool
    half_days: bool


class _Line(NamedTuple):
    """A line that begins a message. rest: what follows the date."""

    style: _Style
    date: WrittenDate
    rest: str


@dataclass(slots=True)
class _Message:
    """A message on the way: its lines, joined and counted."""

    place: int
    date: WrittenDate
    kind: TalkKind
    speaker: str
    texts: list[str]
    lines: list[tuple[TalkKind, int]] = field(default_factory=list)
    size: int = 0

    def add(self, line: str) -> None:
        """Add a line that goes on with it: a caption of a picture, or the words below an empty first line."""
        self.texts.append(line)
        self.size += len(line) + 1
        if self.kind in ("media", "empty") and line.strip():
            self.kind = "kept"
        self.lines.append((self.kind if line.strip() else "empty", 1))

    def record(self) -> tuple[TalkRecord, WrittenDate | None]:
        """Describe the entry, with its date."""
        text = _strip_edit_mark("\n".join(self.texts).strip()).replace(_MARK, "").strip()
        return TalkRecord(self.kind, self.place, text, self.speaker, lines=tuple(self.lines)), self.date


def _is_of(name: str, head: bytes) -> bool:
    if not name.lower().endswith(".txt"):
        return False
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    return any(_begin(line) is not None for line in text.splitlines()[:_SNIFFED])


def _settle(open_file: Open, options: TalkOptions) -> TalkOptions:
    """Find out whether days come before months. Raises AmbiguousDates, OSError."""
    with open_file() as stream:
        dates = (date for _, date in _messages(iterate_lines(stream)) if date is not None)
        return replace(options, day_first=find_day_first(dates, options.now, options.day_first))


def _read(open_file: Open, options: TalkOptions) -> Iterator[TalkRecord]:
    """Read a chat. Raises OSError."""
    day_first = options.day_first is not False
    with open_file() as stream:
        for record, date in _messages(iterate_lines(stream)):
            at = to_moment(date, options.zone, day_first=day_first) if date is not None else None
            if date is not None and at is None:
                yield replace(record, kind="unclear", lines=(("unclear", sum(count for _, count in record.lines)),))
            else:
                yield replace(record, at=at)


WHATSAPP = TalkFormat("whatsapp", "WhatsApp", "line", _is_of, _read, _settle)


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[TalkRecord, WrittenDate | None]]:
    """Join lines to messages, each with its date."""
    message: _Message | None = None
    style: _Style | None = None
    for number, line in lines:
        found = _begin(line)
        if found is not None and style in (None, found.style):
            if message is not None:
                yield message.record()
            style, message = found.style, _new_message(number, found)
        elif message is None:
            kind: TalkKind = "unclear" if line.strip() else "empty"
            yield TalkRecord(kind, number, line), None
        else:
            if message.size + len(line) > LONGEST_SAID and message.texts:
                yield message.record()
                message = _Message(number, message.date, message.kind, message.speaker, [])
            message.add(line)
    if message is not None:
        yield message.record()


def _begin(line: str) -> _Line | None:
    """Read the date at the head of a line; None when it begins no message."""
    plain = _INVISIBLE.sub("", line).translate(_BLANKS).lstrip(_MARK + " ")
    if not (plain[:1].isdigit() or plain[:1] == "["):
        return None
    head = _BEGIN.fullmatch(plain)
    if head is None:
        return None
    words = [word for word in fold(f"{head['before']} {head['after'] or ''}").split() if word not in _BETWEEN]
    half = _CLOCK.sub("", "".join(words))
    if half and half not in _MORNING and half not in _EVENING:
        return None
    hour = int(head["hour"])
    if half and hour <= 12:
        hour = hour % 12 + (12 if half in _EVENING else 0)
    parts = _DATE_PART.split(head["date"])
    first, second, third = map(int, parts)
    minute, seconds = int(head["minute"]), int(head["second"] or 0)
    if bool(head["open"]) != (head["end"] == "]"):
        return None
    if hour > 23 or minute > 59 or seconds > 59 or (len(parts[0]) > 2 and len(parts[2]) > 2):
        return None
    style = _Style(bool(head["open"]), bool(head["comma"]), bool(head["second"]), bool(half))
    date = WrittenDate((first, second, third), len(parts[0]) > 2, "." in head["date"], (hour, minute, seconds))
    return _Line(style, date, head["rest"])


def _new_message(number: int, line: _Line) -> _Message:
    """Begin a message with its first line."""
    found = _SPEAKER.fullmatch(line.rest)
    speaker = found[1].replace(_MARK, "").strip(" ~") if found else ""
    if found is None or not speaker or _is_event(speaker):
        kind: TalkKind = "system" if line.rest.strip(_MARK + " ") else "empty"
        return _Message(number, line.date, kind, "", [line.rest], [(kind, 1)], len(line.rest))
    kind, text = _read_said(found[2])
    return _Message(number, line.date, kind, speaker, [text], [(kind, 1)], len(text))


def _is_event(speaker: str) -> bool:
    """Return whether what stands before a colon is no name, but a line of the program with a colon in it."""
    return not _QUOTES.isdisjoint(speaker) or any(event in fold(speaker) for event in _EVENTS)


def _read_said(text: str) -> tuple[TalkKind, str]:
    """Return what a person's message is, and its words: of a picture its caption."""
    marked = text.startswith(_MARK)
    pieces = [piece.strip() for piece in text.split(_MARK)]
    last, caption = pieces[-1], " ".join(filter(None, pieces[:-1]))
    plain = fold(last).strip("<> .")
    if plain in _OMITTED or _ATTACHED.fullmatch(last) or (_BRACKETED.fullmatch(last) and plain not in _EDITED):
        return ("kept", caption) if caption and not _FILE_PAGES.fullmatch(caption) else ("media", "")
    if _PLACE.fullmatch(last):
        return "media", ""
    if not last and not caption:
        return "empty", ""
    if marked and not caption and _TITLED.match(last) and "http" not in last:
        return "kept", text
    if plain in _INSTEAD or (marked and not caption):
        return ("media" if "http" in last else "system"), text
    return "kept", text


def _strip_edit_mark(text: str) -> str:
    """Remove the note that a message was changed."""
    before, _, note = text.rpartition("<")
    return before.rstrip(_MARK + " ") if before and fold(note).strip("> .") in _EDITED else text
