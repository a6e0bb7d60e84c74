"""Memory boxes: topics, how much two sets of them share, when a box is closed, and which boxes share a trace."""

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

from kenobot.cognitive.policy.remember import BoxPolicy
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import boxes as box_store
from kenobot.cognitive.store import records as store
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import ChangeContext
from tests.conformance.cases import Case, Outcome, compare
from tests.memory_rows import new_memory

_START = datetime(2026, 2, 14, 10, tzinfo=UTC)


def topic_overlap(case: Case) -> Outcome:
    return compare(case, round(boxes.topic_overlap(map(fold, case.input["a"]), map(fold, case.input["b"])), 6))


def box_topics(case: Case) -> Outcome:
    named = [entity["name"] for entity in case.input["entities"]]
    fact = case.input["facts"][0]
    return compare(case, list(boxes.topics_of(fact["tags"], [fact["entity_ref"], *named], fact["category"])))


def thread_boundary(case: Case) -> Outcome:
    last, turn = case.input["last"], case.input["turn"]
    gap = timedelta(minutes=case.input["gap_minutes"])
    before, now = datetime.fromisoformat(last["at"]), datetime.fromisoformat(turn["at"])
    return compare(case, boxes.starts_new_thread(before, last["session"], now, turn["session"], gap))


def box_seal(case: Case) -> Outcome:
    return compare(case, _replay(case, traces=False))


def trace_weave(case: Case) -> Outcome:
    return compare(case, _replay(case, traces=True))


def _replay(case: Case, *, traces: bool) -> dict[str, Any]:
    """The boxes that come of the case's memories, laid into a real database one event after the other."""
    policy = _policy(case.input["config"])
    connection = new_memory()
    try:
        named: dict[int, str] = {}
        at = _START
        for event in case.input["events"]:
            if not event["memory_ids"]:
                continue
            at = _START + timedelta(milliseconds=event["t_ms"])
            records = []
            for name in event["memory_ids"]:
                # What an edit says belongs to no talk, so that only this event's topics put it into a box.
                told = Candidate("note", OWNER_SCOPE, name, source="edit")
                decision = admit(connection, told, AdmitContext(at, "2026-02-14", "owner"))
                assert decision.record is not None
                named[decision.record] = name
                record = store.get(connection, decision.record, (OWNER_SCOPE,))
                assert record is not None
                records.append(record)
            boxes.add_together(connection, records, event["topics"], ChangeContext(at, "model"), policy)
        still = box_store.open_box(connection, OWNER_SCOPE)
        if still is not None and case.input.get("then") == "force seal":
            boxes.close_box(connection, still, "forced", ChangeContext(at, "model"), policy)
        return _shown(connection, named, traces=traces)
    finally:
        connection.close()


def _policy(config: dict[str, Any]) -> BoxPolicy:
    plain = BoxPolicy()
    return BoxPolicy(
        box_single_records=True,  # the seed files a single memory as a box, too
        close_below_overlap=config.get("topic_shift", plain.close_below_overlap),
        close_after=timedelta(milliseconds=config["time_gap_ms"]) if "time_gap_ms" in config else plain.close_after,
        max_records=config.get("max_memories", plain.max_records),
        trace_from_overlap=plain.trace_from_overlap if config.get("overlap") is None else config["overlap"],
        lookback=plain.lookback if config.get("lookback_days") is None else timedelta(days=config["lookback_days"]),
    )


def _shown(connection: sqlite3.Connection, named: dict[int, str], *, traces: bool) -> dict[str, Any]:
    numbers = [row[0] for row in connection.execute("SELECT id FROM record WHERE form = 'box' ORDER BY id")]
    sealed: list[dict[str, Any]] = []
    still: dict[str, Any] | None = None
    names: dict[str, str] = {}
    for box in store.by_ids(connection, numbers, (OWNER_SCOPE,)).values():
        members = box_store.box_members(connection, box.id)
        shown: dict[str, Any] = {
            "topics": list(boxes.list_topics(members)),
            "memory_ids": [named[member.record] for member in members],
        }
        if box.key == box_store.OPEN_KEY:
            still = shown
            continue
        shown["reason"] = box.attribute_map["sealed"]
        trace = names.setdefault(box.attribute_map["trace"], f"T{len(names) + 1}")
        sealed.append(shown | ({"trace": trace} if traces else {}))
    return {"sealed": sealed, "open": still}
