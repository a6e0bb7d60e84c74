"""Memory at size: what recalling, building a prompt and admitting cost at 100,000 records, each with its vector.

What a model takes to place a text is not counted here but in `bench.vectors`: vectors are at hand, as they are when a
turn asks for them. `--words` leaves them out.

The memory is made up of words as frequent as words are, in English, Spanish and Chinese, with a conversation beside it;
queries are of several kinds, because a rare word, a common one and a pair of Chinese letters take different ways
through the index. `python -m bench.memory --records 100000` prints a table.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

from bench.vectors import DIMENSIONS, SyntheticEmbedder, insert_vectors
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptLimits, PromptRequest
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.embedding_worker import EmbeddingWorker
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.settings.home import Home
from kenobot.gateway.access import Access, Roster
from kenobot.identity.identity_files import Identity
from kenobot.language.fingerprint import key_of
from kenobot.ports.clock import SystemClock
from kenobot.ports.memory import Candidate
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.times import stamp

_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_ZONE = ZoneInfo("UTC")
_REACH = ("owner", "chat:telegram-1")
_VOCABULARY = 20_000
_WORDS = 24  # of a record
_ROUND = 200  # queries of a kind
_NEVER = 2.0  # no relevance is that high
_SCALE = SimilarityCalibration(unrelated=0.0, answer=0.1, apart=0.0, alike=0.9, general=bytes(2 * DIMENSIONS))
"""Of made-up vectors, by which no question is nearer to its answer than to others: what is nearest answers, and nothing
is near enough to be a repeat. The one that they would be given by asking them takes each neighbour for a repeat."""

_ENGLISH = "ba de fi go ku la me no pi ra so tu wa ze chi sto gra ple lin ment ard ous ing ter".split()
_SPANISH = "ca de ra mi to lla ños gu per cion es tar men do la ver ñe que río bra ción al os ía".split()
_CHINESE = "".join(chr(0x4E00 + 7 * number) for number in range(1200))


@dataclass(frozen=True, slots=True)
class LanguageSampler:
    """Made-up words of a language, the first ones far more frequent than the last."""

    words: Sequence[str]
    cumulative_weights: Sequence[float]
    separator: str = " "

    def say(self, rng: Random, count: int) -> list[str]:
        """`count` words, as frequent as they are."""
        return [
            self.words[bisect(self.cumulative_weights, rng.random() * self.cumulative_weights[-1])]
            for _ in range(count)
        ]


def language_samplers(rng: Random) -> dict[str, LanguageSampler]:
    """The languages of the memory."""
    reach = list(itertools.accumulate(1 / (rank + 8) for rank in range(_VOCABULARY)))
    made = {}
    for name, parts in (("english", _ENGLISH), ("spanish", _SPANISH)):
        words: dict[str, None] = {}
        while len(words) < _VOCABULARY:
            words["".join(rng.choices(parts, k=rng.randint(2, 4)))] = None
        made[name] = LanguageSampler(list(words), reach)
    made["chinese"] = LanguageSampler(_CHINESE, list(itertools.accumulate(1 / (rank + 8) for rank in range(1200))), "")
    return made


def put_notes(connection: Connection, notes: Iterable[tuple[int, str, str, str]]) -> None:
    """Notes of the owner's, each by its number, whom it is about, its text and when it was told."""
    connection.executemany(
        "INSERT INTO record (id, form, scope, subject, text, source, trust, confidence, importance, stability, "
        "valid_from, created, updated, last_seen, day, key, changed_event) "
        "VALUES (?, 'note', 'owner', ?, ?, 'tag', 'owner', .9, .5, 1, ?, ?, ?, ?, ?, ?, 0)",
        [(number, who, said, at, at, at, at, at[:10], f"{key_of(said)}{number}") for number, who, said, at in notes],
    )


def fill(connection: Connection, records: int, turns: int, spoken: dict[str, LanguageSampler], rng: Random) -> None:
    """A memory of so many records and a talk of so many turns, two years long."""
    names = [*spoken] * 3 + ["english", "spanish"]
    people = ["owner"] * 6 + [f"person{number}" for number in range(200)]
    rows = []
    for number in range(1, records + 1):
        speech = spoken[rng.choice(names)]
        text = speech.separator.join(speech.say(rng, _WORDS))
        at = stamp(_NOW - timedelta(days=730 * (1 - number / records)))
        rows.append((number, rng.choice(people), text, at))
    put_notes(connection, rows)
    connection.executemany(
        "INSERT OR IGNORE INTO link (src, dst, type, confidence, first_at, last_at) VALUES (?, ?, 'related', .6, ?, ?)",
        [(number, rng.randint(1, number), stamp(_NOW), stamp(_NOW)) for number in range(2, records + 1)],
    )
    for number in range(turns):
        text = " ".join(spoken["spanish" if number % 3 else "english"].say(rng, 12))
        connection.execute(
            "INSERT INTO message (session, role, text, at, trust) VALUES ('telegram-1', ?, ?, ?, 'owner')",
            ("assistant" if number % 2 else "user", text, _NOW.isoformat()),
        )


def queries(spoken: dict[str, LanguageSampler], rng: Random) -> dict[str, list[str]]:
    """Messages by what makes them hard."""

    def rare(name: str, count: int) -> str:
        speech = spoken[name]
        return speech.separator.join(speech.words[rng.randrange(len(speech.words) // 4, len(speech.words))]
                                  for _ in range(count))  # fmt: skip

    def common(name: str, count: int) -> str:
        speech = spoken[name]
        return speech.separator.join(speech.words[rng.randrange(40)] for _ in range(count))

    kinds: dict[str, Callable[[], str]] = {
        "rare words": lambda: f"what about {rare('english', 3)}?",
        "common words": lambda: f"what about {common('english', 4)}?",
        "as people write": lambda: " ".join(spoken["english"].say(rng, 14)),
        "Spanish": lambda: f"¿qué sabes de {' '.join(spoken['spanish'].say(rng, 6))}?",
        "Chinese": lambda: spoken["chinese"].separator.join(spoken["chinese"].say(rng, 8)),
        "a name": lambda: f"where does person{rng.randrange(200)} {common('english', 1)}?",
        "a long message": lambda: " ".join(spoken["english"].say(rng, 300)),
    }
    return {name: [make() for _ in range(_ROUND)] for name, make in kinds.items()}


def rss() -> float:
    """Resident megabytes of this process."""
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


async def measure(folder: Path, records: int, turns: int, *, words: bool = False) -> dict[str, float]:
    """Milliseconds, megabytes and records a second, by what was measured."""
    rng = Random(20261121)
    spoken = language_samplers(rng)
    home = Home(folder / "home")
    home.prepare()
    home.seed_identity()
    (home.identity / "BOOTSTRAP.md").unlink()
    database = Database.open(home.database, home.backups)
    figures: dict[str, float] = {}
    index = SideIndex(home.index)
    try:
        await database.write(lambda connection: fill(connection, records, turns, spoken, rng))
        asked = queries(spoken, rng)
        before = rss()
        began = time.perf_counter()
        await _index(database, index)
        figures["indexing in the background, records and turns/s"] = (records + turns) / (time.perf_counter() - began)
        made = SyntheticEmbedder()
        embedding = EmbeddingWorker(database, index, SystemClock(), None if words else made)
        if not words:
            await insert_vectors(database, index, made, records, turns)
            began = time.perf_counter()
            await embedding.load()
            figures["loading all vectors in the background, s"] = time.perf_counter() - began
            if index.vectors is not None:
                index.vectors.set_calibration(made.model_id, _SCALE)
        figures |= await _recalls(database, index, asked, embedding)
        figures |= await _recalls(database, index, asked, embedding, talk=True)
        figures |= await _contexts(database, index, home, asked, embedding)
        figures |= await _admits(database, index, spoken, rng, embedding)
        await embedding.stop()
        figures["RSS growth, MB"] = rss() - before
        figures["index file, MB"] = home.index.stat().st_size / 1e6
    finally:
        await database.close()  # first: its readers may still be reading the index
        index.close()
    return figures


async def _index(database: Database, index: SideIndex) -> None:
    while await database.read(lambda connection: index.index_backlog(connection, 500)):
        pass


async def _recalls(
    database: Database, index: SideIndex, asked: dict[str, list[str]], embedding: EmbeddingWorker, *, talk: bool = False
) -> dict[str, float]:
    """talk: what was said is looked through as well, as it is where no memory is near enough."""
    thorough = replace(DEFAULT, recall=replace(DEFAULT.recall, strong_from=_NEVER))
    policy, name = (thorough, "recall with the talk") if talk else (DEFAULT, "recall")
    figures: dict[str, float] = {}
    every: list[float] = []
    for kind, texts in asked.items():
        times = []
        for text in texts:
            query = MemoryQuery(text, _REACH, _NOW, policy=policy)
            await embedding.embed_query(text)
            began = time.perf_counter()
            await database.read(lambda connection, query=query: recall(connection, index, query))  # type: ignore[misc]
            times.append(1000 * (time.perf_counter() - began))
        figures[f"{name}, {kind}: p95, ms"] = _p95(times)
        every += times
    return {f"{name}: p50, ms": statistics.median(every), f"{name}: p95, ms": _p95(every), **figures}


async def _contexts(
    database: Database, index: SideIndex, home: Home, asked: dict[str, list[str]], embedding: EmbeddingWorker
) -> dict[str, float]:
    builder = ContextBuilder(Identity(home.identity), _ZONE, PromptLimits(), index)
    access = Access({"telegram": Roster.of(("1",))})
    times = []
    texts = [text for kind in asked.values() for text in kind[:40]]
    for number, text in enumerate(texts):
        inbound = Inbound("telegram", str(number), "1", "1", text, _NOW)
        pending = PendingMessage(number + 1, inbound, "t")
        principal = access.principal(inbound)
        await embedding.embed_query(text)
        began = time.perf_counter()
        await database.read(
            lambda connection, pending=pending, principal=principal: builder.build(  # type: ignore[misc]
                connection, PromptRequest(pending, principal, _NOW)
            )
        )
        times.append(1000 * (time.perf_counter() - began))
    return {"context built: p50, ms": statistics.median(times), "context built: p95, ms": _p95(times)}


async def _admits(
    database: Database, index: SideIndex, spoken: dict[str, LanguageSampler], rng: Random, embedding: EmbeddingWorker
) -> dict[str, float]:
    """New facts, as a turn admits them, and the index taking each in with the next query."""
    times, indexing = [], []
    occasion = AdmitContext(_NOW, "2026-11-21", "model", "telegram-1", evidence=1, nearness=embedding.nearness)
    for _ in range(_ROUND):
        speech = spoken[rng.choice([*spoken])]
        candidate = Candidate("note", "owner", speech.separator.join(speech.say(rng, _WORDS)))

        def take(connection: Connection, candidate: Candidate = candidate) -> float:
            began = time.perf_counter()
            admit(connection, candidate, occasion)
            return 1000 * (time.perf_counter() - began)

        await embedding.prepare_statements([candidate.text])
        times.append(await database.write(take))
        began = time.perf_counter()
        await database.read(index.catch_up)
        indexing.append(1000 * (time.perf_counter() - began))
    return {
        "admit: p50, ms": statistics.median(times),
        "admit: p95, ms": _p95(times),
        "index takes one in: p95, ms": _p95(indexing),
    }


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


def at_size(records: int, turns: int = 20_000, *, words: bool = False) -> dict[str, float]:
    """The figures of a memory of so many records, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
        return asyncio.run(measure(Path(folder), records, turns, words=words))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="records in memory (100000)")
    parser.add_argument("--turns", type=int, default=20_000, help="messages of the talk beside it (20000)")
    parser.add_argument("--words", action="store_true", help="without vectors")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    figures = at_size(arguments.records, arguments.turns, words=arguments.words)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return 0
    for name, value in figures.items():
        print(f"{name:<62} {value:>12,.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
