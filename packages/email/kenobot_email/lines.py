"""Join the lines that a mail program has wrapped, so that a sentence is one line again. Pure."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from kenobot.core import lazy

_QUOTED = lazy.regex(r"(?:>[> ]*)?")
_WORD = lazy.regex(r"<?https?:\S*|\w+", re.IGNORECASE)
_BREAKS_OFF = lazy.regex(r"[^>].{58,78}[^\s.:;!?…]")
_ITEM = lazy.regex(r"\w{1,2}[.)]")


def join_wrapped(text: str, page: str) -> str:
    """Join the lines of a text where `page`, which says the same without wraps, has no line break."""
    lines = [words for line in page.split("\n") if (words := _find_words(line))]
    # bounded: the windows of one mail; turn
    within = {tuple(line[at : at + size]) for line in lines for size in (2, 3, 4) for at in range(len(line) - size + 1)}
    apart = {_build_seam(above, below) for above, below in pairwise(lines)}

    def belong(above: str, below: str) -> bool:
        first, second = _find_words(above), _find_words(below)
        seam = _build_seam(first, second)
        return bool(first and second) and seam in within and seam not in apart

    return _join(text, belong)


def join_filled(text: str) -> str:
    """Join full lines that break off within a sentence, where no page shows the text without wraps."""

    def belong(above: str, below: str) -> bool:
        return _BREAKS_OFF.fullmatch(above) is not None and below[:1].islower() and not _ITEM.match(below)

    return _join(text, belong)


def _join(text: str, belong: Callable[[str, str], bool]) -> str:
    """Join each line with the one before where both are of one quotation and `belong` together."""
    lines: list[str] = []  # bounded: the body of one mail; turn
    above, quotation = "", ""
    for line in text.split("\n"):
        mark = _QUOTED.match(line)
        begins = mark[0] if mark else ""
        content = line[len(begins) :]
        if lines and above.strip() and content.strip() and begins == quotation and belong(above, content):
            lines[-1] = f"{lines[-1].rstrip()} {content.lstrip()}"
        else:
            lines.append(line)
        above, quotation = content, begins
    return "\n".join(lines)


def _find_words(line: str) -> list[str]:
    """Return the words of a line without the addresses, which only a text without links shows."""
    return [word.lower() for word in _WORD.findall(line) if not word.lower().lstrip("<").startswith("http")]


def _build_seam(above: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
    """Return the words on both sides of a line break."""
    return (*above[-2:], *below[:2])
