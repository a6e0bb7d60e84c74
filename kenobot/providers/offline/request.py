"""Parse a request: its messages, the report of memory behind them, and the remembered lines in its prompt."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import field

from kenobot.core import lazy
from kenobot.core.i18n import Language, find_language, talk_language
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Block, Request

CONTEXT = "<kenobot-context>"
_CHANGED = lazy.regex(r"### What this message changed\s*$")
_FOUND = lazy.regex(r"### What was found for it \((\w+)\)\s*$")
_AGENDA = lazy.regex(r"### What the agenda says\s*$")
_UNPLANNED = lazy.regex(r"^### What is planned for then: nothing", re.MULTILINE)
_GUEST = lazy.regex(r"^### Who asks: a guest\s*$", re.MULTILINE)
_ASKS = lazy.regex(r"^### What it is: a question\s*$", re.MULTILINE)
_CHANGE = lazy.regex(r"- ([a-z ]+):(?: (.*))?$")

_MEMORY = lazy.regex(
    r"#{2,3} +(?:Long-term memory|Recent notes|Chat-specific memory|Preferences|New preferences|Remembered about this"
    r"|What worked before)\b"
)
_SCRATCHPAD = lazy.regex(r"#{2,3} +Working memory\b")
_OTHER = lazy.regex(
    r"#{1,3} +(?:Memory|Memory tags|Chat context|First Conversation|Said earlier"
    r"|Replaced since|Who asks|What it is|What this message|What was found)\b"
    r"|</?kenobot-context>"
)
_DAY = lazy.regex(r"#{2,4} +(\d{4}-\d{2}-\d{2})\s*$")
_ENTRY = lazy.regex(r"#{2,4} +\d{1,2}:\d{2}(?::\d{2})? +[—–-] +(.*)$")
_BULLET = lazy.regex(r"(?:[-*+]|\d{1,3}[.)]) +(.*)$")
_MARKS = lazy.regex(  # what recall says of a memory, behind it
    r"(?: _\(told in confidence\)_)?"
    r" _\((?:(?P<day>\d{4}-\d{2}-\d{2})\b)?"
    r"(?:, (?P<partly>in part )?"
    r"(?:until (?P<until>\d{4}-\d{2}-\d{2})|told before, replaced on (?P<replaced>\d{4}-\d{2}-\d{2})))?[^()\n]*\)_\Z"
)
_CONFIDED = "told in confidence"
_TODAY = lazy.regex(r"^_Today is \w+ (\d{4}-\d{2}-\d{2})\b", re.MULTILINE)
_TIME = lazy.regex(r"\[(?:\w{3} (\d{4}-\d{2}-\d{2}) )?(\d{2}:\d{2})\]\Z")
_BOOTSTRAP = "## First Conversation — Bootstrap"


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A line of memory as it stands in the prompt.

    day: on which it was told, YYYY-MM-DD or "". confided: told in confidence. until: the day until which it was so;
    replaced: the day on which other words took its place, where it may never have been so; "" for what is remembered.
    partly: of a part of it.
    """

    text: str
    day: str = ""
    confided: bool = False
    until: str = ""
    replaced: str = ""
    partly: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the report: a label such as "noted" or "in place of", and the text of the memory."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """message: the person's last. replies: those before it that the prompt shows, oldest first.

    changes: what the message changed in memory. found: what memory holds about it, best first; level: how likely that
    is what was asked for. agenda: the answer to a question for days, in words. unplanned: it asks what is planned on
    days for which nothing was told. memory_lines: what the prompt shows of memory. today: YYYY-MM-DD, and clock: HH:MM,
    both where the person is, "" where unknown. guest: the message is not the owner's. asks: it is a question, marked or
    not. bot_name: of the bot that is written to.
    """

    message: str
    replies: tuple[str, ...]
    changes: tuple[Change, ...]
    found: tuple[MemoryLine, ...]
    level: str
    agenda: str
    unplanned: bool
    memory_lines: tuple[MemoryLine, ...]
    today: str
    clock: str
    guest: bool
    asks: bool
    onboarding: bool
    language: Language
    bot_name: str


def parse_request(request: Request, bot_name: str = "KenoBot") -> ParsedRequest:
    """Parse a request to the bot of that name.

    Of the conversation only the last exchange counts, of memory everything in the prompt.
    """
    context: list[Block] = []
    said: list[str] = []
    replies: list[str] = []
    times: list[re.Match[str]] = []
    for message in request.messages:
        if message.role == "assistant":
            replies.append(message.text)
            continue
        context.extend(block for block in message.text_blocks if _is_context(block))
        spoken = [block.text for block in message.text_blocks if not _is_context(block)]
        if len(spoken) > 1 and (time := _TIME.match(spoken[-1])):
            times.append(time)
            spoken.pop()
        said.append("\n\n".join(spoken))
    last = unicodedata.normalize("NFC", said[-1]).strip() if said else ""
    # In the frozen part the days come newest first; what came up in the conversation is newer than all of it.
    frozen = sorted((line for block in request.system for line in _memory(block.text)), key=lambda line: line.day)
    news = [line for block in context for line in _memory(block.text)]
    told = request.language or find_language(last) or talk_language(reversed(said[:-1]), reversed(replies))
    behind = context[-1].text if context else ""
    report = _report(behind)
    today = next((found[1] for block in request.system if (found := _TODAY.search(block.text))), "")
    return ParsedRequest(
        message=last,
        replies=tuple(replies),
        changes=tuple(report.changes),
        found=tuple(report.found),
        level=report.level,
        agenda="\n".join(report.agenda),
        unplanned=_UNPLANNED.search(behind) is not None,
        memory_lines=tuple(_drop_repeats([*frozen, *news])),
        today=(times and times[-1][1]) or today,
        clock=times[-1][2] if times else "",
        guest=_GUEST.search(behind) is not None,
        asks=_ASKS.search(behind) is not None,
        onboarding=any(_BOOTSTRAP in block.text for block in request.system),
        language=told or "en",
        bot_name=bot_name,
    )


@dataclass(slots=True)
class _Report:
    """The report of memory; see `ParsedRequest`."""

    changes: list[Change] = field(default_factory=list)  # bounded: the lines of a report; turn
    found: list[MemoryLine] = field(default_factory=list)  # bounded: the lines of a report; turn
    level: str = "high"
    agenda: list[str] = field(default_factory=list)  # bounded: the lines of a report; turn


def _report(text: str) -> _Report:
    """Parse the report of memory in the last block of a request."""
    report, section = _Report(), ""
    for line in text.splitlines():
        if _CHANGED.match(line):
            section = "changed"
        elif heading := _FOUND.match(line):
            section, report.level = "found", heading[1]
        elif _AGENDA.match(line):
            section = "agenda"
        elif section == "agenda" and line.strip() and not line.startswith("</"):
            report.agenda.append(line)
        elif section == "changed" and (change := _CHANGE.match(line)):
            report.changes.append(Change(change[1], change[2] or ""))
        elif section == "found" and (item := _BULLET.match(line)):
            report.found.append(_memory_line(item[1]))
        elif section == "found" and line.startswith("  ") and line.strip():
            _add_line(report.found, line.strip().removeprefix("\\"), "", continues=True)
    return report


def _memory_line(item: str, day: str = "") -> MemoryLine:
    """Take the marks of recall from an item. day: of the heading above it."""
    marks = _MARKS.search(item)
    content = item[: marks.start()] if marks else item
    text = content.strip().removeprefix("\\")
    if not marks:
        return MemoryLine(text, day)
    confided = _CONFIDED in marks[0]
    until, replaced, partly = marks["until"] or "", marks["replaced"] or "", bool(marks["partly"])
    return MemoryLine(text, marks["day"] or day, confided, until, replaced, partly)


def _is_context(block: Block) -> bool:
    return block.text.lstrip().startswith(CONTEXT)


def _drop_repeats(lines: Iterable[MemoryLine]) -> list[MemoryLine]:
    """Return each text once, where it was said last; the newest line comes last."""
    latest: dict[str, MemoryLine] = {}
    for line in lines:
        key = " ".join(line.text.casefold().split())
        latest.pop(key, None)
        latest[key] = line
    return list(latest.values())


def _memory(text: str) -> list[MemoryLine]:
    """Return the remembered lines of one block: bullets and dated entries below the headings of memory.

    A line that is indented continues the one before it.
    """
    found: list[MemoryLine] = []
    section: re.Pattern[str] | None = None
    day = ""
    ruled = False  # after a line of dashes a new heading begins another part of the prompt
    for raw in text.splitlines():
        line = raw.strip()
        indented = raw.startswith("  ")
        if not line:
            continue
        if opened := next((kind for kind in (_MEMORY, _SCRATCHPAD, _OTHER) if kind.match(line)), None):
            section, day, ruled = (None if opened is _OTHER else opened), "", False
        elif section is None:
            continue
        elif line == "---":
            ruled = True
        elif dated := _DAY.match(line):
            day = dated[1]
        elif item := _ENTRY.match(line) or _BULLET.match(line):
            read = _memory_line(item[1], day)
            _add_line(found, read.text, read.day, continues=indented)
        elif line.startswith("#"):
            section = None if ruled or section is _SCRATCHPAD else section
        elif indented:
            _add_line(found, line.removeprefix("\\"), day, continues=True)
        elif section is _SCRATCHPAD and not line.startswith("_"):
            found.append(MemoryLine(line, day))
    return found


def _add_line(found: list[MemoryLine], text: str, day: str, *, continues: bool) -> None:
    if continues and found:  # the marks stand behind the last line
        found[-1] = _memory_line(f"{found[-1].text} {text}", found[-1].day)
    else:
        found.append(MemoryLine(text, day))
