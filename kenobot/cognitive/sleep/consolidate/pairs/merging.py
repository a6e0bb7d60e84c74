"""Merge records that say the same: which one stays, what it takes from the others, and what becomes of those.

It keeps the best of all: the fullest wording, every turn and tag, the highest importance, the surest belief of those as
credible as it, every use and every link. The others become history that undo restores.
"""

import json
from collections.abc import Callable, Iterable, Sequence

from kenobot.cognitive.beliefs.lifecycle import LIFECYCLE_STAGES, POLICY_CLASSES, VERIFICATIONS
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.conflicts import word_weight
from kenobot.cognitive.remember.draft import attributes_json
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import AddLink, Change, ChangePart, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.language.similarity import topic_words
from kenobot.ports.memory import CONFIDED
from kenobot.ports.records import HEARSAY, ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_MOST_EVIDENCE = 200
_MOST_TAGS = 24
_TIERS = ("core", "daily")  # where it is shown; what left for an archive or a topic file stays there only if all did
_BEST_VERIFICATION = ("user_confirmed", "disputed", "system_inferred", "unverified")
_BEST_CLASS = ("protected", "durable", "ephemeral")
_BEST_STAGE = ("active", "validated", "candidate", "stale", "archived")
assert {*_BEST_VERIFICATION} == {*VERIFICATIONS}
assert {*_BEST_CLASS} == {*POLICY_CLASSES} and {*_BEST_STAGE} == {*LIFECYCLE_STAGES}


def merge_records(view: NightView, members: Sequence[Record]) -> Change | None:
    """Merge `members`, which say the same; None when fewer than two of them are live."""
    live = {record.id: record for record in members if record.status == "active"}
    if len(live) < 2:
        return None
    winner = max(live.values(), key=lambda record: survivor_rank(record, view.policy))
    losers = sorted((record for record in live.values() if record.id != winner.id), key=lambda record: record.key)
    now = stamp(view.now)
    ended = {"status": "superseded", "valid_to": now, "updated": now}
    parts: list[ChangePart] = [UpdateRecord(loser.id, ended, {"text": loser.text}) for loser in losers]
    parts.append(UpdateRecord(winner.id, _best_values(winner, losers, view), {"text": winner.text}))
    parts += [AddLink(winner.id, loser.id, "supersedes", Sentence("reasons.same")) for loser in losers]
    parts += _inherit_links(view, winner, losers)
    names = ", ".join(f"#{number}" for number in sorted(loser.id for loser in losers))
    return Change("merged", Sentence("reasons.same_as", other=names), tuple(parts), winner.id)


def survivor_rank(record: Record, policy: Policy) -> tuple[bool, int, bool, float, int, float, str, int, str]:
    """Rank a record by what it is: the greatest stays.

    Of equals the one that was said first, and then the shorter one, which says as much.
    """
    return (
        record.verification == "user_confirmed" or record.policy_class == "protected",
        word_weight(record, policy.admit),
        record.tier == "core",
        record.confidence,
        record.mentions,
        record.importance,
        "".join(chr(0x10FFFF - ord(char)) for char in record.valid_from),  # the greatest is the earliest
        -len(record.text),
        record.key,
    )


def most_complete(records: Iterable[Record], policy: Policy) -> Record:
    """Return the record whose words say the most; of several the one that would stay."""
    return max(records, key=lambda record: (len(topic_words(record.text)), survivor_rank(record, policy)))


def _best_values(winner: Record, losers: Sequence[Record], view: NightView) -> dict[str, ColumnValue]:
    """Return the columns of the record that stays."""
    members = (winner, *losers)
    least = word_weight(winner, view.policy.admit)
    credible = [record for record in members if word_weight(record, view.policy.admit) >= least]
    peers = [record for record in members if record in credible or record.trust == winner.trust]
    turns = {turn for record in members for turn in record.source_message_ids}
    confidence = max(record.confidence for record in credible)
    if any(set(record.source_message_ids) - set(winner.source_message_ids) for record in credible):
        confidence = min(1.0, confidence + view.policy.reinforcement)
    ends = [record.expires for record in members if record.expires is not None]
    return {
        **_wording(winner, credible, view),
        "confidence": confidence,
        "importance": max(record.importance for record in peers),
        "stability": max(record.stability for record in members),
        "mentions": sum(record.mentions for record in members),
        "use_count": sum(record.use_count for record in members),
        "last_seen": max(record.last_seen for record in members),
        "last_used": max((record.last_used for record in members if record.last_used), default=None),
        "confirmed": max((record.confirmed for record in members if record.confirmed), default=None),
        "expires": max(ends) if len(ends) == len(members) else None,
        "trust": "owner" if any(record.trust == "owner" for record in members) else winner.trust,
        "category": _category(winner, peers),
        "tier": next((tier for tier in _TIERS if any(record.tier == tier for record in peers)), winner.tier),
        "lifecycle": min((record.lifecycle for record in peers), key=_place_in(_BEST_STAGE)),
        "verification": min((record.verification for record in peers), key=_place_in(_BEST_VERIFICATION)),
        "policy_class": min((record.policy_class for record in peers), key=_place_in(_BEST_CLASS)),
        "tags": json.dumps(_tags(members, peers), ensure_ascii=False),
        "attributes": _attributes(winner, peers),
        "source_messages": json.dumps(sorted(turns)[-_MOST_EVIDENCE:]),
    }


def _wording(winner: Record, credible: Sequence[Record], view: NightView) -> dict[str, ColumnValue]:
    fullest = most_complete(credible, view.policy)
    if fullest.text == winner.text:
        return {}
    return {"text": fullest.text, "key": fullest.key, "lang": fullest.lang, "updated": stamp(view.now)}


def _inherit_links(view: NightView, winner: Record, losers: Sequence[Record]) -> list[ChangePart]:
    """Return the links of the losers, on the winner, where it has none such."""
    members = {winner.id, *(loser.id for loser in losers)}
    linked = {(frozenset((link.src, link.dst)), link.type) for link in pass_rows.links_of(view.connection, winner.id)}
    parts: list[ChangePart] = []
    for loser in losers:
        for link in pass_rows.links_of(view.connection, loser.id):
            outward = link.src == loser.id
            far = link.dst if outward else link.src
            ends = frozenset((winner.id, far))
            if far not in members and (ends, link.type) not in linked:
                linked.add((ends, link.type))
                src, dst = (winner.id, far) if outward else (far, winner.id)
                parts.append(AddLink(src, dst, link.type, link.why, link.weight))
    return parts


def _category(winner: Record, peers: Sequence[Record]) -> str:
    """Return the winner's; where that says nothing, the first of the others'."""
    if winner.category != "fact":
        return winner.category
    return min((record.category for record in peers if record.category != "fact"), default="fact")


def _tags(members: Sequence[Record], peers: Sequence[Record]) -> list[str]:
    """Return the tags of the peers; what any member was told in confidence stays a confidence, and hearsay hearsay."""
    told = [CONFIDED] if any(record.is_confided for record in members) else []
    told += [HEARSAY] if any(record.is_hearsay for record in members) else []
    tags = [json.loads(record.tags) for record in peers]
    return list(dict.fromkeys([*told, *tags[0], *sorted(tag for each in tags for tag in each)]))[:_MOST_TAGS]


def _attributes(winner: Record, peers: Sequence[Record]) -> str:
    merged: dict[str, str] = {}
    for record in (winner, *sorted(peers, key=lambda record: record.key)):
        merged |= {name: value for name, value in record.attribute_map.items() if name not in merged}
    return attributes_json(merged, winner.by)


def _place_in(order: Sequence[str]) -> Callable[[str], int]:
    return lambda name: order.index(name) if name in order else len(order)
