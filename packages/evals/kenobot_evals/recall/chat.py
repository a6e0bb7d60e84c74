"""`kenobot bench chat`: what the prompt of a chat is given for a question, with notes and talk in one home.

At the product's own depth: its numbers of memories and excerpts, and its tokens. Each set is asked in a home of its own
and in one that it shares with the other, so that a set that hides the other shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Literal

from kenobot.ports.clock import Clock
from kenobot_evals.recall.datasets import Conversation, Question
from kenobot_evals.recall.eval_home import EvalOptions, ProgressCallback, RecallAnswer, open_homes

HomeKind = Literal["alone", "together"]

FIRST = (3, 5)
"""Depths, in lines of a prompt."""

UNKNOWN = "none"
"""The confidence that tells a model that memory does not hold the answer."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """Hold what a chat was given for one question. place: of the first line that answers, 0 for none.

    session_shown: a line is of a session of what answers; None where that is in none.
    """

    question: Question
    place: int
    first: dict[int, float]  # bounded: FIRST; turn
    shown: float
    tokens: int
    told_unknown: bool
    session_shown: bool | None = None


@dataclass(slots=True)
class ChatScore:
    """Figures of one set in one kind of home, from 0 to 1 but for `tokens`, which are a question's on the mean.

    first, shown: of what answers, the share among the first lines, and anywhere. session: questions for which a line of
    a right session is shown. unknown: questions without an answer
    of which memory says so. denied: questions with one, of which it says the same.
    """

    dataset: str
    home: HomeKind
    rows: list[Prompted] = field(default_factory=list)  # bounded: the data of one run; turn

    @property
    def figures(self) -> dict[str, float]:
        """Return the figures by name, with the numbers of questions."""
        answered = [row for row in self.rows if row.question.gold]
        others = [row for row in self.rows if not row.question.gold]
        figures: dict[str, float] = {"questions": len(answered)}
        figures |= {f"first {depth}": _mean([row.first[depth] for row in answered]) for depth in FIRST}
        figures["shown"] = _mean([row.shown for row in answered])
        if inside := [float(row.session_shown) for row in answered if row.session_shown is not None]:
            figures["session"] = fmean(inside)
        figures["denied"] = _mean([float(row.told_unknown) for row in answered])
        figures["unanswerable"] = len(others)
        figures["unknown"] = _mean([float(row.told_unknown) for row in others])
        figures["tokens"] = _mean([float(row.tokens) for row in self.rows])
        return figures

    def as_json(self) -> dict[str, object]:
        """Return the figures for programs, with every question."""
        rows = [asdict(row) | {"question": row.question.id} for row in self.rows]
        return {"dataset": self.dataset, "home": self.home, **self.figures, "rows": rows}


async def run(
    sets: Sequence[tuple[str, Sequence[Conversation]]], options: EvalOptions, clock: Clock, progress: ProgressCallback
) -> list[ChatScore]:
    """Ask the questions of each set in homes of its own, then in homes shared with the others.

    Raises ConfigError when the embedder cannot be used here.
    """
    scores = [ChatScore(name, home) for name, _ in sets for home in _homes(len(sets))]
    for name, conversations in sets:
        await _ask_all(conversations, {}, _of(scores, "alone", name), options, clock, progress)
    if len(sets) > 1:
        shared, owners = in_one_home(sets)
        by_set = _of(scores, "together", "")
        await _ask_all(shared, owners, by_set, options, clock, progress)
    return scores


def in_one_home(sets: Sequence[tuple[str, Sequence[Conversation]]]) -> tuple[list[Conversation], dict[str, str]]:
    """Put the conversations of several sets into homes together; with the set of each question.

    There are as many homes as the largest set has conversations. The others' are put into several where they have
    fewer, and asked in the first.
    """
    homes: list[Conversation] = []
    owners: dict[str, str] = {}
    for at in range(max(len(conversations) for _, conversations in sets)):
        together = [(name, all_[at % len(all_)], at < len(all_)) for name, all_ in sets]
        passages = [
            replace(each, key=f"{name} {each.key}", replaces=each.replaces and f"{name} {each.replaces}")
            for name, conversation, _ in together
            for each in conversation.passages
        ]
        questions = [
            replace(each, id=f"{name} {each.id}", gold=tuple(f"{name} {key}" for key in each.gold))
            for name, conversation, asked in together
            for each in (conversation.questions if asked else ())
        ]
        owners |= {f"{name} {each.id}": name for name, one, asked in together if asked for each in one.questions}
        passages.sort(key=lambda passage: passage.at)
        homes.append(Conversation(" + ".join(one.name for _, one, _ in together), tuple(passages), tuple(questions)))
    return homes, owners


def _homes(sets: int) -> tuple[HomeKind, ...]:
    return ("alone", "together") if sets > 1 else ("alone",)


def _of(scores: Sequence[ChatScore], home: HomeKind, name: str) -> dict[str, ChatScore]:
    """Return the scores of one kind of home by set; under "" the only one."""
    found = {score.dataset: score for score in scores if score.home == home}
    return {"": found[name]} if name else found


async def _ask_all(
    conversations: Sequence[Conversation],
    owners: dict[str, str],
    scores: dict[str, ChatScore],
    options: EvalOptions,
    clock: Clock,
    progress: ProgressCallback,
) -> None:
    async for conversation, home in open_homes(conversations, options, clock, progress):
        tick, sessions = partial(progress, conversation.name), conversation.number_sessions()
        for at, question in enumerate(conversation.questions, 1):
            answer = await home.recall(question, options.budget, 0, also=options.queries_for(question))
            scores[owners.get(question.id, "")].rows.append(_score_prompt(question, answer, sessions))
            tick(at, len(conversation.questions))


def _score_prompt(question: Question, answer: RecallAnswer, sessions: Mapping[str, int]) -> Prompted:
    places = [at for at, key in enumerate(answer.ranking, 1) if key in question.gold]
    wanted = max(1, len(question.gold))
    first = {depth: sum(place <= depth for place in places) / wanted for depth in FIRST}
    told = answer.pack.level == UNKNOWN
    right = {sessions[key] for key in question.gold if key in sessions}
    shown = any(sessions.get(key) in right for key in answer.ranking) if right else None
    return Prompted(question, min(places, default=0), first, len(places) / wanted, answer.pack.tokens, told, shown)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
