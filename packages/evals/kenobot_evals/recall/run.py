"""One run of `kenobot bench recall`: every conversation in a home of its own, every question through `recall`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean

from kenobot.language.question.several_turns import needs_several_turns
from kenobot.ports.clock import Clock
from kenobot_evals.recall.baselines import BM25
from kenobot_evals.recall.counting_reranker import CountingReranker
from kenobot_evals.recall.datasets import Conversation, Question
from kenobot_evals.recall.eval_home import EvalOptions, ProgressCallback, RecallAnswer, open_homes
from kenobot_evals.recall.explain import MissedPassage, explain_misses
from kenobot_evals.recall.metrics import (
    DEPTHS,
    MeanScores,
    QuestionScore,
    mean_scores,
    percentiles,
    score_ranking,
    scores_by_category,
)

METHODS = ("recall", "bm25", "dense")
ONE_QUERY = "one query"
"""The ranking of recall without the further queries that a question has."""
_MOST = max(DEPTHS)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Result of one question. misses: of each answering unit that is not among the first, the stage that lost it.

    explained_ranking: what recall gave, best first, each with what its score is made of. needed: of the units that hold
    the words of what is needed, the share among the first by depth, and under 0 that of which a chat is shown a line.
    """

    question: Question
    scored: Mapping[str, QuestionScore]
    tokens: int
    characters: int
    seconds: float
    level: str
    misses: tuple[MissedPassage, ...] = ()
    explained_ranking: tuple[tuple[str, str], ...] = ()
    needed: Mapping[int, float] | None = None


@dataclass(slots=True)
class RecallReport:
    """Result of a run. model: the embedder's id, "" for none. judge: who read what was found."""

    model: str = ""
    judge: CountingReranker | None = None
    rows: list[QuestionResult] = field(default_factory=list)  # bounded: the data of one run; turn

    def further_scores(self) -> dict[str, dict[str, MeanScores]]:
        """Measure recall and ONE_QUERY on questions with further queries and an answer, by how many turns answer."""
        kinds: dict[str, list[QuestionResult]] = {"several turns": [], "one turn": []}
        for row in self.rows:
            if ONE_QUERY in row.scored:
                kinds["several turns" if needs_several_turns(row.question.text) else "one turn"].append(row)
        return {
            kind: {name: mean_scores([row.scored[name] for row in rows]) for name in (ONE_QUERY, "recall")}
            for kind, rows in kinds.items()
            if rows
        }

    def scores(self, method: str) -> dict[str, MeanScores]:
        """Measure one of METHODS, by category; without questions that have no answer."""
        return scores_by_category([row.scored[method] for row in self.rows if method in row.scored])

    @property
    def costs(self) -> dict[str, float]:
        """Tokens and characters a question, on the mean and at most, and milliseconds of a recall."""
        if not self.rows:
            return {}
        p50, p95 = percentiles([1000 * row.seconds for row in self.rows])
        return {
            "tokens": fmean(row.tokens for row in self.rows),
            "most tokens": max(row.tokens for row in self.rows),
            "characters": fmean(row.characters for row in self.rows),
            "p50 ms": p50,
            "p95 ms": p95,
        }

    def as_json(self) -> dict[str, object]:
        """Return the figures for programs."""
        return {
            "embedder": self.model or "none",
            "questions": len(self.rows),
            "figures": {name: {of: asdict(f) for of, f in self.scores(name).items()} for name in METHODS},
            "costs": self.costs,
            "needed words": self.needed,
            "further queries": {
                kind: {name: asdict(figures) for name, figures in scores.items()}
                for kind, scores in self.further_scores().items()
            },
            "lost": self.misses_by_stage,
            **({"reranker": self.judge.figures} if self.judge is not None else {}),
        }

    @property
    def needed(self) -> dict[int, float]:
        """Return the means of `QuestionResult.needed`; empty where the data does not say what holds the words."""
        rows = [row.needed for row in self.rows if row.needed is not None]
        return {depth: fmean(row[depth] for row in rows) for depth in (*DEPTHS, 0)} if rows else {}

    @property
    def misses_by_stage(self) -> dict[str, int]:
        """Return how many answering units each stage lost."""
        stages = [verdict.stage for row in self.rows for verdict in row.misses]
        return {stage: stages.count(stage) for stage in sorted(set(stages))}


async def run(
    conversations: Sequence[Conversation],
    options: EvalOptions,
    clock: Clock,
    progress: ProgressCallback,
    judge: CountingReranker | None = None,
) -> RecallReport:
    """Ask every question of every conversation; judge: who reads what was found.

    Raises ConfigError when the embedder cannot be used here, and RemoteError when the judge cannot be asked.
    """
    report = RecallReport(judge=judge)
    whole = sum(len(each.questions) for each in conversations)
    async for conversation, home in open_homes(conversations, options, clock, progress):
        report.model = home.embedding.model
        words, sessions = BM25(conversation.passages), conversation.number_sessions()
        for question in conversation.questions:
            also = options.queries_for(question)
            answer = await home.recall(question, options.budget, _MOST, reranker=judge, also=also)
            rankings: dict[str, Sequence[str]] = {"recall": answer.ranking, "bm25": words.rank(question.text, _MOST)}
            if also:
                rankings[ONE_QUERY] = (await home.recall(question, options.budget, _MOST, reranker=judge)).ranking
            if report.model:
                rankings["dense"] = home.nearest(question.text, _MOST)
            lost = explain_misses(home, question, answer, _MOST)
            row = _row(question, rankings, answer, lost, sessions)
            if question.by_words:
                shown = (await home.recall(question, 0, 0, reranker=judge, also=also)).ranking
                row = replace(row, needed=_measure_needed(question, answer.ranking, shown))
            report.rows.append(row)
            progress(conversation.name, len(report.rows), whole)
    return report


def _measure_needed(question: Question, ranking: Sequence[str], shown: Sequence[str]) -> dict[int, float]:
    """Return `QuestionResult.needed`. shown: what a chat is shown."""
    wanted = set(question.by_words)
    first = {depth: ranking[:depth] for depth in DEPTHS} | {0: shown}
    return {depth: len(wanted.intersection(some)) / len(wanted) for depth, some in first.items()}


def _row(
    question: Question,
    rankings: Mapping[str, Sequence[str]],
    answer: RecallAnswer,
    lost: tuple[MissedPassage, ...],
    sessions: Mapping[str, int],
) -> QuestionResult:
    scored = {
        name: score_ranking(ranking, question.gold, question.category, sessions)
        for name, ranking in rankings.items()
        if question.gold
    }
    lines = [each.line for each in answer.pack.shown]
    return QuestionResult(
        question,
        scored,
        answer.pack.tokens,
        sum(map(len, lines)),
        answer.seconds,
        answer.pack.level,
        lost,
        answer.explained_ranking,
    )
