"""The summary of a conversation's earlier part: its lines with their trust, and what it lacks.

As a record it is a Markdown list with the trust of each line in its attributes; an edited text is trusted as the least
of it. A message's number and time say how far it reaches; where they do not fit, the time decides.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.quoting import quote_untrusted
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import LEAST_TRUSTED_FIRST, Trust, least_trusted, parse_trust
from kenobot.ports.memory import Form
from kenobot.ports.records import Record

FORM: Form = "summary"
SLOT, CATEGORY = "session", "session"
KEY = f"slot:{SLOT}"
MISSING_LABEL = "Not in the summary: "

_LETTERS: dict[str, Trust] = {trust[0]: trust for trust in get_args(Trust)}
_PART = " · "
_OWN: tuple[Trust, ...] = ("owner", "model")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary. trust: of those whose words it is made of. turns: inbox rows that it was made of."""

    text: str
    trust: Trust
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary. lines: oldest first. missing: items that it lacks, newest last.

    last_message, last_message_at: the last message it covers; 0 and "" for none.
    """

    lines: tuple[SummaryLine, ...] = ()
    missing: tuple[SummaryLine, ...] = ()
    last_message: int = 0
    last_message_at: str = ""

    @property
    def trust(self) -> Trust:
        """The least trust of what it says."""
        return least_trusted((line.trust for line in (*self.lines, *self.missing)), "model")

    @property
    def text(self) -> str:
        """Return what the record says."""
        missing = _by_trust(self.missing, MISSING_LABEL)
        return "\n".join([*(f"- {line.text}" for line in self.lines), *(line.text for line in missing)])

    @property
    def attributes(self) -> dict[str, str]:
        """Return what stands beside the text, for `digest_of` to read."""
        letters = "".join(line.trust[0] for line in (*self.lines, *_by_trust(self.missing)))
        return {"through": str(self.last_message), "at": self.last_message_at, "voices": letters}

    @property
    def size(self) -> int:
        """Tokens of what it says."""
        return estimate_tokens(self.text)


def parse_digest(record: Record) -> Digest:
    """Return the summary that a record holds."""
    held = record.attribute_map
    rows = record.text.split("\n")
    letters = held.get("voices", "")
    least = parse_trust(record.trust, "forward")
    trusts = [_LETTERS.get(letter, least) for letter in letters] if len(letters) == len(rows) else [least] * len(rows)
    lines: list[SummaryLine] = []
    missing: list[SummaryLine] = []
    for row, trust in zip(rows, trusts, strict=True):
        if row.startswith(MISSING_LABEL):
            missing += [
                SummaryLine(item, trust) for item in row.removeprefix(MISSING_LABEL).split(_PART) if item.strip()
            ]
        elif text := row.removeprefix("- ").strip():
            lines.append(SummaryLine(text, trust))
    through = held.get("through", "")
    number = int(through) if through.isascii() and through.isdecimal() and len(through) < 19 else 0
    return Digest(tuple(lines), tuple(missing), number, held.get("at", ""))


def trim_digest(digest: Digest, tokens: int) -> Digest:
    """Trim a summary to as much as `tokens` allow: the newest lines, and of what is missing the newest."""
    while (digest.lines or digest.missing) and digest.size > tokens:
        if len(digest.missing) > len(digest.lines):
            digest = replace(digest, missing=digest.missing[1:])
        else:
            digest = replace(digest, lines=digest.lines[1:])
    return digest


def render_digest(digest: Digest, *, own: bool = False) -> str:
    """Return a summary as a prompt shows it: what others said is quoted, after what the person and the bot said.

    own: guests' words in it are the reader's own.
    """
    trusted = (*_OWN, "guest") if own else _OWN
    rows = [*digest.lines, *_by_trust(digest.missing, MISSING_LABEL)]
    parts = ["\n".join(f"- {quote_untrusted(row.text, 'owner')}" for row in rows if row.trust in trusted)]
    for trust in LEAST_TRUSTED_FIRST:
        said = [row.text for row in rows if row.trust == trust]
        if trust not in trusted and said:
            parts.append(f"- {quote_untrusted(chr(10).join(said), trust)}")
    return "\n".join(part for part in parts if part)


def _by_trust(missing: Iterable[SummaryLine], label: str = "") -> list[SummaryLine]:
    """Return one line for each trust: what is missing of what was said by those."""
    items: dict[Trust, list[str]] = {}
    for line in missing:
        items.setdefault(line.trust, []).append(line.text.replace(_PART.strip(), ","))
    return [SummaryLine(label + _PART.join(items[trust]), trust) for trust in LEAST_TRUSTED_FIRST if trust in items]
