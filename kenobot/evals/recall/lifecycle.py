"""`kenobot bench lifecycle`: whether memory says what is so now, and nothing that was taken back, as accuracy.

On the notes that ship, with a home for each of the two owners, through the doors that a person's orders use.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.remember.occasion import Occasion
from kenobot.evals.recall.datasets import Conversation, Question, load, sample
from kenobot.evals.recall.judge import Judge
from kenobot.evals.recall.place import REACH, SESSION, Answer, Place, Tick, embedder_of, opened
from kenobot.evals.recall.run import BUDGET, Progress
from kenobot.ports.clock import Clock

_MOST = 12  # memories, as a chat is given
_ASKED = 5  # what is updated must be among so many
_FORGOTTEN = 12  # notes of each home that are forgotten
_SURE = ("abstention", "presence", "doubt", "trust")
_DOUBTED = ("none", "low")
_OTHERS = ("user:bench-2", "chat:bench-2")


@dataclass(slots=True)
class Area:
    """wrong: the questions that were not answered as they should be."""

    area: str
    asked: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    def note(self, question: Question, *, right: bool) -> None:
        self.asked += 1
        self.right += right
        if not right:
            self.wrong.append(f"{question.id} {question.text}")


@dataclass(frozen=True, slots=True)
class Setting:
    """How a run goes. embedder, vectors: as in `kenobot.evals.recall.run.Setting`. sample: see `sample`, 0 for all."""

    embedder: str = "auto"
    vectors: str = ""
    sample: int = 0


async def run(setting: Setting, clock: Clock, progress: Progress, judge: Judge | None = None) -> list[Area]:
    """The accuracy in each area; judge: who reads what was found, except to see what was forgotten or is another's.

    Raises ConfigError when the embedder cannot be used here, and RemoteError when the judge cannot be asked.
    """
    conversations = load("own")
    if setting.sample:
        conversations = sample(conversations, setting.sample)
    areas = {name: Area(name) for name in ("update", "contradiction", "forgetting", "scope", *_SURE)}
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        for number, conversation in enumerate(conversations):
            mine = Path(folder, str(number))
            await asyncio.to_thread(mine.mkdir)
            vectors = Path(setting.vectors) if setting.vectors else None
            model = embedder_of(setting.embedder, mine, clock, vectors)
            tick: Tick = partial(progress, f"{conversation.name}: notes")
            async with opened(conversation, mine, model, clock, tick) as place:
                await _ask_all(place, conversation, areas, judge, partial(progress, conversation.name))
    return list(areas.values())


async def _ask_all(
    place: Place, conversation: Conversation, areas: dict[str, Area], judge: Judge | None, tick: Tick
) -> None:
    replaced = {unit.key: unit.replaces for unit in conversation.units if unit.replaces}
    whole = len(conversation.questions)
    for at, question in enumerate(conversation.questions):
        tick(at, whole)
        answer = await place.ask(question, BUDGET, _MOST, reranker=judge)
        if question.category == "nothing":
            areas["abstention"].note(question, right=answer.pack.level == "none")
            areas["doubt"].note(question, right=answer.pack.level in _DOUBTED)
            continue
        areas["presence"].note(question, right=answer.pack.level != "none")
        areas["trust"].note(question, right=answer.pack.level not in _DOUBTED)
        if (old := replaced.get(question.gold[0])) is not None:
            areas["update"].note(question, right=question.gold[0] in answer.ranking[:_ASKED])
            areas["contradiction"].note(
                question, right=old not in answer.ranking and not _says(answer, conversation, old)
            )
        other = await place.ask(question, BUDGET, _MOST, reach=_OTHERS)
        areas["scope"].note(question, right=not other.pack.memories and not other.pack.excerpts)
    await _forget(place, conversation, areas["forgetting"])


def _says(answer: Answer, conversation: Conversation, key: str) -> bool:
    """Whether an answer shows the words of a note under whatever number."""
    text = next(unit.text for unit in conversation.units if unit.key == key)
    return any(text in memory.line for memory in answer.pack.memories)


async def _forget(place: Place, conversation: Conversation, area: Area) -> None:
    """Have the first notes that were found forgotten, and ask again."""
    asked: Sequence[Question] = [question for question in conversation.questions if question.gold]
    numbers = {key: number for number, key in place.of_record.items()}
    for question in asked:
        if area.asked >= _FORGOTTEN * (1 + (conversation.name != "es")):
            return
        before = await place.ask(question, BUDGET, _MOST)
        if question.gold[0] not in before.ranking[:_ASKED]:
            continue
        occasion = Occasion(question.at, question.at.date().isoformat(), "owner", session=SESSION)
        work = partial(forget, record=numbers[question.gold[0]], reach=REACH, deed=occasion)
        await place.database.write(work)
        after = await place.ask(question, BUDGET, _MOST)
        area.note(question, right=not _says(after, conversation, question.gold[0]))
