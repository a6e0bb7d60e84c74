"""The background worker that places memory by its meaning, and asks a model for what is looked for.

It is woken when something was remembered or said, takes the newest first, and then what has no vector yet. Vectors are
written after the fact, in transactions of their own: it may be killed anywhere, and what is missing is seen by its
being missing. Nobody waits for it longer than a deadline; where it has nothing in time, memory goes by words.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.index.vector_port import VectorSearch
from kenobot.cognitive.recall.relevance import proper_names_text
from kenobot.cognitive.recall.vectors import calibration, vector_rows
from kenobot.cognitive.recall.vectors.texts import PendingText, passage_text, query_text
from kenobot.cognitive.store import events, records
from kenobot.cognitive.text.similarity import Nearness
from kenobot.core import plugins
from kenobot.core.circuit_breaker import CircuitBreaker
from kenobot.core.retry import Backoff
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Embedder, EmbedKind
from kenobot.ports.errors import RemoteError, StoreError
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex
    from kenobot.cognitive.recall.vectors.vector_sync import SyncPosition, VectorSync

T = TypeVar("T")

_log = logging.getLogger(__name__)

PreviousEmbedders = Callable[[Sequence[str]], Sequence[Embedder]]
"""Finds embedders for models by their ids, as far as they can be had; blocking."""

_FIRST_BATCH, _LEAST_BATCH = 4, 2  # texts


def no_embedders(_: Sequence[str]) -> Sequence[Embedder]:
    """No model of before can be had."""
    return ()


class EmbeddingStore(Protocol):
    """What the worker needs of a database; `kenobot.storage.database.Database` is one."""

    async def read(self, work: Callable[[Connection], T]) -> T: ...

    async def write_soon(self, work: Callable[[Connection], T]) -> T: ...


class EmbeddingWorker:
    """`begin` it once the rest is up; `wake` and `embed_query` begin it too. embedder None: there is nothing to do,
    ever.

    formers: finds embedders for models that were in use before; their vectors serve while everything is placed anew.
    """

    def __init__(
        self,
        database: EmbeddingStore,
        index: SideIndex,
        clock: Clock,
        embedder: Embedder | None,
        formers: PreviousEmbedders = no_embedders,
        policy: Policy = DEFAULT,
    ) -> None:
        self._database = database
        self._index = index
        self._clock = clock
        self._embedders = {} if embedder is None else {embedder.model_id: embedder}
        self._embedder = embedder
        self._formers = formers
        self._whole, self._policy = policy, policy.meaning
        self._breaker = CircuitBreaker(clock, self._policy.trip_after_failures, self._policy.cooldown_seconds)
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._wake, self._hurry = asyncio.Event(), asyncio.Event()
        self._opened, self._loaded = asyncio.Event(), asyncio.Event()
        self._waiting: list[tuple[bool, asyncio.Future[None]]] = []  # until what is new is placed, or until all is
        self._todo: deque[PendingText] = deque()
        self._left: list[tuple[bool, int]] = []  # what is missing is still to be looked for: of turns?, up to where
        self._batch = _FIRST_BATCH
        self._failures = 0
        self._not_before = 0.0
        self._shelves: VectorSync
        self._seen: SyncPosition

    @property
    def model(self) -> str:
        """The id of the model in use, "" when there is none."""
        return self._embedder.model_id if self._embedder is not None else ""

    @property
    def nearness(self) -> Nearness | None:
        """What tells how near statements are that were prepared; None without any vectors."""
        return self._index.statement_similarity

    # ── from outside ─────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Start at once, without waiting for it."""
        resting = self._clock.monotonic() < self._not_before
        if self._embedder is not None and not self._stopped and not resting and not self._runs:
            self._task = asyncio.create_task(self._run(), name="embedding")

    @property
    def _runs(self) -> bool:
        return self._task is not None and not self._task.done()

    def wake(self) -> None:
        """Something was remembered or said: see to it soon."""
        self.begin()
        self._wake.set()

    async def load(self) -> None:
        """Return once all vectors that there are can be found. For who asks once and ends."""
        if self._embedder is not None and not self._stopped:
            self.begin()
            if self._runs:
                await self._loaded.wait()

    async def tick(self) -> None:
        """Look whether there is anything to do; does not wait for it."""
        self.wake()

    @property
    def ready(self) -> bool:
        """Whether there is an embedder that may be asked."""
        return self._embedder is not None and not self._stopped

    async def embed_query(self, text: str, *, patience: float | None = None) -> bool:
        """Have the vectors of a message at hand, and those of what was remembered just before it; whether that is so.

        Never raises, and waits `patience` seconds at most.
        """
        if self._embedder is None or self._stopped or not self._breaker.allows_request():
            return False
        self.wake()
        seconds = self._policy.query_seconds if patience is None else patience

        async def work() -> bool:
            await self._opened.wait()
            meaning = self._index.vectors
            if meaning is None or not any(map(meaning.has_calibration, meaning.models)):
                return False  # there is nothing to be found by it yet
            sought = [query_text(text, self._policy), *([names] if (names := proper_names_text(text)) else [])]
            having = (self._have(meaning, model, "query", sought) for model in meaning.models)
            await asyncio.gather(self._settle(min(seconds, self._policy.settle_seconds)), *having)
            return True

        return await self._within(seconds, work)

    async def embed_statements(self, texts: Iterable[str]) -> None:
        """Have the vectors of statements at hand that memory is about to be asked to take in. As `ask`."""
        meaning = self._index.vectors
        said = list(filter(None, (passage_text(text, self._policy) for text in texts)))
        if not said or meaning is None or self._stopped or not self._breaker.allows_request():
            return

        async def work() -> bool:
            await asyncio.gather(*(self._have(meaning, model, "passage", said) for model in meaning.models))
            return True

        await self._within(self._policy.prepare_seconds, work)

    async def wait_idle(self) -> None:
        """Return once everything is placed, or has to wait for the model."""
        if self._embedder is not None and not self._stopped:
            self.wake()
            if self._runs:
                await self._waiting_for(news=False)

    async def stop(self) -> None:
        """Leave what is left to the next start."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._release(news=False)
        await plugins.close(self._embedders.values())

    async def _within(self, seconds: float, work: Callable[[], Awaitable[bool]]) -> bool:
        """What `work` comes to, if it comes to anything in time."""
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

    async def _settle(self, seconds: float) -> None:
        """Return once what is new has been placed, or time is up."""
        if not self._failures and self._runs:
            await asyncio.wait({self._waiting_for(news=True)}, timeout=seconds)

    def _waiting_for(self, *, news: bool) -> "asyncio.Future[None]":
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((news, waiting))
        self._wake.set()
        self._hurry.set()
        return waiting

    def _release(self, *, news: bool, among: Sequence["asyncio.Future[None]"] | None = None) -> None:
        """Let go who waits for what is new, or, not `news`, everybody; `among`: only of these."""
        for only_news, each in self._waiting:
            if (only_news or not news) and not each.done() and (among is None or each in among):
                each.set_result(None)
        self._waiting = [(only_news, each) for only_news, each in self._waiting if not each.done()]

    # ── the worker ───────────────────────────────────────────────────────────────────────────────────────────────

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
                if self._todo or await self._more():
                    await self._advance(meaning)
                else:
                    self._release(news=False, among=waited)
                    await self._wake.wait()
        except StoreError as error:
            _log.warning("memory cannot be placed by meaning now: %s", error)
        except Exception:
            _log.exception("placing memory by meaning failed; it begins anew in a while")
            self._not_before = self._clock.monotonic() + self._policy.cooldown_seconds
        finally:
            self._opened.set()
            self._loaded.set()
            self._release(news=False)

    async def _open(self) -> "VectorIndex":
        """Load what there is: of every record, then of the newest turns. What is loaded is found at once."""
        others = set(await self._database.read(self._models)) - self._embedders.keys()
        if others:
            found = await asyncio.to_thread(self._formers, sorted(others))
            self._embedders |= {each.model_id: each for each in found}
        meaning, self._shelves = await asyncio.to_thread(
            _shelves, self._index, tuple(self._embedders), self._whole, self._index.vectors
        )
        self._seen = await self._database.read(self._shelves.begin)
        self._index.vectors = meaning
        self._opened.set()
        high = newest = await self._database.read(records.last_record)
        while high > 0:
            await self._database.read(partial(self._shelves.load, kind="record", high=high))
            high -= self._policy.page_rows
        high, oldest = self._seen.message, self._seen.message - self._policy.max_turns_compared
        while high > max(0, oldest):
            await self._database.read(partial(self._shelves.load, kind="turn", high=high))
            high -= self._policy.page_rows
        self._left = [(True, self._seen.message), (False, newest)]
        for model in meaning.models:
            if meaning.size(model) and not meaning.has_calibration(model):
                await self._try(partial(self._learn_scale, meaning, model))
        return meaning

    def _models(self, connection: Connection) -> list[str]:
        """The models that there are vectors of."""
        none: list[str] = []
        self._index.catch_up(connection)  # it is made, if it was not there
        return [
            *vector_rows.models(connection),
            *self._index.read(partial(vector_rows.models, table="turn_vector"), none),
        ]

    async def _look(self) -> None:
        """Take note of what came since the last look, also from other processes."""
        news = await self._database.read(partial(self._shelves.changes_since, before=self._seen))
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

    async def _more(self) -> bool:
        """Have the next of what has no vector yet, records before turns; whether there is any."""
        assert self._embedder is not None
        while not self._todo and self._left:
            turns, high = self._left.pop()
            low = high - self._policy.page_rows
            if turns:
                low = max(0, low, self._seen.message - self._policy.max_turns_compared)
                found = await self._database.read(partial(self._shelves.missing_turns, low=low, high=high))
            else:
                look = partial(self._shelves.missing_records, high=high, dimensions=self._embedder.dimensions)
                found = await self._database.read(look)
            if low > max(0, self._seen.message - self._policy.max_turns_compared if turns else 0):
                self._left.append((turns, low))
            self._todo.extend(found)
        return bool(self._todo)

    async def _advance(self, meaning: "VectorIndex") -> None:
        """Place the next few, then leave the machine to others for as long, unless somebody waits for it."""
        items = [self._todo.popleft() for _ in range(min(self._batch, len(self._todo)))]
        began = time.monotonic()
        if not await self._try(partial(self._place, meaning, items)):
            return
        took = time.monotonic() - began
        if took > self._policy.shrink_batch_above_seconds:
            self._batch = max(_LEAST_BATCH, self._batch // 2)
        elif took < self._policy.grow_batch_below_seconds and len(items) == self._batch:
            self._batch = min(self._policy.max_batch, 2 * self._batch)
        if not self._waiting:
            await self._pause(min(took, 1.0))

    async def _place(self, meaning: "VectorIndex", items: Sequence[PendingText]) -> None:
        model = self.model
        texts = self._shelves.passages(items)
        if any(meaning.cached(model, "passage", text) is None for text in texts):
            await self._database.read(partial(self._shelves.cache_by_hash, texts=texts))
        await self._have(meaning, model, "passage", texts)
        rows = {text: row for text in texts if (row := meaning.cached(model, "passage", text)) is not None}
        placed = self._shelves.add_vectors(items, rows)
        if placed.records:
            await self._database.write_soon(placed.write_records)
        if placed.turns:
            await self._database.read(partial(self._shelves.write_turns, placed=placed))
        if not meaning.has_calibration(model):
            await self._learn_scale(meaning, model)

    async def _have(self, meaning: VectorSearch, model: str, kind: EmbedKind, texts: Sequence[str]) -> None:
        """Have the vectors of these texts at hand. Raises RemoteError."""
        wanted = [text for text in dict.fromkeys(texts) if meaning.cached(model, kind, text) is None]
        if wanted:
            meaning.cache(model, kind, wanted, await self._embedders[model].embed(wanted, kind))

    async def _learn_scale(self, meaning: "VectorIndex", model: str) -> None:
        """Find out what the cosines of a model mean. Raises RemoteError."""
        embedder = self._embedders[model]
        asked = await embedder.embed(calibration.calibration_queries(), "query")
        known = calibration.calibrate(asked, await embedder.embed(calibration.calibration_passages()))
        meaning.set_calibration(model, known)
        await self._database.write_soon(partial(self._shelves.save_calibration, model=model, scale=known))

    async def _try(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Ask a model; when it cannot, leave it alone for a while, longer each time, and then look everywhere anew."""
        try:
            await work()
        except RemoteError as error:
            longest = self._policy.max_backoff_seconds
            backoff = Backoff(self._policy.first_backoff_seconds, longest, longest_asked=longest)
            pause = backoff.pause(self._failures, error)
            if not self._failures:
                _log.warning("memory waits to be placed by meaning, and is found by words: %s", error)
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
        waiting = asyncio.ensure_future(self._hurry.wait())
        try:
            await asyncio.wait({waiting}, timeout=seconds)
        finally:
            waiting.cancel()


def _is_anything(connection: Connection) -> bool:
    """Whether anything has ever happened to memory: before, nothing is loaded."""
    return events.last_event(connection) > 0 or records.last_record(connection) > 0


def _shelves(
    index: SideIndex, models: Sequence[str], policy: Policy, known: VectorSearch | None
) -> "tuple[VectorIndex, VectorSync]":
    """What holds vectors; imported only when there is a model."""
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # noqa: PLC0415 - needs numpy, and a tenth of a second
    from kenobot.cognitive.recall.vectors.vector_sync import VectorSync  # noqa: PLC0415 - same

    meaning = known if isinstance(known, VectorIndex) else VectorIndex(models, policy)
    return meaning, VectorSync(index, meaning, models, policy)
