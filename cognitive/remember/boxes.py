"""Memory boxes: what was remembered in one stretch of talk about one thing, and the traces that run through them.

Each scope has one open box. It is closed when the talk turns to something else, when it rests, or when it is full. A
box that was closed is compared with those of the last days: those that tell of the same thing share a trace.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeVar

from kenobot.cognitive import box_store, store
from kenobot.cognitive.box_store import Member
from kenobot.cognitive.change import Act, change
from kenobot.cognitive.policies.boxes import BoxPolicy
from kenobot.cognitive.reach import WHOLE_HOME
from kenobot.cognitive.store import Record
from kenobot.cognitive.text.words import fold, terms
from kenobot.db import Connection

BoxT = TypeVar("BoxT")  # a box, or its number
Reason = Literal["topic_shift", "time_gap", "max_memories", "forced"]

DEFAULT = BoxPolicy()

_BOXED = frozenset({"note", "episode", "procedure"})
_TALK = frozenset({"tag", "command", "extraction"})  # what is said; an edit, an import or sleep is no conversation
_TRUST = ("tool", "forward", "model", "guest", "owner")  # from the least to the most
_NOBODY = frozenset({"", "owner"})


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a box: the topics of all of it, those that came last, how much, when and in which session."""

    topics: tuple[str, ...]
    latest: tuple[str, ...]
    count: int
    last_at: datetime
    session: str = ""


# ── topics ───────────────────────────────────────────────────────────────────────────────────────────────────────


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """How much of what either is about both are about, 0 to 1; the case of letters does not matter."""
    return _shared(_folded(one), _folded(other))


def _folded(topics: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, topics))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def topics_of(
    tags: Sequence[str], subjects: Sequence[str], category: str, text: str = "", most: int = DEFAULT.most_topics
) -> tuple[str, ...]:
    """What a memory is about: its tags, its subject, its kind; without tags, the words of its text."""
    named = [*tags, *subjects[:1]]
    said = [] if tags else terms(text)
    found = (fold(topic).strip() for topic in (*named, category, *subjects[1:], *said))
    return tuple(dict.fromkeys(topic for topic in found if len(topic) > 1 or not topic.isascii()))[:most]


def boundary(before: datetime, session: str, now: datetime, in_session: str, gap: timedelta) -> bool:
    """Whether what comes `now` begins another thread: it is said elsewhere, or after a longer pause than `gap`."""
    return session != in_session or now - before > gap


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def ends(contents: Contents, topics: Sequence[str], at: datetime, session: str, policy: BoxPolicy) -> Reason | None:
    """Why a box that holds `contents` takes nothing more, given what comes next; None when it does take it.

    What is said in one breath stays together. Beyond that it is enough to go on from what came last in the same
    thread: a box grows, and measured against all of it every next memory would be a turn to something else.
    """
    if at - contents.last_at >= policy.gap:
        return "time_gap"
    thread = not boundary(contents.last_at, contents.session, at, session, policy.gap)
    if thread and at == contents.last_at and session:
        return None
    shared = overlap(contents.topics, topics)
    if thread:
        shared = max(shared, overlap(contents.latest, topics))
    return "topic_shift" if shared < policy.topic_shift else None


def trace_for(
    topics: Sequence[str], earlier: Sequence[tuple[BoxT, Sequence[str]]], policy: BoxPolicy
) -> tuple[BoxT, float] | None:
    """The earlier box that tells of the same thing as `topics`, the likest, of equal ones the first; and how like."""
    likest: tuple[BoxT, float] | None = None
    mine = _folded(topics)
    for box, of_box in earlier:
        shared = _shared(_folded(of_box), mine)
        if shared >= policy.trace_overlap and (likest is None or shared > likest[1]):
            likest = (box, shared)
    return likest


# ── the doors ────────────────────────────────────────────────────────────────────────────────────────────────────


def put(connection: Connection, record: Record, act: Act, policy: BoxPolicy = DEFAULT) -> int | None:
    """Lay a record that was just learned into its scope's open box; the box, None for what belongs in none."""
    if record.form not in _BOXED or record.source not in _TALK or record.status != "active":
        return None
    subjects = () if fold(record.subject) in _NOBODY else (record.subject,)
    tags = [str(tag) for tag in json.loads(record.tags)]
    topics = topics_of(tags, subjects, record.category, record.text, policy.most_topics)
    return lay(connection, [record], topics, act, policy)


def lay(
    connection: Connection, records: Sequence[Record], topics: Sequence[str], act: Act, policy: BoxPolicy = DEFAULT
) -> int:
    """Put records of one scope, which came together and are about `topics`, into the open box; returns the box."""
    scope = records[0].scope
    box = box_store.open_box(connection, scope)
    known = box_store.members(connection, box.id) if box is not None else []
    if box is not None and known:
        reason = ends(_contents(box, known), topics, act.at, act.session, policy)
        if reason is not None:
            seal(connection, box, reason, act, policy)
            box, known = None, []
    if box is None:
        box = box_store.create(connection, records[0], act.at, act.session)
    for record in records:
        box_store.link(connection, record.id, box.id, "member", act.at, topics)
    if len({member.record for member in known} | {record.id for record in records}) >= policy.most:
        seal(connection, box, "max_memories", act, policy)
    return box.id


def seal(connection: Connection, box: Record, reason: Reason, act: Act, policy: BoxPolicy = DEFAULT) -> str:
    """Close a box and weave it into a trace, an older one or its own; the trace."""
    members = box_store.members(connection, box.id)
    topics = topics_in(members)
    ended = members[-1].at if members else act.at  # it may be noticed much later
    boxes = box_store.sealed(connection, box.scope, ended - policy.lookback, policy.candidates)
    about = box_store.topics(connection, boxes)
    likest = trace_for(topics, [(other, about.get(other, ())) for other in boxes], policy)
    older = store.get(connection, likest[0], (box.scope,)) if likest is not None else None
    trace = older.attributes.get("trace", "") if older is not None else f"trace-{box.id}"
    if older is not None:
        shared = [topic for topic in topics if topic in about[older.id]]
        box_store.link(connection, box.id, older.id, "trace", act.at, shared)
    change(
        connection,
        box,
        "sealed",
        {
            "key": f"box:{box.id}",
            "attrs": json.dumps({**box.attributes, "trace": trace, "sealed": reason}, ensure_ascii=False),
            "trust": _least(connection, box),
            "last_seen": store.stamp(ended),
            "updated": store.stamp(act.at),
        },
        act,
        shown=False,
        data={"closed": reason, "trace": trace},
    )
    return trace


def seal_idle(connection: Connection, act: Act, policy: BoxPolicy = DEFAULT) -> int:
    """Close every box, of every scope, into which nothing was laid for a while; how many that were."""
    closed = 0
    for box in box_store.open_boxes(connection, WHOLE_HOME):
        known = box_store.members(connection, box.id)
        if not known or act.at - known[-1].at >= policy.gap:
            seal(connection, box, "time_gap", act, policy)
            closed += 1
    return closed


def topics_in(members: Iterable[Member]) -> tuple[str, ...]:
    """What a box is about, in the order it came up."""
    return tuple(dict.fromkeys(topic for member in members for topic in member.topics))


def _contents(box: Record, members: Sequence[Member]) -> Contents:
    last = members[-1].at
    return Contents(
        topics=topics_in(members),
        latest=topics_in(member for member in members if member.at == last),
        count=len(members),
        last_at=last,
        session=box.attributes.get("session", ""),
    )


def _least(connection: Connection, box: Record) -> str:
    """The trust of the least trusted memory in a box: a box is no surer than what lies in it."""
    known = [member.record for member in box_store.members(connection, box.id)]
    trusts = {record.trust for record in store.by_ids(connection, known, (box.scope,)).values()}
    return min((trust for trust in trusts if trust in _TRUST), key=_TRUST.index, default=box.trust)
