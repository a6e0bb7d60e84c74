"""Ask what recall is measured with of whole prompts: what of the answers stands in them, at each size of the notes."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.distractors import fill_crowd
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptContext, PromptLimits, PromptRequest
from kenobot.core.settings.home import Home
from kenobot.identity.identity_files import Identity
from kenobot.ports.clock import SystemClock
from kenobot.ports.identity import OWNER_SCOPE, Principal, chat_scope
from kenobot.ports.messages import Inbound
from kenobot.storage.inbox_rows import PendingMessage
from kenobot_evals.recall import datasets
from kenobot_evals.recall.datasets import Conversation, Question
from kenobot_evals.recall.eval_home import SESSION, EvalHome, ProgressCallback, build_embedder, open_eval_home

_OWNER = Principal("owner", (OWNER_SCOPE, chat_scope(SESSION)), OWNER_SCOPE, "owner")
_FRESH = "bench-2"  # a chat in which nothing was said
_PATIENCE = 60.0


@dataclass(slots=True)
class AnswerScore:
    """Answers of a set. found: shares of what answers a question that its prompt shows. outdated: prompts that show a
    note that was replaced.
    """

    found: list[float] = field(default_factory=list)  # bounded: the data of one run; turn
    outdated: int = 0

    @property
    def mean(self) -> float:
        return sum(self.found) / len(self.found) if self.found else 0.0


async def ask_set(
    name: str, sizes: Sequence[int], limits: PromptLimits, embedder: str, crowd: int, progress: ProgressCallback
) -> list[AnswerScore]:
    """Scores at each size of the latest notes. name: of a set of recall. crowd: other notes beside those of a home."""
    scores = [AnswerScore() for _ in sizes]
    clock = SystemClock()
    for conversation in datasets.load(name):
        with tempfile.TemporaryDirectory(prefix="kenobot-prefix-") as folder:
            home = Home(Path(folder) / "home")
            home.prepare()
            home.seed_identity()
            (home.identity / "BOOTSTRAP.md").unlink()
            model = build_embedder(embedder, Path(folder), clock)
            await fill_crowd(Path(folder), conversation, model, crowd)
            async with open_eval_home(conversation, Path(folder), model, clock, progress) as place:
                builders = [
                    ContextBuilder(
                        Identity(home.identity), ZoneInfo("UTC"), replace(limits, recent_tokens=size), place.index
                    )
                    for size in sizes
                ]
                await _ask(place, conversation, builders, scores, progress)
    return scores


async def _ask(
    place: EvalHome,
    conversation: Conversation,
    builders: Sequence[ContextBuilder],
    scores: Sequence[AnswerScore],
    progress: ProgressCallback,
) -> None:
    replaced = {unit.key: unit.replaces for unit in conversation.passages if unit.replaces}
    session = SESSION if place.turn_keys else _FRESH
    asked = [question for question in conversation.questions if question.gold]
    for at, question in enumerate(asked):
        progress(f"{conversation.name}: asking", at, len(asked))
        await place.embedding.embed_query(question.text, patience=_PATIENCE)
        for builder, score in zip(builders, scores, strict=True):
            request = PromptRequest(_message(question, session), _OWNER, question.at)
            prompt = await place.database.read(partial(builder.build, request=request))
            shown = set(_shown(place, prompt))
            score.found.append(sum(key in shown for key in question.gold) / len(question.gold))
            score.outdated += replaced.get(question.gold[0]) in shown


def _message(question: Question, session: str) -> PendingMessage:
    channel, _, chat = session.partition("-")
    return PendingMessage(1, Inbound(channel, "1", chat, "1", question.text, question.at), "bench")


def _shown(place: EvalHome, prompt: PromptContext) -> Iterator[str]:
    """The units that a prompt shows: notes, quoted turns, and the turns of its history."""
    plan = prompt.plan
    search = plan.memory.search
    turns = [line.id for line in plan.history]
    turns += [excerpt.turn.id for excerpt in search.excerpts] if search is not None else []
    yield from (place.turn_keys[number] for number in turns if number in place.turn_keys)
    records = (entry.record for entry in plan.memory.entries)
    yield from (place.record_keys[number] for number in records if number in place.record_keys)
