"""`python -m bench.learn_likely_change`: which memory a message probably changes, learned for a question to the person.

From the pairs in `bench/ends`, among memories of other pairs of the same writer; from the sentences in
`bench/statements`, which change nothing of what others of their writer say; and, as the rules read them, from the
fortnights of 28 people of `kenobot bench life` and the dialogues of `kenobot bench life --harm`. The eight of
`--learned --kept-back` judge. What is printed is of weights that have not seen the writer; then all of it is learned,
and written to `likely_change.bin`. A softmax over the memories and "none", by AdaGrad (Duchi et al., 2011), with the
same seed each time.
"""

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench import learn_worth_noting
from bench.regression import Floats
from kenobot.language.changes import likely_change
from kenobot.language.changes.change_signs import is_telling
from kenobot.language.changes.likely_change import (
    BUCKETS,
    PAIR_WEIGHT,
    SCALE,
    WORD_PAIRS,
    LikelyChange,
    StandingStatement,
    memory_features,
    pair_features,
    telling_features,
    tellings,
    with_names,
    word_pair_features,
)
from kenobot.language.facts.heuristic import Message, read_messages
from kenobot.language.sentences import begins_with
from kenobot.language.statements.sentence_core import question_in
from kenobot_evals.life import fortnights
from kenobot_evals.life.fortnights import Fortnight, load_fortnight
from kenobot_evals.life.harm import Dialogue, load_harm

_SEED = 7
_STEP, _PULL = 0.15, 3e-5
_ROUNDS = 5
_TOGETHER = 16  # messages that one step learns from
_AMONG = (0, 0, 2, 5, 9, 9, 20, 40)  # memories of others that stand beside those of a pair
_BESIDE = (2, 4, 8, 14, 30)  # beside a statement
_TIMES = {"pair": 1, "statement": 1, "life": 2, "dialogue": 4, "harm": 6, "home": 3}  # how often each is learned from
_SAID = date(2026, 9, 15)
_FOLDS = 4
_LEVELS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7)
_WEIGH = {"pair": 0.1, "statement": 0.05, "life": 0.5, "dialogue": 1.5, "harm": 3.0, "home": 1.0}  # in the regression
_RIDGE, _FREE = 2.0, 0.05  # pull on the weights of signs, and on that of what the softmax says
_LEAST = 5  # examples that a sign must be of
_IN_A_HOME = 40  # dialogues
_PARTS = 5  # of the writers
_NEWTON = 20  # steps
HARM = sorted((Path(fortnights.__file__).parent / "data").glob("harm_*.toml"))
"""The dialogues of `kenobot bench life --harm`."""
_DIALOGUES = ("develop", "near-develop", "ended-develop", "events-develop", "misses-develop")
_PEOPLE = (
    *(*fortnights.PEOPLE, *fortnights.KEPT_BACK, *fortnights.OF_CHANGES),
    *(*fortnights.EVERYDAY, *fortnights.EVERYDAY_KEPT_BACK),
    *(*fortnights.STRANGERS, *fortnights.STRANGERS_KEPT_BACK, *fortnights.LEARNED),
)

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """A message beside memories, and their features. changed: the places of those that it changes. kind: see `_WEIGH`.

    A row is a telling beside a memory: `rows` has the row of each feature, `tellings` each telling's own hashes.
    """

    message: str
    standing: tuple[StandingStatement, ...]
    tellings: tuple[Places, ...]
    places: Places
    weights: Floats
    rows: Places
    changed: frozenset[int]
    writer: str
    kind: str

    @property
    def memories(self) -> int:
        return len(self.standing)


@dataclass(frozen=True, slots=True)
class Judged:
    """An example, the memory that the softmax chose, by which sentence of the message, and the signs of both."""

    example: Example
    place: int
    telling: str
    signs: dict[str, float]

    @property
    def is_right(self) -> bool:
        return self.place in self.example.changed


def example(
    message: str, said: date, standing: Sequence[StandingStatement], changed: frozenset[int], writer: str, kind: str
) -> Example:
    """Build an example; the features of its rows lie one behind another."""
    told, standing = tellings(message), with_names(standing)
    pairs = list[list[tuple[int, float]]]()
    for telling in told:
        for each, pair in zip(standing, pair_features(telling, said, standing), strict=True):
            own = memory_features(each.read_text)
            weight = 0.5 / math.sqrt(max(1, len(own)))
            words = word_pair_features(telling, each.read_text)
            by_words = [(place, 1 / math.sqrt(len(words))) for place in words]
            pairs.append([*((place, PAIR_WEIGHT) for place in pair), *((place, weight) for place in own), *by_words])
    return Example(
        message,
        tuple(standing),
        tuple(np.array(sorted(telling_features(telling))) for telling in told),
        np.array([place for pair in pairs for place, _ in pair], dtype=np.int32),
        np.array([weight for pair in pairs for _, weight in pair], dtype=np.float32),
        np.repeat(np.arange(len(pairs), dtype=np.int32), [len(pair) for pair in pairs]),
        changed,
        writer,
        kind,
    )


def load_pairs(chance: random.Random) -> Iterator[Example]:
    """Iterate over the pairs, each among memories of other pairs of its writer."""
    for path in sorted((Path(__file__).parent / "ends").glob("*.jsonl")):
        pairs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        pool = sorted({note for pair in pairs for note in pair["notes"]})
        for pair in pairs:
            others = [note for note in chance.sample(pool, chance.choice(_AMONG)) if note not in pair["notes"]]
            notes = [(note, at == pair["ends"]) for at, note in enumerate(pair["notes"])]
            mixed = notes + [(note, False) for note in others]
            chance.shuffle(mixed)
            changed = frozenset(at for at, (_, is_changed) in enumerate(mixed) if is_changed)
            yield example(
                pair["says"], _SAID, [StandingStatement(note) for note, _ in mixed], changed, path.stem, "pair"
            )


def load_statements(chance: random.Random) -> Iterator[Example]:
    """Iterate over sentences that change nothing, each beside others of its writer that are worth a note."""
    for path in sorted(learn_worth_noting.DATA.glob("*.tsv")):
        lines = path.read_text("utf-8").splitlines()
        pool = [line[2:] for line in lines if line.startswith("+")]
        for line in lines:
            number = min(len(pool), chance.choice(_BESIDE))
            others = [note for note in chance.sample(pool, number) if note != line[2:]]
            standing = [StandingStatement(note) for note in others]
            yield example(line[2:], _SAID, standing, frozenset(), f"st {path.stem}", "statement")


def load_lives() -> Iterator[Example]:
    """Iterate over the messages of the fortnights and short dialogues that weights are learned from."""
    for name in _PEOPLE:
        yield from load_life(load_fortnight(name))
    for part in _DIALOGUES:
        for dialogue in fortnights.load_dialogues(part):
            yield from load_life(dialogue, "dialogue")


def load_life(fortnight: Fortnight, kind: str = "life") -> Iterator[Example]:
    """Iterate over the messages of a fortnight, each beside what the rules noted of those before it."""
    noted: list[StandingStatement] = []
    for at, said in enumerate(fortnight.utterances):
        changed = frozenset(
            place
            for place, each in enumerate(noted)
            if any(fact.is_in(each.text) and fact.due in ("", each.due) for fact in said.ends)
        )
        if noted and not question_in(said.text):
            yield example(said.text, said.at.date(), noted, changed, fortnight.name, kind)
        noted = [each for place, each in enumerate(noted) if place not in changed]
        before = fortnight.utterances[at - 1].text if at else ""
        noted += _noted(said.text, said.at.date(), before)


def _noted(text: str, said: date, before: str) -> list[StandingStatement]:
    facts = read_messages([Message(text, said, 1, before)], ())
    return [StandingStatement(each.text, dict(each.attributes).get("due", ""), each.category) for each in facts]


def load_dialogues(paths: Sequence[Path]) -> Iterator[Example]:
    """Iterate over the messages of dialogues that no rule reads, each file by a writer of its own."""
    for path in paths:
        yield from _load_writer(load_harm([path]), path.stem)


def _load_writer(dialogues: Sequence[Dialogue], writer: str) -> Iterator[Example]:
    """Iterate over the messages of a writer's dialogues: each alone, the last ones also among many."""
    homes: list[list[tuple[int, int, StandingStatement]]] = []
    for number, dialogue in enumerate(dialogues):
        noted: list[tuple[int, int, StandingStatement]] = []
        for at, text in enumerate(dialogue.says, 1):
            before = dialogue.says[at - 2] if at > 1 else ""
            if noted and (made := _left_open(dialogue, at, noted, number, ("harm", writer))) is not None:
                yield made
            if at < len(dialogue.says):
                noted += [(number, at, each) for each in _noted(text, _SAID, before)]
        homes.append(noted)
    for start in range(0, len(dialogues), _IN_A_HOME):
        among = [each for noted in homes[start : start + _IN_A_HOME] for each in noted]
        for number in range(start, min(start + _IN_A_HOME, len(dialogues))):
            last = dialogues[number], len(dialogues[number].says)
            if (made := _left_open(*last, among, number, ("home", writer))) is not None:
                yield made


def _left_open(
    dialogue: Dialogue,
    at: int,
    noted: Sequence[tuple[int, int, StandingStatement]],
    number: int,
    source: tuple[str, str],
) -> Example | None:
    """A message of a dialogue beside memories; None where it asks, or a rule ends something by it.

    source: the kind and the writer of the example.
    """
    text, before = dialogue.says[at - 1], dialogue.says[at - 2]
    known = [each.text for _, _, each in noted]
    if question_in(text) or any(fact.verdicts for fact in read_messages([Message(text, _SAID, 1, before)], known)):
        return None
    is_last = at == len(dialogue.says)
    ended = [each.text for of, told, each in noted if is_last and of == number and told == dialogue.ends]
    changed = [
        place for place, text in enumerate(known) if any(text == over or begins_with(text, over) for over in ended)
    ]
    kind, writer = source
    return example(text, _SAID, [each for _, _, each in noted], frozenset(changed), writer, kind)


def learn(examples: Sequence[Example]) -> Floats:
    """The weights: of messages, of pairs, and of the words of both."""
    size = 2 * BUCKETS + WORD_PAIRS
    weights, squares = np.zeros(size), np.full(size, 1e-3)
    order, seeded = list(range(len(examples))), random.Random(_SEED)
    for _ in range(_ROUNDS):
        seeded.shuffle(order)
        for start in range(0, len(order), _TOGETHER):
            slopes = [_slope(weights, examples[at]) for at in order[start : start + _TOGETHER]]
            found = np.concatenate([place for place, _ in slopes]), np.concatenate([value for _, value in slopes])
            of_all = np.bincount(*found, minlength=size)
            places = np.flatnonzero(of_all)
            slope = of_all[places] + _PULL * weights[places]
            squares[places] += slope * slope
            weights[places] -= _STEP * slope / np.sqrt(squares[places])
    return weights


def _slope(weights: Floats, each: Example) -> tuple[Places, Floats]:
    """The slope of an example: the weights that it is of, and how much."""
    wrong = _odds(weights, each)
    if each.changed:  # any of those that it changes is as good as another, in any of its tellings
        places = [at + row for row in range(0, len(wrong), each.memories) for at in each.changed]
        wrong[places] -= wrong[places] / wrong[places].sum()
    found = [each.weights * wrong[each.rows]]
    for told, row in zip(each.tellings, range(0, len(wrong), each.memories), strict=True):
        found.append(np.full(len(told), wrong[row : row + each.memories].sum() / math.sqrt(len(told))))
    return np.concatenate([each.places, *each.tellings]), np.concatenate(found)


def _logits(weights: Floats, each: Example) -> Floats:
    """The logits of each row."""
    shared = [weights[told].sum() / math.sqrt(len(told)) for told in each.tellings]
    number = len(shared) * each.memories
    of_rows = np.bincount(each.rows, weights[each.places] * each.weights, number)
    found: Floats = of_rows + np.repeat(shared, each.memories)
    return found


def _odds(weights: Floats, each: Example) -> Floats:
    """The odds of each row."""
    logits = _logits(weights, each)
    most = max(0.0, float(logits.max()))
    found: Floats = np.exp(logits - most)
    likely: Floats = found / (found.sum() + math.exp(-most))
    return likely


def choose(weights: Floats, each: Example, meanings: Sequence[float] = ()) -> LikelyChange:
    """Choose the memory that a message most probably changes."""
    logits = list(_logits(weights, each))
    found: LikelyChange = likely_change.choose(tellings(each.message), logits, each.memories, meanings)
    return found


def signs_by_others(examples: Sequence[Example]) -> list[Judged]:
    """Judge examples by weights that have not seen their writers."""
    return [each for others, own in folds(examples) for each in _judged(learn(weighed(others)), own)]


def folds(examples: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """Iterate over parts of the writers: the examples of all others, and their own."""
    writers = sorted({each.writer for each in examples})
    writers.sort(key=lambda writer: writer in {path.stem for path in HARM})  # so that each part has as many of these
    fold = {writer: at % _FOLDS for at, writer in enumerate(writers)}
    for number in range(_FOLDS):
        others = [each for each in examples if fold[each.writer] != number]
        yield others, [each for each in examples if fold[each.writer] == number]


def weighed(examples: Sequence[Example]) -> list[Example]:
    return [each for each in examples for _ in range(_TIMES[each.kind])]


def _judged(weights: Floats, examples: Sequence[Example]) -> list[Judged]:
    chosen = [(each, choose(weights, each)) for each in examples]
    return [
        Judged(each, likely.place, likely.telling, likely_change.signs_of(likely, each.message, each.standing))
        for each, likely in chosen
    ]


def fit_signs(judged: Sequence[Judged]) -> dict[str, float]:
    """Fit the regression by Newton's method."""
    counts = Counter(name for each in judged for name in each.signs)
    names = sorted(name for name, count in counts.items() if count >= _LEAST)
    column = {name: at for at, name in enumerate(names)}
    values = np.zeros((len(judged), len(names)))
    for row, each in enumerate(judged):
        for name, value in each.signs.items():
            if name in column:
                values[row, column[name]] = value
    right = np.array([each.is_right for each in judged], dtype=float)
    weigh = np.array([_WEIGH[each.example.kind] for each in judged])
    pull = np.array([_FREE if name in ("logit", "always", "meaning") else _RIDGE for name in names])
    weights = np.zeros(len(names))
    for _ in range(_NEWTON):
        likely = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (weigh * (likely - right)) + pull * weights
        bend = (values * (weigh * likely * (1 - likely))[:, None]).T @ values + np.diag(pull)
        weights -= np.linalg.solve(bend, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def judge(judged: Sequence[Judged]) -> Iterator[str]:
    """Judge the dialogues, and fortnights, by regressions that have not seen them; a line for each level."""
    told: list[tuple[Judged, float]] = []
    for number in range(_PARTS):
        own = [each for each in judged if _part(each) == number]
        weights = fit_signs([each for each in judged if _part(each) != number])
        told += [(each, _sure(weights, each)) for each in own]
    for kind in ("harm", "home", "life"):
        of_kind = [(each, likely) for each, likely in told if each.example.kind == kind]
        for level in _LEVELS:
            yield f"{kind} from {level}: {_asked(of_kind, level)}"


def _part(judged: Judged) -> int:
    """The part of the writers of dialogues and fortnights that one is of; none of other examples."""
    is_judged = judged.example.kind in ("harm", "home", "life")
    return crc32(judged.example.writer.encode()) % _PARTS if is_judged else -1


def _sure(weights: dict[str, float], each: Judged) -> float:
    """How sure a question about what was chosen is; 0 where it is never put."""
    if not is_telling(each.example.message):
        return 0.0
    return 1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in each.signs.items())))


def _asked(told: Sequence[tuple[Judged, float]], level: float) -> str:
    asked = [each for each, likely in told if likely >= level]
    right = sum(each.is_right for each in asked)
    changes = sum(bool(each.example.changed) for each, _ in told)
    share = f"{right} of {changes} changes asked about ({right / max(1, changes):.0%})"
    return f"{share}, {right / max(1, len(asked)):.0%} of {len(asked)} questions right, in {len(told)} messages"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_likely_change", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    arguments = parser.parse_args()
    chance = random.Random(_SEED)
    dialogues = load_dialogues(HARM)
    examples = [*load_pairs(chance), *load_statements(chance), *load_lives(), *dialogues]
    weights, judged = learn(weighed(examples)), signs_by_others(examples)
    for line in judge(judged):
        print(line, flush=True)
    signs = fit_signs(judged)
    rounded = np.clip(np.round(weights * SCALE), -127, 127).astype(np.int8)
    if not arguments.dry:
        beside = Path(likely_change.__file__).with_name
        beside(likely_change.FILE).write_bytes(rounded.tobytes())
        told = json.dumps(signs, ensure_ascii=False, indent=0, sort_keys=True)
        beside(likely_change.SIGNS_FILE).write_text(f"{told}\n", "utf-8")
    kept_back = [each for name in fortnights.LEARNED_KEPT_BACK for each in load_life(load_fortnight(name))]
    found = [(each, _sure(signs, each)) for each in _judged(rounded / SCALE, kept_back)]
    for level in _LEVELS:
        print(f"kept back from {level}: {_asked(found, level)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
