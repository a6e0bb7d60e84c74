"""The summary of the earlier part of a conversation: lines, each with whose words it is made of, and what it lost.

As a record it is a list in Markdown. Whose word each line is stands beside it in the record's attributes, so that what
a stranger said stays a quotation in every prompt; a text that somebody has edited meanwhile is as little trusted as the
least of it. How far it reaches is the number and the time of a message: where both do not fit, because memory was
imported or made again from its files, the time alone decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from kenobot.cognitive.recall.full_load import quote
from kenobot.cognitive.store.records import Record
from kenobot.core.token_estimate import estimate
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Form

FORM: Form = "summary"
SLOT, CATEGORY = "session", "session"
KEY = f"slot:{SLOT}"
MISSING = "Not in the summary: "

RANK: tuple[Trust, ...] = ("forward", "tool", "model", "guest", "owner")
_LETTERS: dict[str, Trust] = {trust[0]: trust for trust in get_args(Trust)}
_PART = " · "
_OWN: tuple[Trust, ...] = ("owner", "model")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a summary. trust: of those whose words it is made of. turns: inbox rows that it was made of."""

    text: str
    trust: Trust
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """lines: the summary, oldest first. missing: names, numbers and the like that came up and stand nowhere, newest
    last. through, at: the last message that is summed up, and when it was written; 0 and "" before the first.
    """

    lines: tuple[Line, ...] = ()
    missing: tuple[Line, ...] = ()
    through: int = 0
    at: str = ""

    @property
    def trust(self) -> Trust:
        """The least trust of what it says."""
        return min((line.trust for line in (*self.lines, *self.missing)), key=RANK.index, default="model")

    @property
    def text(self) -> str:
        """What the record says."""
        return "\n".join([*(f"- {line.text}" for line in self.lines), *_listed(self.missing)])

    @property
    def attributes(self) -> dict[str, str]:
        """What stands beside the text, for `digest_of` to read."""
        letters = "".join(line.trust[0] for line in (*self.lines, *_by_trust(self.missing)))
        return {"through": str(self.through), "at": self.at, "voices": letters}

    @property
    def size(self) -> int:
        """Tokens of what it says."""
        return estimate(self.text)


def digest_of(record: Record) -> Digest:
    """The summary that a record holds."""
    held = record.attributes
    rows = record.text.split("\n")
    letters = held.get("voices", "")
    least: Trust = next((trust for trust in RANK if trust == record.trust), "forward")
    trusts = [_LETTERS.get(letter, least) for letter in letters] if len(letters) == len(rows) else [least] * len(rows)
    lines: list[Line] = []
    missing: list[Line] = []
    for row, trust in zip(rows, trusts, strict=True):
        if row.startswith(MISSING):
            missing += [Line(item, trust) for item in row.removeprefix(MISSING).split(_PART) if item.strip()]
        elif text := row.removeprefix("- ").strip():
            lines.append(Line(text, trust))
    through = held.get("through", "")
    number = int(through) if through.isascii() and through.isdecimal() and len(through) < 19 else 0
    return Digest(tuple(lines), tuple(missing), number, held.get("at", ""))


def within(digest: Digest, tokens: int) -> Digest:
    """As much of a summary as `tokens` allow: the newest lines, and of what is missing the newest."""
    lines, missing = list(digest.lines), list(digest.missing)
    fitted = digest
    while (lines or missing) and fitted.size > tokens:
        if missing and (len(missing) > len(lines) or not lines):
            del missing[0]
        else:
            del lines[0]
        fitted = Digest(tuple(lines), tuple(missing), digest.through, digest.at)
    return fitted


def show(digest: Digest, *, own: bool = False) -> str:
    """A summary as a prompt shows it: what others said is quoted, after what the person and the bot said.

    own: guests' words in it are the reader's own.
    """
    trusted = (*_OWN, "guest") if own else _OWN
    rows = [*digest.lines, *_by_trust(digest.missing, MISSING)]
    parts = ["\n".join(f"- {quote(row.text, 'owner')}" for row in rows if row.trust in trusted)]
    for trust in RANK:
        said = [row.text for row in rows if row.trust == trust]
        if trust not in trusted and said:
            parts.append(f"- {quote(chr(10).join(said), trust)}")
    return "\n".join(part for part in parts if part)


def _listed(missing: Sequence[Line]) -> list[str]:
    return [line.text for line in _by_trust(missing, MISSING)]


def _by_trust(missing: Iterable[Line], label: str = "") -> list[Line]:
    """One line for each trust: what is missing of what was said by those."""
    items: dict[Trust, list[str]] = {}
    for line in missing:
        items.setdefault(line.trust, []).append(line.text.replace(_PART.strip(), ","))
    return [Line(label + _PART.join(items[trust]), trust) for trust in RANK if trust in items]
