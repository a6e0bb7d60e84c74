"""Routes to look through memory: what values it has, how it grew, and how it hangs together."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from kenobot.cognitive.memory import Inspection
from kenobot.cognitive.memory import Memory as Store
from kenobot.ports.browsing import Days, Graph, GraphDetail, Happening, NodeKind, Period, RecordFilter, TimelineItem
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import MemoryReader
from kenobot_http.api.moments import Day, Moment, clamp_day, to_utc
from kenobot_http.api.paging import Cursor, Limit, Page, page_of, read_cursor
from kenobot_http.api.services import Caller

router = APIRouter(prefix="/v1", tags=["memory"])

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_LONGEST_NAME, _LONGEST_TEXT, _SHOWN_DAYS = 200, 200, 90

Name = Annotated[str, Query(max_length=_LONGEST_NAME)]
Subject = Annotated[str, Query(max_length=_LONGEST_NAME, description='Whom or what it is about; "owner" for the owner')]
First = Annotated[Day | None, Query(description="The first day, in the owner's time zone")]
Last = Annotated[Day | None, Query(description="The last day, in the owner's time zone")]


class Facets(BaseModel):
    """The values that memories have, each with how many memories have it, the most frequent first."""

    forms: dict[str, int]
    categories: dict[str, int]
    sources: dict[str, int]
    subjects: dict[str, int]


class PeriodOfChanges(BaseModel):
    """A period in which something happened to memory. first, last: its days, in the owner's time zone."""

    first: str
    last: str
    counts: dict[Happening, int]


class HappeningItem(BaseModel):
    """Something that happened to a memory. text: empty where it was forgotten since. decision: what an undo takes.

    undoable: an undo would put it back as things are.
    """

    event: int
    at: str
    happening: Happening
    kind: str
    actor: str
    reason: str
    record: int
    subject: str
    text: str
    decision: int
    undoable: bool


class Node(BaseModel):
    """A subject, a topic or a memory. weight: how many memories it stands for."""

    id: str
    kind: NodeKind
    label: str
    weight: int


class Edge(BaseModel):
    """A line between two nodes. kind: "about", "topic", "linked" or the type of a link between memories."""

    source: str
    target: str
    kind: str
    weight: float


class GraphOfMemory(BaseModel):
    """Memories with what they are about. memories: how many it is made of. left_out: how many nodes are not in it."""

    nodes: list[Node]
    edges: list[Edge]
    memories: int
    left_out: int


class MemoryFilter(BaseModel):
    """Choose memories; what is left out chooses any."""

    form: str = Field("", max_length=_LONGEST_NAME, description="note, episode, procedure, summary …")
    category: str = Field("", max_length=_LONGEST_NAME)
    subject: str = Field("", max_length=_LONGEST_NAME, description='Whom or what it is about; "owner" for the owner')
    tag: str = Field("", max_length=_LONGEST_NAME)
    source: str = Field("", max_length=_LONGEST_NAME, description="How it came in: tag, extraction, command, sleep …")
    trust: str = Field("", max_length=_LONGEST_NAME, description="Whose words it is")
    scope: str = Field("", max_length=_LONGEST_NAME)
    first: Day | None = Field(None, description="Told on this day or later, in the owner's time zone")
    last: Day | None = Field(None, description="Told on this day or before")
    text: str = Field("", max_length=_LONGEST_TEXT, description="Letters that it holds; `/v1/recall` finds by meaning")

    def to_record_filter(self, statuses: tuple[str, ...]) -> RecordFilter:
        """Return it as the door of memory takes it."""
        values = self.model_dump(exclude={"form", "first", "last"})
        days = {"first_day": self.first, "last_day": self.last}
        days_told = {name: day.isoformat() for name, day in days.items() if day is not None}
        return RecordFilter(statuses=statuses, forms=(self.form,) if self.form else (), **values, **days_told)


async def list_filtered(
    caller: Caller, wanted: MemoryFilter, statuses: tuple[str, ...], before: int, limit: int, as_of: Moment | None
) -> list[Record]:
    """List memories in reach that a filter chooses, the newest first. as_of: those live then, as they were."""
    chosen = wanted.to_record_filter(statuses)
    read, records, reach = caller.services.database.read_long, Store.records, caller.reach
    if as_of is None:
        return await read(lambda connection: records.list_page(connection, reach, chosen, before=before, limit=limit))
    then = to_utc(as_of)
    return await read(
        lambda connection: records.list_as_of(connection, reach, then, chosen, before=before, limit=limit)
    )


@router.get("/facets")
async def count_facets(caller: MemoryReader) -> Facets:
    """Count the memories in reach by form, category, source and subject: what lists can be narrowed by."""
    found = await caller.services.database.read_long(
        lambda connection: Store.records.count_facets(connection, caller.reach)
    )
    return Facets(**asdict(found))


async def count_subjects(caller: Caller) -> dict[str, int]:
    """Count the memories in reach by whom or what they are about, the most frequent first."""
    return await caller.services.database.read_long(
        lambda connection: Store.records.count_subjects(connection, caller.reach)
    )


@router.get("/timeline")
async def count_timeline(
    caller: MemoryReader, by: Period = "week", first: First = None, last: Last = None, subject: Subject = ""
) -> list[PeriodOfChanges]:
    """Count what was learned, confirmed, replaced, faded, forgotten and undone by period, the newest first.

    Without days, of the last ninety.
    """
    days = _choose_days(caller, first, last)
    found = await caller.services.database.read_long(
        lambda connection: Store.history.count_by_period(connection, caller.reach, days, by, subject=subject)
    )
    return [PeriodOfChanges(first=each.first, last=each.last, counts=dict(each.counts)) for each in found]


@router.get("/timeline/changes")
async def list_changes(
    caller: MemoryReader,
    first: First = None,
    last: Last = None,
    happening: Happening | None = None,
    subject: Subject = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Page[HappeningItem]:
    """List what happened to memories in some days, the newest first. Without days, in the last ninety."""
    days, before = _choose_days(caller, first, last), read_cursor(cursor)
    kinds = (happening,) if happening is not None else ()

    def read(connection: Connection) -> tuple[list[TimelineItem], frozenset[int]]:
        found = Store.history.list_happenings(
            connection, caller.reach, days, kinds, before=before, limit=limit + 1, subject=subject
        )
        return found, Store.history.select_undoable(connection, (row.decision for row in found), caller.reach)

    rows, undoable = await caller.services.database.read_long(read)
    return page_of(
        rows,
        limit,
        lambda row: row.event,
        lambda row: HappeningItem(**asdict(row), undoable=row.decision in undoable),
    )


@router.get("/graph", response_model=GraphOfMemory)
async def get_graph(
    caller: MemoryReader,
    detail: Annotated[GraphDetail, Query(description="Subjects and topics alone, or memories as well")] = "topics",
    limit: Annotated[int, Query(ge=1, le=10_000, description="Nodes at most: the heaviest")] = 500,
    subject: Subject = "",
) -> Response:
    """Return whom and what the newest ten thousand memories in reach are about, and how these hang together."""
    return Response(await write_graph(caller, detail, limit, subject), media_type="application/json")


async def list_topics(caller: Caller, limit: int, subject: str = "") -> Graph:
    """List whom and what the memories in reach are about: the graph without its edges. limit: nodes at most."""
    return await caller.services.database.read_long(
        lambda connection: Inspection.draw_graph(
            connection, caller.reach, "topics", limit, subject=subject, with_edges=False
        )
    )


async def write_graph(caller: Caller, detail: GraphDetail, limit: int, subject: str = "") -> str:
    """Write the graph of the memories in reach as JSON, in the thread that reads it. limit: nodes at most.

    So tens of thousands of nodes and edges hold nobody up. subject: of memories about it alone.
    """

    def write(connection: Connection) -> str:
        graph = Inspection.draw_graph(connection, caller.reach, detail, limit, subject=subject)
        nodes = ({"id": n.id, "kind": n.kind, "label": n.label, "weight": n.weight} for n in graph.nodes)
        edges = ({"source": e.source, "target": e.target, "kind": e.kind, "weight": e.weight} for e in graph.edges)
        counts = f'"memories":{graph.memories},"left_out":{graph.left_out}'
        return f'{{"nodes":{_write_list(nodes)},"edges":{_write_list(edges)},{counts}}}'

    return await caller.services.database.read_long(write)


def _write_list(items: Iterable[Mapping[str, object]]) -> str:
    """Write a list as JSON, item by item: one call for all would hold the interpreter, and the event loop with it."""
    return f"[{','.join(map(_encode, items))}]"


def _choose_days(caller: Caller, first: First, last: Last) -> Days:
    zone = caller.services.zone
    until = clamp_day(last or caller.services.clock.now().astimezone(zone).date())
    since = clamp_day(first) if first is not None else until - timedelta(days=_SHOWN_DAYS - 1)
    return Days(min(since, until), until, zone)
