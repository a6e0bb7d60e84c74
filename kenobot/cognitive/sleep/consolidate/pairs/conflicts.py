"""Resolve two records that contradict each other where a model read both; else ask the owner which is right.

By a model's verdict the later one stands, if its source may take something from the earlier one: by evidence, by trust,
and never from what the owner confirmed, unless with the owner's own hand. By rules both stay, with an open question.
"""

import json
from collections.abc import Iterator

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.conflicts import (
    Conflict,
    confidence_loss,
    contest_confidence,
    resolve_contradiction,
    word_weight,
)
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import AddLink, Change, ChangePart, UpdateRecord, expect, question_about
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.ports.memory import CONFIDED
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

QUESTION = "question"
_BY_HAND = ("command", "edit")


def resolve_conflict(view: NightView, one: Record, other: Record, *, by_model: bool) -> Iterator[Change]:
    """Plan the change about two live records that contradict each other; none when it was made, or was undone.

    by_model: a model read both; else it is a guess, which ends nothing.
    """
    older, newer = sorted((one, other), key=lambda record: (record.valid_from, record.created, record.key))
    known = pass_rows.are_in_conflict(view.connection, older.id, newer.id)
    if known or pass_rows.was_ever_undone(view.connection, older.id):
        return
    if min(word_weight(one, view.policy.admit), word_weight(other, view.policy.admit)) == 0:
        return  # a quotation says nothing for or against
    if not by_model or older.valid_from == newer.valid_from or _needs_owner(older, newer):
        yield _question(view, older, newer)
        return
    by_owner = newer.source in _BY_HAND and newer.trust == "owner"
    conflict = resolve_contradiction(newer, older, view.policy.admit, by_owner=by_owner)
    differ = conflict.resolution == "differ"
    yield _question(view, older, newer) if differ else _resolve(view, conflict, newer)


def _needs_owner(older: Record, newer: Record) -> bool:
    """Return whether only its owner may take back the older one, and did not write the newer one."""
    kept = older.verification == "user_confirmed" or older.policy_class == "protected"
    own = newer.trust == "owner" and (newer.source in _BY_HAND or newer.verification == "user_confirmed")
    return kept and not own


def _resolve(view: NightView, conflict: Conflict, newer: Record) -> Change:
    older, now = conflict.record, stamp(view.now)
    contradicts = AddLink(newer.id, older.id, "contradicts", Sentence("reasons.otherwise"))
    expects = expect(older, "text", "verification")
    marks = _mark_confided(older, newer)
    if conflict.ends_record:
        superseded = conflict.resolution == "supersede"
        status = "superseded" if superseded else "invalidated"
        ended = UpdateRecord(older.id, {"status": status, "valid_to": now, "updated": now}, expects)
        takes = AddLink(newer.id, older.id, "supersedes", Sentence("reasons.otherwise"))
        parts: tuple[ChangePart, ...] = (ended, takes) if superseded else (ended, takes, contradicts)
        return Change(status, Sentence("reasons.later_otherwise", newer=newer.id), (*parts, *marks), older.id)
    weaker = [UpdateRecord(older.id, _weaken(older, view.policy), expects, shown=False)]
    confidence = contest_confidence(newer.confidence, (conflict,), view.policy.admit)
    if confidence < newer.confidence:  # it cannot take that from the older one
        weaker.append(UpdateRecord(newer.id, {"confidence": confidence}, shown=False))
    reason = Sentence("reasons.supported_otherwise", newer=newer.id, turns=len(older.source_message_ids))
    return Change("weakened", reason, (*weaker, contradicts, *marks), older.id)


def _mark_confided(older: Record, newer: Record) -> list[UpdateRecord]:
    """Mark what is said against a confidence as one: it tells of it, as in admission."""
    if newer.is_confided or not older.is_confided:
        return []
    tags = json.dumps([CONFIDED, *json.loads(newer.tags)], ensure_ascii=False)
    return [UpdateRecord(newer.id, {"tags": tags}, expect(newer, "tags"), shown=False)]


def _weaken(record: Record, policy: Policy) -> dict[str, ColumnValue]:
    """Return what a contradiction leaves of a record that enough turns support. Its clock runs on."""
    confidence = max(policy.admit.min_confidence, record.confidence - confidence_loss(record, policy.admit))
    state = lifecycle.next_state(lifecycle.state_of(record), "contradicted")
    return {
        "confidence": min(record.confidence, confidence),
        "lifecycle": state.state,
        "verification": state.verification,
        "policy_class": state.policy_class,
    }


def _question(view: NightView, older: Record, newer: Record) -> Change:
    """Ask the owner: both stay as they are until more is known."""
    language = pass_rows.language_about(view.connection, older, newer)
    [question] = texts("conflict", language, older=one_line(older.text), newer=one_line(newer.text))
    learn = question_about(question, QUESTION, older, newer)
    against = AddLink(newer.id, older.id, "contradicts", Sentence("reasons.undecided"))
    return Change("questioned", Sentence("reasons.at_odds", one=older.id, other=newer.id), (learn, against), newer.id)
