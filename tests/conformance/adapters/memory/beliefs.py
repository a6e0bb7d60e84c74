"""Beliefs with evidence: statements that are taken into a memory which holds what a case says it holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from kenobot.cognitive.beliefs import value
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit, correct
from kenobot.cognitive.remember.conflicts import end_record
from kenobot.cognitive.remember.nearness import band_of
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate, Decision, Relation, RelationVerdict
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.conformance.adapters.memory.admit import NOW, SCOPE, number_of
from tests.conformance.cases import Adapter, Case, Checked, Compared, NotApplicable, Outcome
from tests.memory_rows import open_memory

_RELATIONS: Mapping[str, Relation] = {
    "REINFORCEMENT": "repeat",
    "CONTRADICTION": "contradiction",
    "INDEPENDENT": "independent",
}


class Beliefs:
    """A memory that holds what a case says it holds, with the nearness that its embeddings give."""

    def __init__(self, connection: Connection, given: Sequence[Mapping[str, Any]]) -> None:
        self.connection = connection
        self.ids: dict[str, int] = {}
        self._vectors: dict[int, list[float]] = {}
        for belief in given:
            self.add(belief)

    def add(self, belief: Mapping[str, Any]) -> None:
        """Write one belief as it is told, supported by as many turns as it is said to be."""
        name = belief["id"]
        said = NOW.at - timedelta(days=belief.get("age_days", 0))
        candidate = Candidate(
            "note",
            "owner",
            belief.get("statement", f"belief {name}"),
            source="extraction",
            subject=belief.get("subject", ""),
            category=belief.get("type", "fact"),
            confidence=belief.get("confidence", 0.6),
            importance=belief.get("importance", 5) / 10,
            evidence=tuple(range(1, belief.get("support", 1) + 1)),
            action="store_note",
        )
        number = number_of(admit(self.connection, candidate, replace(NOW, at=said)))
        self.ids[name] = number
        if belief.get("embedding"):
            self._vectors[number] = belief["embedding"]

    def remember(self, args: Mapping[str, Any], llm: Mapping[str, Any], evidence: int = 99) -> Decision:
        """Take in a structured statement, whose embedding and relations to the nearest the case tells."""
        embedding = llm.get("embed") or (llm.get("embed_sequence") or [None])[-1]
        nearest = self._nearest(embedding)
        relations = [_RELATIONS[word] for word in llm.get("relationship", [])]
        verdicts = tuple(
            RelationVerdict(number, relation) for number, relation in zip(nearest, relations, strict=False)
        )
        candidate = Candidate(
            "note",
            "owner",
            args["statement"],
            source="extraction",
            subject=args.get("subject", ""),
            category=args.get("factType", "fact"),
            confidence=0.6,
            importance=args.get("importance", 5) / 10,
            evidence=(evidence,),
            verdicts=verdicts,
            action="store_note",
        )
        return admit(self.connection, candidate, replace(NOW, nearness=lambda *_: nearest))

    def get(self, name: str) -> Record:
        return self.record(self.ids[name])

    def record(self, number: int | None) -> Record:
        known = records.get(self.connection, number or 0, SCOPE)
        assert known is not None
        return known

    def links(self, kind: str) -> set[tuple[int, int]]:
        return set(self.connection.execute("SELECT src, dst FROM link WHERE type = ?", (kind,)).fetchall())

    @property
    def live(self) -> list[str]:
        rows = self.connection.execute("SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id")
        return [row[0] for row in rows]

    def kinds(self, number: int) -> list[str]:
        rows = self.connection.execute("SELECT type FROM event WHERE record_id = ? ORDER BY id", (number,))
        return [row[0] for row in rows]

    def _nearest(self, embedding: Sequence[float] | None) -> dict[int, float]:
        near = {number: _cosine(vector, embedding or ()) for number, vector in self._vectors.items()}
        return dict(sorted(near.items(), key=lambda pair: -pair[1]))


def created(case: Case) -> Outcome:
    args = case.input["args"]
    with open_memory() as connection:
        beliefs = Beliefs(connection, [])
        given = {"id": "b", **args, **({"type": args["type"]} if "type" in args else {})}
        beliefs.add(given)
        made = beliefs.get("b")
    if case.area == "create/type":
        return Compared(made.category, case.expected["type"])
    found = {
        "importance": round(made.importance * 10),
        "subject": made.subject,
        "stability": made.stability,
        "access_count": made.use_count,
        "last_accessed": made.last_used,
        "status": made.status,
    }
    return Compared(found, {name: case.expected[name] for name in found})


def reinforced(case: Case) -> Outcome:
    with open_memory() as connection:
        beliefs = Beliefs(connection, [*case.input["store"]["beliefs"]])
        before = beliefs.get("b")
        candidate = Candidate("note", "owner", before.text, source="extraction", confidence=0.7, evidence=(7,))
        admit(connection, replace(candidate, action="store_note"), NOW)
        after = beliefs.get("b")
    if case.area == "reinforce/cap":
        return Compared(after.confidence, case.expected["confidence_max"])
    low, high = (value.strength(record, START, DEFAULT.value) for record in (before, after))
    wanted = case.expected
    return Checked(
        {"before": low, "after": high},
        {
            "it had faded": abs(low - wanted["effective_before"]) <= wanted["tol"],
            "its clock began anew": high >= wanted["effective_after_min"],
        },
    )


def identical(case: Case) -> Outcome:
    """The same meaning, by its embedding, strengthens what is there."""
    wanted = case.expected
    llm = case.input["llm"]
    statement = json.loads(llm["extract"])["fact"]
    with open_memory() as connection:
        beliefs = Beliefs(connection, [{"statement": statement.lower(), **b} for b in case.input["store"]["beliefs"]])
        decision = beliefs.remember({"statement": f"{statement}!"}, llm)
        after = beliefs.get("b")
        found = {
            "is_reinforcement": decision.action == "reinforced",
            "belief_ids": [name for name, number in beliefs.ids.items() if number == decision.record],
            "confidence": round(after.confidence, 6),
            "beliefs_created": len(beliefs.live) - 1,
            "change_log": [kind for kind in beliefs.kinds(after.id) if kind == "reinforced"],
        }
    return Compared(found, wanted)


def embedding_fails(case: Case) -> Outcome:
    """Without an embedding a fact is admitted all the same; nothing is embedded for it."""
    with open_memory() as connection:
        beliefs = Beliefs(connection, [])
        beliefs.remember({"statement": json.loads(case.input["llm"]["extract"])["fact"]}, {})
        vectors = connection.execute("SELECT count(*) FROM vector").fetchone()[0]
        return Compared(
            {"beliefs_created": len(beliefs.live), "episode_embedding_stored": bool(vectors)},
            {name: case.expected[name] for name in ("beliefs_created", "episode_embedding_stored")},
        )


def grey_zone(case: Case) -> Outcome:
    """What a statement does to the one it is compared with, given how somebody who read both relates them."""
    wanted = dict(case.expected)
    with open_memory() as connection:
        beliefs = Beliefs(connection, case.input["store"]["beliefs"])
        decision = beliefs.remember(case.input["args"], case.input["llm"])
        if case.area == "grey-zone/top3-in-order":
            return NotApplicable(
                "the verdicts come with the candidate, from the one call that proposed it: nobody is asked"
            )
        old, new = beliefs.get("old"), beliefs.record(decision.record)
        taken, beside = (
            (new.id, old.id) in beliefs.links("supersedes"),
            (new.id, old.id) in beliefs.links("contradicts"),
        )
        linked = taken if old.status != "active" else beside
        history = " ".join(beliefs.kinds(old.id))
        found = {
            "active": len(beliefs.live),
            # Another value of what there is one of supersedes, a wrong statement is invalidated: either makes way.
            "old_status": "invalidated" if old.status == "superseded" else old.status,
            "new_status": new.status,
            "is_reinforcement": decision.action == "reinforced",
            "belief_ids": [name for name, number in beliefs.ids.items() if number == decision.record],
            "confidence": round(new.confidence, 6),
            "old_confidence": round(old.confidence, 4),
            "new_confidence": round(new.confidence, 4),
            "old.superseded_by": "new" if linked else None,
            "new.supersedes": "old" if linked else None,
            "old_history_contains": "weakened" if "weakened" in history else history,
            "old_history_excludes": "contradicted" if "contradicted" not in history else history,
        }
        if wanted.get("is_reinforcement"):
            newer = case.input["args"]["statement"]
            found["text"], wanted["text"] = beliefs.live[0], newer
        tolerance = wanted.pop("tol", None)
        if tolerance:
            wanted = {k: round(v, 4) if isinstance(v, float) else v for k, v in wanted.items()}
    return Compared({name: found[name] for name in wanted}, wanted)


def weakens_no_clock(case: Case) -> Outcome:
    """pai-bug/weaken-raises-effective: being contradicted never makes surer."""
    with open_memory() as connection:
        beliefs = Beliefs(connection, case.input["store"]["beliefs"])
        before = value.strength(beliefs.get("old"), START, DEFAULT.value)
        beliefs.remember(case.input["args"], case.input["llm"])
        after = value.strength(beliefs.get("old"), START, DEFAULT.value)
        statements = {"no surer than before": after <= before, "still there": beliefs.get("old").status == "active"}
        return Checked({"before": before, "after": after}, statements)


def negation(case: Case) -> Outcome:
    """pai-bug/negation-above-0.85: with and without somebody who says that they contradict each other."""
    statements: dict[str, bool] = {}
    relations: list[str]
    for relations in ([], case.input["llm"]["relationship"]):
        with open_memory() as connection:
            beliefs = Beliefs(connection, case.input["store"]["beliefs"])
            decision = beliefs.remember(case.input["args"], {**case.input["llm"], "relationship": relations})
            by = "read" if relations else "by its words"
            statements[f"the new one lives ({by})"] = beliefs.live == [case.input["args"]["statement"]]
            statements[f"the old one made way ({by})"] = (decision.record, beliefs.ids["old"]) in beliefs.links(
                "supersedes"
            )
    return Checked(statements, statements)


def cross_subject(case: Case) -> Outcome:
    """pai-bug/cross-subject-merge."""
    with open_memory() as connection:
        beliefs = Beliefs(connection, case.input["store"]["beliefs"])
        decision = beliefs.remember(case.input["args"], case.input["llm"])
        new = beliefs.record(decision.record)
        statements = {
            "both are remembered": len(beliefs.live) == 2,
            "the new one is Bob's": new.subject == "bob",
            "Alex's is no surer": beliefs.get("a").confidence == 0.6,
        }
        return Checked(beliefs.live, statements)


def opposites(case: Case) -> Outcome:
    """pai-bug/merge-opposites: what comes second decides by its meaning, not by its nearness."""
    one, other = case.input["store"]["beliefs"]
    with open_memory() as connection:
        beliefs = Beliefs(connection, [one])
        decision = beliefs.remember({"statement": other["statement"]}, {"embed": other["embedding"]})
        statements = {
            "the newer one lives": other["statement"] in beliefs.live,
            "they were not taken for one": decision.record != beliefs.ids["a"],
            "the older one was contradicted, not merged": (decision.record, beliefs.ids["a"])
            in beliefs.links("contradicts"),
        }
        return Checked(beliefs.live, statements)


def corrected(case: Case) -> Outcome:
    """A person says what is so instead."""
    given, wanted = case.input, case.expected
    with open_memory() as connection:
        beliefs = Beliefs(connection, given["store"]["beliefs"])
        old = beliefs.get("old")
        if given["store"]["beliefs"][0].get("status") == "invalidated":
            end_record(connection, old, "invalidated", NOW.change_context("the case says so"))
        try:
            decision = correct(connection, old.id, given["args"]["statement"], SCOPE, NOW)
        except (LookupError, ValueError) as error:
            return Checked(
                str(error), {f"it is refused: {error}": "error_contains" in wanted or "error_matches" in wanted}
            )
        was, now = beliefs.get("old"), beliefs.record(decision.record)
        new = wanted["new"]
        return Checked(
            {"old": was.status, "new": now.text},
            {
                "the old one is history": was.status in ("superseded", "invalidated"),
                "and linked to the new one": (now.id, was.id) in beliefs.links("supersedes"),
                "the new one is what it was about": (now.category, now.importance * 10, now.subject)
                == (new["type"], new["importance"], new["subject"]),
                "it is the owner's confirmed word": (now.trust, now.verification) == ("owner", "user_confirmed"),
                "and at least as sure": now.confidence >= new["confidence"],
            },
        )


def no_candidates(case: Case) -> Outcome:
    """With nothing to compare with there is nothing to contradict, and nobody is asked."""
    with open_memory() as connection:
        decision = Beliefs(connection, []).remember({"statement": "the first"}, {})
        return Checked(decision.reason, {"nothing is contradicted": decision.reason == "it is new"})


def _asks_nobody(case: Case) -> Outcome:
    return NotApplicable("verdicts come typed with the extraction call; no free text about a single pair is parsed")


def band(case: Case) -> Outcome:
    """Which band a similarity falls into; given vectors, that of their cosine."""
    if "similarity" in case.input:
        names = {"repeat": "reinforce", "grey": "grey", "apart": "create"}
        return Compared(names[band_of(case.input["similarity"], DEFAULT.admit)], case.expected["band"])
    one, other = case.input["stored_embedding"], case.input["new_embedding"]
    found = band_of(_cosine(one, other), DEFAULT.admit)
    return Compared({"repeat": "reinforce"}.get(found, found), case.expected["band"])


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norms = sum(a * a for a in one) ** 0.5 * sum(b * b for b in other) ** 0.5
    return sum(a * b for a, b in zip(one, other, strict=False)) / norms if norms else 0.0


ADAPTERS: dict[str, Adapter] = {
    "contradiction/no-candidates": no_candidates,
    "contradiction/parse-index": _asks_nobody,
    "correct/": corrected,
    "create/": created,
    "dedup/band-0.851": band,
    "dedup/band-boundary-0.70": band,
    "dedup/band-boundary-0.85": band,
    "dedup/episode-embed-fails": embedding_fails,
    "dedup/identical": identical,
    "evidence-weighing": grey_zone,
    "evidence-weighing/": grey_zone,
    "grey-zone/": grey_zone,
    "pai-bug/cross-subject-merge": cross_subject,
    "pai-bug/merge-opposites": opposites,
    "pai-bug/negation-above-0.85": negation,
    "pai-bug/weaken-raises-effective": weakens_no_clock,
    "reinforce/": reinforced,
    "relationship/parse": _asks_nobody,
}
