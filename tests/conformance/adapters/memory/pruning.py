"""What leaves by night, what is learned from errors, and what experience says of noting."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.beliefs import ValuePolicy
from kenobot.cognitive.policy.sleep import PruningPolicy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.improve import errors
from kenobot.cognitive.sleep.improve.guidelines import action_bias
from kenobot.cognitive.sleep.prune import commitments, endings
from kenobot.ports.memory import Candidate
from kenobot.storage.times import stamp
from tests.conformance.cases import Adapter, Case, Checked, Compared, Outcome, compare
from tests.memory_rows import get, open_memory, put_record
from tests.nights import play

_NOW = datetime(2026, 2, 22, tzinfo=UTC)
_DAY = "2026-02-22"
_GOOD, _BAD = frozenset({"quality=good", "recall_good"}), frozenset({"quality=poor", "recall_poor"})


def ttl_expiry(case: Case) -> Outcome:
    """The guess ends in a night, stays as a row, and can be learned again."""
    told = Candidate(
        "episode",
        "owner",
        case.input["content"],
        source="extraction",
        confidence=case.input["confidence"],
        expires=_NOW - timedelta(hours=1),
    )
    with open_memory() as connection:
        first = admit(connection, told, AdmitContext(_NOW - timedelta(days=31), "2026-01-22", "extraction", evidence=1))
        count = connection.execute("SELECT count(*) FROM record").fetchone()[0]
        play(connection, (endings.EXPIRY,), _NOW)
        assert first.record is not None
        found = {
            "removed": count - connection.execute("SELECT count(*) FROM record").fetchone()[0],
            "status": get(connection, first.record).status,
            "relearn_blocked": admit(connection, told, AdmitContext(_NOW, _DAY, "extraction", evidence=9)).action
            != "created",
        }
    return compare(case, found)


def commitment_decay(case: Case) -> Outcome:
    policy = replace(DEFAULT, pruning=replace(DEFAULT.pruning, keep_resolved_days=case.input["decay_days"]))
    when = _NOW - timedelta(days=case.input["days_since_update"])
    with open_memory() as connection:
        record = put_record(connection, "promised", at=when, category="commitment", tags=json.dumps(case.input["tags"]))
        # A day here counts until it is over.
        play(connection, (commitments.PASS,), _NOW, policy=policy)
        return compare(case, get(connection, record.id).status == "expired")


def fact_archival(case: Case) -> Outcome:
    given, rule = case.input, case.input["policy"]
    upkeep = PruningPolicy(
        archive_days=rule["age_days"], archive_importance=rule["max_importance"], archive_uses=rule["max_access"]
    )
    value = ValuePolicy(protected_categories=frozenset(rule["protected"]))
    told = {"importance": given["importance"], "use_count": given["access_count"]}
    with open_memory() as connection:
        record = put_record(
            connection,
            at=_NOW - timedelta(days=given["age_days"]),
            columns={**told, "category": given["category"], "status": given["status"]},
        )
        play(connection, (endings.ARCHIVAL,), _NOW, policy=replace(DEFAULT, pruning=upkeep, value=value))
        return compare(case, get(connection, record.id).status == "archived")


def pruned(case: Case) -> Outcome:
    """What fading lets go of. Where the case says what is better, that is what counts."""
    told = case.input["store"]["beliefs"]
    faded = case.input.get("args", {}).get("threshold", ValuePolicy().faded_below)
    policy = replace(DEFAULT, value=ValuePolicy(faded_below=faded))
    with open_memory() as connection:
        names = {_belief(connection, belief): belief["id"] for belief in told}
        play(connection, (endings.BELIEFS,), _NOW, policy=policy)
        rows = connection.execute("SELECT record_id FROM event WHERE type = 'pruned' ORDER BY record_id").fetchall()
        gone = [names[row[0]] for row in rows]
        left = connection.execute("SELECT count(*) FROM record WHERE status = 'active'").fetchone()[0]
    if "kenobot" in case.expected:
        return Checked(gone, {case.expected["kenobot"]: not gone})
    return Checked(
        gone,
        {
            "the same are let go, and history tells of each": gone == case.expected["pruned"],
            "the others are still remembered": left == len(told) - len(gone),
        },
    )


def trouble(case: Case) -> Outcome:
    kind = errors.classify(case.input)
    if case.quirk:
        return Checked(kind, {"a refusal, a timeout and a network are outside": kind == "external"})
    return compare(case, kind)


def recoverable(case: Case) -> Outcome:
    return compare(case, errors.is_recoverable(case.input))


def lesson(case: Case) -> Outcome:
    text = errors.lesson_text(case.input["entry"], case.input["category"], _DAY, DEFAULT.pruning)
    wanted = case.expected.replace("<TODAY>", _DAY) if isinstance(case.expected, str) else None
    return Compared(text, wanted)


def guideline(case: Case) -> Outcome:
    """There, each event tells its outcome; here outcomes are counted before they are weighed."""
    good: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for event in case.input["events"]:
        good[event["action"]] += event["reason"] in _GOOD
        bad[event["action"]] += event["reason"] in _BAD
    biases = {action: action_bias(good[action], bad[action], DEFAULT.pruning) for action in good}
    return compare(case, [{"action": action, **asdict(bias)} for action, bias in biases.items()])


def _belief(connection: Any, told: Mapping[str, Any]) -> int:
    columns = {"confidence": told.get("confidence", 0.6), "importance": told.get("importance", 5) / 10}
    when = _NOW - timedelta(days=told.get("age_days", 0))
    return put_record(connection, told["id"], at=when, columns=columns, last_seen=stamp(when)).id


ADAPTERS: dict[str, Adapter] = {
    "commitment_decay": commitment_decay,
    "compression_guideline": guideline,
    "errors.classify": trouble,
    "errors.lesson": lesson,
    "errors.recoverable": recoverable,
    "fact_archival": fact_archival,
    "prune/": pruned,
    "ttl_expiry": ttl_expiry,
}
