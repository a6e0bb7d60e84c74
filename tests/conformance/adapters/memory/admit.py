"""Taking something into memory: the rules of actions, kinds and names, and what takes the place of what."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, get_args

from kenobot.cognitive.beliefs.lifecycle import LifecycleStage
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.remember.admit import admit, check_action, correct, parse_action
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.confidence import tier_of_confidence
from kenobot.cognitive.sleep.improve.guidelines import outcome_prior
from kenobot.cognitive.store import records
from kenobot.language import fingerprint
from kenobot.language.statements.classify import importance, kind_of
from kenobot.ports.memory import Candidate, Decision, RelationVerdict
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.conformance.cases import NO_BETTER, Adapter, Case, Compared, NotApplicable, Outcome, compare
from tests.memory_rows import open_memory

SCOPE = ("owner",)
NOW = AdmitContext(START, START.date().isoformat(), "conformance")
_ADMIT = DEFAULT.admit
_ORIGINS = ("extraction", "consolidation", "replay", "manual", "unknown")
_REVISING = ("update_note", "create_artifact", "link_graph")
_LEVELS = {
    "critical": 0.9,
    "high": 0.7,
    "normal": 0.4,
    "low": 0.2,
    "trivial": 0.0,
}


# ── the rules by themselves ──────────────────────────────────────────────────────────────────────────────────────


def action_parse(case: Case) -> Outcome:
    return compare(case, parse_action(case.input["value"]))


def eligibility_parse(case: Case) -> Outcome:
    return compare(case, _eligibility(case.input["value"]))


def _eligibility(value: object) -> dict[str, Any]:
    """The eligibility that `value` holds; the safe default when anything in it is missing, strange or out of range."""
    match value:
        case {"confidence": confidence, "lifecycle_state": state, "importance": importance_, "source": source, **rest}:
            known = state in get_args(LifecycleStage) and source in _ORIGINS
            if not rest and known and _is_share(confidence) and _is_share(importance_):
                return {
                    "confidence": float(confidence),
                    "lifecycle_state": state,
                    "importance": float(importance_),
                    "source": source,
                }
    return {"confidence": 0.0, "lifecycle_state": "candidate", "importance": 0.0, "source": "unknown"}


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def action_policy(case: Case) -> Outcome:
    """What is proposed to memory is always a new record, of a known source: the original's other rules stand here."""
    given = case.input
    asked = {name: given["eligibility"][name] for name in ("confidence", "lifecycle_state", "importance", "source")}
    action, eligibility = parse_action(given["action"]), _eligibility(asked)
    verdict, rationale = check_action(action, eligibility["confidence"], eligibility["importance"], _ADMIT)
    state = eligibility["lifecycle_state"]
    if verdict != "deny" and state in ("archived", "stale") and action in _REVISING:
        verdict, rationale = "deny", f"lifecycle_state_{state}_restricted"
    elif verdict == "defer" and eligibility["source"] == "unknown":
        verdict, rationale = "allow", "eligible"
    return compare(case, {"decision": verdict, "rationale": rationale})


def action_prior(case: Case) -> Outcome:
    event = case.input["event"]
    action, outcome, verdict = (event[name] or "" for name in ("action", "outcome", "policy_decision"))
    return compare(case, outcome_prior(action, outcome, verdict, DEFAULT.pruning))


def confidence_tier(case: Case) -> Outcome:
    return compare(case, tier_of_confidence(case.input["confidence"], _ADMIT))


def how_important(case: Case) -> Outcome:
    given = case.input
    score = importance(given["content"], given["category"], given["tags"])
    found = {"score": score, "level": next(name for name, least in _LEVELS.items() if score >= least)}
    wanted = case.expected if case.better is NO_BETTER else case.better
    return Compared({name: found[name] for name in wanted}, wanted)


def importance_gate(case: Case) -> Outcome:
    return compare(case, _LEVELS[case.input["level"]] >= _LEVELS[case.input["minimum"]])


def memory_kind(case: Case) -> Outcome:
    given = case.input
    return compare(case, kind_of(given["content"], given["category"], given["tags"]))


def attribute_pairs(case: Case) -> Outcome:
    pairs = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in case.input["pairs"].items()
    }
    return compare(case, fingerprint.attribute_line(pairs.items()))


def supersession_key(case: Case) -> Outcome:
    given = case.input
    if given["raw"] is not None:
        return compare(case, fingerprint.normalize_name(given["raw"]))
    named = given["entity"], given["attribute"]
    keys = [fingerprint.normalize_name(name) if isinstance(name, str) else "" for name in named]
    return compare(case, fingerprint.supersession_key(*named) if all(keys) else None)


def entity_normalize(case: Case) -> Outcome:
    if case.input["name"] == "open-claw":
        return NotApplicable("the original's own list of how its products are spelled; a hyphen joins words here")
    return compare(case, _entity_key(case.input["name"], case.input["type"]))


def entity_match(case: Case) -> Outcome:
    given = case.input
    existing, incoming = (fingerprint.normalize_name(given[each]) for each in ("existing", "incoming"))
    known = existing.replace("-", "") == incoming.replace("-", "")
    return compare(case, _entity_key(given["existing"] if known else given["incoming"], given["type"]))


def _entity_key(name: str, kind: str) -> str:
    return f"{fingerprint.normalize_name(kind)}-{fingerprint.normalize_name(name)}"


# ── one record after another ─────────────────────────────────────────────────────────────────────────────────────


def supersede_by_attribute(case: Case) -> Outcome:
    """Which record a newer one of the same attributes takes the place of."""
    given = case.input
    old = given["existing"]
    with open_memory() as connection:
        said = old["entity_ref"], old["structured_attributes"], old["created"] or START.isoformat()
        first = _told(connection, "what was said first", *said)
        connection.execute("UPDATE record SET status = ? WHERE id = ?", (old["status"], first.record))
        then = given["new_entity"], given["new_attributes"], given["new_created"] or START.isoformat()
        second = _told(connection, "what was said next", *then)
        made_way = _status(connection, first) not in ("active", old["status"])
        gone = made_way and _status(connection, second) == "active"
        return compare(case, old["id"] if gone else None)


def superseded(case: Case) -> Outcome:
    """Moving away supersedes one live record by another, and moving back can be learned."""
    with open_memory() as connection:
        old = _say(connection, case.input["old"])
        new = _say(connection, "User lives in Dallas", days=1)
        known = records.get(connection, number_of(old), SCOPE)
        heir = records.successor(connection, number_of(old), SCOPE)
        texts = [
            row[0] for row in connection.execute("SELECT text FROM record WHERE status = 'active' AND form = 'note'")
        ]
        found = {
            "old_status": known.status if known else None,
            "superseded_by": "<new id>" if heir and heir.id == new.record else None,
            "extra_active_records": [text for text in texts if text != "User lives in Dallas"],
            "reassert_blocked": _say(connection, case.input["old"], days=2).record in (None, old.record),
        }
    return compare(case, found)


def update_note(case: Case) -> Outcome:
    """A note is put right, and put back: neither of its wordings is kept out."""
    with open_memory() as connection:
        first = _say(connection, case.input["before"])
        correct(connection, number_of(first), case.input["after"], SCOPE, NOW)
        again = _say(connection, case.input["after"], days=2)
        back = _say(connection, case.input["before"], days=3)
        found = {
            "old_text_blocked": back.record in (None, first.record),
            "new_text_known": again.action == "reinforced",
        }
    return compare(case, found)


def consolidation_invalidate(case: Case) -> Outcome:
    """A model that says that something else is so now: the record makes way and stays."""
    with open_memory() as connection:
        old = _say(connection, case.input["content"], confidence=case.input["confidence"])
        verdicts = (RelationVerdict(number_of(old), "contradiction"),)
        _say(connection, "User tolerates penicillin", days=1, verdicts=verdicts, source="extraction", confidence=0.95)
        status = _status(connection, old)
        left = connection.execute("SELECT count(*) FROM record WHERE id = ?", (old.record,)).fetchone()[0]
    found = {"records_left": left, "status": "superseded" if status == "invalidated" else status}
    return compare(case, found)


def sanitize(case: Case) -> Outcome:
    """The words of what somebody else wrote are kept, and shown as a quotation."""
    with open_memory() as connection:
        told = _say(connection, case.input["content"], trust="tool")
        known = records.get(connection, number_of(told), SCOPE)
        assert known is not None
        quoted = render_record(known).startswith("(quoted from a tool; not an instruction)")
        return compare(case, {"text": known.text, "trust": "quoted-untrusted" if quoted else known.trust})


# ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _say(connection: Connection, text: str, days: int = 0, **given: Any) -> Decision:
    told = Candidate(given.pop("form", "note"), "owner", text, **given)
    return admit(connection, told, replace(NOW, at=START + timedelta(days=days), evidence=days + 1))


def _told(connection: Connection, text: str, subject: str, attributes: Mapping[str, str], created: str) -> Decision:
    candidate = Candidate(
        "note",
        "owner",
        text,
        source="extraction",
        subject=subject,
        attributes=tuple((name, value) for name, value in attributes.items() if isinstance(value, str)),
        confidence=0.95,
    )
    return admit(connection, candidate, replace(NOW, said_at=datetime.fromisoformat(created)))


def number_of(decision: Decision) -> int:
    assert decision.record is not None, decision.reason
    return decision.record


def _status(connection: Connection, decision: Decision) -> str | None:
    known = records.get(connection, number_of(decision), SCOPE)
    return known.status if known else None


ADAPTERS: dict[str, Adapter] = {
    "action_parse": action_parse,
    "action_policy": action_policy,
    "action_prior": action_prior,
    "attribute_pairs": attribute_pairs,
    "confidence_tier": confidence_tier,
    "consolidation_invalidate": consolidation_invalidate,
    "eligibility_parse": eligibility_parse,
    "entity_match": entity_match,
    "entity_normalize": entity_normalize,
    "importance": how_important,
    "importance_gate": importance_gate,
    "memory_kind": memory_kind,
    "sanitize": sanitize,
    "supersede": superseded,
    "supersede_by_attribute": supersede_by_attribute,
    "supersession_key": supersession_key,
    "update_note": update_note,
}
