"""Two years of nights over values alone: what must stay stays, what fades fades in order, and all can be put back."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from kenobot.cognitive.beliefs.lifecycle import LIFECYCLE_STAGES, POLICY_CLASSES, VERIFICATIONS
from kenobot.cognitive.beliefs.value import is_explicit, is_protected, strength
from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import commitments, endings, tiers
from kenobot.cognitive.store.events import last_event
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out, play

_NIGHT: Sequence[Pass] = (
    endings.EXPIRY,
    commitments.PASS,
    endings.ARCHIVAL,
    tiers.TIERS,
    endings.LIFECYCLE,
    endings.BELIEFS,
    endings.SCRATCHPADS,
)
_COLUMNS = st.fixed_dictionaries(
    {
        "form": st.sampled_from(["note", "episode"]),
        "category": st.sampled_from(["fact", "preference", "moment", "decision", "correction"]),
        "scope": st.sampled_from(["owner", "user:fake-2", "chat:fake-3"]),
        "trust": st.sampled_from(["owner", "guest", "model", "tool", "forward"]),
        "source": st.sampled_from(["tag", "edit", "command", "extraction"]),
        "tier": st.sampled_from(["daily", "core", "archive", "ref:home"]),
        "confidence": st.floats(0, 1),
        "importance": st.floats(0, 1),
        "stability": st.floats(0.5, 5),
        "use_count": st.integers(0, 30),
        "lifecycle": st.sampled_from([state for state in LIFECYCLE_STAGES if state != "archived"]),
        "verification": st.sampled_from(VERIFICATIONS),
        "policy_class": st.sampled_from(POLICY_CLASSES),
    }
)
_STEPS = range(10, 740, 30)


def _recalled(connection: Connection, record: Record, days: int) -> bool:
    """Whether a default recall may show it."""
    sieve = RecallFilter(MemoryQuery("", ALL_SCOPES, START + timedelta(days=days)))
    return record.id in sieve.filter_records(connection, [record.id])


@settings(max_examples=40, deadline=None)
@given(st.lists(_COLUMNS, min_size=1, max_size=6))
def test_what_is_protected_or_was_said_outright_is_recalled_after_two_years(
    told: list[dict[str, str | float]],
) -> None:
    """Invariant 6: whatever else it is, no night takes it."""
    with open_memory() as connection:
        records = [put_record(connection, columns=columns) for columns in told]
        kept = [record for record in records if is_explicit(record) or is_protected(record)]
        for days in _STEPS:
            play(connection, _NIGHT, START + timedelta(days=days))
        assert all(get(connection, record.id).status == "active" for record in kept)
        assert all(_recalled(connection, record, 740) for record in kept)


@settings(max_examples=40, deadline=None)
@given(_COLUMNS, st.integers(0, 300))
def test_a_record_that_is_heard_of_outlives_one_that_is_not(columns: dict[str, str | float], heard: int) -> None:
    """Invariant 12: of two that are alike, the one that was used and confirmed later never leaves first."""
    with open_memory() as connection:
        silent = put_record(connection, columns=columns)
        when = stamp(START + timedelta(days=heard))
        more: dict[str, str | float] = {
            "last_used": when,
            "last_seen": when,
            "use_count": int(columns["use_count"]) + 3,
        }
        used = put_record(connection, columns={**columns, **more})
        for days in range(heard, 740, 30):
            play(connection, _NIGHT, START + timedelta(days=days))
            gone = [get(connection, record.id).status != "active" for record in (silent, used)]
            assert gone != [False, True]
            now = START + timedelta(days=days)
            assert strength(get(connection, silent.id), now) <= strength(get(connection, used.id), now) + 1e-9


@settings(max_examples=30, deadline=None)
@given(st.lists(_COLUMNS, min_size=1, max_size=4), st.sampled_from(_NIGHT), st.integers(1, 740))
def test_every_pass_is_done_once_it_is_done_and_undo_puts_everything_back(
    told: list[dict[str, str | float]], one: Pass, days: int
) -> None:
    """Invariant 3: planned again nothing is left; undone, newest first, every row is as it was."""
    with open_memory() as connection:
        ends = stamp(START + timedelta(days=30))
        records = [
            put_record(connection, columns={**columns, **({"expires": ends} if at % 2 else {})})
            for at, columns in enumerate(told)
        ]
        last = last_event(connection)
        now = START + timedelta(days=days)
        carry_out(connection, one, now)
        events = connection.execute("SELECT id FROM event WHERE id > ? ORDER BY id DESC", (last,)).fetchall()
        for (event,) in events:
            undo(connection, event, ALL_SCOPES, AdmitContext(now, "2026-02-14", "owner"))
        for record in records:
            after = get(connection, record.id)
            assert after._replace(changed_event=record.changed_event, updated=record.updated) == record


@settings(max_examples=20, deadline=None)
@given(st.lists(_COLUMNS, min_size=1, max_size=5))
def test_nothing_is_lost_by_any_night(told: list[dict[str, str | float]]) -> None:
    """Invariants 2 and 3: the number of records stays, and each change of status has its event."""
    with open_memory() as connection:
        for columns in told:
            put_record(connection, columns=columns)
        for days in _STEPS:
            play(connection, _NIGHT, START + timedelta(days=days))
        assert connection.execute("SELECT count(*) FROM record").fetchone()[0] == len(told)
        gone = connection.execute("SELECT id FROM record WHERE status != 'active'").fetchall()
        for (record,) in gone:
            told_by = connection.execute(
                "SELECT count(*) FROM event WHERE record_id = ? AND json_extract(data, '$.was.status') = 'active' "
                "AND json_extract(data, '$.reason') != ''",
                (record,),
            ).fetchone()[0]
            assert told_by == 1
