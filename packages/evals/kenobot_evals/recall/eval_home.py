"""A home for one conversation: its real database and index, filled and queried by the product's own calls."""

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kenobot.agent.prompt.prompt_service import rerank
from kenobot.app.embedder_choice import choose_embedder
from kenobot.cognitive.memory import (
    DEFAULT,
    AdmitContext,
    EmbeddingWorker,
    Imports,
    Memory,
    MemoryQuery,
    RecalledMemory,
    RecallTrace,
    SearchReport,
    SideIndex,
)
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder, Reranker
from kenobot.ports.errors import StoreError
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.memory import Candidate
from kenobot.ports.plugin import PluginContext
from kenobot.ports.recall import TracedItem
from kenobot.storage import conversation as sessions
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import Scopes, scope_names
from kenobot_evals.recall.caching_embedder import CachingEmbedder
from kenobot_evals.recall.datasets import Conversation, Passage, Question

ProgressCallback = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""

BUDGET = 2000
"""Tokens a question may take."""

SESSION = "bench-1"
SCOPES: Scopes = (OWNER_SCOPE, chat_scope(SESSION))
_PATIENCE = 60.0  # seconds: what is measured here is finding, not how busy the machine is
_PATIENT = replace(DEFAULT, meaning=replace(DEFAULT.meaning, prepare_seconds=_PATIENCE, settle_seconds=_PATIENCE))


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Options of a run. embedder: as memory.embedder. vectors: a file that keeps them between runs, None for none.

    queries: further queries by question.
    """

    embedder: str = "auto"
    budget: int = BUDGET
    vectors: Path | None = None
    queries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # bounded: a file of a run; turn

    def queries_for(self, question: Question) -> tuple[str, ...]:
        """Return the further queries of a question."""
        return self.queries.get(question.id, ())


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Result of recall for a question. ranking: units, best first. seconds: of recall alone, without any embedding.

    explained_ranking: the same, each with what its score is made of.
    """

    ranking: tuple[str, ...]
    pack: SearchReport
    seconds: float
    trace: RecallTrace
    explained_ranking: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class EvalHome:
    """`recall` it. record_keys, turn_keys: the unit behind each record and message.

    rejected: what memory did not take in, and why.
    """

    database: Database
    index: SideIndex
    embedding: EmbeddingWorker
    record_keys: dict[int, str] = field(default_factory=dict)  # bounded: the data of one run; turn
    turn_keys: dict[int, str] = field(default_factory=dict)  # bounded: the data of one run; turn
    rejected: dict[str, str] = field(default_factory=dict)  # bounded: the data of one run; turn

    async def recall(
        self,
        question: Question,
        budget: int,
        most: int,
        reach: Scopes = SCOPES,
        reranker: Reranker | None = None,
        also: tuple[str, ...] = (),
    ) -> RecallAnswer:
        """Recall for a question, as a chat of its owner's would, or whose `reach` it is.

        reranker: reads what is found. also: further queries.
        """
        for text in (question.text, *also):
            await self.embedding.embed_query(text, patience=_PATIENCE)
        query = MemoryQuery(
            text=question.text,
            reach=reach,
            now=question.at,
            budget=budget,
            limit=most,
            excerpt_limit=most,
            also=also,
        )
        answer = await self._answer(query)
        if reranker is not None and (marks := await rerank(reranker, question.text, answer.pack)):
            again = await self._answer(replace(query, marks=marks))
            return replace(again, seconds=answer.seconds + again.seconds)
        return answer

    async def _answer(self, query: MemoryQuery) -> RecallAnswer:
        trace = RecallTrace()
        query = replace(query, trace=trace)

        def work(connection: Connection) -> tuple[SearchReport, float]:
            began = time.perf_counter()
            return Memory(self.index).recall(connection, query), time.perf_counter() - began

        pack, seconds = await self.database.read(work)
        shown: list[tuple[str, TracedItem | None]] = [
            (self.record_keys.get(each.record.id, ""), trace.ranked.get(("record", each.record.id)))
            if isinstance(each, RecalledMemory)
            else (self.turn_keys.get(each.turn.id, ""), trace.ranked.get(("turn", each.turn.id)))
            for each in pack.shown
        ]
        first = {key: seen.summary if seen is not None else "" for key, seen in shown if key}
        return RecallAnswer(tuple(first), pack, seconds, trace, tuple(first.items()))

    def nearest(self, text: str, most: int) -> list[str]:
        """Return the units with the nearest vectors to a text, best first; none without vectors. After `ask` of it."""
        meaning = self.index.vectors
        if meaning is None:
            return []
        near = meaning.similarities("turn", text, scope_names(SCOPES), most)
        keys = [(share, self.turn_keys.get(number, "")) for number, share in near.items()]
        notes = meaning.similarities("record", text, scope_names(SCOPES), most)
        keys += [(share, self.record_keys.get(number, "")) for number, share in notes.items()]
        return [key for _, key in sorted(keys, key=lambda each: -each[0]) if key][:most]


def build_embedder(name: str, folder: Path, clock: Clock, vectors: Path | None = None) -> Embedder | None:
    """Return the embedder that settings with this name would get; None for "none", or where "auto" finds none.

    vectors: a file in which its rows are kept. Raises ConfigError when one is named that cannot be used here.
    """
    home = Home(folder)
    loaded = load_settings(home, {}, text=f'[memory]\nembedder = "{name}"\n')
    embedder = choose_embedder(loaded, PluginContext(home.path, clock, "bench")).embedder
    return CachingEmbedder(embedder, vectors) if embedder is not None and vectors is not None else embedder


async def open_homes(
    conversations: Sequence[Conversation],
    options: EvalOptions,
    clock: Clock,
    progress: ProgressCallback = lambda *_: None,
) -> AsyncIterator[tuple[Conversation, EvalHome]]:
    """Yield each conversation with a home that holds it; the home lives until the next.

    Raises ConfigError when the embedder cannot be used here, and StoreError when it placed nothing.
    """
    questions, done = sum(len(each.questions) for each in conversations), 0
    for conversation in conversations:
        progress(f"{conversation.name}: indexing", done, questions)
        done += len(conversation.questions)
        with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as name:
            folder = Path(name)
            embedder = build_embedder(options.embedder, folder, clock, options.vectors)
            async with open_eval_home(conversation, folder, embedder, clock, progress) as home:
                yield conversation, home


@asynccontextmanager
async def open_eval_home(
    conversation: Conversation, folder: Path, embedder: Embedder | None, clock: Clock, progress: ProgressCallback
) -> AsyncIterator[EvalHome]:
    """Build a home in `folder` that holds a conversation, indexed, and placed by meaning where there is an embedder.

    Raises StoreError when the embedder placed nothing.
    """
    database = Database.open(folder / "kenobot.db", folder / "backups")
    index = SideIndex(folder / "index.db")
    place = EvalHome(database, index, EmbeddingWorker(database, index, clock, embedder, policy=_PATIENT))
    tick = partial(progress, f"{conversation.name}: notes")
    try:
        await _say(place, [unit for unit in conversation.passages if unit.kind == "turn"])
        await _note(place, [unit for unit in conversation.passages if unit.kind == "note"], tick)
        await _index(place)
        await place.embedding.wait_idle()
        if embedder is not None and (index.vectors is None or not index.vectors.size(embedder.model_id)):
            raise StoreError(f"{embedder.model_id} placed nothing by meaning; the log says why")
        yield place
    finally:
        await place.embedding.stop()
        await database.close()
        index.close()


async def _say(place: EvalHome, units: Sequence[Passage]) -> None:
    """Bring what was said elsewhere, as an importer does, with the event that tells of it."""
    if not units:
        return
    said = [(unit.role, unit.attributed_text, unit.at) for unit in units]

    def work(connection: Connection) -> int:
        scope = chat_scope(SESSION) if any(unit.who for unit in units) else OWNER_SCOPE  # speakers make it a group's
        newest = sessions.import_history(connection, SESSION, said, "owner", scope)
        Imports.note(connection, units[-1].at, "import", {}, session=SESSION)
        return newest

    newest = await place.database.write(work)
    place.turn_keys = {newest - len(units) + at: unit.key for at, unit in enumerate(units, 1)}


async def _note(place: EvalHome, units: Sequence[Passage], tick: Callable[[int, int], None]) -> None:
    """Take notes into memory one after the other, as they were told."""
    numbers: dict[str, int] = {}
    if units:
        await place.embedding.wait_idle()
    for at, unit in enumerate(units):
        await place.embedding.prepare_statements([unit.text])
        older = numbers.get(unit.replaces)
        occasion = AdmitContext(unit.at, unit.at.date().isoformat(), "owner", nearness=place.embedding.nearness)
        candidate = Candidate(form="note", scope=OWNER_SCOPE, text=unit.text, source="tag")
        work = partial(Memory.remember, candidate=candidate, occasion=occasion, instead_of=older)
        decision = await place.database.write(work)
        if decision.record is None:
            place.rejected[unit.key] = decision.reason
        else:
            numbers[unit.key] = decision.record
            place.record_keys[decision.record] = unit.key
        await place.embedding.wait_idle()  # what comes next is linked by nearness to this
        tick(at + 1, len(units))


async def _index(place: EvalHome) -> None:
    await place.database.read(place.index.catch_up)
    left = 1
    while left:
        left = await place.database.read(place.index.index_backlog)
