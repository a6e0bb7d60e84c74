"""What an expert of the night adds to the rules: pairs and errors judged by rules, and with a careful model's answers.

`python -m bench.experts` tells memories as a person does, has the passes of sleep judge them, and prints how many came
out as `experts.toml` says, by kind. The model's answers are the data's own: the gain is what such a model can add.
"""

import argparse
import asyncio
import json
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.sleep import night
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records
from kenobot.core import lazy
from kenobot.ports.clock import SystemClock
from kenobot.storage.connection import Connection
from kenobot_evals.recall.datasets import Conversation, Passage
from kenobot_evals.recall.eval_home import EvalHome, build_embedder, open_eval_home

_PAIR = lazy.regex(r"Pair (\d+), about [^\n]*:\n> ([^\n]*)\n> ([^\n]*)")
_ENTRY = lazy.regex(r"^\[(\d+)\] > (.*)$")
_TOLD = datetime(2026, 3, 2, 9, tzinfo=UTC)
_NIGHT = _TOLD + timedelta(hours=18)
_UTC = ZoneInfo("UTC")

Answer = Callable[[ModelQuestion], str]
Outcome = Mapping[str, Counter[bool]]
"""How many came out right and wrong, by kind."""


@dataclass(frozen=True, slots=True)
class Data:
    """pairs: with their relation. errors: with their class."""

    pairs: Sequence[tuple[str, str, str]]
    errors: Sequence[tuple[str, str]]


def load() -> Data:
    """Load `experts.toml`."""
    found = tomllib.loads(Path(__file__).with_name("experts.toml").read_text("utf-8"))
    return Data([(a, b, kind) for a, b, kind in found["pairs"]], [(text, kind) for text, kind in found["errors"]])


def answer_pairs(data: Data, question: ModelQuestion) -> str:
    """Answer as a careful model would; pairs of different entries have nothing to do with each other."""
    known = {frozenset((one, other)): kind for one, other, kind in data.pairs}
    given = [
        {"pair": int(number), "relation": known.get(frozenset((one, other)), "independent")}
        for number, one, other in _PAIR.findall(question.text)
    ]
    return json.dumps({"pairs": given})


def answer_errors(data: Data, question: ModelQuestion) -> str:
    """Answer as a careful model would."""
    known = dict(data.errors)
    found = (_ENTRY.match(line) for line in question.text.splitlines())
    return json.dumps({"entries": [{"entry": int(each[1]), "class": known[each[2]]} for each in found if each]})


@dataclass(frozen=True, slots=True)
class _Told:
    """What became of each text: whether it stands, undisputed, in a record of its own; and the tags of its record."""

    stands: Mapping[str, bool]
    tags: Mapping[str, Sequence[str]]


async def _judged(texts: Sequence[str], passes: Sequence[Pass], answer: Answer | None, embedder: str) -> _Told:
    """Tell the texts, one after the other, and have the passes judge them; what became of each."""
    units = tuple(Passage(f"{at}", text, _TOLD + timedelta(minutes=at), kind="note") for at, text in enumerate(texts))
    talk, clock = Conversation("told", units, ()), SystemClock()
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as name:
        model = build_embedder(embedder, Path(name), clock)
        async with open_eval_home(talk, Path(name), model, clock, lambda *_: None) as home:
            for one in passes:
                await home.database.write(partial(_carry_out, home=home, one=one, answer=answer))
            return await home.database.read(partial(_told, home=home))


def _carry_out(connection: Connection, home: EvalHome, one: Pass, answer: Answer | None) -> None:
    near = home.index.vectors.nearest_to_record if home.index.vectors is not None else None
    asked = answer is not None
    view = NightView(connection, _NIGHT, _UTC, _TOLD, model_available=asked, find_neighbours=near)
    answers = {each.key: answer(each) for each in one.questions(view)} if answer is not None else {}
    for change in list(one.plan(replace(view, answers=answers))):
        apply_change(connection, change, PassContext(1, one.name, _NIGHT, _UTC))


def _told(connection: Connection, home: EvalHome) -> _Told:
    found = {key: records.require(connection, number, "owner") for number, key in home.record_keys.items()}
    stands = {key: each.status == "active" and each.verification != "disputed" for key, each in found.items()}
    return _Told(stands, {key: json.loads(each.tags) for key, each in found.items()})


async def judge_pairs(data: Data, embedder: str, *, asked: bool) -> Outcome:
    """Return how pairs came out: those that are one or against each other do not both stand, the others do."""
    outcome = {kind: Counter[bool]() for _, _, kind in data.pairs}
    texts = [text for one, other, _ in data.pairs for text in (one, other)]
    answer = partial(answer_pairs, data) if asked else None
    told = await _judged(texts, (pair_review.DUPLICATES, pair_review.CONTRADICTIONS), answer, embedder)
    for at, (_, _, kind) in enumerate(data.pairs):
        both = all(told.stands.get(str(2 * at + side), False) for side in (0, 1))
        outcome[kind][both == (kind == "independent")] += 1
    return outcome


async def judge_errors(data: Data, embedder: str, *, asked: bool) -> Outcome:
    """Return how errors came out: by the class that they are tagged with."""
    outcome = {kind: Counter[bool]() for _, kind in data.errors}
    answer = partial(answer_errors, data) if asked else None
    told = await _judged([text for text, _ in data.errors], night.ERROR_ANALYZER, answer, embedder)
    for at, (_, kind) in enumerate(data.errors):
        given = [tag.removeprefix("error:") for tag in told.tags.get(str(at), ()) if tag.startswith("error:")]
        outcome[kind][(given or ["none"])[0] == kind] += 1
    return outcome


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="auto", help="as memory.embedder (auto)")
    embedder, data = parser.parse_args().embedder, load()
    print("| what | entries | right by rules | right with a careful model |\n|---|---|---|---|")
    for name, judge in (("pairs", judge_pairs), ("errors", judge_errors)):
        rules, model = await judge(data, embedder, asked=False), await judge(data, embedder, asked=True)
        for kind in rules:
            entries = rules[kind].total()
            print(f"| {name}: {kind} | {entries} | {rules[kind][True]} | {model[kind][True]} |")


if __name__ == "__main__":
    asyncio.run(main())
