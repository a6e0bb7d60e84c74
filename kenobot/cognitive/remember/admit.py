"""Admit candidates into memory, inside the transaction of the caller.

Every decision is an event with its reason, and further changes are part of it, so that one undo takes back all.
The same candidate twice leaves one record.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.links import link_new_record
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.remember import boxes
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.confidence import is_worth_artifact, tier_of_confidence
from kenobot.cognitive.remember.conflicts import (
    Comparison,
    Conflict,
    apply_conflict,
    compare,
    contest_confidence,
    end_record,
    may_displace,
    word_weight,
)
from kenobot.cognitive.remember.draft import (
    FACT_FORMS,
    MOST_TAGS,
    RecordDraft,
    attributes_json,
    draft_attributes,
    insert_draft,
    make_draft,
)
from kenobot.cognitive.remember.due_day import keep_due
from kenobot.cognitive.remember.held_secrets import find_secret
from kenobot.cognitive.store import events, links, records, term_index
from kenobot.cognitive.store.change import change, drop_tombstone, tombstone_time
from kenobot.language.fingerprint import OWNER_SUBJECT, key_about, key_of
from kenobot.language.sanitize import sanitize
from kenobot.language.statements.statement_relation import is_richer
from kenobot.language.words import detect_language, words
from kenobot.ports.identity import Trust
from kenobot.ports.json_value import Json
from kenobot.ports.memory import CONFIDED, Candidate, Decision
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

ActionVerdict = Literal["allow", "deny", "defer"]

_BLANK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})  # kinds of characters that show nothing
_ADMITTING = ("store_note", "store_episode", "update_note", "create_artifact")
_ACTIONS = (*_ADMITTING, "summarize_node", "discard", "link_graph")
_MOST_EVIDENCE = 200  # turns that are kept as having said a thing: the newest


def admit(
    connection: Connection, candidate: Candidate, occasion: AdmitContext, *, instead_of: int | None = None
) -> Decision:
    """Take `candidate` in, or not. The same one twice gives the same store once, and a surer belief.

    instead_of: the record whose place the candidate is to take, whatever they have in common.
    """
    text = sanitize(candidate.text, occasion.policy.max_text_chars)
    if all(unicodedata.category(char) in _BLANK for char in text):
        return _record_decision(connection, occasion, Decision("discarded", Sentence("reasons.empty")))
    secret = find_secret(candidate, text)
    if secret is not None and not _is_kept(connection, candidate, text):
        return _record_decision(connection, occasion, Decision("refused", Sentence("reasons.looks_like", kind=secret)))
    term_index.index_backlog(connection)
    made = make_draft(connection, replace(candidate, text=text), text, occasion)
    if candidate.slot:
        return _fill(connection, made, occasion)
    known, key = _by_key(connection, made)
    refusal = _find_refusal(made, occasion)
    if refusal is None and known is None and instead_of is None:
        refusal = _explain_outlived(connection, made)
    if refusal is not None:
        return _record_decision(connection, occasion, Decision("discarded", refusal))
    made = replace(made, key=key)
    found = Comparison()
    if made.form in FACT_FORMS:
        found = compare(connection, made, occasion.policy.admit, occasion.nearness, instead_of)
        found = replace(found, conflicts=tuple(_spare(conflict, occasion) for conflict in found.conflicts))
    if known is not None:
        found = replace(found, repeated=known, later=None)
    if found.repeated is not None:
        return _reinforce(connection, found.repeated, made, found.conflicts, occasion)
    return _create(connection, made, found, occasion)


def _is_kept(connection: Connection, candidate: Candidate, text: str) -> bool:
    """Return whether memory holds these very words already."""
    return any(records.by_key(connection, candidate.scope, form, key_of(text)) is not None for form in FACT_FORMS)


def supersede(
    connection: Connection,
    old: int,
    candidate: Candidate,
    occasion: AdmitContext,
    *,
    keeps_day: bool = False,
    keeps_due: bool = True,
) -> Decision:
    """Put `candidate` in the place of record `old` of its scope, which stays as history: a person rewrote a line.

    keeps_day: it belongs to the day of that, not to the one of `occasion`, on which the words were written. keeps_due:
    it is due when that is, unless its words say otherwise.
    """
    before = records.get(connection, old, (candidate.scope,))
    if before is not None and keeps_due:
        candidate = keep_due(before, candidate, occasion.day)
    if before is not None and keeps_day:
        occasion = replace(occasion, day=before.day)
    decision = admit(connection, candidate, occasion, instead_of=old)
    if before is None or decision.record in (None, old):
        return decision
    assert decision.record is not None
    now = records.get(connection, old, (candidate.scope,))
    act = occasion.change_context("", events.last_decision_on(connection, decision.record))
    if now is not None and now.status == "active":
        end_record(connection, now, "superseded", act, by=decision.record)
    else:
        links.add_supersedes_link(connection, decision.record, old, stamp(act.at), act.actor)
    return Decision("replaced", Sentence("reasons.takes_place", other=old), decision.record)


def correct(
    connection: Connection, old: int, text: str, reach: Scopes, occasion: AdmitContext, *, trust: Trust = "owner"
) -> Decision:
    """Replace live record `old` by new words of `trust`, with its subject, category, days and importance kept.

    Raises LookupError when there is no such record within `reach`, ValueError when `text` is blank or says the same, or
    the record only holds others together.
    """
    known = records.get(connection, old, reach)
    if known is None or known.status != "active":
        raise LookupError(f"there is no live record {old}")
    if known.form in records.HOLDERS:
        raise ValueError("it holds others together: correct one of them")
    said = sanitize(text, occasion.policy.max_text_chars)
    if not said:
        raise ValueError(Sentence("reasons.correction_missing"))
    if key_of(said) == known.key or said == known.text:
        raise ValueError(Sentence("reasons.words_same"))
    candidate = Candidate(
        form="episode" if known.form == "episode" else "note",
        scope=known.scope,
        text=said,
        category=known.category,
        source="command",
        trust=trust,
        evidence=(occasion.evidence,) if occasion.evidence else (),
        subject="" if known.subject == "owner" else known.subject,
        tier="core" if known.tier == "core" else "daily",
        tags=tuple(json.loads(known.tags)),
        importance=known.importance,
    )
    return supersede(connection, old, candidate, occasion, keeps_day=True)


# ── what is not taken in ─────────────────────────────────────────────────────────────────────────────────────────


def _find_refusal(made: RecordDraft, occasion: AdmitContext) -> str | None:
    """Return the reason why a candidate's own action keeps it out; None to admit it.

    What is important is admitted anyway.
    """
    action = parse_action(made.candidate.action or "store_note")
    if action in _ADMITTING:
        return None
    verdict, rationale = check_action(action, made.confidence, made.importance, occasion.policy.admit)
    return None if verdict == "deny" else Sentence("reasons.action_denied", action=action, rationale=rationale)


def parse_action(value: object) -> str:
    """Return the action that `value` names; `discard` when it names none."""
    return value if isinstance(value, str) and value in _ACTIONS else "discard"


def check_action(action: str, confidence: float, importance: float, policy: AdmitPolicy) -> tuple[ActionVerdict, str]:
    """Decide whether `action` may be carried out, and tell why in a word that programs can count.

    A candidate whose action is deferred is kept with less standing.
    """
    if action == "discard" and importance >= policy.keep_from_importance:
        return "deny", "importance_too_high_for_discard"
    if action != "discard" and confidence < policy.defer_below:
        return "defer", "confidence_below_threshold"
    return "allow", "eligible"


def _explain_outlived(connection: Connection, made: RecordDraft) -> str | None:
    """Return the reason why a draft is out of date: erased for good, or told before its end. None: it is news."""
    erased = tombstone_time(connection, made.scope, made.key)
    if erased is not None:
        asked = made.is_owner_word or (
            made.source in ("tag", "extraction")
            and made.trust in ("owner", "guest", "model")
            and _find_heard(connection, made) > erased
        )
        if not asked:
            return Sentence("reasons.erased")
        drop_tombstone(connection, made.scope, made.key)
    if made.is_owner_word:
        return None
    for record in records.list_ended_with_key(connection, made.scope, made.key, 8):
        if record.status not in ("superseded", "invalidated", "forgotten"):
            continue
        if made.source == "import" and events.last_change_was_undo(connection, record.id):
            continue  # an import that was undone may be done again
        counted = bool(made.evidence) and set(made.evidence) <= set(record.source_message_ids)
        older = made.source in ("extraction", "import") and made.said_at < (record.valid_to or "")
        if counted or older:
            return Sentence("reasons.said_before", other=record.id, status=record.status)
    return None


def _find_heard(connection: Connection, made: RecordDraft) -> str:
    """Return when the turns that say it came in; "" when they cannot be found. A tag without any is being said now."""
    if not made.evidence:
        return made.said_at if made.source == "tag" else ""
    heard = conversation.load_received_mail(connection, made.evidence)
    if len(heard) < len(made.evidence):
        return made.said_at if made.source == "tag" and not heard else ""
    return max(mail.at for mail in heard.values())


# ── what is taken in ─────────────────────────────────────────────────────────────────────────────────────────────


def _by_key(connection: Connection, made: RecordDraft) -> tuple[Record | None, str]:
    """Return the live record with these words about the same subject, and the key for a new one.

    An extracted fact may be stored as the other kind; the same words about a second subject get their own key.
    """
    kinds = [made.form]
    if made.form in FACT_FORMS and made.source == "extraction":
        kinds.append("episode" if made.form == "note" else "note")
    free, about = made.key, key_about(made.subject, made.text)
    found = records.by_keys(connection, made.scope, kinds, (made.key, about))
    for key in (made.key, about):
        for form in kinds:
            known = found.get((form, key))
            if known is not None and _is_same_subject(known, made):
                return known, key
            if known is not None and form == made.form and key == made.key:
                free = about
    return None, free


def _is_same_subject(known: Record, made: RecordDraft) -> bool:
    """Return whether record and draft share a subject, also one that the draft's words name."""
    if known.subject == made.subject or OWNER_SUBJECT not in (known.subject, made.subject):
        return known.subject == made.subject
    named = known.subject if made.subject == OWNER_SUBJECT else made.subject
    return set(words(named)) <= set(words(made.text))


def _create(connection: Connection, made: RecordDraft, found: Comparison, occasion: AdmitContext) -> Decision:
    policy = occasion.policy
    made = replace(made, tags=_inherit_tags(made, found))
    confidence = contest_confidence(made.confidence, found.conflicts, policy.admit)
    action = _default_action(made)
    verdict, rationale = check_action(action, made.confidence, made.importance, policy.admit)
    stored = insert_draft(connection, made, occasion, confidence)
    decision = _outcome(found, stored.id)
    tier = tier_of_confidence(confidence, policy.admit)
    ruling: dict[str, Json] = {"action": action, "policy": f"{verdict}: {rationale}", "tier": tier}
    if is_worth_artifact(made.form, made.category, confidence, made.trust, policy.files):
        ruling["also"] = "create_artifact"
    event = _event(connection, occasion, decision, ruling)
    records.set_changed_event(connection, stored.id, made.scope, event)
    stored = stored._replace(changed_event=event)
    act = occasion.change_context(decision.reason, event)
    if found.later is not None:  # it is remembered as having been so until then
        later = found.later
        end_record(connection, stored, "superseded", act, by=later.id, valid_to=later.valid_from)
        return decision
    for dispute in found.conflicts:
        apply_conflict(connection, dispute, stored.id, act, policy)
    if made.form in FACT_FORMS:
        _link(connection, stored, found, act, policy)
    return decision


def _inherit_tags(made: RecordDraft, found: Comparison) -> tuple[str, ...]:
    """Return the tags of a draft: what takes the place of a confidence is one."""
    told = any(dispute.record.is_confided for dispute in found.conflicts if dispute.resolution != "differ")
    return tuple(dict.fromkeys((*made.tags, CONFIDED))) if told else made.tags


def _spare(conflict: Conflict, occasion: AdmitContext) -> Conflict:
    """Let a record that is spared stand beside what is said against it."""
    return replace(conflict, resolution="differ") if conflict.record.id in occasion.spared else conflict


def _default_action(made: RecordDraft) -> str:
    return "store_episode" if made.form == "episode" else "store_note"


def _outcome(found: Comparison, record: int) -> Decision:
    if found.later is not None:
        return Decision("created", Sentence("reasons.history", later=found.later.id), record)
    ended = ", ".join(str(dispute.record.id) for dispute in found.conflicts if dispute.ends_record)
    if ended:
        return Decision("replaced", Sentence("reasons.takes_place", other=ended), record)
    beside = ", ".join(str(dispute.record.id) for dispute in found.conflicts)
    reason = Sentence("reasons.new_at_odds", others=beside) if beside else Sentence("reasons.new")
    return Decision("created", reason, record)


def _link(connection: Connection, record: Record, found: Comparison, act: ChangeContext, policy: Policy) -> None:
    """Tie a new record to what it belongs with, and lay it into the open box."""
    alike = [(other.id, nearness) for other, nearness in found.related]
    link_new_record(connection, record, act, policy.graph, alike=alike)
    boxes.add_to_open_box(connection, record, act, policy.boxes)


# ── repeats ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _reinforce(
    connection: Connection, known: Record, made: RecordDraft, disputes: Sequence[Conflict], occasion: AdmitContext
) -> Decision:
    """Reinforce a record by a draft that repeats it; the owner's word raises its trust.

    A turn that counts already changes nothing. A richer wording replaces the text.
    """
    policy = occasion.policy
    same_words = made.key == known.key or made.source == "extraction"
    if same_words and made.evidence and set(made.evidence) <= set(known.source_message_ids):
        return _read_again(connection, known, made, disputes, occasion)
    weight = word_weight(made, policy.admit)
    values = _strengthen(known, made, occasion, weight >= word_weight(known, policy.admit))
    reworded = made.key != known.key and may_displace(made, known, policy.admit) and is_richer(known.text, made.text)
    if reworded:
        values |= {"text": made.text, "key": made.key, "lang": detect_language(made.text)}
        values["updated"] = stamp(occasion.at)
    reason = Sentence("reasons.known_said_fuller") if reworded else Sentence("reasons.known")
    decision = Decision("reinforced", reason, known.id)
    shown = reworded or values["trust"] != known.trust
    asked: dict[str, Json] = {"action": "update_note" if made.form == "note" else _default_action(made)}
    event = change(connection, known, "reinforced", values, occasion.change_context(reason), shown=shown, data=asked)
    act = occasion.change_context(reason, event)
    for dispute in disputes:
        # Without a turn of its own a repeat cannot be told from the same one again, and must take nothing twice.
        if made.evidence and dispute.record.id != known.id:
            apply_conflict(connection, dispute, known.id, act, policy)
    after = records.require(connection, known.id, known.scope)
    lifecycle.apply_event(connection, after, "restated" if weight == 3 else "reinforced", act, policy.value)
    return decision


def _read_again(
    connection: Connection, known: Record, made: RecordDraft, disputes: Sequence[Conflict], occasion: AdmitContext
) -> Decision:
    """Merge what a turn that counts already tells of its subject, or against a memory, once."""
    decision = Decision("reinforced", Sentence("reasons.known_from_turn"), known.id)
    counts = may_displace(made, known, occasion.policy.admit)
    news = counts and made.attributes.keys() - known.attribute_map.keys()
    values = _merge_details(known, made, counts)
    event = change(connection, known, "reinforced", values, occasion.change_context(decision.reason), shown=False)
    act = occasion.change_context(decision.reason, event)
    read = {verdict.record for verdict in made.candidate.verdicts if verdict.relation == "contradiction"}
    for dispute in disputes:
        other = dispute.record.id
        told = news or (other in read and links.get_link(connection, known.id, other, "contradicts") is None)
        if told and other != known.id:
            apply_conflict(connection, dispute, known.id, act, occasion.policy)
    return decision


def _merge_details(known: Record, made: RecordDraft, counts: bool) -> dict[str, ColumnValue]:
    """Merge tags, attributes and importance of a repeated draft into the columns of a record.

    counts: the draft's source is trusted.
    """
    tags = list(dict.fromkeys([*json.loads(known.tags), *made.tags]))[:MOST_TAGS]
    attributes = {**made.attributes, **known.attribute_map} if counts else known.attribute_map
    return {
        "expires": None,
        "importance": max(known.importance, made.importance) if counts else known.importance,
        "tags": json.dumps(tags, ensure_ascii=False),
        "attributes": attributes_json(attributes, known.by),
        "subject": made.subject if counts and known.subject == OWNER_SUBJECT else known.subject,
    }


def _strengthen(known: Record, made: RecordDraft, occasion: AdmitContext, counts: bool) -> dict[str, ColumnValue]:
    """Return what a repeat changes. counts: whoever repeats it is to be believed as much as whoever said it first."""
    policy = occasion.policy
    vouched = made.trust == "owner" and known.trust != "owner"
    confidence = min(1.0, known.confidence + policy.reinforcement) if counts else known.confidence
    if vouched:
        confidence = max(confidence, min(made.confidence, policy.confidence["owner"]))
    evidence = sorted({*known.source_message_ids, *made.evidence})[-_MOST_EVIDENCE:]
    return {
        **_merge_details(known, made, counts),
        "confidence": confidence,
        "mentions": known.mentions + 1,
        "last_seen": stamp(occasion.at),
        "trust": made.trust if vouched else known.trust,
        "source_messages": json.dumps(evidence),
    }


# ── slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fill(connection: Connection, made: RecordDraft, occasion: AdmitContext) -> Decision:
    """Replace the text of a slot; the old one stays in the event."""
    made = replace(made, key=f"slot:{made.candidate.slot}")
    known = records.by_key(connection, made.scope, made.form, made.key)
    if known is None:
        return _create(connection, made, Comparison(), occasion)
    if known.text == made.text:
        return _reinforce(connection, known, made, (), occasion)
    now = stamp(occasion.at)
    values: dict[str, ColumnValue] = {
        "text": made.text,
        "updated": now,
        "last_seen": now,
        "trust": made.trust,
        "attributes": draft_attributes(made, occasion),
        "tags": json.dumps(list(dict.fromkeys([*json.loads(known.tags), *made.tags]))[:MOST_TAGS], ensure_ascii=False),
        "day": occasion.day,
        "lang": detect_language(made.text),
        "source_messages": json.dumps(made.evidence),
    }
    decision = Decision("replaced", Sentence("reasons.one_text_a_slot"), known.id)
    change(connection, known, "replaced", values, occasion.change_context(decision.reason))
    return decision


def _record_decision(connection: Connection, occasion: AdmitContext, decision: Decision) -> Decision:
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
