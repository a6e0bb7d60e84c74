"""Log the records that a prompt shows, in the transaction of its turn, and explain a reply by that log.

A turn writes one update and one event. Records of a prefix are logged once, when the prefix is made.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.results.memory import PREFIX_SECTIONS, MemoryPack
from kenobot.cognitive.store import events
from kenobot.cognitive.store import records as store
from kenobot.ports.explanations import SearchSummary, UsedMemory
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.recall import DIGITS, MatchExplanation, Section
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


def log_usage(
    connection: Connection,
    shown: MemoryPack,
    inbox: int,
    session: str,
    at: datetime,
    reach: Scopes,
    policy: Policy = DEFAULT,
) -> int | None:
    """Log what a turn's prompt shows for the first time, inside its transaction; the event, or None for nothing.

    reach: the scopes of its reader, within which use warms records.
    """
    loaded = not PREFIX_SECTIONS.isdisjoint(shown.sections)
    if not loaded and shown.search is None and not shown.entries:
        return None
    matched, updates = shown.records("procedures", "recalled"), shown.records("updates")
    prefix_records = shown.records(*PREFIX_SECTIONS)
    records = list(dict.fromkeys([*matched, *updates, *prefix_records]))
    unused = {*updates}  # to tell an update is not to use it
    if prefix_records:  # nor is it to make a prefix anew for other reasons
        lately = at - timedelta(minutes=policy.recall.again_minutes)
        unused |= recall_rows.used_since(connection, prefix_records, lately, reach).difference(matched)
    used = [number for number in records if number not in unused]
    if used:
        recall_rows.mark_used(connection, used, at, policy.recall.stability_per_use, policy.recall.most_stable)
        act = ChangeContext(at, "recall", Sentence("reasons.used"), session)
        lifecycle.apply_use(connection, used, reach, act, policy.value)
    data: dict[str, Json] = {"inbox": inbox, "records": [*records]}
    if loaded:
        data["frame"] = [*prefix_records]
    if updates:
        data["noted"] = [*updates]
    if shown.search is not None:
        data |= {
            "level": shown.search.level,
            "score": round(shown.search.score, DIGITS),
            "items": _reasons(shown, "recalled"),
            "turns": [excerpt.turn.id for excerpt in shown.search.excerpts],
            "dropped": {**shown.search.dropped},
        }
    if reasons := _reasons(shown, "procedures"):
        data["practice"] = reasons
    return events.add_event(connection, at, "recall", "recalled", session=session, data=data)


def _reasons(shown: MemoryPack, section: Section) -> list[Json]:
    return [each.reason.as_json() for each in shown.entries if each.section == section and each.reason is not None]


def explain_turn(connection: Connection, inbox: int, reach: Scopes) -> tuple[UsedMemory, ...]:
    """List the memories behind the reply to a message, those recalled for it first; none without such a turn.

    A memory forgotten since is named by its id alone.
    """
    session = recall_rows.session_of_turn(connection, inbox, reach)
    if session is None:
        return ()
    used: dict[int, UsedMemory] = {}
    for event in recall_rows.recall_events(connection, session, inbox):
        where: Literal["message", "earlier"] = "message" if event.get("inbox") == inbox else "earlier"
        reasons = map(MatchExplanation.from_json, _items(event.get("practice")) + _items(event.get("items")))
        for each in (
            *(UsedMemory(reason.record, None, where, reason) for reason in reasons),
            *(UsedMemory(number, None, "earlier") for number in _numbers(event.get("noted"))),
            *(UsedMemory(number, None, "frame") for number in _numbers(event.get("frame"))),
        ):
            used.setdefault(each.record_id, each)
    found = store.by_ids(connection, list(used), reach)
    known = {number: record for number, record in found.items() if record.status != "forgotten"}
    return tuple(replace(each, record=known.get(number)) for number, each in used.items())


def find_search(connection: Connection, session: str, inbox: int) -> SearchSummary | None:
    """Return how the search for a message went; None where it was not searched for."""
    event = next(iter(recall_rows.recall_events(connection, session, inbox)), {})
    level, score, dropped = (event.get(name) for name in ("level", "score", "dropped"))
    if event.get("inbox") != inbox or not isinstance(level, str):
        return None
    counts = dropped.items() if isinstance(dropped, dict) else ()
    left_out = {str(reason): count for reason, count in counts if isinstance(count, int)}
    return SearchSummary(level, float(score) if isinstance(score, int | float) else 0.0, left_out)


def records_behind_reply(connection: Connection, session: str, inbox: int) -> list[int]:
    """List the records that the prompt of a reply showed, those recalled for it first."""
    numbers: list[int] = []
    for event in recall_rows.recall_events(connection, session, inbox):
        numbers += _numbers(event.get("records"))
    return list(dict.fromkeys(numbers))


def records_in_prompt(connection: Connection, session: str) -> list[int]:
    """List the records that each prompt of a chat shows: those of its prefix, and what was noted since."""
    numbers: list[int] = []
    for event in recall_rows.recall_events(connection, session):
        numbers += _numbers(event.get("frame")) + _numbers(event.get("noted"))
    return list(dict.fromkeys(numbers))


def prefix_records(connection: Connection, session: str) -> list[int] | None:
    """List the records that a chat's prompt prefix shows; None when the log does not reach back to it."""
    shown = (event["frame"] for event in recall_rows.recall_events(connection, session) if "frame" in event)
    return next(map(_numbers, shown), None)


def _numbers(value: object) -> list[int]:
    return [each for each in value if isinstance(each, int)] if isinstance(value, list) else []


def _items(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
