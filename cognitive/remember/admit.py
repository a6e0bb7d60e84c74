"""Admit candidates into memory, inside the transaction of the caller.

Every decision is an event with its reason, and further changes are part of it, so that one undo takes back all.
The same candidate twice leaves one record.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from kenobot.cognitive.beliefs.links import link_new_record, strengthen_link
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.actions import check_action, parse_action
from kenobot.cognitive.remember.admit_context import AdmitContext, sanitize
from kenobot.cognitive.remember.classify import tier_of_confidence
from kenobot.cognitive.remember.compare import Comparison, compare
from kenobot.cognitive.remember.conflicts import (
    Conflict,
    add_supersedes_link,
    apply_conflict,
    contested_confidence,
    end_record,
)
from kenobot.cognitive.remember.draft import (
    FACT_FORMS,
    RecordDraft,
    attributes_json,
    default_action,
    find_secret,
    insert_draft,
    make_draft,
)
from kenobot.cognitive.remember.reinforce import reinforce_record
from kenobot.cognitive.store import events, records, redaction, term_index, turns
from kenobot.cognitive.store.change import ChangeContext, ColumnValue, change
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.store.scopes import Scopes
from kenobot.cognitive.text.entity_names import OWNER_SUBJECT
from kenobot.cognitive.text.fingerprint import key_about, key_of
from kenobot.cognitive.text.words import detect_language, words
from kenobot.ports.memory import Candidate, Decision
from kenobot.storage.connection import Connection

_BLANK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})  # kinds of characters that show nothing
_KEPT_WHOLE = ("store_note", "store_episode", "update_note", "create_artifact")


def admit(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
    """Take `candidate` in, or not. The same one twice gives the same store once, and a surer belief."""
    return _admit(connection, candidate, occasion)


def _admit(
    connection: Connection, candidate: Candidate, occasion: AdmitContext, instead_of: int | None = None
) -> Decision:
    """instead_of: the record whose place the candidate is to take, whatever they have in common."""
    text = sanitize(candidate.text, occasion.policy.max_text_chars)
    if all(unicodedata.category(char) in _BLANK for char in text):
        return _decided(connection, occasion, Decision("discarded", "there is nothing in it"))
    secret = find_secret(candidate, text)
    if secret is not None:
        return _decided(connection, occasion, Decision("refused", f"it looks like {secret}"))
    term_index.index_backlog(connection)
    made = make_draft(connection, replace(candidate, text=text), text, occasion)
    if candidate.slot:
        return _fill(connection, made, occasion)
    known, key = _by_key(connection, made)
    refusal = _unwanted(made, occasion)
    if refusal is None and known is None and instead_of is None:
        refusal = _outlived(connection, made)
    if refusal is not None:
        return _decided(connection, occasion, Decision("discarded", refusal))
    made = replace(made, key=key)
    if made.form not in FACT_FORMS:
        found = Comparison(repeated=known)
    else:
        found = compare(connection, made, occasion.policy.admit, occasion.nearness, instead_of)
        if known is not None:
            found = replace(found, repeated=known, later=None)
    if found.repeated is not None:
        return reinforce_record(connection, found.repeated, made, found.conflicts, occasion)
    return _create(connection, made, found, occasion)


def supersede(connection: Connection, old: int, candidate: Candidate, occasion: AdmitContext) -> Decision:
    """Put `candidate` in the place of record `old` of its scope, which stays as history: a person rewrote a line."""
    before = records.get(connection, old, (candidate.scope,))
    decision = _admit(connection, candidate, occasion, old)
    if before is None or decision.record in (None, old):
        return decision
    assert decision.record is not None
    now = records.get(connection, old, (candidate.scope,))
    part = events.last_decision_on(connection, decision.record)
    act = occasion.change_context("", part)
    if now is not None and now.status == "active":
        end_record(connection, now, "superseded", act, by=decision.record)
    add_supersedes_link(connection, decision.record, old, act)
    return Decision("replaced", f"takes the place of {old}", decision.record)


def correct(connection: Connection, old: int, text: str, reach: Scopes, occasion: AdmitContext) -> Decision:
    """Replace live record `old` by the owner's new words, with its subject, category and importance kept.

    Raises LookupError when there is no such record within `reach`, ValueError when `text` is blank or says the same.
    """
    known = records.get(connection, old, reach)
    if known is None or known.status != "active":
        raise LookupError(f"there is no live record {old}")
    said = sanitize(text, occasion.policy.max_text_chars)
    if not said:
        raise ValueError("what is so instead is required")
    if key_of(said) == known.key or said == known.text:
        raise ValueError("the words must change")
    candidate = Candidate(
        form="episode" if known.form == "episode" else "note",
        scope=known.scope,
        text=said,
        category=known.category,
        source="command",
        subject="" if known.subject == "owner" else known.subject,
        tier="core" if known.tier == "core" else "daily",
        tags=tuple(json.loads(known.tags)),
        importance=known.importance,
    )
    return supersede(connection, old, candidate, occasion)


# ── what is not taken in ─────────────────────────────────────────────────────────────────────────────────────────


def _unwanted(made: RecordDraft, occasion: AdmitContext) -> str | None:
    """The reason why a candidate's own action keeps it out; None to admit it. What is important is admitted anyway."""
    wish = made.candidate.action
    if not wish:
        return None
    action = parse_action(wish)
    if action in _KEPT_WHOLE:
        return None
    ruling = check_action(action, made.eligibility, occasion.policy.admit)
    if action == "discard" and ruling.decision == "deny":
        return None
    return f"the action was {action}, {ruling.rationale}"


def _outlived(connection: Connection, made: RecordDraft) -> str | None:
    """Why what is said is over: it was erased for good, or it was said before it ceased to be so. None: it is news."""
    erased = redaction.tombstone_time(connection, made.scope, made.key)
    if erased is not None:
        asked = made.is_owner_word or (
            made.candidate.source in ("tag", "extraction")
            and made.trust in ("owner", "guest", "model")
            and _heard(connection, made) > erased
        )
        if not asked:
            return "it was erased for good, and nobody has said it since"
        redaction.drop_tombstone(connection, made.scope, made.key)
    if made.is_owner_word:
        return None
    for record in records.ended_with_key(connection, made.scope, made.key, 8):
        if record.status not in ("superseded", "invalidated", "forgotten"):
            continue
        if made.candidate.source == "import" and events.last_change_was_undo(connection, record.id):
            continue  # an import that was undone may be done again
        counted = bool(made.evidence) and set(made.evidence) <= set(record.source_message_ids)
        older = made.candidate.source in ("extraction", "import") and made.said_at < (record.valid_to or "")
        if counted or older:
            return f"it was said before {record.id}, which says so, was {record.status}"
    return None


def _heard(connection: Connection, made: RecordDraft) -> str:
    """When the turns that say it came in; "" when they cannot be found. A tag without any is being said now."""
    if not made.evidence:
        return made.said_at if made.candidate.source == "tag" else ""
    heard = turns.received_times(connection, made.evidence)
    if len(heard) < len(made.evidence):
        return made.said_at if made.candidate.source == "tag" and not heard else ""
    return max(heard.values())


# ── what is taken in ─────────────────────────────────────────────────────────────────────────────────────────────


def _by_key(connection: Connection, made: RecordDraft) -> tuple[Record | None, str]:
    """The live record with these words about the same subject, and the key for a new one.

    An extracted fact may be stored as the other kind; the same words about a second subject get their own key.
    """
    kinds = [made.form]
    if made.form in FACT_FORMS and made.candidate.source == "extraction":
        kinds.append("episode" if made.form == "note" else "note")
    free = made.key
    for key in (made.key, key_about(made.subject, made.text)):
        for form in kinds:
            known = records.by_key(connection, made.scope, form, key)
            if known is not None and _same_subject(known, made):
                return known, key
            if known is not None and form == made.form and key == made.key:
                free = key_about(made.subject, made.text)
    return None, free


def _same_subject(known: Record, made: RecordDraft) -> bool:
    """Whether both are about one: a name that stands in the words needs nobody to tell it."""
    if known.subject == made.subject:
        return True
    named = known.subject if made.subject == OWNER_SUBJECT else made.subject
    told_by_words = set(words(named)) <= set(words(made.text))
    return OWNER_SUBJECT in (known.subject, made.subject) and told_by_words


def _create(connection: Connection, made: RecordDraft, found: Comparison, occasion: AdmitContext) -> Decision:
    policy = occasion.policy
    confidence = contested_confidence(made, found.conflicts, policy.admit)
    action = default_action(made)
    ruling = check_action(action, made.eligibility, policy.admit)
    record = insert_draft(connection, made, occasion, confidence)
    decision = _outcome(found.conflicts, record)
    if found.later is not None:
        decision = Decision("created", f"it is history: {found.later.id} says what came after it", record)
    told: dict[str, Json] = {"action": action, "policy": f"{ruling.decision}: {ruling.rationale}"}
    told["tier"] = tier_of_confidence(confidence, policy.admit)
    event = _event(connection, occasion, decision, told)
    records.set_changed_event(connection, record, made.scope, event)
    act = occasion.change_context(decision.reason, event)
    if found.later is not None:
        _file_as_history(connection, record, found.later, made, act)
        return decision
    for dispute in found.conflicts:
        apply_conflict(connection, dispute, record, act, policy)
    if made.form in FACT_FORMS:
        _link(connection, record, made, found, act, occasion)
    return decision


def _outcome(disputes: Sequence[Conflict], record: int) -> Decision:
    ended = [str(dispute.record.id) for dispute in disputes if dispute.ends_record]
    if ended:
        return Decision("replaced", f"takes the place of {', '.join(ended)}", record)
    beside = [str(dispute.record.id) for dispute in disputes]
    return Decision("created", f"it is new, and at odds with {', '.join(beside)}" if beside else "it is new", record)


def _file_as_history(connection: Connection, record: int, later: Record, made: RecordDraft, act: ChangeContext) -> None:
    """What was said earlier than what replaced it is remembered as having been so until then."""
    known = records.get(connection, record, (made.scope,))
    assert known is not None
    values: dict[str, ColumnValue] = {"status": "superseded", "valid_to": later.valid_from}
    change(connection, known, "superseded", values, act, data={"from": "active", "by": later.id})
    add_supersedes_link(connection, later.id, record, act)


def _link(
    connection: Connection,
    record: int,
    made: RecordDraft,
    found: Comparison,
    act: ChangeContext,
    occasion: AdmitContext,
) -> None:
    """Tie a new record to what it belongs with, and lay it into the open box."""
    known = records.get(connection, record, (made.scope,))
    assert known is not None
    policy = occasion.policy
    for other, nearness in found.related:
        weight = min(1.0, nearness)
        strengthen_link(connection, record, other.id, "related", act.at, "alike", weight=weight, policy=policy.graph)
    link_new_record(connection, known, act, policy.graph)
    boxes.add_to_open_box(connection, known, act, policy.boxes)


# ── slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fill(connection: Connection, made: RecordDraft, occasion: AdmitContext) -> Decision:
    """A slot holds one text: the new one replaces the old, which stays in the event."""
    made = replace(made, key=f"slot:{made.candidate.slot}")
    known = records.by_key(connection, made.scope, made.form, made.key)
    if known is None:
        return _create(connection, made, Comparison(), occasion)
    if known.text == made.text:
        return reinforce_record(connection, known, made, (), occasion)
    now = records.stamp(occasion.at)
    values: dict[str, ColumnValue] = {
        "text": made.text,
        "updated": now,
        "last_seen": now,
        "trust": made.trust,
        "attributes": attributes_json(made.attributes, occasion.speaker_name if made.trust == "guest" else ""),
        "day": occasion.day,
        "lang": detect_language(made.text),
        "source_messages": json.dumps(made.evidence),
    }
    decision = Decision("replaced", "a slot holds one text", known.id)
    change(connection, known, "replaced", values, occasion.change_context(decision.reason))
    return decision


# ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _decided(connection: Connection, occasion: AdmitContext, decision: Decision) -> Decision:
    _event(connection, occasion, decision, {"action": "discard"})
    return decision


def _event(connection: Connection, occasion: AdmitContext, decision: Decision, told: dict[str, Json]) -> int:
    kind = "created" if decision.record is not None else decision.action
    whole: dict[str, Json] = {} if occasion.part_of is None else {"part_of": occasion.part_of}
    return events.add_event(
        connection,
        occasion.at,
        occasion.actor,
        kind,
        session=occasion.session,
        record=decision.record,
        data={"reason": decision.reason, **told, **whole},
    )
