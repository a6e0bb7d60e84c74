"""A home for recall's tests: a real database and a real index, with little that has to be said to fill them."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryPack, MemoryQuery, SearchReport
from kenobot.cognitive.recall.results.render import search_pack
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.cognitive.store import events, records
from kenobot.cognitive.store.change import change
from kenobot.ports.identity import Trust
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.recall import MemoryEntry
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex

ZONE = ZoneInfo("UTC")
HERE = "chat:telegram-1"
REACH = ("owner", HERE)


def insert(
    connection: Connection, text: str, values: Mapping[str, object], at: datetime, *, quietly: bool = False
) -> int:
    """A record as `admit` would leave it, its columns as wanted; its id.

    quietly: without an event, as if it had been there before whatever follows events: files, and the index.
    """
    moment = stamp(at)
    columns: dict[str, object] = {
        "form": "note",
        "category": "fact",
        "scope": "owner",
        "subject": "owner",
        "text": text,
        "source": "tag",
        "trust": "owner",
        "confidence": 0.9,
        "importance": 0.5,
        "stability": 1.0,
        "valid_from": moment,
        "created": moment,
        "updated": moment,
        "last_seen": moment,
        "day": moment[:10],
        "key": uuid4().hex,
        "changed_event": 0,
        **values,
    }
    marks = ", ".join("?" * len(columns))
    cursor = connection.execute(f"INSERT INTO record ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))
    assert cursor.lastrowid is not None
    if quietly:
        return cursor.lastrowid
    event = events.add_event(connection, at, "test", "created", record=cursor.lastrowid)
    connection.execute("UPDATE record SET changed_event = ? WHERE id = ?", (event, cursor.lastrowid))
    return cursor.lastrowid


def crowd(connection: Connection, at: datetime, many: int = 120) -> None:
    """Insert notes about other things, a day apart up to `at`: more than a prefix of 300 tokens has room for."""
    for number in range(many):
        text = f"Note {number} about garden tools, invoices and weather"
        insert(connection, text, {}, at - timedelta(days=number), quietly=True)


class Memory:
    """`learn` and `say` put something in, `recall` gets something out."""

    def __init__(self, database: Database, index: SideIndex, path: Path) -> None:
        self.database = database
        self.index = index
        self.path = path
        self.now = START

    async def learn(self, text: str, *, days_ago: float = 0, **values: object) -> int:
        """A record; its id."""
        at = self.now - timedelta(days=days_ago)
        return await self.database.write(lambda connection: insert(connection, text, values, at))

    async def link(self, src: int, dst: int, kind: str = "related", confidence: float = 1.0) -> None:
        moment = stamp(self.now)
        await self.database.write(
            lambda connection: connection.execute(
                "INSERT INTO link (src, dst, type, confidence, first_at, last_at) VALUES (?, ?, ?, ?, ?, ?)",
                (src, dst, kind, confidence, moment, moment),
            )
        )

    async def change(self, record: int, kind: str, at: datetime | None = None, **values: str | float | None) -> int:
        """Change columns of a record as the product does, with an event."""

        def work(connection: Connection) -> int:
            known = records.get(connection, record, ALL_SCOPES)
            assert known is not None
            return change(connection, known, kind, values, ChangeContext(at or self.now, "test"))

        return await self.database.write(work)

    async def say(
        self,
        text: str,
        inbox: int,
        session: str = "telegram-1",
        *,
        answer: str = "",
        trust: Trust = "owner",
        scope: str = "",
    ) -> None:
        """A turn of a conversation. scope: where memory may write it; "" for the chat's own, as in old homes."""

        def work(connection: Connection) -> None:
            turn = conversation.FinishedTurn(session, inbox, self.now, text, answer or "I see.", trust, scope)
            conversation.append_turn(connection, turn)

        await self.database.write(work)

    async def recall(self, text: str, **more: object) -> SearchReport:
        query = replace(MemoryQuery(text, REACH, self.now, ZONE), **more)  # type: ignore[arg-type]
        return await self.database.read(lambda connection: recall(connection, self.index, query))

    async def texts(self, text: str, **more: object) -> list[str]:
        """The memories for a message, best first."""
        return [memory.record.text for memory in (await self.recall(text, **more)).memories]


@asynccontextmanager
async def open_memory(folder: Path) -> AsyncIterator[Memory]:
    database = Database.open(folder / "kenobot.db", folder / "backups")
    memory = Memory(database, SideIndex(folder / "index.db"), folder / "index.db")
    try:
        yield memory
    finally:
        await database.close()
        memory.index.close()


def shown(prefix: Sequence[int] | None, report: SearchReport | None = None) -> MemoryPack:
    """What a prompt shows for the first time: the records of a new prefix, and what a search found."""
    pack = MemoryPack()
    if prefix is not None:
        pack += MemoryPack({"recent": ""}, entries=tuple(MemoryEntry(number, "recent") for number in prefix))
    return pack if report is None else pack + search_pack(report)


def relevant(
    vectors: "VectorIndex | None",
    text: str,
    scopes: Sequence[str] | None,
    also: Iterable[int] = (),
    *,
    turns: bool = False,
) -> dict[int, float]:
    """The records, or turns, that vectors find for a message, each with its relevance, 0 to 1."""
    assert vectors is not None
    found = vectors.similarities("turn" if turns else "record", text, scopes, DEFAULT.meaning.records, also)
    return {number: relevance_from_similarity(each, DEFAULT.meaning) for number, each in found.items()}
