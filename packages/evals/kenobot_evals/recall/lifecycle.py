"""`kenobot bench lifecycle`: whether memory says what is so now, and nothing that was taken back, as accuracy.

On the notes that ship, with a home for each of the two owners, through the doors that a person's orders use.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kenobot.cognitive.memory import AdmitContext, Memory
from kenobot.ports.clock import Clock
from kenobot_evals.recall.counting_reranker import CountingReranker
from kenobot_evals.recall.datasets import Conversation, Question, few_notes
from kenobot_evals.recall.eval_home import (
    BUDGET,
    SCOPES,
    SESSION,
    EvalHome,
    EvalOptions,
    ProgressCallback,
    RecallAnswer,
    open_homes,
)

_MOST = 12  # memories, as a chat is given
_ASKED = 5  # what is updated must be among so many
_FORGOTTEN = 12  # notes of each home that are forgotten
_SURE = ("abstention", "presence", "doubt", "trust", "unrelated")
_FEW = {"unrelated": "unrelated, few notes", "absent": "absent, few notes"}
_FOUND = "found, few notes"
_DOUBTED = ("none", "low")
_OTHERS = ("user:bench-2", "chat:bench-2")


@dataclass(slots=True)
class AreaScore:
    """wrong: the questions that were not answered as they should be."""

    area: str
    asked: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)  # bounded: the data of one run; turn

    def add(self, question: Question, *, right: bool) -> None:
        self.asked += 1
        self.right += right
        if not right:
            self.wrong.append(f"{question.id} {question.text}")


async def run(
    conversations: Sequence[Conversation],
    options: EvalOptions,
    clock: Clock,
    progress: ProgressCallback,
    judge: CountingReranker | None = None,
) -> list[AreaScore]:
    """Measure the accuracy in each area. judge: reads what was found, but for what was forgotten or is another's.

    Raises ConfigError when the embedder cannot be used here, and RemoteError when the judge cannot be asked.
    """
    names = ("update", "contradiction", "forgetting", "scope", *_SURE, *_FEW.values(), _FOUND)
    areas = {name: AreaScore(name) for name in names}
    async for conversation, home in open_homes(conversations, options, clock, progress):
        await _ask_all(home, conversation, areas, judge, partial(progress, conversation.name))
    small = [part for conversation in conversations for part in few_notes(conversation)]
    async for part, home in open_homes(small, options, clock, progress):
        await _ask_few(home, part, areas)
    return list(areas.values())


async def _ask_few(place: EvalHome, part: Conversation, areas: dict[str, AreaScore]) -> None:
    """Ask a small memory what it answers, and what has nothing to do with it."""
    for question in part.questions:
        answer = await place.recall(question, BUDGET, _MOST)
        if question.gold:
            areas[_FOUND].add(question, right=not {*question.gold}.isdisjoint(answer.ranking[:_ASKED]))
        elif (area := _FEW.get(question.category)) is not None:
            areas[area].add(question, right=not answer.pack.memories)


async def _ask_all(
    place: EvalHome,
    conversation: Conversation,
    areas: dict[str, AreaScore],
    judge: CountingReranker | None,
    tick: Callable[[int, int], None],
) -> None:
    replaced = {unit.key: unit.replaces for unit in conversation.passages if unit.replaces}
    whole = len(conversation.questions)
    for at, question in enumerate(conversation.questions):
        tick(at, whole)
        answer = await place.recall(question, BUDGET, _MOST, reranker=judge)
        if question.category == "unrelated":
            areas["unrelated"].add(question, right=not answer.pack.memories)
            continue
        if question.category == "nothing":
            areas["abstention"].add(question, right=answer.pack.level == "none")
            areas["doubt"].add(question, right=answer.pack.level in _DOUBTED)
            continue
        areas["presence"].add(question, right=answer.pack.level != "none")
        areas["trust"].add(question, right=answer.pack.level not in _DOUBTED)
        if (old := replaced.get(question.gold[0])) is not None:
            areas["update"].add(question, right=question.gold[0] in answer.ranking[:_ASKED])
            areas["contradiction"].add(
                question, right=old not in answer.ranking and not _says(answer, conversation, old)
            )
        other = await place.recall(question, BUDGET, _MOST, reach=_OTHERS)
        areas["scope"].add(question, right=not other.pack.memories and not other.pack.excerpts)
    await _forget(place, conversation, areas["forgetting"])


def _says(answer: RecallAnswer, conversation: Conversation, key: str) -> bool:
    """Return whether an answer shows the words of a note under whatever number."""
    text = next(unit.text for unit in conversation.passages if unit.key == key)
    return any(text in memory.line for memory in answer.pack.memories)


async def _forget(place: EvalHome, conversation: Conversation, area: AreaScore) -> None:
    """Forget the first notes that were found, and ask again."""
    asked: Sequence[Question] = [question for question in conversation.questions if question.gold]
    numbers = {key: number for number, key in place.record_keys.items()}
    for question in asked:
        if area.asked >= _FORGOTTEN * (1 + (conversation.name != "es")):
            return
        before = await place.recall(question, BUDGET, _MOST)
        if question.gold[0] not in before.ranking[:_ASKED]:
            continue
        occasion = AdmitContext(question.at, question.at.date().isoformat(), "owner", session=SESSION)
        work = partial(Memory.forget, number=numbers[question.gold[0]], reach=SCOPES, occasion=occasion)
        await place.database.write(work)
        after = await place.recall(question, BUDGET, _MOST)
        area.add(question, right=not _says(after, conversation, question.gold[0]))
