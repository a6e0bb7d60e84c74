"""Cut texts that are shown to a model, with a note of the characters left out. Pure."""

import re
from typing import Final

_NOTE: Final = re.compile(r"\n?\[… (at least )?([\d,]+) characters? more, which (?:is|are) not shown\]$")


def cut_text(text: str, room: int) -> str:
    """Cut a text to `room` characters and a note of those left out, by an earlier cut too."""
    found = _NOTE.search(text)
    whole = text if found is None else text[: found.start()]
    if len(whole) <= room:
        return text
    before = 0 if found is None else int(found[2].replace(",", ""))
    note = note_omission(len(whole) - room + before, at_least=found is not None and found[1] is not None)
    return f"{whole[:room]}\n{note}"


def note_omission(characters: int, *, at_least: bool = False) -> str:
    """Say how many characters are left out."""
    words = "character more, which is" if characters == 1 else "characters more, which are"
    return f"[… {'at least ' if at_least else ''}{characters:,} {words} not shown]"
