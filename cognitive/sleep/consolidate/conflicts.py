"""What sleep does about two memories that contradict each other: what `admit` would have done, had it seen both.

The later word stands, if whoever gave it may take something from the earlier one: by evidence, by trust, and never
from what the owner confirmed, unless with the owner's own hand. Where that does not decide, nothing is taken away: both
stay, and an open question tells the owner.
"""

import json
from collections.abc import Iterator

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.conflicts import (
    Conflict,
    confidence_loss,
    contested_confidence,
    resolve_contradiction,
    resolve_new_value,
)
from kenobot.cognitive.remember.draft import RecordDraft, attributes_json
from kenobot.cognitive.sleep import merge_rows
from kenobot.cognitive.sleep.consolidate.pair_rules import credibility
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, ChangePart, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.entity_names import normalize_name
from kenobot.ports.identity import QUOTED_TRUST, Trust, least_trusted, parse_trust
from kenobot.ports.memory import Candidate, Source

QUESTION = "question"
_OTHERS: frozenset[Trust] = QUOTED_TRUST | {"guest"}  # trust of words that a prompt quotes
_SOURCES: tuple[Source, ...] = ("tag", "edit", "command", "extraction", "sleep", "import")


def resolve_conflict(view: NightView, one: Record, other: Record, values: tuple[str, ...] = ()) -> Iterator[Change]:
    """What to do about two live records that contradict each other; nothing when it was done, or was undone.

    values: names of what they give their subject two values of; none where one simply says the opposite.
    """
    older, newer = sorted((one, other), key=lambda record: (record.valid_from, record.created, record.key))
    settled = merge_rows.are_in_conflict(view.connection, older.id, newer.id)
    if settled or merge_rows.was_ever_undone(view.connection, older.id):
        return
    if min(credibility(one, view.policy), credibility(other, view.policy)) == 0:
        return  # a quotation says nothing for or against
    if older.valid_from == newer.valid_from or _needs_their_hand(older, newer):
        yield _question(view, older, newer)
        return
    draft = _draft(newer)
    found = (
        resolve_new_value(draft, older, values, view.policy.admit)
        if values
        else resolve_contradiction(draft, older, view.policy.admit)
    )
    yield _question(view, older, newer) if found.resolution == "differ" else _settled(view, draft, found, newer)


def _needs_their_hand(older: Record, newer: Record) -> bool:
    """Whether only its owner may take back the older one, and it was not they who wrote the newer one."""
    kept = older.verification == "user_confirmed" or older.policy_class == "protected"
    own = newer.trust == "owner" and (newer.source in ("command", "edit") or newer.verification == "user_confirmed")
    return kept and not own


def _settled(view: NightView, draft: RecordDraft, found: Conflict, newer: Record) -> Change:
    older, now = found.record, store.stamp(view.now)
    against = AddLink(newer.id, older.id, "contradicts", "it says otherwise")
    takes = AddLink(newer.id, older.id, "supersedes", "it says otherwise")
    unchanged: dict[str, ColumnValue] = {"text": older.text, "verification": older.verification}
    if found.ends_record:
        status = "superseded" if found.resolution == "supersede" else "invalidated"
        gone = UpdateRecord(older.id, {"status": status, "valid_to": now, "updated": now}, unchanged)
        parts: tuple[ChangePart, ...] = (gone, takes) if found.resolution == "supersede" else (gone, takes, against)
        return Change(status, f"#{newer.id}, which was said later, says otherwise", parts, older.id)
    if found.resolution == "amend":
        outdated = {normalize_name(name) for name in found.outdated_attributes}
        kept = {name: value for name, value in older.attributes.items() if normalize_name(name) not in outdated}
        amended = UpdateRecord(older.id, {"attrs": attributes_json(kept, older.by)}, unchanged, shown=False)
        return Change("amended", f"#{newer.id} tells what is so now", (amended, against), older.id)
    return Change(
        "weakened",
        f"#{newer.id} says otherwise, and {len(older.source_message_ids)} turns support it",
        (
            UpdateRecord(older.id, _weaker(older, view.policy), unchanged, shown=False),
            *_lessened(view, draft, found, newer),
            against,
        ),
        older.id,
    )


def _weaker(record: Record, policy: Policy) -> dict[str, ColumnValue]:
    """What a contradiction leaves of a record that enough turns support. Its clock runs on."""
    least = policy.admit.min_confidence
    then = lifecycle.next_state(lifecycle.state_of(record), "contradicted")
    return {
        "confidence": min(record.confidence, max(least, record.confidence - confidence_loss(record, policy.admit))),
        "lifecycle": then.state,
        "verification": then.verification,
        "policy_class": then.policy_class,
    }


def _lessened(view: NightView, draft: RecordDraft, found: Conflict, newer: Record) -> tuple[ChangePart, ...]:
    """What the newer one loses itself because it cannot take it from the older one."""
    left = contested_confidence(draft, (found,), view.policy.admit)
    return (UpdateRecord(newer.id, {"confidence": left}, {}, shown=False),) if left < newer.confidence else ()


def _question(view: NightView, older: Record, newer: Record) -> Change:
    """An open question: both stay as they are until somebody says more."""
    spanish = "es" in (older.lang, newer.lang)
    texts = [" ".join(record.text.split()) for record in (older, newer)]
    asked = "¿Qué es lo correcto: «{}» o «{}»?" if spanish else "Which is right: “{}” or “{}”?"
    candidate = Candidate(
        form="question",
        scope=older.scope,
        text=asked.format(*texts),
        category=QUESTION,
        source="sleep",
        # The bot's own question, but a prompt has to quote it when it repeats others' words.
        trust=least_trusted({_trust(older), _trust(newer)} & _OTHERS, "model"),
        subject="" if older.subject == "owner" else older.subject,
        importance=max(older.importance, newer.importance),
    )
    learn = AdmitRecord(candidate, derived_from=(older.id, newer.id))
    against = AddLink(newer.id, older.id, "contradicts", "both cannot be so, and nothing tells which is")
    return Change("questioned", f"#{older.id} and #{newer.id} cannot both be so", (learn, against), newer.id)


def _trust(record: Record) -> Trust:
    return parse_trust(record.trust, "tool")


def _draft(record: Record) -> RecordDraft:
    """A record as if it were being said: what it may take from another is decided like that."""
    source: Source = next((known for known in _SOURCES if known == record.source), "import")
    attributes = {name: value for name, value in record.attributes.items() if name != "by"}
    candidate = Candidate(
        form="note", scope=record.scope, text=record.text, category=record.category, source=source, trust=_trust(record)
    )
    return RecordDraft(
        candidate=candidate,
        text=record.text,
        key=record.key,
        form="note",
        category=record.category,
        subject=record.subject,
        attributes=attributes,
        tags=tuple(json.loads(record.tags)),
        confidence=record.confidence,
        importance=record.importance,
        evidence=record.source_message_ids,
        expires=record.expires,
        tier=record.tier,
        said_at=record.valid_from,
    )
