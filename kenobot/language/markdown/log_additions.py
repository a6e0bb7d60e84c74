"""Read what a person wrote below an entry of a day's log, such as a paragraph, a bullet or a heading, as own entries.

An entry may have several paragraphs itself: what stood in the log before tells which are its own. Pure.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kenobot.core import lazy
from kenobot.language.markdown import list_layout
from kenobot.language.markdown.list_layout import ShownRecord

_HEADING = lazy.regex(r"#{1,6}[ \t]+")
_RULE = lazy.regex(r"[-*_+# \t]*")


def split_log(text: str, noted: Iterable[str]) -> list[str]:
    """Split a day's log into entries, with what a person added below one as entries of its time. noted: as it was."""
    known: defaultdict[str, list[str]] = defaultdict(list)
    for entry in map(str.rstrip, noted):
        known[entry.partition("\n")[0]].append(entry)
    return [part for chunk in list_layout.split("daily", text) for part in _entries(chunk, known)]


def _entries(chunk: str, known: dict[str, list[str]]) -> Iterator[str]:
    """Yield the entry of a chunk, and an entry for each piece of text below it."""
    time = list_layout.entry_time(chunk)
    stood = [entry for entry in known.get(chunk.partition("\n")[0], ()) if chunk.startswith(f"{entry}\n")]
    entry = max(stood, key=len, default=chunk)
    pieces = list(_pieces(chunk[len(entry) :]))
    if time is None or not pieces:
        yield chunk
        return
    yield f"{entry}\n\n"
    for piece in pieces:
        yield list_layout.render("daily", ShownRecord(0, piece, time))


def _pieces(rest: str) -> Iterator[str]:
    """Yield the texts that stand below an entry: each paragraph, bullet, heading and block of code."""
    for chunk in list_layout.split("topic", rest.lstrip("\n")):
        text = list_layout.fact_text("topic", chunk) or _HEADING.sub("", chunk.strip(), count=1)
        if not _RULE.fullmatch(text):
            yield text
