"""Keep at hand what is worth it: balance MEMORY.md against the archive, and move old logs there.

A note in the archive that is used a lot rises into MEMORY.md. When MEMORY.md is larger than a prompt has room for, the
records of the least value leave it, and no more than necessary. Between the two thresholds nothing moves, and what
moved has passed both, so no night undoes another's work.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby

from kenobot.cognitive.beliefs.value import TierRouting, features, route_tier
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord, expect, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import feedback, tiers
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence

_JUDGED = ("tier", "use_count", "last_used", "confirmed", "verification", "policy_class")
_OWN_HAND = frozenset({"edit", "command"})  # who wrote it into MEMORY.md takes it out of there
_AT_ONCE = 100  # facts of one change


def _balance_memory(view: NightView) -> Iterator[Change]:
    """Raise archived notes that are used a lot, and demote the least valuable records of a full MEMORY.md."""
    core = _by_scope(pass_rows.core_records(view.connection))
    archived = _by_scope(_iterate_rising(view))
    for scope in sorted(core.keys() | archived.keys()):
        yield from _balance(view, core.get(scope, ()), archived.get(scope, ()))


def _balance(view: NightView, core: Sequence[Record], archived: Sequence[Record]) -> Iterator[Change]:
    """Plan one scope: what fits when all that may leave has left rises; then only as much leaves as must."""
    limit, size = view.policy.pruning.max_core_tokens, sum(map(_size, core))
    sinking = [pair for pair in _route(view, core, hot=True) if not pair[1].hot and _may_sink(view, pair[0])]
    least = size - sum(_size(record) for record, _ in sinking)
    rising: list[tuple[Record, TierRouting]] = []
    for record, routing in _route(view, archived, hot=False):
        if routing.hot and least + _size(record) <= limit:
            least += _size(record)
            size += _size(record)
            rising.append((record, routing))
    for record, routing in sorted(sinking, key=lambda pair: (pair[1].value, pair[0].id)):
        if size <= limit:
            break
        size -= _size(record)
        reason = Sentence("reasons.memory_full", worth=routing.value)
        yield update(record, "demoted", reason, {"tier": "archive"}, expect(record, *_JUDGED))
    for record, routing in rising:
        reason = Sentence("reasons.used_often", count=record.use_count, worth=routing.value)
        yield update(record, "raised", reason, {"tier": "core"}, expect(record, *_JUDGED))


def _may_sink(view: NightView, record: Record) -> bool:
    """Return whether sleep may take a record out of MEMORY.md: not what a person put there, pinned, or brought back."""
    own = record.source in _OWN_HAND or record.policy_class == "protected"
    return not own and not pass_rows.was_reverted(view.connection, record.id, "tier", "archive")


def _iterate_rising(view: NightView) -> Iterator[Record]:
    since = view.now - timedelta(days=view.policy.value.recency_days)
    for record in pass_rows.iterate_used_in_archive(view.connection, since):
        in_preferences = record.category == "preference" and record.scope == OWNER_SCOPE
        if in_preferences or record.trust in QUOTED_TRUST:
            continue
        if not pass_rows.was_reverted(view.connection, record.id, "tier", "core"):
            yield record


def _route(view: NightView, records: Sequence[Record], *, hot: bool) -> list[tuple[Record, TierRouting]]:
    counts = feedback.feedback_counts(view.connection, [record.id for record in records])
    policy = view.policy.value
    return [
        (record, route_tier(features(record, view.now, counts[record.id], policy), hot, policy)) for record in records
    ]


def _by_scope(records: Iterable[Record]) -> dict[str, list[Record]]:
    ordered = sorted(records, key=lambda record: (record.scope, record.id))
    return {scope: list(group) for scope, group in groupby(ordered, key=lambda record: record.scope)}


def _size(record: Record) -> int:
    return estimate_tokens(f"- {record.text}\n")


def _old_logs(view: NightView) -> Iterator[Change]:
    """Archive the logs of days long over, one change a scope and day; they are still recalled.

    Where logs leave before their week is distilled, each fact waits for the summary of its week.
    """
    policy = view.policy.sleep
    for scope in tiers.all_scopes(view.connection):
        for day in tiers.daily_log_days(view.connection, scope, view.days_ago(policy.daily_days)):
            ids = tiers.daily_record_ids(view.connection, scope, day)
            if policy.daily_days <= policy.warm_days:
                summed_up = tiers.ids_in_week_summaries(view.connection, scope, ids)
                logged = {record.id for record in tiers.list_logged_between(view.connection, scope, day, day)}
                ids = [number for number in ids if number in summed_up or number not in logged]
            ids = [
                number for number in ids if not pass_rows.was_reverted(view.connection, number, "tier", tiers.ARCHIVE)
            ]
            reason = Sentence("reasons.log_old", day=day, days=(view.today - date.fromisoformat(day)).days)
            for start in range(0, len(ids), _AT_ONCE):
                chunk = ids[start : start + _AT_ONCE]
                edits = [UpdateRecord(number, {"tier": tiers.ARCHIVE}, {"tier": tiers.DAILY}) for number in chunk]
                yield Change("put away", reason, tuple(edits))


_BALANCE = "brings to MEMORY.md what is used a lot, and takes from a full one what is worth least"
TIERS = Pass("tiers", "prune", _BALANCE, _balance_memory)
DAILIES = Pass("dailies", "prune", "puts old logs into the archive", _old_logs)
