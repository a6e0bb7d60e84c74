"""Candidates for memory, and decisions about them."""

from datetime import datetime
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust

Form = Literal["note", "episode", "scratchpad", "profile", "procedure", "entity", "box", "summary", "question"]


Source = Literal["tag", "edit", "command", "extraction", "sleep", "import"]


Relation = Literal["repeat", "contradiction", "independent"]


CONFIDED = "confided"
"""The tag of what was told in confidence: others must not learn of it, whatever is made of it."""

KEPT_ON_YES = "kept secret"
"""The tag of what looks like a secret, and was kept because its person wanted that."""


@dataclass(frozen=True, slots=True)
class RelationVerdict:
    """Relation of a candidate to the record it was compared with, as judged by a reader of both.

    part: the one sentence of the record that a contradiction is of, as it stands there; "" for the record.
    """

    record: int
    relation: Relation
    part: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text offered to memory, with what is known of it.

    slot: when given, there is one live record of this form, scope and slot, and a new text replaces the old one.
    tier: "core" stands in MEMORY.md at once, "daily" in the day's log until sleep promotes it.
    subject: whom or what it is about, as a plain name; "" for the person whose scope it is. attributes: what it says of
    its subject, by name, such as ("city", "Lyon"): another value takes its place where there is one at a time.
    confidence, importance: 0 to 1; None leaves them to memory's own rules. evidence: inbox rows of the turns that said
    so. verdicts: what is known already of how it relates to records. action: what whoever proposes it wants done with
    it, in the words of `kenobot.cognitive.remember.admit`; "" leaves it to memory, and what is not one of them
    discards. by_rules: rules read it, which only guess what words mean: it ends nothing but what its verdicts name.
    """

    form: Form
    scope: str
    text: str
    category: str = "fact"
    source: Source = "tag"
    trust: Trust = "owner"
    slot: str = ""
    tier: Literal["daily", "core"] = "daily"
    subject: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float | None = None
    importance: float | None = None
    evidence: tuple[int, ...] = ()
    expires: datetime | None = None
    verdicts: tuple[RelationVerdict, ...] = ()
    action: str = ""
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Result of admitting a candidate, with its reason. `record` is None when nothing was kept."""

    action: Literal["created", "reinforced", "replaced", "refused", "discarded"]
    reason: str
    record: int | None = None
