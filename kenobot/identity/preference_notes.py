"""Find what preferences.md says beyond what a conversation was told of it, as a note. Pure."""

from itertools import pairwise

from kenobot.core import lazy

_ITEM = lazy.regex(r"[-*+•]\s|\d{1,9}[.)]\s|#{1,6}(\s|$)")
_SECTION = lazy.regex(r"#{2,6}\s")
_INTRODUCTION = "### New preferences"


def note_preferences(told: str, current: str) -> str | None:
    """Return the note of the lines that `current` adds to `told`; "" when there is none.

    None when a note cannot tell the change: a line is gone or reworded, or an added one belongs to a line around it.
    """
    known = [line.rstrip() for line in told.splitlines() if line.strip()]
    lines = [line.rstrip() for line in current.splitlines()]
    is_new, at = [], 0
    for line in lines:
        same = at < len(known) and line == known[at]
        at += same
        is_new.append(bool(line) and not same)
    if at < len(known) or _divides(lines, is_new):
        return None
    note = [_INTRODUCTION]
    section = ""
    for line, new in zip(lines, is_new, strict=True):
        if _SECTION.match(line):
            section = line
        if new:
            note += [section] * (section not in ("", line) and section not in note) + [line]
    return "\n".join(note) if any(is_new) else ""


def _divides(lines: list[str], is_new: list[bool]) -> bool:
    """Return whether an old and a new line stand side by side as one paragraph or item."""
    return any(
        one and other and new != before and not _ITEM.match(other) and not one.startswith("#")
        for (one, other), (before, new) in zip(pairwise(lines), pairwise(is_new), strict=True)
    )


def has_entries(preferences: str) -> bool:
    """Return whether preferences hold more than headings."""
    return any(line.strip() and not line.startswith("#") for line in preferences.splitlines())
