"""A model that computes in this process: in one thread of its own, loaded when it is first needed.

One thread is enough, for each model keeps the cores busy by itself; and a query never waits behind the whole of a
backlog, because passages are taken a few at a time and queries come first.
"""

import asyncio
import contextlib
import itertools
import mmap
import os
import queue
import threading
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kenobot.ports.embedder import EmbedKind
from kenobot.ports.errors import ConfigError, Unavailable
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is loaded: its threads would spin

Vector: TypeAlias = "array[float]"
Encode: TypeAlias = "Callable[[Sequence[str], EmbedKind], Sequence[Vector]]"
"""Turns texts into rows of 32-bit floats of length 1. Blocking."""

MAX_CHARACTERS = 2000  # characters of a text that count; the core asks for less
_UNIT = 2  # passages between two looks for a query
_WAITING = 4096  # texts; more than that is somebody's mistake
_JOIN_SECONDS = 2.0
_ROOM = 96_000_000  # bytes: two models at once, each 34 MB of OpenBLAS's, and what a long text takes


@dataclass(frozen=True, slots=True)
class _Job:
    texts: tuple[str, ...]
    kind: EmbedKind
    loop: asyncio.AbstractEventLoop
    waiting: "asyncio.Future[Sequence[Vector]]"


class ThreadedEmbedder:
    """An embedder around a blocking model. load: makes the model; it is called once, in the thread."""

    def __init__(self, model_id: str, dimensions: int, load: Callable[[], Encode]) -> None:
        self._model_id = model_id
        self._dimensions = dimensions
        self._load = load
        # bounded: 4,096 texts; test_far_too_much_at_once_is_refused
        self._jobs: queue.PriorityQueue[tuple[int, int, _Job | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """See `kenobot.ports.embedder.Embedder`. Raises Unavailable when the model cannot be loaded or fails."""
        if self._jobs.qsize() * _UNIT + len(texts) > _WAITING:
            raise Unavailable("The embedded model has more to do than it can: try again later.")
        self._start()
        loop = asyncio.get_running_loop()
        units = [tuple(map(clip_text, texts[at : at + _UNIT])) for at in range(0, len(texts), _UNIT)]
        jobs = [_Job(unit, kind, loop, loop.create_future()) for unit in units]
        for job in jobs:
            self._jobs.put((int(kind != "query"), next(self._numbers), job))
        try:
            return [row for rows in await asyncio.gather(*(job.waiting for job in jobs)) for row in rows]
        finally:
            for job in jobs:
                job.waiting.cancel()  # what nobody waits for any more is not computed

    async def aclose(self) -> None:
        """End the thread after what it is at. The embedder cannot be used after this."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put((-1, next(self._numbers), None))
            await asyncio.to_thread(thread.join, _JOIN_SECONDS)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work_on, name="kenobot-embedder", daemon=True)
            self._thread.start()

    def _work_on(self) -> None:
        encode: Encode | None = None
        while (job := self._jobs.get()[2]) is not None:
            if job.waiting.cancelled():
                continue
            rows: Sequence[Vector] = ()
            failure: Unavailable | None = None
            try:
                _demand_room()
                encode = encode or self._load()
                rows = encode(job.texts, job.kind)
            except Exception as error:  # a model is somebody else's code: anything may happen in it
                failure = Unavailable(f"The embedded model {self._model_id} failed ({type(error).__name__}: {error}).")
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                job.loop.call_soon_threadsafe(_settle, job.waiting, rows, failure)


def local_plugin(
    name: str, model_id: str, dimensions: int, load: Callable[[Path], Encode], unavailable_reason: Callable[[], str]
) -> Plugin[NoSettings, ThreadedEmbedder]:
    """The plugin of a model that runs in this process. load: with the home's folder, in the model's thread.

    unavailable_reason: why it does not run on this machine, as the end of a sentence; "" when it does.
    """

    def build(_settings: NoSettings, context: PluginContext) -> ThreadedEmbedder:
        if why := unavailable_reason():
            raise ConfigError(f'The embedder "{name}" cannot be used here: {why}.')
        return ThreadedEmbedder(model_id, dimensions, lambda: load(context.home))

    return Plugin(settings=NoSettings, build=build)


def _demand_room() -> None:
    """See whether there is memory left, for numpy's OpenBLAS does not: where it gets none, it ends the whole process.

    Raises OSError. The pages are not touched, so that asking costs nothing.
    """
    mmap.mmap(-1, _ROOM).close()


def _settle(waiting: "asyncio.Future[Sequence[Vector]]", rows: Sequence[Vector], failure: Unavailable | None) -> None:
    if waiting.done():
        return
    if failure is not None:
        waiting.set_exception(failure)
    else:
        waiting.set_result(rows)


def clip_text(text: str) -> str:
    """`text` as any model can read it: bounded, no lone surrogates, no character that would end it early."""
    text = text[:MAX_CHARACTERS].replace("\0", " ")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
