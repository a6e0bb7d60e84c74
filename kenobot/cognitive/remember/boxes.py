"""Collect the memories of one stretch of talk in boxes, and join boxes about the same thing to traces.

Each scope has one topic under way, and a box from its second memory on. A box is closed when the named topics change,
after a pause, or when full; where nothing is named, when a memory shares no word with those before it and does not
point back to them. A closed box is compared with those of the last days.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from kenobot.cognitive.policy.remember import BoxPolicy
from kenobot.cognitive.store import boxes as box_store
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.boxes import BoxContents, BoxMember, OpenTopic
from kenobot.cognitive.store.change import change
from kenobot.language.references import points_back
from kenobot.language.words import fold, terms
from kenobot.ports.identity import least_trusted
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import MARKS, ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

CloseReason = Literal["topic_shift", "time_gap", "max_memories", "forced"]

DEFAULT = BoxPolicy()

_BOXED = frozenset({"note", "episode", "procedure"})
_TALK = frozenset({"tag", "command", "extraction"})  # what is said; an edit, an import or sleep is no conversation
_NOBODY = frozenset({"", "owner"})
_WORDS_KEPT = 64  # of what was told last, where nothing is named


def topic_overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """Return how much of what either is about both are about, 0 to 1. Topics are folded."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first and second else 0.0


def topics_of(
    tags: Sequence[str], subjects: Sequence[str], category: str, most: int = DEFAULT.max_topics
) -> tuple[str, ...]:
    """Return what a memory is named to be about: its tags, its subject, its kind, whoever else is in it."""
    return plain_topics((*tags, *subjects[:1], category, *subjects[1:]), most)


def plain_topics(topics: Iterable[str], most: int) -> tuple[str, ...]:
    """Return at most so many topics, folded and each once, without single Latin letters."""
    found = (fold(topic).strip() for topic in topics)
    return tuple(dict.fromkeys(topic for topic in found if len(topic) > 1 or not topic.isascii()))[:most]


def starts_new_thread(before: datetime, session: str, now: datetime, in_session: str, gap: timedelta) -> bool:
    """Return whether `now` begins another thread: said elsewhere, or after a longer pause than `gap`."""
    return session != in_session or now - before > gap


def close_reason(
    contents: BoxContents,
    topics: Sequence[str],
    at: datetime,
    session: str,
    policy: BoxPolicy,
    said: Sequence[str] = (),
) -> CloseReason | None:
    """Return the reason to close a box before a memory about `topics`; None to add the memory to it.

    Memories of one turn stay together. Within a thread, overlap with the topics named last is enough. said: the words
    of the memory, which count where nobody named anything; none where it points back to what was said.
    """
    if at - contents.last_at >= policy.close_after:
        return "time_gap"
    thread = not starts_new_thread(contents.last_at, contents.session, at, session, policy.close_after)
    if thread and at == contents.last_at and session:
        return None
    if not (topics and contents.topics):
        shifts = not (topics or contents.topics) and said and contents.latest and not {*said} & {*contents.latest}
        return "topic_shift" if shifts or not thread else None
    shared = topic_overlap(contents.topics, topics)
    if thread:
        shared = max(shared, topic_overlap(contents.latest, topics))
    return "topic_shift" if shared < policy.close_below_overlap else None


def add_to_open_box(
    connection: Connection, record: Record, act: ChangeContext, policy: BoxPolicy = DEFAULT
) -> int | None:
    """Lay a record that was just learned into its scope's open box; the box, None for what lies in none."""
    if record.form not in _BOXED or record.source not in _TALK or record.status != "active":
        return None
    return add_together(connection, [record], _list_topics(record, policy), act, policy)


def _list_topics(record: Record, policy: BoxPolicy) -> tuple[str, ...]:
    """Return the topics of a record; none when nobody has said what it is about: its kind alone says nothing."""
    subjects = () if fold(record.subject) in _NOBODY else (record.subject,)
    tags = [str(tag) for tag in json.loads(record.tags) if tag not in MARKS]
    return topics_of(tags, subjects, record.category, policy.max_topics) if tags or subjects else ()


def add_together(
    connection: Connection, records: Sequence[Record], topics: Sequence[str], act: ChangeContext, policy: BoxPolicy
) -> int | None:
    """Add records of one turn and scope about `topics` to the topic under way; returns their box, None without one.

    The cost does not grow with the box.
    """
    topics = tuple(dict.fromkeys(map(fold, topics)))
    latest = topics or _words(records, policy)
    scope, begun = records[0].scope, BoxContents(topics, latest, 1, act.at, act.session)
    known = _going_on(connection, records, topics, act, policy) or OpenTopic(scope, records[0].id, None, begun)
    held, box = known.contents, known.box
    others = [record for record in records if record.id != known.first_record]
    if box is None and (others or policy.box_single_records):
        box = _open(connection, known, act, policy)
    new = [record for record in others if box is not None and _put_in(connection, record, box, act.at, topics, policy)]
    after = BoxContents(
        topics=tuple(dict.fromkeys((*held.topics, *topics))),
        latest=_list_latest(held, topics, latest, act.at),
        count=held.count + len(new),
        last_at=act.at,
        session=act.session,
    )
    box_store.save_open_topic(connection, replace(known, box=box, contents=after))
    if box is not None and after.count >= policy.max_records:
        close_box(connection, store.require(connection, box, known.scope), "max_memories", act, policy)
    return box


def _going_on(
    connection: Connection, records: Sequence[Record], topics: Sequence[str], act: ChangeContext, policy: BoxPolicy
) -> OpenTopic | None:
    """Return the open topic, if what comes next goes on with it; if not it is ended, and its box closed."""
    scope = records[0].scope
    known = box_store.open_topic_of(connection, scope) or _of_box(connection, scope)
    said = () if any(points_back(record.text) for record in records) else _words(records, policy)
    reason = close_reason(known.contents, topics, act.at, act.session, policy, said) if known is not None else None
    if known is None or reason is None:
        return known
    box = store.get(connection, known.box, (scope,)) if known.box is not None else None
    if box is not None:
        close_box(connection, box, reason, act, policy)
    return None


def _open(connection: Connection, known: OpenTopic, act: ChangeContext, policy: BoxPolicy) -> int:
    """Open a box, with what the topic began with in it; an event tells of that, because its record file says so."""
    first = store.require(connection, known.first_record, known.scope)
    held = known.contents
    box = box_store.create_box(connection, first, held.last_at, held.session)
    _put_in(connection, first, box.id, held.last_at, held.topics, policy)
    told = replace(act, reason=Sentence("reasons.talk_went_on"))
    change(connection, first, "boxed", {}, told, shown=False, data={"box": box.id})
    return box.id


def _put_in(
    connection: Connection, record: Record, box: int, at: datetime, topics: Sequence[str], policy: BoxPolicy
) -> bool:
    """Make a record a member of a box, with its topics, or its words if it has none. False when it is one already."""
    about = topics or _words([record], policy)
    return box_store.upsert_box_link(connection, record.id, box, "member", at, about, named=bool(topics))


def _words(records: Sequence[Record], policy: BoxPolicy) -> tuple[str, ...]:
    """Return the words of records, as topics; a word is folded already."""
    found = dict.fromkeys(word for record in records for word in terms(record.text))
    return tuple([word for word in found if len(word) > 1 or not word.isascii()][: policy.max_topics])


def _list_latest(held: BoxContents, topics: Sequence[str], told: Sequence[str], at: datetime) -> tuple[str, ...]:
    """Return the topics named last: what comes in one breath is one naming.

    Words, `told`, are kept where nothing is named.
    """
    if topics:
        return tuple(dict.fromkeys((*held.latest, *topics))) if held.topics and at == held.last_at else tuple(topics)
    return held.latest if held.topics else tuple(dict.fromkeys((*told, *held.latest)))[:_WORDS_KEPT]


def _of_box(connection: Connection, scope: str) -> OpenTopic | None:
    """Read the topic under way from its open box: after an import nothing else tells of it.

    Reads all that lies in it.
    """
    box = box_store.open_box(connection, scope)
    members = box_store.box_members(connection, box.id) if box is not None else []
    if box is None or not members:
        return None
    named = [member for member in members if member.named]
    words = dict.fromkeys(word for member in reversed(members) for word in member.topics)
    held = BoxContents(
        topics=list_topics(members),
        latest=list_topics(each for each in named if each.at == named[-1].at) or tuple(words)[:_WORDS_KEPT],
        count=len(members),
        last_at=members[-1].at,
        session=box.attribute_map.get("session", ""),
    )
    return OpenTopic(scope, members[0].record, box.id, held)


def close_box(
    connection: Connection, box: Record, reason: CloseReason, act: ChangeContext, policy: BoxPolicy = DEFAULT
) -> str:
    """Close a box and weave it into a trace, an older one or its own; the trace."""
    box_store.delete_open_topic(connection, box.scope)
    members = box_store.box_members(connection, box.id)
    held = store.by_ids(connection, [member.record for member in members], (box.scope,))
    tells = box_store.box_topics(members)
    ended = members[-1].at if members else act.at  # it may be noticed much later
    boxes = box_store.list_closed_boxes(connection, box.scope, ended - policy.lookback, policy.max_candidates)
    about = box_store.topics_of_boxes(connection, boxes)
    overlaps = {other: topic_overlap(tells, about.get(other, ())) for other in boxes}
    likest = max(boxes, key=lambda other: overlaps[other], default=0)
    joins = overlaps.get(likest, 0.0) >= policy.trace_from_overlap
    older = store.get(connection, likest, (box.scope,)) if joins else None
    trace = older.attribute_map.get("trace", "") if older is not None else f"trace-{box.id}"
    if older is not None:
        shared = [topic for topic in tells if topic in about[older.id]]
        box_store.upsert_box_link(connection, box.id, older.id, "trace", act.at, shared)
    values: dict[str, ColumnValue] = {
        "key": f"box:{box.id}",
        "attributes": json.dumps({**box.attribute_map, "trace": trace, "sealed": reason}, ensure_ascii=False),
        # A box is no surer than the least trusted memory in it.
        "trust": least_trusted((record.trust for record in held.values()), box.trust),
        "last_seen": stamp(ended),
        "updated": stamp(act.at),
    }
    change(connection, box, "sealed", values, act, shown=False, data={"closed": reason, "trace": trace})
    return trace


def close_idle_boxes(connection: Connection, act: ChangeContext) -> int:
    """Close every box, of every scope, into which nothing was laid for a while; how many that were."""
    for scope in box_store.idle_scopes(connection, act.at - DEFAULT.close_after):
        box_store.delete_open_topic(connection, scope)
    closed = 0
    for box in box_store.open_boxes(connection, ALL_SCOPES):
        known = box_store.open_topic_of(connection, box.scope) or _of_box(connection, box.scope)
        if known is None or act.at - known.contents.last_at >= DEFAULT.close_after:
            close_box(connection, box, "time_gap", act)
            closed += 1
    return closed


def list_topics(members: Iterable[BoxMember]) -> tuple[str, ...]:
    """Return what is named in a box, in the order it came up."""
    return tuple(dict.fromkeys(topic for member in members if member.named for topic in member.topics))
