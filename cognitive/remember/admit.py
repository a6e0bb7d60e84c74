"""`admit`: the only way into memory. And `forget`, the only way out of sight.

Both run inside a transaction that somebody else commits, so what a turn remembers stands or falls with the turn.
Every decision is an event with its reason.
"""

import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from kenobot import secrets
from kenobot.cognitive import store
from kenobot.cognitive.change import Act, Value, change
from kenobot.cognitive.keys import key_of
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.reach import Reach
from kenobot.db import Connection
from kenobot.ports import Candidate, Decision, Trust

_LINE_BREAK = re.compile("\r\n|[\r\u2028\u2029\x85]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\U000e0000-\U000e007f]")  # the Tags block can carry a hidden text
_BLANK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})  # kinds of characters that show nothing


@dataclass(frozen=True, slots=True)
class Occasion:
    """When, where and by whom something asks to be remembered. `day` is the owner's calendar day, YYYY-MM-DD.

    told: when it was said, where that is not `at`: a line that a person put into an older log. by: what a guest who
    speaks is called, as a plain name.
    """

    at: datetime
    day: str
    actor: str
    session: str = ""
    evidence: int | None = None
    policy: Policy = DEFAULT
    told: datetime | None = None
    by: str = ""

    def act(self, reason: str) -> Act:
        """This occasion, as the author of a change."""
        return Act(self.at, self.actor, reason, self.session)

    def attributes(self, trust: Trust) -> str:
        """What is kept of a record's origin besides its trust, as JSON."""
        return json.dumps({"by": self.by} if self.by and trust == "guest" else {}, ensure_ascii=False)


def clean(text: str, longest: int) -> str:
    """`text` fit to be stored, bounded: of what cannot be seen only line breaks and tabs, and no lone surrogates."""
    text = _LINE_BREAK.sub("\n", text).encode("utf-8", "replace").decode("utf-8")
    return _UNSEEN.sub("", text).strip()[:longest].rstrip()


def admit(connection: Connection, candidate: Candidate, occasion: Occasion) -> Decision:
    """Take `candidate` in, or not. The same one twice gives the same store once, and a surer belief."""
    text = clean(candidate.text, occasion.policy.longest_text)
    if all(unicodedata.category(char) in _BLANK for char in text):
        return _decided(connection, occasion, Decision("discarded", "there is nothing in it"))
    kind = secrets.find(text)
    if kind is not None:
        return _decided(connection, occasion, Decision("refused", f"it looks like {kind}"))
    key = f"slot:{candidate.slot}" if candidate.slot else key_of(text)
    known = store.by_key(connection, candidate.scope, candidate.form, key)
    if known is None:
        return _create(connection, candidate, text, key, occasion)
    if candidate.slot and known.text != text:
        return _rewrite(connection, known, candidate, text, occasion)
    return _reinforce(connection, known, candidate, occasion)


def supersede(connection: Connection, old: int, candidate: Candidate, occasion: Occasion) -> Decision:
    """Put `candidate` in the place of record `old` of its scope, which stays as history: a person rewrote a line."""
    before = store.get(connection, old, (candidate.scope,))
    decision = admit(connection, candidate, occasion)
    if before is None or decision.record in (None, old):
        return decision
    _retire(connection, before, "superseded", occasion, by=decision.record)
    connection.execute(
        "INSERT INTO link (src, dst, type, first_at, last_at, why) VALUES (?, ?, 'supersedes', ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET seen = seen + 1, last_at = excluded.last_at",
        (decision.record, old, store.stamp(occasion.at), store.stamp(occasion.at), occasion.actor),
    )
    return Decision("replaced", f"takes the place of {old}", decision.record)


def forget(connection: Connection, record: int, reach: Reach, occasion: Occasion) -> bool:
    """Take a record out of sight, reversibly. False when there is no such live record within `reach`."""
    known = store.get(connection, record, reach)
    if known is None or known.status != "active":
        return False
    _retire(connection, known, "forgotten", occasion)
    return True


def _create(connection: Connection, candidate: Candidate, text: str, key: str, occasion: Occasion) -> Decision:
    now = store.stamp(occasion.at)
    told = store.stamp(occasion.told or occasion.at)
    policy = occasion.policy
    # Preferences are shown as they stand; what others wrote is not one, but something to quote.
    quoted = candidate.category == "preference" and candidate.trust in ("forward", "tool")
    cursor = connection.execute(
        "INSERT INTO record (form, category, scope, text, source, trust, confidence, importance, stability, tier, "
        "valid_from, created, updated, last_seen, day, key, evidence, attrs, changed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            candidate.form,
            "fact" if quoted else candidate.category,
            candidate.scope,
            text,
            candidate.source,
            candidate.trust,
            policy.confidence[candidate.trust],
            policy.importance,
            policy.stability,
            candidate.tier,
            told,
            told,
            now,
            now,
            occasion.day,
            key,
            json.dumps([occasion.evidence] if occasion.evidence is not None else []),
            occasion.attributes(candidate.trust),
        ),
    )
    decision = Decision("created", "it is new", cursor.lastrowid)
    event = _event(connection, occasion, decision)
    connection.execute("UPDATE record SET changed = ? WHERE id = ?", (event, decision.record))
    return decision


def _reinforce(connection: Connection, known: store.Record, candidate: Candidate, occasion: Occasion) -> Decision:
    """A repeat is news: surer, seen once more, no longer about to expire. The owner's word lifts the trust."""
    vouched = candidate.trust == "owner" and known.trust != "owner"
    confidence = min(1.0, known.confidence + occasion.policy.reinforcement)
    if vouched:
        confidence = max(confidence, occasion.policy.confidence["owner"])
    values: dict[str, Value] = {
        "confidence": confidence,
        "seen": known.seen + 1,
        "last_seen": store.stamp(occasion.at),
        "expires": None,
        "trust": candidate.trust if vouched else known.trust,
    }
    decision = Decision("reinforced", "it was known already", known.id)
    change(connection, known, "reinforced", values, occasion.act(decision.reason), shown=vouched)
    return decision


def _rewrite(
    connection: Connection, known: store.Record, candidate: Candidate, text: str, occasion: Occasion
) -> Decision:
    """A slot holds one text: the new one replaces the old, which stays in the event."""
    values: dict[str, Value] = {
        "text": text,
        "updated": store.stamp(occasion.at),
        "last_seen": store.stamp(occasion.at),
        "trust": candidate.trust,
        "attrs": occasion.attributes(candidate.trust),
        "day": occasion.day,
    }
    decision = Decision("replaced", "a slot holds one text", known.id)
    change(connection, known, "replaced", values, occasion.act(decision.reason))
    return decision


def _retire(
    connection: Connection, known: store.Record, status: str, occasion: Occasion, by: int | None = None
) -> None:
    now = store.stamp(occasion.at)
    values: dict[str, Value] = {"status": status, "valid_to": now, "updated": now}
    change(connection, known, status, values, occasion.act(""), data={"from": known.status, "by": by})


def _decided(connection: Connection, occasion: Occasion, decision: Decision) -> Decision:
    _event(connection, occasion, decision)
    return decision


def _event(connection: Connection, occasion: Occasion, decision: Decision) -> int:
    return store.add_event(
        connection,
        occasion.at,
        occasion.actor,
        decision.action,
        session=occasion.session,
        record=decision.record,
        data={"reason": decision.reason},
    )
