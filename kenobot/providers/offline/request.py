"""Parse a request: its messages, and the remembered lines in its prompt."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from kenobot.core import lazy
from kenobot.core.i18n import Language, guess_language
from kenobot.ports.provider import Block, Request
from kenobot.providers.offline.phrases import SPANISH

CONTEXT = "<kenobot-context>"

_MEMORY = lazy.regex(
    r"#{2,3} +(?:Long-term memory|Recent notes|Chat-specific memory|Preferences|New preferences|Remembered about this"
    r"|What worked before)\b"
)
_SCRATCHPAD = lazy.regex(r"#{2,3} +Working memory\b")
_OTHER = lazy.regex(
    r"#{1,3} +(?:Memory|Memory tags|Chat context|First Conversation|Said earlier)\b|</?kenobot-context>"
)
_DAY = lazy.regex(r"#{2,4} +(\d{4}-\d{2}-\d{2})\s*$")
_ENTRY = lazy.regex(r"#{2,4} +\d{1,2}:\d{2}(?::\d{2})? +[—–-] +(.*)$")
_BULLET = lazy.regex(r"(?:[-*+]|\d{1,3}[.)]) +(.*)$")
_MARKS = lazy.regex(r" _\((?:(\d{4}-\d{2}-\d{2})\b)?[^()\n]*\)_\Z")  # what recall says of a memory, behind it
_BOOTSTRAP = "## First Conversation — Bootstrap"


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A line of memory as it stands in the prompt, and its day when it has one."""

    text: str
    day: str = ""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """message: the person's last. replies: those before it that the prompt shows, oldest first."""

    message: str
    replies: tuple[str, ...]
    memory_lines: tuple[MemoryLine, ...]
    onboarding: bool
    language: Language


def parse_request(request: Request) -> ParsedRequest:
    """Parse `request`. Of the conversation only the last exchange counts, of memory everything in the prompt."""
    context: list[Block] = []
    said: list[str] = []
    replies: list[str] = []
    for message in request.messages:
        if message.role == "assistant":
            replies.append(message.text)
            continue
        context.extend(block for block in message.text_blocks if _is_context(block))
        said.append("\n\n".join(block.text for block in message.text_blocks if not _is_context(block)))
    last = unicodedata.normalize("NFC", said[-1]).strip() if said else ""
    # In the frozen part the days come newest first; what came up in the conversation is newer than all of it.
    frozen = sorted((line for block in request.system for line in _memory(block.text)), key=lambda line: line.day)
    news = [line for block in context for line in _memory(block.text)]
    before = guess_language("\n".join([*said[-6:-1], *replies[-1:]]))
    return ParsedRequest(
        message=last,
        replies=tuple(replies),
        memory_lines=tuple(_unique([*frozen, *news])),
        onboarding=any(_BOOTSTRAP in block.text for block in request.system),
        language="es" if SPANISH.match(last) else guess_language(last, default=before),
    )


def _is_context(block: Block) -> bool:
    return block.text.lstrip().startswith(CONTEXT)


def _unique(lines: Iterable[MemoryLine]) -> list[MemoryLine]:
    """Each text once, where it was said last; the newest line comes last."""
    latest: dict[str, MemoryLine] = {}
    for line in lines:
        key = " ".join(line.text.casefold().split())
        latest.pop(key, None)
        latest[key] = line
    return list(latest.values())


def _memory(text: str) -> list[MemoryLine]:
    """The remembered lines of one block: bullets and dated entries below the headings of memory.

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
            marks = _MARKS.search(item[1])
            content = item[1][: marks.start()] if marks else item[1]
            item_day = marks[1] if marks and marks[1] else day
            _add_line(found, content.strip().removeprefix("\\"), item_day, continues=indented)
        elif line.startswith("#"):
            section = None if ruled or section is _SCRATCHPAD else section
        elif indented:
            _add_line(found, line.removeprefix("\\"), day, continues=True)
        elif section is _SCRATCHPAD and not line.startswith("_"):
            found.append(MemoryLine(line, day))
    return found


def _add_line(found: list[MemoryLine], text: str, day: str, *, continues: bool) -> None:
    if continues and found:
        found[-1] = MemoryLine(f"{found[-1].text} {text}", found[-1].day)
    else:
        found.append(MemoryLine(text, day))
