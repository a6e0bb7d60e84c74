"""Reinforce a record by a repeat: a turn counts once, and a less trusted speaker raises nothing."""

import json
from collections.abc import Sequence

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import Conflict, apply_conflict, draft_weight, may_displace, word_weight
from kenobot.cognitive.remember.draft import RecordDraft, attributes_json, default_action
from kenobot.cognitive.remember.statement_relation import is_richer
from kenobot.cognitive.store import links, records
from kenobot.cognitive.store.change import ColumnValue, change
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.text.entity_names import OWNER_SUBJECT
from kenobot.cognitive.text.words import detect_language
from kenobot.ports.memory import Decision
from kenobot.storage.connection import Connection

_MOST_EVIDENCE = 200  # turns that are kept as having said a thing: the newest
_MOST_TAGS = 24


def reinforce_record(
    connection: Connection, known: Record, made: RecordDraft, disputes: Sequence[Conflict], occasion: AdmitContext
) -> Decision:
    """Reinforce a record by a draft that repeats it; the owner's word raises its trust.

    A turn that counts already changes nothing. A richer wording replaces the text.
    """
    policy = occasion.policy
    same_words = made.key == known.key or made.candidate.source == "extraction"
    if same_words and made.evidence and set(made.evidence) <= set(known.source_message_ids):
        return _read_again(connection, known, made, disputes, occasion)
    weight = draft_weight(made, policy.admit)
    held = word_weight(known.trust, known.source, known.confidence, known.scope, policy.admit)
    values = _surer(known, made, occasion, weight >= held)
    reworded = made.key != known.key and may_displace(made, known, policy.admit) and is_richer(known.text, made.text)
    if reworded:
        values |= {
            "text": made.text,
            "key": made.key,
            "lang": detect_language(made.text),
            "updated": records.stamp(occasion.at),
        }
    reason = "it was known already, and is said more fully now" if reworded else "it was known already"
    decision = Decision("reinforced", reason, known.id)
    shown = reworded or values["trust"] != known.trust
    event = change(
        connection, known, "reinforced", values, occasion.change_context(reason), shown=shown, data=_asked(made)
    )
    act = occasion.change_context(decision.reason, event)
    for dispute in disputes:
        # Without a turn of its own a repeat cannot be told from the same one again, and must take nothing twice.
        if made.evidence and dispute.record.id != known.id:
            apply_conflict(connection, dispute, known.id, act, policy)
    after = records.get(connection, known.id, (known.scope,))
    assert after is not None
    lifecycle.apply_event(connection, after, "restated" if weight == 3 else "reinforced", act, policy.value)
    return decision


def _read_again(
    connection: Connection, known: Record, made: RecordDraft, disputes: Sequence[Conflict], occasion: AdmitContext
) -> Decision:
    """Merge what a turn that counts already tells of its subject, or against a memory, once."""
    decision = Decision("reinforced", "it was known already, from this very turn", known.id)
    counts = may_displace(made, known, occasion.policy.admit)
    news = counts and made.attributes.keys() - known.attribute_map.keys()
    values = _fuller(known, made, counts)
    event = change(connection, known, "reinforced", values, occasion.change_context(decision.reason), shown=False)
    act = occasion.change_context(decision.reason, event)
    read = {verdict.record for verdict in made.candidate.verdicts if verdict.relation == "contradiction"}
    for dispute in disputes:
        other = dispute.record.id
        told = news or (other in read and links.get_link(connection, known.id, other, "contradicts") is None)
        if told and other != known.id:
            apply_conflict(connection, dispute, known.id, act, occasion.policy)
    return decision


def _fuller(known: Record, made: RecordDraft, counts: bool) -> dict[str, ColumnValue]:
    """What a turn tells of a fact beyond the fact itself, and can tell twice. counts: whoever tells it is believed."""
    tags = list(dict.fromkeys([*json.loads(known.tags), *made.tags]))[:_MOST_TAGS]
    attributes = {**made.attributes, **known.attribute_map} if counts else known.attribute_map
    return {
        "expires": None,
        "importance": max(known.importance, made.importance) if counts else known.importance,
        "tags": json.dumps(tags, ensure_ascii=False),
        "attributes": attributes_json(attributes, known.by),
        "subject": made.subject if counts and known.subject == OWNER_SUBJECT else known.subject,
    }


def _surer(known: Record, made: RecordDraft, occasion: AdmitContext, counts: bool) -> dict[str, ColumnValue]:
    """What a repeat changes. counts: whoever repeats it is to be believed as much as whoever said it first."""
    policy = occasion.policy
    vouched = made.trust == "owner" and known.trust != "owner"
    confidence = min(1.0, known.confidence + policy.reinforcement) if counts else known.confidence
    if vouched:
        confidence = max(confidence, min(made.confidence, policy.confidence["owner"]))
    evidence = sorted({*known.source_message_ids, *made.evidence})[-_MOST_EVIDENCE:]
    return {
        **_fuller(known, made, counts),
        "confidence": confidence,
        "mentions": known.mentions + 1,
        "last_seen": records.stamp(occasion.at),
        "trust": made.trust if vouched else known.trust,
        "source_messages": json.dumps(evidence),
    }


def _asked(made: RecordDraft) -> dict[str, Json]:
    return {"action": "update_note" if made.form == "note" else default_action(made)}
