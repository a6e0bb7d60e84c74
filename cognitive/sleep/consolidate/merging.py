"""One record out of several that say the same: which stays, what it keeps of the others, and what becomes of those.

It keeps the best of all: the fullest wording, every turn and tag, the highest importance, the surest belief of whoever
is believed as much as it, every use and every link. The others are history that undo brings back.
"""

import json
from collections.abc import Callable, Iterable, Sequence

from kenobot.cognitive.beliefs.lifecycle import LIFECYCLE_STAGES, POLICY_CLASSES, VERIFICATIONS
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.draft import attributes_json
from kenobot.cognitive.sleep import merge_rows
from kenobot.cognitive.sleep.consolidate.pair_rules import credibility
from kenobot.cognitive.sleep.plan.changes import AddLink, Change, ChangePart, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.similarity import topic_words

_MOST_EVIDENCE = 200
_MOST_TAGS = 24
_TIERS = ("core", "daily")  # where it is shown; what left for an archive or a topic file stays there only if all did
_VERIFIED = ("user_confirmed", "disputed", "system_inferred", "unverified")
_CLASSED = ("protected", "durable", "ephemeral")
_STANDS = ("active", "validated", "candidate", "stale", "archived")
assert {*_VERIFIED} == {*VERIFICATIONS} and {*_CLASSED} == {*POLICY_CLASSES} and {*_STANDS} == {*LIFECYCLE_STAGES}


def merge_records(view: NightView, members: Sequence[Record]) -> Change | None:
    """What makes one of `members`, which say the same; None when fewer than two of them are live."""
    live = {record.id: record for record in members if record.status == "active"}
    if len(live) < 2:
        return None
    winner = max(live.values(), key=lambda record: survivor_rank(record, view.policy))
    losers = sorted((record for record in live.values() if record.id != winner.id), key=lambda record: record.key)
    now = store.stamp(view.now)
    parts: list[ChangePart] = [
        UpdateRecord(
            loser.id,
            {"status": "superseded", "valid_to": now, "updated": now},
            {"text": loser.text},
        )
        for loser in losers
    ]
    values = _best(winner, losers, view)
    parts.append(UpdateRecord(winner.id, values, {"text": winner.text}))
    parts += [AddLink(winner.id, loser.id, "supersedes", "it says the same") for loser in losers]
    parts += _inherited(view, winner, losers)
    names = ", ".join(f"#{loser.id}" for loser in sorted(losers, key=lambda record: record.id))
    return Change("merged", f"it says the same as {names}", tuple(parts), winner.id)


def survivor_rank(record: Record, policy: Policy) -> tuple[bool, int, bool, float, int, float, str, int, str]:
    """How good a record is to stay: the greatest does. Told by what it is, never by where it stood in a list.

    Of equals the one that was said first, and then the shorter one, which says as much.
    """
    return (
        record.verification == "user_confirmed" or record.policy_class == "protected",
        credibility(record, policy),
        record.tier == "core",
        record.confidence,
        record.seen,
        record.importance,
        _latest_first(record.valid_from),
        -len(record.text),
        record.key,
    )


def most_complete(records: Iterable[Record], policy: Policy) -> Record:
    """The record whose words say the most; of several the one that would stay."""
    return max(records, key=lambda record: (len(topic_words(record.text)), survivor_rank(record, policy)))


def _best(winner: Record, losers: Sequence[Record], view: NightView) -> dict[str, ColumnValue]:
    """What the one that stays holds afterwards."""
    policy = view.policy
    held = credibility(winner, policy)
    everybody = (winner, *losers)
    believed = [record for record in everybody if credibility(record, policy) >= held]
    own = [record for record in everybody if record in believed or record.trust == winner.trust]
    turns = {turn for record in everybody for turn in record.source_message_ids}
    confidence = max(record.confidence for record in believed)
    if any(set(record.source_message_ids) - set(winner.source_message_ids) for record in believed):
        confidence = min(1.0, confidence + policy.reinforcement)
    return {
        **_wording(winner, believed, view),
        "confidence": confidence,
        "importance": max(record.importance for record in own),
        "stability": max(record.stability for record in everybody),
        "seen": sum(record.seen for record in everybody),
        "uses": sum(record.uses for record in everybody),
        "last_seen": max(record.last_seen for record in everybody),
        "last_used": max((record.last_used for record in everybody if record.last_used), default=None),
        "confirmed": max((record.confirmed for record in everybody if record.confirmed), default=None),
        "expires": _latest([record.expires for record in everybody]),
        "trust": "owner" if any(record.trust == "owner" for record in everybody) else winner.trust,
        "category": _category(winner, own),
        "tier": next((tier for tier in _TIERS if any(r.tier == tier for r in own)), winner.tier),
        "lifecycle": min((record.lifecycle for record in own), key=_place(_STANDS)),
        "verification": min((record.verification for record in own), key=_place(_VERIFIED)),
        "policy_class": min((record.policy_class for record in own), key=_place(_CLASSED)),
        "tags": json.dumps(_tags(own), ensure_ascii=False),
        "attrs": _attributes(winner, own),
        "evidence": json.dumps(sorted(turns)[-_MOST_EVIDENCE:]),
    }


def _wording(winner: Record, believed: Sequence[Record], view: NightView) -> dict[str, ColumnValue]:
    told = most_complete(believed, view.policy)
    if told.text == winner.text:
        return {}
    return {"text": told.text, "key": told.key, "lang": told.lang, "updated": store.stamp(view.now)}


def _inherited(view: NightView, winner: Record, losers: Sequence[Record]) -> list[ChangePart]:
    """The links of those that go, on the one that stays, where it has none such."""
    gone = {winner.id, *(loser.id for loser in losers)}
    known = {(frozenset((tie.src, tie.dst)), tie.type) for tie in merge_rows.links_of(view.connection, winner.id)}
    parts: list[ChangePart] = []
    for loser in losers:
        for tie in merge_rows.links_of(view.connection, loser.id):
            outward = tie.src == loser.id
            far = tie.dst if outward else tie.src
            if far in gone or (frozenset((winner.id, far)), tie.type) in known:
                continue
            known.add((frozenset((winner.id, far)), tie.type))
            src, dst = (winner.id, far) if outward else (far, winner.id)
            parts.append(AddLink(src, dst, tie.type, tie.why, tie.weight))
    return parts


def _category(winner: Record, own: Sequence[Record]) -> str:
    """Its own; where that says nothing, the first that one of the others has."""
    if winner.category != "fact":
        return winner.category
    return min((record.category for record in own if record.category != "fact"), default="fact")


def _tags(own: Sequence[Record]) -> list[str]:
    told = [tag for record in own for tag in json.loads(record.tags)]
    return list(dict.fromkeys([*told[: len(json.loads(own[0].tags))], *sorted(told)]))[:_MOST_TAGS]


def _attributes(winner: Record, own: Sequence[Record]) -> str:
    told: dict[str, str] = {}
    for record in (winner, *sorted(own, key=lambda record: record.key)):
        for name, value in record.attributes.items():
            told.setdefault(name, value)
    return attributes_json(told, winner.by)


def _latest(times: Sequence[str | None]) -> str | None:
    """The last of these times; None, for never, when one of them is."""
    return None if None in times else max(time for time in times if time is not None)


def _place(order: Sequence[str]) -> Callable[[str], int]:
    return lambda name: order.index(name) if name in order else len(order)


def _latest_first(time: str) -> str:
    """A time turned round, so that the greatest is the earliest."""
    return "".join(chr(0x10FFFF - ord(char)) for char in time)
