"""Spread activation over links, from records that a search found to their neighbours.

Activation runs over sure enough links, weaker with each step, within the reader's scopes. Then it settles along the
same links, and stronger records quieten weaker ones. Each record keeps the path on which it was reached first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from kenobot.cognitive.beliefs.links import DEFAULT, current_confidence, read_confidence
from kenobot.cognitive.beliefs.value import clamp, days_since
from kenobot.cognitive.policy.beliefs import GraphPolicy
from kenobot.cognitive.store import links as graph_store
from kenobot.cognitive.store.links import Neighbour
from kenobot.ports.recall import PathStep
from kenobot.ports.records import LinkType
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp


class Activation(NamedTuple):
    """Strength with which a record was reached. path: how, from a seed on; its length is the number of steps."""

    score: float
    path: tuple[PathStep, ...]

    @property
    def seed(self) -> int:
        """The record that it was reached from."""
        return self.path[0].src


@dataclass(slots=True)
class _Wave:
    """Activation on its way, by record.

    strength: of the seed that a record hangs on. scores: what those reached have got so far. came: the link on which
    each was reached first. walked: the links followed, as pairs.
    """

    strength: dict[int, float]
    scores: dict[int, float] = field(default_factory=dict)  # bounded: 240 records; turn
    came: dict[int, tuple[int, int, LinkType, float]] = field(default_factory=dict)  # bounded: 240 records; turn
    walked: dict[tuple[int, int], None] = field(default_factory=dict)  # bounded: 240 links; turn


def spread_activation(
    connection: Connection,
    seeds: Mapping[int, float],
    reach: Scopes,
    policy: GraphPolicy = DEFAULT,
    *,
    at: datetime | None = None,
    steps: int | None = None,
    known: bool = False,
) -> Mapping[int, Activation]:
    """Return what the seeds lead to: live records within `reach` by id, the best first, the seeds themselves left out.

    seeds: how strongly each was found, above 0. at: links are as faded as they are at that moment; None takes them as
    they were written. steps: links from a seed, at most; None leaves them to the policy. known: the seeds were just
    read, live and within `reach`. Reads at most `steps` times `frontier` records' links.
    """
    seen = seeds.keys() if known or not seeds else graph_store.visible_ids(connection, list(seeds), reach)
    wave = _Wave({seed: clamp(strength) for seed, strength in seeds.items() if seed in seen and strength > 0})
    origin = frozenset(wave.strength)
    edge = sorted(origin, key=lambda seed: (-wave.strength[seed], -seed))[: policy.frontier]
    for hop in range(1, (policy.max_steps if steps is None else min(steps, policy.max_steps)) + 1):
        links = graph_store.neighbours_of_each(connection, edge, reach, policy.read)
        reached: dict[int, None] = {}
        for record in edge:
            if record in links:
                reached |= _excite(
                    wave, origin, record, _select_strongest(links[record], at, policy), policy.step_decay**hop
                )
        edge = sorted(reached, key=lambda record: (-wave.scores[record], -record))[: policy.frontier]
        if not edge:
            break
    return _settle(wave, policy)


def settle_scores(
    scores: Mapping[int, float], links: Iterable[tuple[int, int]], iterations: int, damping: float = 0.85
) -> dict[int, float]:
    """Let scores settle along links, as PageRank does: each round a record passes `damping` of what it has on to its
    neighbours, in equal parts. What is there in all stays the same; a record without neighbours keeps its own."""
    near: dict[int, list[int]] = {record: [] for record in scores}
    for src, dst in links:
        if src in near and dst in near and src != dst:
            near[src] += [dst]
    passing = [(record, neighbours, damping / len(neighbours)) for record, neighbours in near.items() if neighbours]
    kept = {record: 1 - damping if neighbours else 1.0 for record, neighbours in near.items()}
    current = {**scores}
    for _ in range(iterations):
        following = {record: score * kept[record] for record, score in current.items()}
        for record, neighbours, share in passing:
            part = share * current[record]
            for neighbour in neighbours:
                following[neighbour] += part
        current = following
    return current


def inhibit(scores: Mapping[int, float], strength: float, rivals: int) -> dict[int, float]:
    """Quieten each score by `strength` of how far each stronger one, of the strongest `rivals`, stands above it."""
    top = sorted(scores.values(), reverse=True)[:rivals]
    quiet: dict[int, float] = {}
    for record, score in scores.items():
        above = 0.0
        for rival in top:
            if rival > score:
                above += rival - score
        left = score - strength * above
        quiet[record] = left if left > 0 else 0.0
    return quiet


def blend_scores(activation: float, seed_score: float, policy: GraphPolicy = DEFAULT) -> float:
    """Score a record that was reached by its activation, and by how well the seed it hangs on was found."""
    mixed = policy.blend * clamp(activation) + (1 - policy.blend) * clamp(seed_score)
    return min(policy.most_blend, max(policy.least_blend, mixed))


def _select_strongest(
    links: Sequence[Neighbour], at: datetime | None, policy: GraphPolicy
) -> list[tuple[float, int, float, LinkType]]:
    """Select the links that lead on from a record: their pull, negated, their end, negated, confidence and type.

    The hardest pull is first.
    """
    carries = {type_: weight for type_, weight in policy.weight_by_type.items() if weight > 0}
    fresh = stamp(at - timedelta(days=policy.grace_days)) if at is not None else ""
    # A plain value of a link repeated too lately to have faded is taken as it is: a call for each would cost most.
    found = [
        (-carries[type_] * (weight if 0.0 < weight <= 1.0 else clamp(weight)) * sure, -far, sure, type_)
        for _, far, type_, weight, confidence, last_at in links
        if type_ in carries
        and (
            sure := confidence
            if last_at >= fresh and 0.0 < confidence <= 1.0
            else _current_confidence(type_, confidence, last_at, at, policy)
        )
        >= policy.follow_from
    ]
    return sorted(found)[: policy.fan_out]


def _current_confidence(
    type_: LinkType, confidence: float, last_at: str, at: datetime | None, policy: GraphPolicy
) -> float:
    """Compute the confidence of a link at a moment; None: as it was written."""
    if at is None:
        return read_confidence(confidence)
    return current_confidence(type_, confidence, days_since(at, last_at), policy)


def _excite(
    wave: _Wave,
    origin: frozenset[int],
    record: int,
    links: Sequence[tuple[float, int, float, LinkType]],
    decay: float,
) -> dict[int, None]:
    """Pass activation from a record over links; return the records that had not been reached before."""
    strength, scores, fresh = wave.strength[record], wave.scores, dict[int, None]()
    for pull, negated, sure, type_ in links:
        far, gain = -negated, strength * (-pull * decay)
        if far in origin:
            continue
        wave.walked[record, far] = None
        if far in scores:
            scores[far] += gain
            continue
        scores[far], wave.strength[far], wave.came[far] = gain, strength, (record, far, type_, sure)
        fresh[far] = None
    return fresh


def _settle(wave: _Wave, policy: GraphPolicy) -> dict[int, Activation]:
    both_ways = {pair for src, dst in wave.walked for pair in ((src, dst), (dst, src))}
    scores = settle_scores(wave.scores, sorted(both_ways), policy.iterations, policy.damping)
    scores = inhibit(scores, policy.inhibition, policy.rivals)
    paths: dict[int, tuple[PathStep, ...]] = {}
    for record, came in wave.came.items():
        paths[record] = (*paths.get(came[0], ()), PathStep(*came))
    worth = [
        (-blend_scores(score, wave.strength[record], policy), -score, record)
        for record, score in scores.items()
        if score > 0
    ]
    return {record: Activation(-negated, paths[record]) for _, negated, record in sorted(worth)}
