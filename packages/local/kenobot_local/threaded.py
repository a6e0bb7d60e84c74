"""Embed texts by a model in this process, in one thread, which loads it when it is first needed.

Passages are embedded a few at a time and queries first, so that no query waits for a whole backlog.
"""

import asyncio
import itertools
import mmap
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from kenobot.ports.embedder import EmbedKind
from kenobot.ports.errors import ConfigError, Unavailable
from kenobot.ports.plugin import NoSettings, Plugin, PluginContext
from kenobot.providers.embedders.texts import Vector, clip_text

Encode: TypeAlias = "Callable[[Sequence[str], EmbedKind], Sequence[Vector]]"
"""Turns texts into rows of 32-bit floats of length 1. Blocking."""

_UNIT = 2  # passages embedded before the queue is read again
_WAITING = 4096  # texts that wait at most
_JOIN_SECONDS = 2.0
_ROOM = 96_000_000  # bytes: two models at once, each 34 MB of OpenBLAS's, and what a long text takes


@dataclass(frozen=True, slots=True)
class _Job:
    texts: tuple[str, ...]
    kind: EmbedKind
    rows: "Future[Sequence[Vector]]" = field(default_factory=Future)


class ThreadedEmbedder:
    """An embedder around a blocking model. load: makes the model; it is called once, in the thread."""

    def __init__(self, model_id: str, dimensions: int, load: Callable[[], Encode]) -> None:
        self.model_id = model_id
        self.dimensions = dimensions
        self._load = load
        # bounded: 4,096 texts; test_far_too_much_at_once_is_refused
        self._jobs: queue.PriorityQueue[tuple[int, int, _Job | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """Embed `texts`. Raises Unavailable when the model cannot be loaded or fails."""
        if self._jobs.qsize() * _UNIT + len(texts) > _WAITING:
            raise Unavailable("embedder.busy")
        self._start()
        jobs = [_Job(tuple(map(clip_text, texts[at : at + _UNIT])), kind) for at in range(0, len(texts), _UNIT)]
        for job in jobs:
            self._jobs.put((int(kind != "query"), next(self._numbers), job))
        try:
            found = await asyncio.gather(*(asyncio.wrap_future(job.rows) for job in jobs))
            return [row for rows in found for row in rows]
        finally:
            for job in jobs:
                job.rows.cancel()  # rows that are not awaited any more are not computed

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
            if not job.rows.set_running_or_notify_cancel():
                continue
            try:
                _demand_room()
                encode = encode or self._load()
                job.rows.set_result(encode(job.texts, job.kind))
            except Exception as error:  # of a model, in which anything may happen
                job.rows.set_exception(
                    Unavailable("embedder.failed", model=self.model_id, kind=type(error).__name__, reason=error)
                )


def local_plugin(
    name: str, model_id: str, dimensions: int, load: Callable[[Path], Encode], unavailable_reason: Callable[[], str]
) -> Plugin[NoSettings, ThreadedEmbedder]:
    """Build the plugin of a model that runs in this process. load: with the home's folder, in the model's thread.

    unavailable_reason: why it does not run on this machine, as the end of a sentence; "" when it does.
    """

    def build(_settings: NoSettings, context: PluginContext) -> ThreadedEmbedder:
        if why := unavailable_reason():
            raise ConfigError("embedder.unusable", name=name, why=why)
        return ThreadedEmbedder(model_id, dimensions, lambda: load(context.home))

    return Plugin(settings=NoSettings, build=build)


def _demand_room() -> None:
    """Reserve memory for a moment, untouched: without any, OpenBLAS ends the whole process. Raises OSError."""
    mmap.mmap(-1, _ROOM).close()
