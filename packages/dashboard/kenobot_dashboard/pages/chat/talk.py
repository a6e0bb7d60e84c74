"""Tell what a line of a chat shows: a person's own words, apart from what stands for the files that came with them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kenobot.storage.message_status import Aside
from kenobot_http.api.conversations import Line
from kenobot_http.api.paging import Page

_FILE: Final = re.compile(
    r"^\[sent (?:a|an) ([^\]\n:;]+)(?:: ([^\]\n]*?))?(?:, whose content is quoted)?\]$", re.MULTILINE
)
_WORDED: Final = re.compile(r"^\[sent [^\]\n]*\]\n?(?:^> .*\n?|^>\n?)*", re.MULTILINE)
_PICTURE: Final = "picture"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a message. what: "file", "picture", … as prompts name it. content: what was read out of it."""

    what: str
    name: str
    content: str


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A line of a chat. text: without `files`. pictures: paths of those that can be shown.

    sender: what another person is called, "" for the owner; None where that is not known.
    """

    role: str
    text: str
    at: str
    turn: int
    files: tuple[SentFile, ...] = ()
    pictures: tuple[str, ...] = ()
    sender: str | None = ""


def merge_lines(shown: Page[Line], asides: Sequence[Aside]) -> list[TalkLine]:
    """Make the lines of a page, the newest first, in the order of time, with what the chat saw beside them."""
    lines = [make_line(each) for each in reversed(shown.items)]
    oldest = lines[0].at if lines and shown.next else ""
    said = {(line.role, line.text) for line in lines}
    guests = any(line.sender != "" for line in lines)
    beside = (TalkLine(each.role, each.text, each.at, 0, sender=None if guests else "") for each in asides)
    lines += [
        each for each in beside if each.at > oldest and (each.role == "user" or (each.role, each.text) not in said)
    ]
    return sorted(lines, key=lambda line: datetime.fromisoformat(line.at))


def make_line(line: Line) -> TalkLine:
    """Make a line of a chat as the page shows it."""
    if line.role != "user":
        return TalkLine(line.role, line.text, line.at, line.turn)
    files, hidden = list[SentFile](), len(line.pictures)  # of those that are shown, the words are not
    for block in _WORDED.findall(line.text):
        head, _, quoted = block.partition("\n")
        found = _FILE.match(head)
        what, name = (found[1], found[2] or "") if found else ("something", "")
        if what == _PICTURE and hidden:
            hidden -= 1
            continue
        content = "\n".join(each.removeprefix(">").removeprefix(" ") for each in quoted.splitlines())
        files.append(SentFile(what, name, content.strip()))
    text = _WORDED.sub("", line.text).strip()
    sender = "" if line.trust == "owner" else line.sender or None
    return TalkLine(line.role, text, line.at, line.turn, tuple(files), tuple(line.pictures), sender)
