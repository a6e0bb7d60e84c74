"""`python -m bench.learn_worth_noting`: which sentences are worth a note, learned.

From 8,281 sentences and passages of invented people in `bench/statements`, a file for each writer: `+`, a tab and what
a careful person would note, or `-`, a tab and what nobody would look up again. What is printed is of weights that have
not seen the writer; then all of it is learned, and written to `worth_noting.bin`. Logistic regression by AdaGrad (Duchi
et al., 2011), with the same seed each time.
"""

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.regression import Floats
from kenobot.language.statements import worth_noting
from kenobot.language.statements.worth_noting import BUCKETS, LEAST, SCALE, hash_features

DATA = Path(__file__).with_name("statements")
_SEED = 7
_STEP, _PULL = 0.5, 1e-4
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an invented person, by its hashes, and whether it is worth a note."""

    features: tuple[int, ...]
    noted: bool
    writer: str


def load_statements() -> list[Statement]:
    """Load the sentences of all writers."""
    return [
        Statement(tuple(sorted(hash_features(line[2:]))), line.startswith("+"), path.stem)
        for path in sorted(DATA.glob("*.tsv"))
        for line in path.read_text("utf-8").splitlines()
    ]


def learn(statements: Sequence[Statement]) -> Floats:
    """The weights of the hashes."""
    weights, squares = np.zeros(BUCKETS), np.full(BUCKETS, 1e-8)
    rows = [np.array(each.features) for each in statements]
    order, seeded = list(range(len(rows))), random.Random(_SEED)
    for _ in range(_ROUNDS):
        seeded.shuffle(order)
        for at in order:
            row, part = rows[at], 1 / math.sqrt(len(rows[at]))
            slope = (_likely(weights[row].sum() * part) - statements[at].noted) * part + _PULL * weights[row]
            squares[row] += slope * slope
            weights[row] -= _STEP * slope / np.sqrt(squares[row])
    return weights


def judge(statements: Sequence[Statement]) -> Iterator[str]:
    """How well weights that have not seen a writer know what of theirs is worth a note: a line for each."""
    for writer in sorted({each.writer for each in statements}):
        weights = learn([each for each in statements if each.writer != writer])
        own = [each for each in statements if each.writer == writer]
        likely = [_likely(weights[list(each.features)].sum() / math.sqrt(len(each.features))) for each in own]
        taken = [each.noted for each, sure in zip(own, likely, strict=True) if sure >= LEAST]
        share = sum(taken) / sum(each.noted for each in own)
        right = sum(taken) / max(1, len(taken))
        yield f"{writer:12} {len(own)} sentences: {share:.0%} of what is worth it noted, {right:.0%} of notes right"


def _likely(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_worth_noting", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    dry = parser.parse_args().dry
    statements = load_statements()
    for line in judge(statements):
        print(line, flush=True)
    if not dry:
        rounded = np.clip(np.round(learn(statements) * SCALE), -127, 127).astype(np.int8)
        Path(worth_noting.__file__).with_name(worth_noting.FILE).write_bytes(rounded.tobytes())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
