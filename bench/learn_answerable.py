"""`python -m bench.learn_answerable`: when what was found answers the question, learned.

From the people of `bench.unknown` and the fortnights of `kenobot bench life`, but for those who judge, and the notes
that ship: each of the first memories or turns shown for a question is an example, and answers it or not. Logistic
regression, by Newton's method; what comes near a question that nothing answers counts three times, for what else is
shown beside an answer is easily told. The vector of the question is weighed by its main axes. What is printed is of
weights that have not seen the person, or the note that answers; by those is chosen from which odds on a question counts
as answered, so that of questions whose answer is shown hardly more than `_MOST_DENIED` are denied. Then all of it is
learned, and written to `answerable.json`.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.learn_confidence import Floats, fit_by_newton
from bench.unknown import CHATS, EMBEDDERS, FOLDS, ask, ask_in_chat, digest, judges, people
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.search import answerable
from kenobot.evals.recall import datasets
from kenobot.evals.recall.metrics import roc_auc

_NEAR_MISS = 3.0  # what an item found for a question without an answer counts
_PULL = 10.0  # towards nothing
_AXES = 32
_MOST_DENIED = 0.06
"""Of questions with an answer, the share that is denied though it is shown, on the mean of people and chats."""

_CURVE = (0.02, 0.04, 0.06, 0.08)
_JUDGED_BY = ("people", "chats")


@dataclass(frozen=True, slots=True)
class Example:
    """A question: the features of each item found, and which of them answer it.

    answered, shown: something told answers it, and is among what is shown. lacking: the rules say that none holds the
    type of answer. before: it was told as unknown without what is learned here. fold: of those learned without it.
    """

    source: str
    features: Floats
    answers: Floats
    row: Floats
    answered: bool
    shown: bool
    lacking: bool
    before: bool
    fold: int


@dataclass(frozen=True, slots=True)
class QuestionWeights:
    """Weights of features, of the numbers of a question's vector, and of "always"."""

    features: Floats
    vector: Floats
    always: float

    def score(self, example: Example) -> float:
        """The odds that a question is answered, as their logarithm."""
        return float((example.features @ self.features).max() + example.row @ self.vector + self.always)


async def examples(embedder: str, vectors: Path | None) -> tuple[str, list[str], list[Example]]:
    """The model, the names of the features, and the examples of one embedder."""
    everybody = people()
    judging = judges(everybody)
    learned_from = [each for each in everybody if each.name not in judging]
    sets = {"people": ask(learned_from, embedder, vectors), "chats": ask_in_chat(CHATS, embedder)}
    if embedder != "none":  # by words alone hardly anything of the notes is found
        sets["own"] = ask(datasets.load("own"), embedder, vectors, by_note=True)
    found: list[Example] = []
    model, names = "", list[str]()
    for source, played in sets.items():
        async for asked in played:
            seen = asked.trace.judged
            if seen is None:
                continue
            features = answerable.item_features(seen.judged)
            model, names = seen.model, list(features[0])
            found.append(
                Example(
                    source,
                    np.array([list(each.values()) for each in features]),
                    np.array([float(key in asked.answering) for key in seen.keys]),
                    np.zeros(0) if seen.row is None else np.array(seen.row, np.float64),
                    asked.answered,
                    bool(asked.answering),
                    seen.judged.lacking,
                    seen.judged.lacking or _is_doubted(seen.judged.likely),
                    digest(asked.apart) % FOLDS,
                )
            )
    return model, names, found


def learn(some: Sequence[Example]) -> QuestionWeights:
    """Learn the weights."""
    rows = np.array([each.row for each in some])
    middle = rows.mean(0)
    axes = np.linalg.svd(rows - middle, full_matrices=False)[2][:_AXES] if rows.shape[1] else np.zeros((0, 0))
    table = np.vstack(
        [np.hstack([each.features, np.tile(each.row @ axes.T, (len(each.features), 1))]) for each in some]
    )
    truth = np.concatenate([each.answers for each in some])
    share = np.concatenate([np.full(len(each.answers), 1.0 if each.answered else _NEAR_MISS) for each in some])
    plain, always = fit_by_newton(table, truth, share, _PULL)
    count = len(plain) - len(axes)
    vector = plain[count:] @ axes if len(axes) else np.zeros(rows.shape[1])
    return QuestionWeights(plain[:count], vector, always)


def cross_validate(all_examples: Sequence[Example]) -> Floats:
    """The odds of each question by weights that have not seen its fold."""
    found = np.zeros(len(all_examples))
    for fold in range(FOLDS):
        learned = learn([each for each in all_examples if each.fold != fold])
        for at, each in enumerate(all_examples):
            if each.fold == fold:
                found[at] = learned.score(each)
    return found


def _is_doubted(likely: float | None) -> bool:
    return likely is not None and likely < DEFAULT.recall.none_below


def denied_though_shown(odds: Floats, some: Sequence[Example], least: float) -> dict[str, float]:
    """Of the questions of each set with an answer, the share that is denied though what answers is shown."""
    found = dict[str, float]()
    for source in dict.fromkeys(each.source for each in some):
        mine = [(each, value) for each, value in zip(some, odds, strict=True) if each.source == source]
        denied = sum(each.shown and (each.lacking or value < least) for each, value in mine)
        found[source] = denied / max(1, sum(each.answered for each, _ in mine))
    return found


def least_odds(odds: Floats, some: Sequence[Example], most_denied: float = _MOST_DENIED) -> float:
    """The odds below which a question counts as unanswered: the highest at which so many are denied, at most."""
    shown = sorted(
        {float(value) for each, value in zip(some, odds, strict=True) if each.shown and each.source in _JUDGED_BY}
    )
    low, high = 0, len(shown) - 1
    while low < high:
        middle = (low + high + 1) // 2
        denied = denied_though_shown(odds, some, shown[middle])
        share = [denied[source] for source in _JUDGED_BY if source in denied]
        low, high = (middle, high) if sum(share) <= most_denied * len(share) else (low, middle - 1)
    return shown[low]


def report(odds: Floats, some: Sequence[Example], least: float) -> str:
    """How well questions with an answer are told from those without, for each set, and as it was before."""
    lines = []
    denied = denied_though_shown(odds, some, least)
    for source, share in denied.items():
        mine = [(each, value) for each, value in zip(some, odds, strict=True) if each.source == source]
        right = [(each, value) for each, value in mine if each.answered]
        wrong = [(each, value) for each, value in mine if not each.answered]
        area = roc_auc([value for _, value in right], [value for _, value in wrong])
        shares = [
            f"{what} {sum(each.lacking or value < least for each, value in which) / len(which):.1%} of {len(which)} "
            f"(before {sum(each.before for each, _ in which) / len(which):.1%})"
            for what, which in (("denied", right), ("told unknown", wrong))
        ]
        lines.append(f"{source}: area under the curve {area:.3f}; {'; '.join(shares)}; though shown {share:.1%}")
    return "\n  ".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_answerable", description=__doc__)
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--embedder", choices=EMBEDDERS, help="of this only, and keep the weights of the other")
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    arguments = parser.parse_args()
    file = Path(answerable.__file__).with_name("answerable.json")
    weights: dict[str, object] = json.loads(file.read_text("utf-8"))["weights"] if arguments.embedder else {}
    for embedder in [arguments.embedder] if arguments.embedder else EMBEDDERS:
        model, names, found = asyncio.run(examples(embedder, arguments.vectors))
        odds = cross_validate(found)
        least = least_odds(odds, found)
        for share in _CURVE:
            at = least_odds(odds, found, share)
            chosen = " (chosen)" if share == _MOST_DENIED else ""
            print(f"{model}, {share:.0%} denied though shown{chosen}\n  {report(odds, found, at)}", flush=True)
        learned = learn(found)
        weights[model] = {
            "always": round(learned.always, 4),
            "least": round(least, 4),
            "features": {name: round(float(each), 4) for name, each in zip(names, learned.features, strict=True)},
            "vector": [round(float(each), 3) for each in learned.vector],
        }
    if not arguments.dry:
        text = json.dumps({"made": "python -m bench.learn_answerable", "weights": weights})
        file.write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
