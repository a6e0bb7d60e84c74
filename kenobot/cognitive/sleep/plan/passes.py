"""A sleep pass and the view it plans from: passes read, name questions for a model, and plan changes."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
from kenobot.ports.frozen import dataclass
from kenobot.ports.nights import Phase
from kenobot.storage.connection import Connection

FindNeighbours = Callable[[str, str, int, int], Mapping[int, float]]
"""Maps scope, subject, record and limit to the records nearest in meaning, each with its nearness."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question to a model; the same words are the same question. People's words in `text` are quoted data."""

    system: str
    text: str
    answer_tokens: int = 1_000

    @property
    def key(self) -> str:
        """Identifies the question by its words."""
        return hashlib.sha256(f"{self.system}\0{self.text}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class NightView:
    """Memory in one snapshot, and the night that a pass belongs to.

    now: when the night began, also after a crash.
    since: when the last finished night began.
    answers: answers of the model by `ModelQuestion.key`; for a missing one the pass goes by its rules.
    """

    connection: Connection
    now: datetime
    zone: ZoneInfo
    since: datetime | None = None
    policy: Policy = DEFAULT
    answers: Mapping[str, str] = field(default_factory=dict)  # bounded: what a night's tokens pay for; night
    model_available: bool = False
    find_neighbours: FindNeighbours | None = None
    comparison_cache: ComparisonCache | None = None

    @property
    def today(self) -> date:
        """The owner's calendar day."""
        return self.now.astimezone(self.zone).date()

    def days_ago(self, days: int) -> str:
        """Return the owner's calendar day, YYYY-MM-DD, `days` before today."""
        return (self.today - timedelta(days=days)).isoformat()

    def answer(self, question: ModelQuestion) -> str | None:
        """Return the model's answer; None: go by the rules."""
        return self.answers.get(question.key)


@dataclass(frozen=True, slots=True)
class Pass:
    """One kind of maintenance.

    plan: reads and never writes, in a reader's thread; planned again after it was carried out, it plans nothing.
    questions: what to ask a model before, most urgent first, as tokens may not suffice for all.
    """

    name: str
    phase: Phase
    description: str
    plan: Callable[[NightView], Iterable[Change]]
    questions: Callable[[NightView], Sequence[ModelQuestion]] = lambda _: ()
