"""Spread activation over links, from records that a search found to their neighbours.

Activation runs over sure enough links, weaker with each step, within the reader's scopes. Then it settles along the
same links, and stronger records quieten weaker ones. Each record keeps the path on which it was reached first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kenobot.cognitive.beliefs.links import DEFAULT, current_confidence, stored_confidence
from kenobot.cognitive.beliefs.value import clamp, days_since
from kenobot.cognitive.policy.beliefs import GraphPolicy, LinkType
from kenobot.cognitive.store import links as graph_store
from kenobot.cognitive.store.links import Link
from kenobot.cognitive.store.records import stamp
from kenobot.cognitive.store.scopes import Scopes
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class PathStep:
    """One link on a path, in the direction that activation took it."""

    src: int
    dst: int
    type: LinkType
    confidence: float


@dataclass(frozen=True, slots=True)
class Activation:
    """Strength with which a record was reached. path: how, from a seed on; its length is the number of steps."""

    score: float
    path: tuple[PathStep, ...]

    @property
    def seed(self) -> int:
        """The record that it was reached from."""
        return self.path[0].src


@dataclass(slots=True)
class _Wave:
    """Activation on its way: what each record has got so far, how it was reached, and what was walked over."""

    strength: dict[int, float]
    found: dict[int, Activation] = field(default_factory=dict)  # bounded: 240 records; turn
    walked: set[tuple[int, int]] = field(default_factory=set)  # bounded: 240 links; turn


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
    origin, current = frozenset(wave.strength), _current_confidence(policy, at)
    edge = sorted(origin, key=lambda seed: (-wave.strength[seed], -seed))[: policy.frontier]
    for hop in range(1, (policy.max_steps if steps is None else min(steps, policy.max_steps)) + 1):
        reached: list[int] = []
        links = graph_store.links_around_each(connection, edge, reach, policy.read)
        for record in edge:
            for step, pull in _strongest(record, links.get(record, ()), current, policy):
                if _excite(wave, origin, step, pull * policy.step_decay**hop):
                    reached.append(step.dst)
        edge = sorted(reached, key=lambda record: (-wave.found[record].score, -record))[: policy.frontier]
        if not edge:
            break
    return _settled(wave, policy)


def settle_scores(
    scores: Mapping[int, float], links: Iterable[tuple[int, int]], iterations: int, damping: float = 0.85
) -> dict[int, float]:
    """Let scores settle along links, as PageRank does: each round a record passes `damping` of what it has on to its
    neighbours, in equal parts. What is there in all stays the same; a record without neighbours keeps its own."""
    places = {record: place for place, record in enumerate(scores)}
    out: list[list[int]] = [[] for _ in places]
    for src, dst in links:
        if src in places and dst in places and src != dst:
            out[places[src]].append(places[dst])
    passing = [(place, neighbours, damping / len(neighbours)) for place, neighbours in enumerate(out) if neighbours]
    kept = [1 - damping if neighbours else 1.0 for neighbours in out]
    current = list(scores.values())
    for _ in range(iterations):
        following = [score * share for score, share in zip(current, kept, strict=True)]
        for place, neighbours, share in passing:
            part = share * current[place]
            for neighbour in neighbours:
                following[neighbour] += part
        current = following
    return dict(zip(scores, current, strict=True))


def inhibit(scores: Mapping[int, float], strength: float, rivals: int) -> dict[int, float]:
    """Quieten each score by `strength` of how far each stronger one, of the strongest `rivals`, stands above it."""
    top = sorted(scores.values(), reverse=True)[:rivals]
    return {
        record: max(0.0, score - strength * sum(rival - score for rival in top if rival > score))
        for record, score in scores.items()
    }


def blend_scores(activation: float, seed_score: float, policy: GraphPolicy = DEFAULT) -> float:
    """The score of a record that was reached: of its activation, and of how well the seed it hangs on was found."""
    mixed = policy.blend * clamp(activation) + (1 - policy.blend) * clamp(seed_score)
    return min(policy.most_blend, max(policy.least_blend, mixed))


def _current_confidence(policy: GraphPolicy, at: datetime | None) -> Callable[[Link], float]:
    """Tell the confidence of links at a moment; None: as they were written."""
    fresh = stamp(at - timedelta(days=policy.grace_days)) if at is not None else ""

    def confidence(link: Link) -> float:
        if at is None or link.last_at >= fresh:  # repeated too lately to have faded
            return stored_confidence(link.confidence)
        return current_confidence(link.type, link.confidence, days_since(at, link.last_at), policy)

    return confidence


def _strongest(
    record: int, links: Sequence[Link], current: Callable[[Link], float], policy: GraphPolicy
) -> list[tuple[PathStep, float]]:
    """The links that lead on from a record, as steps away from it with how hard they pull, the hardest first."""
    found: list[tuple[float, int, float, LinkType]] = []
    for link in links:
        carries = policy.weight_by_type.get(link.type, 0.0)
        if carries > 0 and (sure := current(link)) >= policy.follow_from:
            far = link.dst if link.src == record else link.src
            found.append((-carries * clamp(link.weight) * sure, -far, sure, link.type))
    found.sort()
    return [(PathStep(record, -far, type_, sure), -pull) for pull, far, sure, type_ in found[: policy.fan_out]]


def _excite(wave: _Wave, origin: frozenset[int], step: PathStep, pull: float) -> bool:
    """Pass activation over a link; True when its far end had not been reached before."""
    if step.dst in origin:
        return False
    gain = wave.strength[step.src] * pull
    wave.walked.add((step.src, step.dst))
    known = wave.found.get(step.dst)
    if known is not None:
        wave.found[step.dst] = Activation(known.score + gain, known.path)
        return False
    before = wave.found[step.src].path if step.src in wave.found else ()
    wave.found[step.dst] = Activation(gain, (*before, step))
    wave.strength[step.dst] = wave.strength[step.src]
    return True


def _settled(wave: _Wave, policy: GraphPolicy) -> dict[int, Activation]:
    scores = {record: activation.score for record, activation in wave.found.items()}
    both_ways = {pair for src, dst in wave.walked for pair in ((src, dst), (dst, src))}
    scores = settle_scores(scores, sorted(both_ways), policy.iterations, policy.damping)
    scores = inhibit(scores, policy.inhibition, policy.rivals)

    def worth(record: int, score: float) -> float:
        return blend_scores(score, wave.strength[record], policy)

    return {
        record: Activation(score, wave.found[record].path)
        for record, score in sorted(scores.items(), key=lambda item: (-worth(*item), -item[1], item[0]))
        if score > 0
    }
