"""`python -m bench.learn_likely_change`: which memory a message probably changes, learned for a question to the person.

From 2,760 pairs in `bench/ends`, among memories of other pairs of the same writer; from the sentences in
`bench/statements`, which change nothing of what others of their writer say; and from the fortnights of 28 people of
`kenobot bench life`, as the rules read them. The eight of `--learned --kept-back` judge. What is printed is of weights
that have not seen the writer; then all of it is learned, and written to `likely_change.bin`. A softmax over the
memories and "none", by AdaGrad (Duchi et al., 2011), with the same seed each time.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import ends, learn_worth_noting
from bench.learn_confidence import Floats
from kenobot.cognitive.remember.extract import likely_change
from kenobot.cognitive.remember.extract.heuristic import Message, read_messages
from kenobot.cognitive.remember.extract.likely_change import (
    BUCKETS,
    PAIR_WEIGHT,
    SCALE,
    StandingStatement,
    memory_features,
    pair_features,
    telling_features,
    tellings,
)
from kenobot.cognitive.remember.extract.sentence_core import question_in
from kenobot.evals.life import fortnights
from kenobot.evals.life.fortnights import Fortnight, load_fortnight

_SEED = 7
_STEP, _PULL = 0.15, 3e-5
_ROUNDS = 8
_TOGETHER = 16  # messages that one step learns from
_AMONG = 9  # memories of others that stand beside those of a pair
_AMONG_MOST = 14  # beside a statement, at most
_LIVES_WEIGH = 4  # how often a fortnight is learned from
_SAID = date(2026, 9, 15)
_SOUND_ALIKE = ("7", "8")  # files whose writers tried to have a change and a mere remark sound alike, as few chats do
_FOLDS = 4
_LEVELS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
_PEOPLE = (
    *(*fortnights.PEOPLE, *fortnights.KEPT_BACK, *fortnights.OF_CHANGES),
    *(*fortnights.EVERYDAY, *fortnights.EVERYDAY_KEPT_BACK),
    *(*fortnights.STRANGERS, *fortnights.STRANGERS_KEPT_BACK, *fortnights.LEARNED),
)

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """A message beside memories, by features. changed: the places of those that it changes.

    A row is a telling beside a memory: `rows` has the row of each feature, `tellings` each telling's own hashes.
    """

    tellings: tuple[Places, ...]
    places: Places
    weights: Floats
    rows: Places
    memories: int
    changed: frozenset[int]
    writer: str


def example(
    message: str, said: date, standing: Sequence[StandingStatement], changed: frozenset[int], writer: str
) -> Example:
    """Build an example; the features of its rows lie one behind another."""
    told = tellings(message)
    pairs = list[list[tuple[int, float]]]()
    for telling in told:
        for each, pair in zip(standing, pair_features(telling, said, standing), strict=True):
            own = memory_features(each.text)
            weight = 0.5 / math.sqrt(max(1, len(own)))
            pairs.append([*((place, PAIR_WEIGHT) for place in pair), *((place, weight) for place in own)])
    return Example(
        tuple(np.array(sorted(telling_features(telling))) for telling in told),
        np.array([place for pair in pairs for place, _ in pair], dtype=np.int32),
        np.array([weight for pair in pairs for _, weight in pair], dtype=np.float32),
        np.repeat(np.arange(len(pairs), dtype=np.int32), [len(pair) for pair in pairs]),
        len(standing),
        changed,
        writer,
    )


def load_pairs(chance: random.Random) -> Iterator[Example]:
    """Iterate over the pairs, each among memories of other pairs of its writer."""
    for path in ends.files():
        if path.stem.endswith(_SOUND_ALIKE):
            continue
        pairs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        pool = sorted({note for pair in pairs for note in pair["notes"]})
        for pair in pairs:
            others = [note for note in chance.sample(pool, _AMONG) if note not in pair["notes"]]
            notes = [(note, at == pair["ends"]) for at, note in enumerate(pair["notes"])]
            mixed = notes + [(note, False) for note in others]
            chance.shuffle(mixed)
            changed = frozenset(at for at, (_, is_changed) in enumerate(mixed) if is_changed)
            yield example(pair["says"], _SAID, [StandingStatement(note) for note, _ in mixed], changed, path.stem)


def load_statements(chance: random.Random) -> Iterator[Example]:
    """Iterate over sentences that change nothing, each beside others of its writer that are worth a note."""
    for path in sorted(learn_worth_noting.DATA.glob("*.tsv")):
        lines = path.read_text("utf-8").splitlines()
        pool = [line[2:] for line in lines if line.startswith("+")]
        for line in lines:
            number = min(len(pool), chance.randrange(4, _AMONG_MOST))
            others = [note for note in chance.sample(pool, number) if note != line[2:]]
            yield example(line[2:], _SAID, [StandingStatement(note) for note in others], frozenset(), f"st {path.stem}")


def load_life(fortnight: Fortnight) -> Iterator[Example]:
    """Iterate over the messages of a fortnight, each beside what the rules noted of those before it."""
    noted: list[StandingStatement] = []
    for at, said in enumerate(fortnight.utterances):
        changed = frozenset(
            place
            for place, each in enumerate(noted)
            if any(fact.is_in(each.text) and fact.due in ("", each.due) for fact in said.ends)
        )
        if noted and not question_in(said.text):
            yield example(said.text, said.at.date(), noted, changed, fortnight.name)
        noted = [each for place, each in enumerate(noted) if place not in changed]
        before = fortnight.utterances[at - 1].text if at else ""
        for fact in read_messages([Message(said.text, said.at.date(), 1, before)], ()):
            noted.append(StandingStatement(fact.text, dict(fact.attributes).get("due", ""), fact.category))


def learn(examples: Sequence[Example]) -> Floats:
    """The weights: of messages, then of pairs."""
    weights, squares = np.zeros(2 * BUCKETS), np.full(2 * BUCKETS, 1e-3)
    order, seeded = list(range(len(examples))), random.Random(_SEED)
    for _ in range(_ROUNDS):
        seeded.shuffle(order)
        for start in range(0, len(order), _TOGETHER):
            slope = np.zeros(2 * BUCKETS)
            for at in order[start : start + _TOGETHER]:
                _add_slope(slope, weights, examples[at])
            slope += _PULL * weights * (slope != 0)
            squares += slope * slope
            weights -= _STEP * slope / np.sqrt(squares)
    return weights


def _add_slope(slope: Floats, weights: Floats, each: Example) -> None:
    wrong = _odds(weights, each)
    if each.changed:  # any of those that it changes is as good as another, in any of its tellings
        places = [at + row for row in range(0, len(wrong), each.memories) for at in each.changed]
        wrong[places] -= wrong[places] / wrong[places].sum()
    np.add.at(slope, each.places, each.weights * wrong[each.rows])
    for told, row in zip(each.tellings, range(0, len(wrong), each.memories), strict=True):
        slope[told] += wrong[row : row + each.memories].sum() / math.sqrt(len(told))


def odds(weights: Floats, each: Example) -> Floats:
    """How probably a message changes each of the memories beside it."""
    found: Floats = _odds(weights, each).reshape(-1, each.memories).sum(axis=0)
    return found


def _odds(weights: Floats, each: Example) -> Floats:
    """The odds of each row."""
    shared = [weights[told].sum() / math.sqrt(len(told)) for told in each.tellings]
    number = len(shared) * each.memories
    logits = np.bincount(each.rows, weights[each.places] * each.weights, number) + np.repeat(shared, each.memories)
    most = max(0.0, float(logits.max()))
    found: Floats = np.exp(logits - most)
    likely: Floats = found / (found.sum() + math.exp(-most))
    return likely


def judge(pairs: Sequence[Example], others: Sequence[Example], lives: Sequence[Example]) -> Iterator[str]:
    """How well weights know the changes of writers whom they have not seen: a line for each level of odds."""
    writers = sorted({each.writer for each in (*pairs, *lives)})
    fold = {writer: at % _FOLDS for at, writer in enumerate(writers)}
    found: list[tuple[Example, Floats]] = []
    for number in range(_FOLDS):
        seen = [each for each in pairs if fold[each.writer] != number]
        lived = [each for each in lives if fold[each.writer] != number]
        weights = learn([*seen, *others, *lived * _LIVES_WEIGH])
        found += [(each, odds(weights, each)) for each in (*pairs, *lives) if fold[each.writer] == number]
    for name, own in (("bench/ends", pairs), ("fortnights", lives)):
        known = {id(each) for each in own}
        told = [(each, likely) for each, likely in found if id(each) in known]
        for level in _LEVELS:
            yield f"{name:10} from {level}: {_asked(told, level)}"


def _asked(told: Sequence[tuple[Example, Floats]], level: float) -> str:
    asked = [(each, int(likely.argmax())) for each, likely in told if likely.max() >= level]
    right = sum(place in each.changed for each, place in asked)
    changes = sum(bool(each.changed) for each, _ in told)
    share = f"{right} of {changes} changes asked about ({right / max(1, changes):.0%})"
    return f"{share}, {right / max(1, len(asked)):.0%} of {len(asked)} questions right, in {len(told)} messages"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_likely_change", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    parser.add_argument("--quick", action="store_true", help="print nothing of unseen writers, and only learn")
    arguments = parser.parse_args()
    chance = random.Random(_SEED)
    pairs, others = list(load_pairs(chance)), list(load_statements(chance))
    lives = [each for name in _PEOPLE for each in load_life(load_fortnight(name))]
    if not arguments.quick:
        for line in judge(pairs, others, lives):
            print(line, flush=True)
    if not arguments.dry:
        weights = learn([*pairs, *others, *lives * _LIVES_WEIGH])
        rounded = np.clip(np.round(weights * SCALE), -127, 127).astype(np.int8)
        Path(likely_change.__file__).with_name(likely_change.FILE).write_bytes(rounded.tobytes())
        kept_back = [each for name in fortnights.LEARNED_KEPT_BACK for each in load_life(load_fortnight(name))]
        told = [(each, odds(rounded / SCALE, each)) for each in kept_back]
        for level in _LEVELS:
            print(f"kept back from {level}: {_asked(told, level)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
