"""Find the code and the block quotes in a Markdown text, in time linear in the text but for sorting what is found."""

import re
from collections.abc import Iterator

from kenobot.core import lazy

Range = tuple[int, int]

# These begin with plain signs, not with a class or a repetition, so that the search skips the rest at full speed.
_FENCES = lazy.regex(r"(```+)([^\n]*)"), lazy.regex(r"(~~~+)([^\n]*)")
_QUOTED = lazy.regex(r"^ {0,3}>[^\n]*", re.MULTILINE)
_RUN = lazy.regex(r"``*")
_BLANK_LINE = lazy.regex(r"\n[ \t\r]*+\n")


def find_fenced_ranges(text: str) -> list[Range]:
    """Return the closed fenced blocks, each from the start of its first line to the end of its last, in order.

    A fence is a line of three or more backticks or tildes, indented by at most three blanks; it is closed by a line
    of as many or more of the same and nothing else. An unclosed fence is an ordinary line.
    """
    lines = sorted(
        (start, match.end(), *_read(match[1], match[2]))
        for fence in _FENCES
        for match in fence.finditer(text)
        if (start := _line_start(text, match.start())) is not None
    )
    # Whether a fence is closed must be known beforehand: to search the end of each unclosed one would be quadratic.
    longest = {"`": 0, "~": 0}
    closed: list[bool] = []
    for _, _, char, size, opens, closes in reversed(lines):
        closed.append(opens and longest[char] >= size)
        if closes and size > longest[char]:
            longest[char] = size
    closed.reverse()

    found: list[Range] = []
    begin, mark, least = -1, "", 0
    for (start, end, char, size, _, closes), has_end in zip(lines, closed, strict=True):
        if begin < 0:
            if has_end:
                begin, mark, least = start, char, size
        elif closes and char == mark and size >= least:
            found.append((begin, end))
            begin = -1
    return found


def _line_start(text: str, at: int) -> int | None:
    """Find the start of a line with at most three blanks before `at`; None when it has anything else there."""
    start = text.rfind("\n", max(0, at - 4), at) + 1
    return None if (start == 0 and at > 3) or text[start:at].strip(" ") else start


def _read(run: str, tail: str) -> tuple[str, int, bool, bool]:
    """Parse a fence: its character and length, and whether it may open or close a block."""
    return run[0], len(run), run[0] == "~" or "`" not in tail, not tail or tail.isspace()


def code_ranges(text: str) -> list[Range]:
    """Return all code, in order: the closed fenced blocks, and the matched runs of backticks within one paragraph."""
    found: list[Range] = []
    at = 0
    for start, end in find_fenced_ranges(text):
        found += _spans(text, at, start)
        found.append((start, end))
        at = end
    found += _spans(text, at, len(text))
    return found


def find_quoted_ranges(text: str) -> list[Range]:
    """Return all lines of block quotes, in order."""
    return [match.span() for match in _QUOTED.finditer(text)]


def _spans(text: str, start: int, end: int) -> Iterator[Range]:
    paragraph: list[Range] = []
    for match in _RUN.finditer(text, start, end):
        if paragraph and _BLANK_LINE.search(text, paragraph[-1][1], match.start()):
            yield from _match_runs(paragraph)
            paragraph = []
        paragraph.append(match.span())
    yield from _match_runs(paragraph)


def _match_runs(runs: list[Range]) -> Iterator[Range]:
    following: list[int | None] = []
    seen: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        size = runs[index][1] - runs[index][0]
        following.append(seen.get(size))
        seen[size] = index
    following.reverse()

    index = 0
    while index < len(runs):
        end = following[index]
        if end is not None:
            yield runs[index][0], runs[end][1]
            index = end
        index += 1
