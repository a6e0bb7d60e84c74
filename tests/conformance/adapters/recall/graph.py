"""The graph: how links grow and fade, and what recall reaches over them."""

from datetime import timedelta
from math import isfinite

from kenobot.cognitive.beliefs.links import (
    decay_confidence,
    raise_confidence,
    read_confidence,
    silent_periods,
)
from kenobot.cognitive.policy.beliefs import GraphPolicy
from kenobot.cognitive.recall.candidates.spreading_activation import (
    blend_scores,
    inhibit,
    settle_scores,
    spread_activation,
)
from kenobot.cognitive.store import links
from kenobot.language.references import causal_phrase
from kenobot.ports.records import Link
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.conformance.cases import Case, Outcome, compare
from tests.memory_rows import open_memory, put_record


def confidence_read(case: Case) -> Outcome:
    return compare(case, read_confidence(_number(case.input["confidence"])))


def reinforcement(case: Case) -> Outcome:
    growth = _number(case.input["delta"])
    return compare(case, round(raise_confidence(_number(case.input["confidence"]), growth or 0.0), 9))


def decay(case: Case) -> Outcome:
    options = case.input["options"]
    policy = GraphPolicy(
        grace_days=options["window_days"], loss_per_period=options["per_window"], min_confidence=options["floor"]
    )
    days = timedelta(milliseconds=case.input["ms_since_reinforced"]) / timedelta(days=1)
    advanced = silent_periods(days, policy) * policy.grace_days if policy.loss_per_period >= 0 else 0
    left = decay_confidence(_number(case.input["confidence"]), days, policy)
    return compare(case, {"confidence": round(left, 9), "anchor_advanced_days": advanced})


def _number(value: object) -> float | None:
    """A number as it stands in a file; anything else there is as good as none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def floor(case: Case) -> Outcome:
    return compare(case, _clamped(case.input["value"], 1.0, GraphPolicy().follow_from))


def iterations(case: Case) -> Outcome:
    return compare(case, _clamped(case.input["value"], 100, GraphPolicy().iterations))


def _clamped(value: object, most: float, default: float) -> float:
    """A setting within its bounds: our policy is made of constants, so the bounds are the cases' own."""
    given = _number(value)
    return default if given is None or not isfinite(given) else min(most, max(0, given))


def cause(case: Case) -> Outcome:
    return compare(case, causal_phrase(case.input["text"]))


def activation(case: Case) -> Outcome:
    """The edges become links between records; seeds and what they lead to keep the case's names."""
    asked = case.input
    names = sorted({*asked["seeds"], *(edge[end] for edge in asked["edges"] for end in ("from", "to"))})
    policy = GraphPolicy(
        step_decay=asked["decay"],
        max_steps=asked["max_steps"],
        follow_from=asked["floor"],
        iterations=asked["pagerank"],
        inhibition=0.0,
    )
    with open_memory() as connection:
        records = {name: put_record(connection).id for name in names}
        for edge in asked["edges"]:
            ends = records[edge["from"]], records[edge["to"]]
            sure = read_confidence(_number(edge["confidence"]))
            made = Link(*ends, edge["type"], edge["weight"], sure, 1, stamp(START))
            links.upsert_links(connection, [(made, "")])
        seeds = {records[seed]: 1.0 for seed in asked["seeds"]}
        found = spread_activation(connection, seeds, ("owner",), policy)
    named = {record: name for name, record in records.items()}
    actual = [
        {
            "node": named[record],
            "score": round(reached.score, 6),
            "hop": len(reached.path),
            "confidence": reached.path[-1].confidence,
        }
        for record, reached in found.items()
    ]
    return compare(case, actual)


def refinement(case: Case) -> Outcome:
    asked = case.input
    edges = [(src, dst) for src, dst in asked["edges"]]
    scores = {name: _number(score) or 0.0 for name, score in asked["scores"].items()}
    scores |= {name: 0.0 for edge in edges for name in edge if name not in scores}
    names = {name: place for place, name in enumerate(scores)}
    found = settle_scores(
        {names[name]: score for name, score in scores.items()},
        [(names[src], names[dst]) for src, dst in edges],
        asked["iterations"],
        asked["damping"],
    )
    return compare(case, {name: round(found[names[name]], 6) for name in asked["scores"]})


def inhibition(case: Case) -> Outcome:
    asked = case.input
    told = {name: score for name, score in asked["scores"].items() if score is not None}
    names = {name: place for place, name in enumerate(told)}
    scores = {names[name]: score for name, score in told.items()}
    found = inhibit(scores, asked["beta"], asked["top_m"])
    return compare(case, {name: round(found[place], 6) for name, place in names.items()})


def blending(case: Case) -> Outcome:
    asked = case.input
    policy = GraphPolicy(blend=asked["weight"], least_blend=asked["min"], most_blend=asked["max"])
    return compare(case, round(blend_scores(asked["activation"], asked["seed_score"], policy), 9))
