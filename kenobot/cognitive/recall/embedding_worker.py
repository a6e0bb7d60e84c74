"""The background worker that embeds memories and turns, and embeds queries within a deadline.

It takes the newest texts first, then all that have no vector yet. Vectors are written afterwards, in transactions of
their own, so it may be killed anywhere. A query that is not embedded in time is searched by words alone.
"""

import asyncio
import logging
import time
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.recall.candidates.by_meaning import as_speakers_say
from kenobot.cognitive.recall.index import vector_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.vectors import calibration
from kenobot.cognitive.recall.vectors.texts import EmbeddedText, PendingText, passage_text, query_text, text_hash
from kenobot.cognitive.remember.nearness import Nearness
from kenobot.cognitive.store import events, records
from kenobot.core import plugins
from kenobot.core.containment import contain
from kenobot.core.retry import Backoff, CircuitBreaker
from kenobot.core.worker import BackgroundTask
from kenobot.language.question.question import parse_question
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder, EmbeddingMeter, EmbedKind, Metered, PreviousEmbedders
from kenobot.ports.errors import RemoteError, StoreError
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.recall.index.vector_sync import SyncPosition, VectorSync
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex
    from kenobot.storage.database import Database

T = TypeVar("T")

_log = logging.getLogger(__name__)


_FIRST_BATCH, _LEAST_BATCH = 4, 2  # texts
_FLOAT_BYTES = 4


class EmbeddingStore(Protocol):
    """The part of `kenobot.storage.database.Database` that the worker needs."""

    async def read(self, work: Callable[[Connection], T]) -> T: ...

    async def write_soon(self, work: Callable[[Connection], T]) -> T: ...


class EmbeddingWorker(BackgroundTask):
    """`begin` it once the rest is up; `wake` and `embed_query` begin it too. embedder: None leaves it idle.

    formers: finds embedders of models in use before; their vectors serve until everything is embedded anew.
    meter: counts what servers are asked.
    """

    def __init__(
        self,
        database: EmbeddingStore,
        index: SideIndex,
        clock: Clock,
        embedder: Embedder | None,
        formers: PreviousEmbedders | None = None,
        policy: Policy = DEFAULT,
        meter: EmbeddingMeter | None = None,
    ) -> None:
        super().__init__("embedding")
        self._meter = meter
        self._database = database
        self._index = index
        self._clock = clock
        self._embedders = {} if embedder is None else {embedder.model_id: self._count_requests(embedder)}
        self._embedder = embedder
        self._formers = formers
        self._whole, self._policy = policy, policy.meaning
        self._breaker = CircuitBreaker(clock, self._policy.trip_after_failures, self._policy.cooldown_seconds)
        self._wake, self._hurry = asyncio.Event(), asyncio.Event()
        self._opened, self._loaded = asyncio.Event(), asyncio.Event()
        # bounded: the chats that are answered now; test_far_more_news_than_usual_is_looked_through_as_a_whole
        self._waiting: list[tuple[bool, asyncio.Future[None]]] = []  # until what is new is embedded, or until all is
        # bounded: a page of 2,000 texts, 1,000 new; test_far_more_news_than_usual_is_looked_through_as_a_whole
        self._todo: deque[PendingText] = deque()
        # bounded: 2 places; test_far_more_news_than_usual_is_looked_through_as_a_whole
        self._left: list[tuple[bool, int]] = []  # ranges to search for missing vectors: of turns?, up to which id
        # bounded: the chats answered now; test_the_first_memory_is_found_by_a_process_that_begins_with_the_question
        self._uncalibrated: list[asyncio.Future[None]] = []
        self._batch = _FIRST_BATCH
        longest = self._policy.max_backoff_seconds
        self._backoff = Backoff(self._policy.first_backoff_seconds, longest, longest_asked=longest)
        self._failures = 0
        self._not_before = 0.0
        self._rehearsing, self._is_rehearsed = asyncio.Lock(), False
        self._sync: VectorSync
        self._seen: SyncPosition

    @staticmethod
    async def embed_newest(database: "Database", embedder: Embedder) -> None:
        """Embed records from the newest on, as far as a page of them in which none waits. Raises RemoteError."""
        policy, model = DEFAULT.meaning, embedder.model_id
        high = await database.read(records.last_record)
        while high > 0:
            page = partial(vector_rows.missing_records, model=model, high=high, width=policy.page_rows)
            waiting = await database.read(partial(page, size=embedder.dimensions * _FLOAT_BYTES))
            for first in range(0, len(waiting), policy.max_batch):
                some = waiting[first : first + policy.max_batch]
                texts = [passage_text(each.text, policy) for each in some]
                rows = await embedder.embed(texts, "passage")
                embedded = [
                    EmbeddedText(item, text_hash(text), array("f", row).tobytes())
                    for item, text, row in zip(some, texts, rows, strict=True)
                ]
                await database.write(partial(vector_rows.write_records, model=model, rows=embedded))
            high = high - policy.page_rows if waiting else 0

    def _count_requests(self, embedder: Embedder) -> Embedder:
        """Count the requests of an embedder that asks a server."""
        if isinstance(embedder, Metered):
            embedder.meter = self._meter
        return embedder

    @property
    def model(self) -> str:
        """The id of the model in use, "" when there is none."""
        return self._embedder.model_id if self._embedder is not None else ""

    @property
    def nearness(self) -> Nearness | None:
        """The similarity of embedded statements; None without vectors."""
        return self._index.statement_similarity

    def begin(self) -> None:
        """Start at once, without waiting for it."""
        if self._embedder is not None and self._clock.monotonic() >= self._not_before:
            self._begin(self._run)

    def wake(self) -> None:
        """Embed new memories and turns soon."""
        self.begin()
        self._wake.set()

    def note_news(self) -> None:
        """Embed new memories and turns soon, unless the worker has not begun: then its start finds them."""
        self._wake.set()

    async def load(self) -> None:
        """Return once all stored vectors are loaded, for a process that queries once and ends."""
        self.begin()
        if not self.idle:
            await self._loaded.wait()

    async def tick(self) -> None:
        """Embed what is new, without waiting for it."""
        self.wake()

    @property
    def ready(self) -> bool:
        """Return whether there is an embedder that may be asked."""
        return self._embedder is not None and not self._stopping

    async def embed_query(self, text: str, *, patience: float | None = None, settle: float | None = None) -> bool:
        """Embed a query, and the memories made just before it, within `patience` seconds; return whether it succeeded.

        settle: of these, for the memories. Never raises.
        """
        if not self.ready or not self._breaker.allows_request():
            return False
        self.wake()
        seconds = self._policy.query_seconds if patience is None else patience
        settling = min(seconds, self._policy.settle_seconds if settle is None else settle)

        async def work() -> bool:
            await self._opened.wait()
            meaning = self._index.vectors
            if meaning is None or not await self._may_compare(meaning, seconds - self._policy.settle_seconds):
                return False  # there are no vectors to compare yet
            of_speakers = await self._database.read(lambda _: as_speakers_say(self._index, None, text))
            question = parse_question(text)
            words = question.asked_words if question.asks else ()
            sought = [*(query_text(each, self._policy) for each in (text, of_speakers)), *words]
            having = (self._embed(meaning, model, "query", sought) for model in meaning.models)
            await asyncio.gather(self._settle(settling), *having)
            return True

        return await self._run_within(seconds, work)

    async def prepare_statements(self, texts: Iterable[str]) -> None:
        """Prepare for statements that are about to be admitted: compile what reads them, embed them. Never raises."""
        meaning = self._index.vectors
        said = list(filter(None, (passage_text(text, self._policy) for text in texts)))
        if said and not self._stopping:
            await self.rehearse()
        if not said or meaning is None or self._stopping or not self._breaker.allows_request():
            return

        async def work() -> bool:
            await asyncio.gather(*(self._embed(meaning, model, "passage", said) for model in meaning.models))
            return True

        await self._run_within(self._policy.prepare_seconds, work)

    async def rehearse(self) -> None:
        """Compile, before the first memory since the start, what reads statements: in no transaction. Never raises."""
        async with self._rehearsing:
            if self._is_rehearsed:
                return
            self._is_rehearsed = True
            from kenobot.cognitive.remember.rehearsal import rehearse

            try:
                await self._database.read(partial(rehearse, at=self._clock.now()))
            except StoreError as error:
                _log.warning("Memory is not rehearsed: %s", error)

    async def wait_idle(self) -> None:
        """Return once everything is embedded, or has to wait for the model."""
        self.wake()
        if not self.idle:
            await self._waiting_for(news=False)

    async def stop(self) -> None:
        """Leave the rest to the next start."""
        await super().stop()
        self._release(news=False)
        await plugins.close(self._embedders.values())

    async def _run_within(self, seconds: float, work: Callable[[], Awaitable[bool]]) -> bool:
        """Run `work` within a deadline and behind the breaker; False when it fails."""
        try:
            async with asyncio.timeout(seconds):
                done = await work()
        except (TimeoutError, RemoteError) as error:
            self._breaker.record_failure()
            _log.debug("memory goes by words alone: %s", str(error) or "no answer in time")
            return False
        except BaseException:
            self._breaker.release_probe()
            raise
        self._breaker.record_success()
        return done

    async def _may_compare(self, meaning: "VectorIndex", seconds: float) -> bool:
        """Return whether a model is calibrated; in a home whose first memories are being embedded, wait for it."""
        if not any(map(meaning.has_calibration, meaning.models)) and not self._failures and not self.idle:
            waiting = self._waiting_for(news=False)
            self._uncalibrated.append(waiting)
            await asyncio.wait({waiting}, timeout=max(0.0, seconds))
        return any(map(meaning.has_calibration, meaning.models))

    async def _settle(self, seconds: float) -> None:
        """Return once what is new is embedded, or time is up."""
        if not self._failures and not self.idle:
            await asyncio.wait({self._waiting_for(news=True)}, timeout=seconds)

    def _waiting_for(self, *, news: bool) -> "asyncio.Future[None]":
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((news, waiting))
        self._wake.set()
        self._hurry.set()
        return waiting

    def _release(self, *, news: bool, among: Sequence["asyncio.Future[None]"] | None = None) -> None:
        """Release the waiters for what is new, or, not `news`, all of them; `among`: only of these."""
        for only_news, each in self._waiting:
            if (only_news or not news) and not each.done() and (among is None or each in among):
                each.set_result(None)
        self._waiting = [(only_news, each) for only_news, each in self._waiting if not each.done()]

    async def _run(self) -> None:
        try:
            while not await self._database.read(_is_anything):
                self._loaded.set()
                self._release(news=False)
                await self._wake.wait()
                self._wake.clear()
            meaning = await self._open()
            self._loaded.set()
            while True:
                self._wake.clear()
                self._hurry.clear()
                waited = [each for _, each in self._waiting]
                await self._look()
                if not any(item.is_new for item in self._todo):
                    self._release(news=True, among=waited)
                if self._todo or await self._queue_more():
                    await self._advance(meaning)
                else:
                    self._release(news=False, among=waited)
                    await self._wake.wait()
        except StoreError as error:
            _log.warning("memory cannot be embedded now: %s", error)
        except Exception:
            _log.exception("embedding memory failed; it begins anew in a while")
            self._not_before = self._clock.monotonic() + self._policy.cooldown_seconds
        finally:
            self._opened.set()
            self._loaded.set()
            self._release(news=False)

    async def _open(self) -> "VectorIndex":
        """Load the vectors of all records, then of the newest turns; each is found as soon as it is loaded."""
        others = set(await self._database.read(self._models)) - self._embedders.keys()
        if others and self._formers is not None:
            found = await asyncio.to_thread(self._formers, sorted(others))
            self._embedders |= {each.model_id: self._count_requests(each) for each in found}
        meaning, self._sync = await asyncio.to_thread(
            _load_vectors, self._index, tuple(self._embedders), self._whole, self._index.vectors
        )
        self._seen = await self._database.read(self._sync.begin)
        self._index.vectors = meaning
        self._opened.set()
        high = newest = await self._database.read(records.last_record)
        while high > 0:
            await self._database.read(partial(self._sync.load, kind="record", high=high))
            high -= self._policy.page_rows
        high, oldest = self._seen.message, self._seen.message - self._policy.max_turns_compared
        while high > max(0, oldest):
            await self._database.read(partial(self._sync.load, kind="turn", high=high))
            high -= self._policy.page_rows
        self._left = [(True, self._seen.message), (False, newest)]
        for model in meaning.models:
            if meaning.size(model) and not meaning.has_calibration(model):
                await self._try(partial(self._calibrate, meaning, model))
        return meaning

    def _models(self, connection: Connection) -> list[str]:
        """List the models with stored vectors."""
        none: list[str] = []
        self._index.catch_up(connection)  # it is made, if it was not there
        return [
            *vector_rows.models(connection),
            *self._index.read(partial(vector_rows.models, table="turn_vector"), none),
        ]

    async def _look(self) -> None:
        """Queue what is new since the last look, also from other processes."""
        news = await self._database.read(partial(self._sync.changes_since, before=self._seen))
        self._seen = news.position
        if news.rescan:
            await self._look_everywhere()
        elif news.items:
            fresh = {(item.is_turn, item.key.number) for item in news.items}
            rest = (item for item in self._todo if (item.is_turn, item.key.number) not in fresh)
            self._todo = deque([*news.items, *rest])

    async def _look_everywhere(self) -> None:
        newest = await self._database.read(records.last_record)
        self._left = [(True, self._seen.message), (False, newest)]

    async def _queue_more(self) -> bool:
        """Queue texts without a vector, records before turns; return whether there are any."""
        assert self._embedder is not None
        while not self._todo and self._left:
            turns, high = self._left.pop()
            low = high - self._policy.page_rows
            if turns:
                low = max(0, low, self._seen.message - self._policy.max_turns_compared)
                found = await self._database.read(partial(self._sync.missing_turns, low=low, high=high))
            else:
                look = partial(self._sync.missing_records, high=high, dimensions=self._embedder.dimensions)
                found = await self._database.read(look)
            if low > max(0, self._seen.message - self._policy.max_turns_compared if turns else 0):
                self._left.append((turns, low))
            self._todo.extend(found)
        return bool(self._todo)

    async def _advance(self, meaning: "VectorIndex") -> None:
        """Embed a batch, then leave the machine to others for as long, unless a message waits."""
        items = [self._todo.popleft() for _ in range(min(self._batch, len(self._todo)))]
        began = time.monotonic()
        if not await self._try(partial(self._embed_batch, meaning, items)):
            return
        took = time.monotonic() - began
        if took > self._policy.shrink_batch_above_seconds:
            self._batch = max(_LEAST_BATCH, self._batch // 2)
        elif took < self._policy.grow_batch_below_seconds and len(items) == self._batch:
            self._batch = min(self._policy.max_batch, 2 * self._batch)
        if not self._waiting:
            await self._pause(min(took, 1.0))

    async def _embed_batch(self, meaning: "VectorIndex", items: Sequence[PendingText]) -> None:
        model = self.model
        texts = [passage_text(item.text, self._policy) for item in items]
        if any(meaning.get_cached(model, "passage", text) is None for text in texts):
            await self._database.read(partial(self._sync.cache_by_hash, texts=texts))
        await self._embed(meaning, model, "passage", texts)
        rows = {text: row for text in texts if (row := meaning.get_cached(model, "passage", text)) is not None}
        embedded = await asyncio.to_thread(self._sync.add_vectors, items, rows)  # now and then it copies all there are
        if records := [each for each in embedded if not each.item.is_turn]:
            await self._database.write_soon(partial(self._sync.write_records, rows=records))
        if turns := [each for each in embedded if each.item.is_turn]:
            await self._database.read(partial(self._sync.write_turns, rows=turns))
        if not meaning.has_calibration(model):
            await self._calibrate(meaning, model)

    async def _embed(self, meaning: "VectorIndex", model: str, kind: EmbedKind, texts: Sequence[str]) -> None:
        """Embed the texts that are not cached. Raises RemoteError."""
        wanted = [text for text in dict.fromkeys(texts) if meaning.get_cached(model, kind, text) is None]
        if wanted:
            with contain():
                found = await self._embedders[model].embed(wanted, kind)
            meaning.cache(model, kind, wanted, found)

    async def _calibrate(self, meaning: "VectorIndex", model: str) -> None:
        """Calibrate the cosines of a model. Raises RemoteError."""
        embedder = self._embedders[model]
        with contain():
            asked = await embedder.embed(calibration.calibration_queries(), "query")
            known = calibration.calibrate(asked, await embedder.embed(calibration.calibration_passages()))
        meaning.set_calibration(model, known)
        self._release(news=False, among=self._uncalibrated)
        self._uncalibrated.clear()
        await self._database.write_soon(partial(self._sync.save_calibration, model=model, scale=known))

    async def _try(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Run `work`; when the model fails, back off and search all ranges anew. Returns whether it succeeded."""
        try:
            await work()
        except RemoteError as error:
            pause = self._backoff.pause(self._failures, error)
            if not self._failures:
                _log.warning("memory waits to be embedded, and is found by words: %s", error)
            self._failures += 1
            self._todo.clear()
            self._release(news=False)
            await self._clock.sleep(pause)
            await self._look_everywhere()
            return False
        self._failures = 0
        return True

    async def _pause(self, seconds: float) -> None:
        """Wait, but not while a message does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()


def _is_anything(connection: Connection) -> bool:
    """Return whether memory was ever written; before, no model is loaded."""
    return events.last_event(connection) > 0 or records.last_record(connection) > 0


def _load_vectors(
    index: SideIndex, models: Sequence[str], policy: Policy, known: "VectorIndex | None"
) -> "tuple[VectorIndex, VectorSync]":
    """Return the holder of vectors; imported only when there is a model."""
    from kenobot.cognitive.recall.index.vector_sync import VectorSync
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex

    meaning = known if known is not None else VectorIndex(models, policy)
    return meaning, VectorSync(index, meaning, models, policy)
