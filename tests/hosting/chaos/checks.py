"""What came of a play: nothing lost, nothing doubled, the order of a chat, no commit but of the holder, equal copies.

A part of a reply may come again, and only for one reason: its holder was lost between sending it and noting that.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg

from kenobot.storage.capture import read_rows, read_sequences, read_tables
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore, read_version
from tests.crash.checker import compare
from tests.crash.world import tag_in
from tests.hosting.chaos.audit import LeaseEvent, count_pushes, find_foreign_pushes, list_leases
from tests.hosting.chaos.cell import HomeOf
from tests.hosting.chaos.stage import Stage

_IN_FLIGHT = 15.0  # seconds that a part is on its way at most, and a loss after its cause
LOADED = "loaded"
"""The folder into which the rows of each home are loaded."""


def check(stage: Stage) -> None:
    """Load each home from its rows and compare; what broke is added to the outcome."""
    outcome = stage.outcome
    store = HomeStore(Connections(stage.cell.own_url).open())
    try:
        leases: dict[int, list[LeaseEvent]] = {}
        with psycopg.connect(stage.cell.own_url, autocommit=True) as connection:
            outcome.broken += _find_left(connection)
            if stage.cell.is_audited:
                outcome.broken += find_foreign_pushes(connection)
                outcome.counts["commits"] = count_pushes(connection)
                leases = list_leases(connection)
        for home in stage.cell.homes:
            loaded = stage.cell.folder / LOADED / str(home.number)
            loaded.mkdir(parents=True)
            version = store.load(home.number, loaded / "kenobot.db").version
            _check_home(stage, home, loaded)
            outcome.broken += _compare_copies(stage, home.number, version, loaded / "kenobot.db")
            if stage.cell.is_audited:
                outcome.broken += _check_repeats(stage, home, loaded, leases.get(home.number, ()))
            stage.progress(f"home {home.number} of {len(stage.cell.homes)} is compared")
    finally:
        store.connections.close()
    outcome.broken += _find_disorder(stage)
    for event in (event for each in leases.values() for event in each if event.what == "lost"):
        outcome.counts[f"homes lost after a {_find_cause(stage, event)}"] += 1
    outcome.counts["updates posted again"] = stage.platform.posted_again


def _check_home(stage: Stage, home: HomeOf, loaded: Path) -> None:
    asked = {f"telegram-{chat}": stage.asked.get(chat, []) for chat in home.chats}
    sent = [(f"telegram-{item.chat}", item.text) for item in stage.platform.sent if item.chat in home.chats]
    verdict = compare(loaded, asked, sent, has_files=False)
    stage.outcome.counts["parts repeated"] += verdict.repeated_parts
    if not verdict.holds:
        stage.outcome.broken.append(f"home {home.number}: {verdict}")


def _compare_copies(stage: Stage, home: int, version: int, loaded: Path) -> Iterator[str]:
    """Compare each worker's copy of a home that says to be of the newest version with the rows."""
    for worker in stage.cell.workers:
        copy = stage.cell.folder_of(worker.name) / str(home) / "kenobot.db"
        if not copy.exists():
            continue
        with closing(sqlite3.connect(copy)) as mine, closing(sqlite3.connect(loaded)) as rows:
            if read_version(mine) > version:
                yield f"the copy of home {home} at {worker.name} is ahead of PostgreSQL: a commit was not kept"
            if read_version(mine) != version:
                continue
            stage.outcome.counts["copies"] += 1
            for table in read_tables(rows):
                here, there = (Counter(map(repr, read_rows(each, table))) for each in (mine, rows))
                if here != there:
                    differing = [*(here - there), *(there - here)][:2]
                    yield f"home {home}, {table.name}: copy and rows differ, such as {differing}"
            if read_sequences(mine) != read_sequences(rows):
                yield f"home {home}: ids may come back: {read_sequences(mine)} is kept as {read_sequences(rows)}"


def _find_left(connection: "psycopg.Connection[Any]") -> Iterator[str]:
    """Find mail that no home took, and jobs that nobody does."""
    for table, where in (("kenobot.mail", "true"), ("procrastinate_jobs", "status = 'doing'")):
        (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone() or (0,)
        if count:
            yield f"{count} rows are left in {table}"


def _find_disorder(stage: Stage) -> Iterator[str]:
    """Find chats whose first answers came in another order than their messages."""
    answered: dict[str, dict[str, None]] = {}
    for item in stage.platform.sent:
        if (tag := tag_in(item.text)) is None:
            stage.outcome.counts["notices"] += 1
            stage.outcome.log.append(f"a notice to chat {item.chat}: {item.text}\n")
            continue
        answered.setdefault(item.chat, {})[tag] = None
    for chat, texts in stage.asked.items():
        tags = [tag_in(text) for text in texts]
        if (found := list(answered.get(chat, ()))) != tags:
            yield f"chat {chat} was answered out of order, or not all: {found[:6]} for {tags[:6]}"


def _check_repeats(stage: Stage, home: HomeOf, loaded: Path, leases: Sequence[LeaseEvent]) -> Iterator[str]:
    """Find parts that came again although no holder was lost, and more of a chat than holders were.

    Each takes the earliest loss that may explain it and explains no other, which explains as many as can be.
    """
    counts, tries, explaining = stage.outcome.counts, _read_tries(loaded), set[tuple[str, float]]()
    for before, after, chat, text in sorted(_list_repeats(stage, home), key=lambda repeat: repeat[1]):
        around = [event for event in leases if before - _IN_FLIGHT < event.at <= after]
        lost = [event for event in around if event.what == "lost"]
        left = [event.at for event in lost if (chat, event.at) not in explaining]
        named = f"{tag_in(text)} came to chat {chat} again after {after - before:.1f} s"
        told = ", ".join(f"{event.at - before:.1f} {event.what} {event.process}" for event in around)
        stage.outcome.log.append(f"{named} at {after:.1f}; {told}\n")
        if left:
            explaining.add((chat, left[0]))
            counts[f"parts repeated after a {_find_cause(stage, lost[-1])}"] += 1
        elif tries.get(tag_in(text), 0) > 1:
            counts["parts repeated after a lost answer"] += 1
        elif lost:
            yield f"{named}, and what was lost explains others: {told}"
        else:
            yield f"{named}, from the same holder: {told}"


def _list_repeats(stage: Stage, home: HomeOf) -> Iterator[tuple[float, float, str, str]]:
    """List the parts of a home that came again: when before, when again, to which chat, and the text."""
    for (chat, text), times in stage.platform.arrivals.items():
        for before, after in pairwise(times if chat in home.chats else ()):
            yield before, after, chat, text


def _find_cause(stage: Stage, loss: LeaseEvent) -> str:
    """Find why a home was lost: what happened to its holder, or to all; "silence" where nothing had."""
    own = [
        what
        for worker in stage.cell.workers
        for at, life, what in worker.fates
        if life == loss.process and at < loss.at
    ]
    if "kill" in own:
        return "kill"
    near = [what for at, what in stage.happened if loss.at - _IN_FLIGHT < at <= loss.at]
    if own:
        return "stop"
    return next((what for what in ("server", "claim") if what in near), "silence")


def _read_tries(loaded: Path) -> Mapping[str | None, int]:
    """Read how often each answer was tried, by the tag that it answers."""
    with closing(sqlite3.connect(loaded / "kenobot.db")) as connection:
        rows = connection.execute(
            "SELECT inbox.text, outbox.attempts FROM outbox JOIN inbox ON inbox.id = outbox.inbox_id"
        ).fetchall()
    return {tag_in(text): tries for text, tries in rows}
