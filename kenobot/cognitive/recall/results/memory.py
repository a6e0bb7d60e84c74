"""Define what is asked of memory for a prompt, and what memory answers; see `reader.MemoryReader`."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.language.calendar import local_day
from kenobot.language.question.asking import only_asks
from kenobot.language.question.question import Question, parse_question
from kenobot.language.recall_need import RecallNeed
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import (
    DIGITS,
    ConfidenceLevel,
    ItemKey,
    MatchExplanation,
    MatchWay,
    MemoryEntry,
    PathStep,
    Score,
    Section,
)
from kenobot.ports.records import Record
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.prompt_prefix import PromptPrefix
from kenobot.storage.scopes import Scopes, scope_names

if TYPE_CHECKING:
    from kenobot.cognitive.recall.results.trace import RecallTrace

PREFIX_SECTIONS: frozenset[Section] = frozenset({"long_term", "recent", "chat", "context"})
"""What a full load shows, in the frozen beginning of a prompt."""

_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Query of memory for a message, within scopes.

    text: the message.

    Of a full load: session: the chat. prefix_tokens: its size. recent_tokens: size of its notes where each
    message is searched for.
    Of a search: preceding_text: what was said before the message. budget (tokens), limit, excerpt_limit: 0 leaves them
    to the policy. as_of: search what was known then. vector_relevance: relevance of records found by vectors, 0 to 1.
    prompt_text: what the prompt shows already. from_message: the first message that it shows. all_shown: it shows all
    memories, so that only turns are news. force: search also where the message calls for nothing. marks: how much each
    record helps to answer, 0 to 1, by a reranker; then no other is shown. also: further queries for what answers it.
    trace: collects what became of candidates. account: who asks in a group, of whose past alone more is told; "" in
    private.
    """

    text: str
    reach: Scopes
    now: datetime
    zone: ZoneInfo = _UTC
    session: str = ""
    prefix_tokens: int = 0
    recent_tokens: int = 0
    preceding_text: str = ""
    budget: int = 0
    limit: int = 0
    as_of: datetime | None = None
    vector_relevance: Mapping[int, float] = field(default_factory=dict)  # bounded: what a search by vectors found; turn
    prompt_text: str = ""
    from_message: int | None = None
    all_shown: bool = False
    force: bool = False
    excerpt_limit: int = 0
    marks: Mapping[int, float] = field(default_factory=dict)  # bounded: 12 memories that were read; turn
    also: tuple[str, ...] = ()
    trace: "RecallTrace | None" = None
    account: str = ""
    policy: Policy = DEFAULT

    @property
    def question(self) -> Question:
        """Return its text as a question, which is made once."""
        return parse_question(self.text)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes within reach by name."""
        return scope_names(self.reach) or ()

    @property
    def asks_past(self) -> bool:
        """Return whether it asks for what was so before, as of now."""
        return self.as_of is None and self.question.asks_past and (self.force or self.question.asks)

    @property
    def quotes_exchanges(self) -> bool:
        """Return whether talk with the assistant is quoted by exchange: where no number of turns is asked for."""
        return not self.limit and not self.excerpt_limit

    @property
    def most_memories(self) -> int:
        """The most memories that a search shows."""
        return self.limit or self.policy.recall.limit

    @property
    def day(self) -> str:
        """The owner's calendar day, YYYY-MM-DD."""
        return local_day(self.now, self.zone)

    @property
    def today(self) -> date:
        """The same as a date."""
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True)
class SearchHints:
    """Hints that models add to a search: `MemoryQuery.also`, and `MemoryQuery.marks`."""

    also: tuple[str, ...] = ()
    marks: Mapping[int, float] = field(default_factory=dict)  # bounded: 12 memories that were read; turn

    def add_to(self, query: MemoryQuery) -> MemoryQuery:
        """Return the query with these hints."""
        return replace(query, also=self.also, marks=self.marks) if self.also or self.marks else query


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A record that a search chose.

    ways: how it was found. matched: stems of the message that it holds; terms: all of its terms in the index.
    current_confidence: its confidence as of now. relevance_parts: what its relevance is made of, where vectors were
    searched. line: its rendering; tokens: those of the line and its heading. on_show: the prompt shows it already.
    """

    record: Record
    score: Score
    relevance: float
    ways: tuple[MatchWay, ...]
    matched: tuple[str, ...] = ()
    path: tuple[PathStep, ...] = ()
    current_confidence: float = 1.0
    line: str = ""
    tokens: int = 0
    on_show: bool = False
    terms: frozenset[str] = frozenset()
    relevance_parts: Mapping[str, float] = field(default_factory=dict)  # bounded: the seven parts of a fit; turn

    @property
    def key(self) -> ItemKey:
        """Return its key among what was found."""
        return "record", self.record.id

    @property
    def text(self) -> str:
        """Return its words."""
        return self.record.text

    @property
    def only_asks(self) -> bool:
        """Return whether it is a question, and no more."""
        return self.record.form == "question"

    def explain(self) -> MatchExplanation:
        """Return why it was chosen."""
        return MatchExplanation(
            self.record.id,
            round(self.score.value, DIGITS),
            round(self.relevance, DIGITS),
            {name: round(part, DIGITS) for name, part in self.score.parts.items()},
            self.ways,
            tuple(sorted(self.matched)),
            self.path,
        )


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A turn of the conversation that a search chose. near: see `RankedTurn`. on_show: the prompt shows it already.

    beside: the message of which it is the other half, for which alone it is quoted; 0 for what was found itself.
    """

    turn: MessageRow
    relevance: float
    matched: tuple[str, ...]
    line: str = ""
    tokens: int = 0
    near: float | None = None
    on_show: bool = False
    beside: int = 0

    @property
    def key(self) -> ItemKey:
        """Return its key among what was found."""
        return "turn", self.turn.id

    @property
    def text(self) -> str:
        """Return its words."""
        return self.turn.text

    @property
    def only_asks(self) -> bool:
        """Return whether it is a question, or some, and no more."""
        return only_asks(self.turn.text)


@dataclass(frozen=True, slots=True)
class FormerMemory:
    """A memory in whose place there is now one that was found, or one on the way to it.

    record: as it was. ended: the day on which it gave way, YYYY-MM-DD. held: it was so until then, as far as was told;
    otherwise it was said before, and may never have been so. partly: a part of its words still holds.
    """

    record: Record
    ended: str
    held: bool
    partly: bool = False
    line: str = ""
    tokens: int = 0


FoundItem = RecalledMemory | Excerpt
"""A memory or a quoted turn that a search found."""


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Result of a search for a message.

    score: relevance of the best of it, 0 to 1; `level` says it in a word, "medium" at most for turns.
    answer_probability: how likely a memory answers the question, 0 to 1, and then `level` goes by it; None without a
    question or vectors. near: `level` by how near what was found comes alone, whether or not it was judged to answer.
    need: how much of memory the message calls for. dropped: how many were left out, by reason.
    shown: what was chosen, the likeliest to answer first. candidates: the best memories that the prompt does not show
    yet, also those without room. former: of a question for the past, the memories before these.
    """

    level: ConfidenceLevel = "none"
    near: ConfidenceLevel = "none"
    score: float = 0.0
    answer_probability: float | None = None
    need: RecallNeed = "full"
    shown: tuple[FoundItem, ...] = ()
    query_terms: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)  # bounded: the 12 reasons there are; turn
    budget: int = 0
    candidates: tuple[RecalledMemory, ...] = ()
    former: tuple[FormerMemory, ...] = ()

    @property
    def memories(self) -> tuple[RecalledMemory, ...]:
        """The memories among what was chosen, best first."""
        return tuple(item for item in self.shown if isinstance(item, RecalledMemory))

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """The turns among it, best first."""
        return tuple(item for item in self.shown if isinstance(item, Excerpt))

    @property
    def tokens(self) -> int:
        """Tokens of all that was chosen, at most the budget."""
        return sum(item.tokens for item in (*self.shown, *self.former))


@dataclass(frozen=True, slots=True)
class MemoryPack:
    """Memory to show in a prompt.

    sections: Markdown without headings of a prompt. texts: the memory texts among it. omitted: records of a full load
    without room. stale: updates cannot be shown by adding to the prefix. prefix: the prefix of the query with its
    updates counted as shown. search: what a search found.
    """

    # bounded: seven sections of each pack, 64 packs are kept; test_cached_values_are_kept_within_a_number_and_a_size
    sections: Mapping[Section, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    entries: tuple[MemoryEntry, ...] = ()
    omitted: int = 0
    stale: bool = False
    prefix: PromptPrefix | None = None
    search: SearchReport | None = None

    def __add__(self, other: "MemoryPack") -> "MemoryPack":
        """Both packs, sections of one name joined."""
        sections = dict(self.sections)
        for name, text in other.sections.items():
            sections[name] = "\n\n".join(part for part in (sections.get(name, ""), text) if part)
        return MemoryPack(
            sections,
            (*self.texts, *other.texts),
            (*self.entries, *other.entries),
            self.omitted + other.omitted,
            self.stale or other.stale,
            other.prefix or self.prefix,
            other.search or self.search,
        )

    def __getitem__(self, section: Section) -> str:
        return self.sections.get(section, "")

    def records(self, *sections: Section) -> list[int]:
        """List the records that these sections show, in their order."""
        return [entry.record for entry in self.entries if entry.section in sections]


NO_MEMORY = MemoryPack()
"""A pack that shows nothing."""
