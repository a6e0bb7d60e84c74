"""Define what readers of talk make of a file: a record for each message, line or event, in the order of the file."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Literal
from zoneinfo import ZoneInfo

from kenobot.ports.provider import Role

TalkKind = Literal["kept", "system", "media", "empty", "branch", "unclear"]
"""Said by somebody; written by the program; a picture or file; blank; on a branch that was left; not understood."""

TalkUnit = Literal["line", "message"]
_SAMPLES = 3
_MOST_UNCLEAR = 10_000
_MOST_SPEAKERS = 500
LONGEST_SAID = 20_000  # characters of one message


@dataclass(frozen=True, slots=True)
class TalkRecord:
    """A message, or another piece of a file.

    place: its first line, or its number, from 1. lines: of each kind how many lines of the file it is; nothing for one.
    conversation: what tells its conversation from others of the file. title: that conversation's name.
    speaker_id: what tells people of one name apart. quoted: the words are somebody else's, such as forwarded ones.
    """

    kind: TalkKind
    place: int
    text: str = ""
    speaker: str = ""
    at: datetime | None = None
    role: Role = "user"
    conversation: str = ""
    title: str = ""
    speaker_id: str = ""
    quoted: bool = False
    lines: tuple[tuple[TalkKind, int], ...] = ()

    @property
    def counts(self) -> Iterable[tuple[TalkKind, int]]:
        """Count the lines or messages of each kind."""
        return self.lines or ((self.kind, 1),)


@dataclass(frozen=True, slots=True)
class TalkOptions:
    """Hold what a reader may be told. day_first: None reads it from the file. default_at: for what has no date.

    now: nothing was said later.
    """

    zone: ZoneInfo
    now: datetime
    default_at: datetime
    day_first: bool | None = None


Open = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class TalkFormat:
    """A kind of export. name: as --from has it. label: as people know it.

    is_of: whether a file that begins so is one. settle: finds out what options leave open; raises OSError and
    AmbiguousDates. read: raises OSError. with_assistant: between a person and a program, which have no names.
    """

    name: str
    label: str
    unit: TalkUnit
    is_of: Callable[[str, bytes], bool]
    read: Callable[[Open, TalkOptions], Iterator[TalkRecord]]
    settle: Callable[[Open, TalkOptions], TalkOptions] = lambda _, options: options
    with_assistant: bool = False


class AmbiguousDates(Exception):
    """Nothing in a file tells whether days or months come first in its dates. example: one of them."""

    def __init__(self, example: str) -> None:
        super().__init__(example)
        self.example = example


@dataclass(slots=True)
class TalkSummary:
    """Hold what a file of talk says. lines: by kind, of its lines or messages. messages: said by somebody."""

    lines: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    speakers: Counter[str] = field(default_factory=Counter)
    conversations: int = 0
    first: datetime | None = None
    last: datetime | None = None
    samples: list[str] = field(default_factory=list)
    unclear: list[tuple[int, str]] = field(default_factory=list)

    def add(self, record: TalkRecord) -> None:
        """Count a record."""
        for kind, count in record.counts:
            self.lines[kind] += count
        if record.kind == "unclear" and len(self.unclear) < _MOST_UNCLEAR:
            self.unclear.append((record.place, record.text[:200]))
        if record.kind != "kept":
            return
        self.messages += 1
        if record.speaker in self.speakers or len(self.speakers) < _MOST_SPEAKERS:
            self.speakers[record.speaker] += 1
        if record.at is not None:
            self.first = min(self.first or record.at, record.at)
            self.last = max(self.last or record.at, record.at)
        if len(self.samples) < _SAMPLES:
            self.samples.append(f"{record.speaker}: {' '.join(record.text.split())[:100]}")


def summarize_talk(records: Iterable[TalkRecord]) -> TalkSummary:
    """Count what a file of talk holds."""
    summary = TalkSummary()
    last = None
    for record in records:
        summary.add(record)
        if record.kind == "kept" and record.conversation != last:
            summary.conversations += 1
            last = record.conversation
    return summary
