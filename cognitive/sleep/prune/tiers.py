"""What is worth having at hand stands in MEMORY.md; what is not, is found when it is asked for.

Hot is what every prompt of a scope carries: its MEMORY.md. Cold is what has left the hot tree and is only recalled. A
note that was put away and is used a lot is brought to hand; when MEMORY.md is fuller than a prompt has room for, what
is worth least leaves it, least first, and no more than has to. Between the two limits nothing moves, and what moved
has moved past both, so no night undoes what another did.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import groupby

from kenobot.cognitive.beliefs.value import TierRouting, features, route_tier
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import feedback
from kenobot.cognitive.store.records import Record
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST

_HEARD = ("tier", "uses", "last_used", "confirmed", "verification", "policy_class")
_OWN_HAND = frozenset({"edit", "command"})  # who wrote it into MEMORY.md takes it out of there


def plan(view: NightView) -> Iterator[Change]:
    """Bring to hand what is used a lot, and take from a MEMORY.md that is too full what is worth least."""
    held = _by_scope(upkeep_rows.core_records(view.connection))
    cold = _by_scope(_rising(view))
    for scope in sorted(held.keys() | cold.keys()):
        yield from _balance(view, held.get(scope, ()), cold.get(scope, ()))


def _balance(view: NightView, held: Sequence[Record], cold: Sequence[Record]) -> Iterator[Change]:
    """The moves in one scope. First it is settled what fits when all that may leave has left; then only as much leaves
    as has to."""
    limit, size = view.policy.pruning.max_core_tokens, sum(map(_size, held))
    sinking = [pair for pair in _routed(view, held, hot=True) if not pair[1].hot and _may_sink(view, pair[0])]
    least = size - sum(_size(record) for record, _ in sinking)
    rising: list[tuple[Record, TierRouting]] = []
    for record, routing in _routed(view, cold, hot=False):
        if routing.hot and least + _size(record) <= limit:
            least += _size(record)
            size += _size(record)
            rising.append((record, routing))
    for record, routing in sorted(sinking, key=lambda pair: (pair[1].value, pair[0].id)):
        if size <= limit:
            break
        size -= _size(record)
        reason = f"MEMORY.md is fuller than it should be, and this is worth {routing.value:.2f}"
        yield _move(record, "archive", "demoted", reason)
    for record, routing in rising:
        reason = f"used {record.uses} times, and worth {routing.value:.2f}: it belongs at hand"
        yield _move(record, "core", "raised", reason)


def _may_sink(view: NightView, record: Record) -> bool:
    """Whether sleep may take a record out of MEMORY.md: not what a person put there, pinned, or brought back."""
    own = record.source in _OWN_HAND or record.policy_class == "protected"
    return not own and not upkeep_rows.was_reverted(view.connection, record.id, "tier", "archive")


def _rising(view: NightView) -> Iterator[Record]:
    since = view.now - timedelta(days=view.policy.value.recency_days)
    for record in upkeep_rows.archived_and_used(view.connection, since):
        in_preferences = record.category == "preference" and record.scope == OWNER_SCOPE
        if in_preferences or record.trust in QUOTED_TRUST:
            continue
        if not upkeep_rows.was_reverted(view.connection, record.id, "tier", "core"):
            yield record


def _routed(view: NightView, records: Sequence[Record], *, hot: bool) -> list[tuple[Record, TierRouting]]:
    opinions = feedback.feedback_counts(view.connection, [record.id for record in records])
    policy = view.policy.value
    return [
        (record, route_tier(features(record, view.now, opinions[record.id], policy), hot, policy)) for record in records
    ]


def _by_scope(records: Iterable[Record]) -> dict[str, list[Record]]:
    ordered = sorted(records, key=lambda record: (record.scope, record.id))
    return {scope: list(group) for scope, group in groupby(ordered, key=lambda record: record.scope)}


def _move(record: Record, tier: str, kind: str, reason: str) -> Change:
    expects = {name: getattr(record, name) for name in _HEARD}
    return Change(kind, reason, (UpdateRecord(record.id, {"tier": tier}, expects),), record.id)


def _size(record: Record) -> int:
    return estimate_tokens(f"- {record.text}\n")


PASS = Pass(
    "tiers", "prune", "brings to MEMORY.md what is used a lot, and takes from a full one what is worth least", plan
)
