"""Draft the record of a candidate, before memory is compared with it."""

import json
from datetime import date, timedelta

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.confidence import tier_of_confidence
from kenobot.cognitive.remember.held_secrets import OWN_SOURCES
from kenobot.cognitive.store import records, term_index
from kenobot.language.claims import claims
from kenobot.language.fingerprint import OWNER_SUBJECT, key_of, normalize_subject
from kenobot.language.named_days import day_named
from kenobot.language.relatives import RELATIVES
from kenobot.language.statements import attribute_statements
from kenobot.language.statements.classify import FactKind, importance, kind_of
from kenobot.language.words import detect_language, fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import QUOTED_TRUST, Trust
from kenobot.ports.memory import Candidate, Form, Source
from kenobot.ports.records import Record
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

FACT_FORMS: tuple[Form, ...] = ("note", "episode")
MOST_TAGS = 24
_DRAFTED_COLUMNS = "form category scope subject text source trust importance tier expires key".split()


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """The columns of a record to be. said_at: a database time. evidence: inbox rows of its turns.

    guessed: names of the attributes that rules read in the text: they may have misread it.
    """

    candidate: Candidate
    text: str
    key: str
    form: Form
    category: str
    subject: str
    attributes: dict[str, str]
    guessed: frozenset[str]
    tags: tuple[str, ...]
    confidence: float
    importance: float
    evidence: tuple[int, ...]
    expires: str | None
    tier: str
    said_at: str

    @property
    def scope(self) -> str:
        return self.candidate.scope

    @property
    def trust(self) -> Trust:
        return self.candidate.trust

    @property
    def source(self) -> Source:
        return self.candidate.source

    @property
    def is_owner_word(self) -> bool:
        """Return whether its owner ordered it or wrote it with their own hands."""
        return self.source in OWN_SOURCES and self.trust == "owner"


def make_draft(connection: Connection, candidate: Candidate, text: str, occasion: AdmitContext) -> RecordDraft:
    """Decide what a record of `candidate` would say. text: its words, cleaned. Reads a few rows, writes none."""
    policy, trust = occasion.policy, candidate.trust
    evidence = tuple(sorted({*candidate.evidence, *([] if occasion.evidence is None else [occasion.evidence])}))
    told = _find_told(connection, candidate, evidence, occasion)
    subject, attributes, guessed = _find_subject(connection, candidate, text, occasion)
    # Preferences are shown as they stand; what others wrote is not one, but something to quote.
    category = "fact" if candidate.category == "preference" and trust in QUOTED_TRUST else candidate.category
    confidence = policy.confidence[trust] if candidate.confidence is None else candidate.confidence
    if trust != "owner":
        confidence = min(confidence, policy.confidence[trust])
    expires = candidate.expires
    weight = importance(text, category, candidate.tags) if candidate.importance is None else candidate.importance
    # What matters that much does not go by itself, however unsure it is.
    if (
        expires is None
        and tier_of_confidence(confidence, policy.admit) == "speculative"
        and weight < policy.value.protected_from_importance
    ):
        expires = occasion.at + timedelta(days=policy.admit.speculative_days)
    return RecordDraft(
        candidate=candidate,
        text=text,
        key=key_of(text),
        form=_form(candidate, text, category, attributes),
        category=category,
        subject=subject,
        attributes=attributes,
        guessed=guessed,
        tags=tuple(dict.fromkeys(tag.strip() for tag in candidate.tags if tag.strip()))[:MOST_TAGS],
        confidence=max(0.0, min(1.0, confidence)),
        importance=weight,
        evidence=evidence,
        expires=stamp(expires) if expires is not None else None,
        tier="daily" if trust in QUOTED_TRUST else candidate.tier,
        said_at=told,
    )


def insert_draft(connection: Connection, made: RecordDraft, occasion: AdmitContext, confidence: float) -> Record:
    """Insert the record of a draft, of which `confidence` is believed. Its `changed_event` is still to be set."""
    now = stamp(occasion.at)
    standing = lifecycle.initial_state(made.source, made.trust, confidence, occasion.policy.value)
    row: dict[str, str | int | float | None] = {name: getattr(made, name) for name in _DRAFTED_COLUMNS}
    row |= {
        "attributes": draft_attributes(made, occasion),
        "tags": json.dumps(made.tags, ensure_ascii=False),
        "lang": detect_language(made.text),
        "confidence": confidence,
        "stability": occasion.policy.stability,
        "lifecycle": standing.state,
        "verification": standing.verification,
        "policy_class": standing.policy_class,
        "valid_from": made.said_at,
        "created": made.said_at,
        "updated": now,
        "last_seen": now,
        "confirmed": now if standing.verification == "user_confirmed" else None,
        "day": occasion.day,
        "source_messages": json.dumps(made.evidence),
        "changed_event": 0,
    }
    record = records.insert_record(connection, row)
    term_index.index_new(connection, record)
    return record


def draft_attributes(made: RecordDraft, occasion: AdmitContext) -> str:
    """Return what is kept of a draft beside its columns, as JSON."""
    return attributes_json(made.attributes, occasion.speaker_name if made.trust == "guest" else "")


def attributes_json(attributes: dict[str, str], by: str) -> str:
    """Return what is kept of a record beside its columns, as JSON. by: what the guest who said it is called."""
    kept = {name: value for name, value in attributes.items() if name != "by"}
    return json.dumps({**kept, "by": by} if by else kept, ensure_ascii=False)


def _find_told(connection: Connection, candidate: Candidate, evidence: tuple[int, ...], occasion: AdmitContext) -> str:
    """Return when it was said: of what was read out of earlier turns, when the last of them came in."""
    if occasion.said_at is not None:
        return stamp(occasion.said_at)
    if candidate.source in ("extraction", "import", "sleep"):
        heard = conversation.load_received_mail(connection, evidence)
        if heard and len(heard) == len(evidence):
            return min(max(mail.at for mail in heard.values()), stamp(occasion.at))
    return stamp(occasion.at)


def _find_subject(
    connection: Connection, candidate: Candidate, text: str, occasion: AdmitContext
) -> tuple[str, dict[str, str], frozenset[str]]:
    """Find the subject of a candidate, the attributes told of it, and which of these rules read in the text."""
    attributes = {name.strip(): value.strip() for name, value in candidate.attributes if name.strip() and value.strip()}
    subject, guessed = candidate.subject, frozenset[str]()
    # A command and an edit say of their words no more than for which day they are, and whether that was done.
    by_hand = candidate.source in OWN_SOURCES
    read_already = attributes.keys() - {"due", lifecycle.RESOLVED_ATTRIBUTE} if by_hand else attributes
    if candidate.form == "note" and not read_already and candidate.trust not in QUOTED_TRUST:
        subject, told_of = _read(text, subject)
        guessed = frozenset(told_of.keys() - attributes.keys())
        attributes = told_of | attributes
    if candidate.category == "commitment" and "due" not in attributes:
        said = date.fromisoformat(occasion.day)
        due = day_named(fold(text), said)
        if due is not None and due >= said:
            attributes["due"] = due.isoformat()
    plain = normalize_subject(subject)
    if plain != OWNER_SUBJECT:
        relation = RELATIVES.get(plain)
        named = term_index.subject_by_relation(connection, candidate.scope, relation) if relation else None
        plain = named or term_index.subject_by_name(connection, candidate.scope, plain) or plain
    return plain, attributes, guessed


def _read(text: str, subject: str) -> tuple[str, dict[str, str]]:
    """Read the subject of a text's plain claims and their attributes; of no other subject than the one given."""
    read = [
        frame
        for claim in claims(text)
        if (frame := attribute_statements.read_attribute(claim.standalone_text)) is not None
    ]
    told = [
        f for f in read if not subject or not f.subject or normalize_subject(subject) == normalize_subject(f.subject)
    ]
    of_one = [frame for frame in told if normalize_subject(frame.subject) == normalize_subject(told[0].subject)]
    found = {frame.attribute: frame.value for frame in reversed(of_one)}
    return subject or (told[0].subject if told else ""), found


def _form(candidate: Candidate, text: str, category: str, attributes: dict[str, str]) -> Form:
    """Return the form of a candidate: as tagged or typed; of an extracted one, as its words tell.

    Attributes make a note.
    """
    if candidate.form in ("note", "episode"):
        default: FactKind = candidate.form
    else:
        return candidate.form
    wish: dict[str, Form] = {"store_note": "note", "update_note": "note", "store_episode": "episode"}
    if candidate.action in wish:
        return wish[candidate.action]
    if candidate.source != "extraction":
        return candidate.form
    speaks = any(verdict.relation != "independent" for verdict in candidate.verdicts)
    return "note" if speaks or attributes.keys() - {"due"} else kind_of(text, category, candidate.tags, default)
