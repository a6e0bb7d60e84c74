"""What a pass is: a pure look at memory that says what should change, and before that what it would ask a model."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.policy.sleep import Phase
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache
from kenobot.storage.connection import Connection

FindNeighbours = Callable[[str, str, int, int], Mapping[int, float]]
"""Gives, of a scope and a subject, the records nearest to a record in meaning, at most so many: each by its id with its
nearness, as in admit's bands. An index of vectors can tell."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """Something a model is asked, once: the same words twice are one question.

    system: who it is to be and how it must answer. text: what it is to judge; people's words in it are quoted data.
    answer_tokens: the most it may write.
    """

    system: str
    text: str
    answer_tokens: int = 1_000

    @property
    def key(self) -> str:
        """Names the question by its words."""
        return hashlib.sha256(f"{self.system}\0{self.text}".encode("utf-8", "replace")).hexdigest()


def no_neighbours() -> FindNeighbours | None:
    """Nobody can tell nearness by meaning."""
    return None


@dataclass(frozen=True, slots=True)
class NightView:
    """What a pass sees: memory as it stands, in one snapshot, and the night it is part of.

    now: when the night began, the same for all its passes, also after a crash. since: when the last finished night
    began; None when there was none. answers: what a model said, by `ModelQuestion.key`; a question that nobody
    answered,
    for want of a model, of tokens or of an answer, is missing, and the pass goes by its rules. model_available:
    whether a model
    was there to ask. find_neighbours: tells nearness by meaning, where there is somebody who can. comparison_cache:
    what earlier nights found when they held records against each other, where that is remembered.
    """

    connection: Connection
    now: datetime
    zone: ZoneInfo
    since: datetime | None = None
    policy: Policy = DEFAULT
    answers: Mapping[str, str] = field(default_factory=dict)
    model_available: bool = False
    find_neighbours: FindNeighbours | None = None
    comparison_cache: ComparisonCache | None = None

    def answer(self, question: ModelQuestion) -> str | None:
        """What a model said to a question; None: go by the rules."""
        return self.answers.get(question.key)


def no_questions(_view: NightView) -> Sequence[ModelQuestion]:
    """For a pass that needs no model."""
    return ()


@dataclass(frozen=True, slots=True)
class Pass:
    """One kind of maintenance.

    plan: what should change, given a view; reads, never writes, and asks for nothing a second time once it is done:
    what was carried out, planned again, plans nothing. Runs in a reader's thread, so that it may take seconds.
    questions: what a model should be asked before; most urgent first, as tokens may not suffice for all.
    """

    name: str
    phase: Phase
    description: str
    plan: Callable[[NightView], Iterable[Change]]
    questions: Callable[[NightView], Sequence[ModelQuestion]] = no_questions
