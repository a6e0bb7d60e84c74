"""What comes out of memory for one message, within its budget: the most value for the tokens there are.

First the scratchpad, then memories, then excerpts of what was said where no memory is strong enough; a profile has a
small cap of its own, which it cannot exceed at the expense of memories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.recall import RecallNeed, RecallPolicy
from kenobot.cognitive.recall.full_load import render_record
from kenobot.cognitive.recall.index.documents import OWNER_SUBJECT
from kenobot.cognitive.recall.recall_log import TurnRow
from kenobot.cognitive.recall.score import Score
from kenobot.cognitive.store.records import Record
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens

ConfidenceLevel = Literal["none", "low", "medium", "high"]
MatchWay = Literal["words", "subject", "meaning", "link"]
T = TypeVar("T")

_LEVELS: tuple[ConfidenceLevel, ...] = ("none", "low", "medium", "high")
_UNSURE = 0.4
_CLIPPED = " […]"
_STEPS = 128
_NAME = 60  # characters of a name in a heading


@dataclass(frozen=True, slots=True)
class PathEdge:
    """A link that led to a memory. confidence: how sure it is, 0 to 1."""

    src: int
    dst: int
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A record that was chosen. ways: how it was found. current_confidence: its confidence today. line: as it is shown.

    matched: the words of the message that it holds; terms: all of its words as the index knows them, where it does.
    relevance_parts: of what its fitting the message comes, where meaning was looked at.
    """

    record: Record
    score: Score
    relevance: float
    ways: tuple[MatchWay, ...]
    matched: tuple[str, ...] = ()
    path: tuple[PathEdge, ...] = ()
    current_confidence: float = 1.0
    line: str = ""
    tokens: int = 0
    terms: frozenset[str] = frozenset()
    relevance_parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A turn of the conversation that was chosen."""

    turn: TurnRow
    relevance: float
    matched: tuple[str, ...]
    line: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Pack:
    """What is remembered for a message. score: how well the best of it fits, 0 to 1; `level` says it in a word.

    answer_probability: how likely a memory answers the question, 0 to 1; None where it is none, or that cannot be
    told; `level`
    goes by it where it can. need: how much of memory the message called for. dropped: what was found and not shown, by
    reason. candidates: the best that were found and are not on show already, also such as had no room.
    """

    level: ConfidenceLevel = "none"
    score: float = 0.0
    answer_probability: float | None = None
    need: RecallNeed = "full"
    memories: tuple[RecalledMemory, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    scratchpad: str = ""
    profile: str = ""
    query_terms: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    budget: int = 0
    candidates: tuple[RecalledMemory, ...] = ()

    @property
    def tokens(self) -> int:
        """What it all takes up, at most the budget."""
        texts = [text for text in (self.scratchpad, self.profile) if text]
        shown = sum(item.tokens for item in self.memories) + sum(item.tokens for item in self.excerpts)
        return sum(map(estimate_tokens, texts)) + shown


def confidence_level(score: float, policy: RecallPolicy) -> ConfidenceLevel:
    """How sure one may be that what was asked for is among what was found."""
    if score <= 0:
        return "none"
    return "low" if score < policy.low_up_to else "medium" if score < policy.high_from else "high"


def answer_level(likely: float, said: float, policy: RecallPolicy) -> ConfidenceLevel:
    """The same of a question. likely: that a memory answers it; said: relevance of the best turn that is quoted."""
    found: ConfidenceLevel = "none"
    if likely >= policy.none_below:
        found = "low" if likely < policy.low_below else "medium" if likely < policy.medium_below else "high"
    return max(found, confidence_level(said, policy), key=_LEVELS.index)


def render_memory(record: Record, effective: float, zone: ZoneInfo) -> str:
    """A memory as an item of a list, with its day, and with a word of warning where it is due."""
    marks = [datetime.fromisoformat(record.valid_from or record.created).astimezone(zone).date().isoformat()]
    if record.verification == "disputed":
        marks.append("disputed")
    elif effective < _UNSURE:
        marks.append("unsure")
    return f"- {render_record(record)} _({', '.join(marks)})_"


def subject_heading(subject: str) -> str:
    """What stands above the memories about somebody, where not all are about the owner."""
    return "**About the owner:**" if subject in ("", OWNER_SUBJECT) else f"**About {heading_name(subject)}:**"


def heading_name(subject: str) -> str:
    """A subject as a heading may show it: one line, without marks that would end it."""
    return " ".join(subject.replace("*", " ").split())[:_NAME]


def group_by_subject(memories: Sequence[RecalledMemory]) -> str:
    """The lines of memories, by subject where there are several, each subject where its best memory stands."""
    groups: dict[str, list[str]] = {}
    for memory in memories:
        groups.setdefault(subject_heading(memory.record.subject), []).append(memory.line)
    if len(groups) == 1 and next(iter(groups)) == subject_heading(OWNER_SUBJECT):
        return "\n".join(line for lines in groups.values() for line in lines)
    return "\n".join("\n".join([heading, *lines]) for heading, lines in groups.items())


def shorten(line: str, room: int) -> str:
    """`line` within `room` tokens; cut, and saying so, where it is longer."""
    return (
        line
        if estimate_tokens(line) <= room
        else clip_to_tokens(line, max(1, room - estimate_tokens(_CLIPPED))) + _CLIPPED
    )


def choose_most_valuable(items: Sequence[tuple[T, float, int]], room: int) -> list[T]:
    """Of `items`, each with its value and tokens, those that are worth most together and fit. Their order stays.

    Tokens are counted in steps, rounded up, so that a large budget costs no more work than a small one.
    """
    fitting = [item for item in items if item[2] <= room]
    if sum(item[2] for item in fitting) <= room:
        return [item[0] for item in fitting]
    step = max(1, room // _STEPS)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (room // step + 1)
    for at, (_, worth, tokens) in enumerate(fitting):
        cost = -(-tokens // step)
        for left in range(len(best) - 1, cost - 1, -1):
            before = best[left - cost]
            if before[0] + worth > best[left][0]:
                best[left] = (before[0] + worth, (*before[1], at))
    return [fitting[at][0] for at in best[-1][1]]
