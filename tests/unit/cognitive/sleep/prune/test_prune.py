"""What leaves by night: guesses, slight facts, faded beliefs, old scratchpads; and what stays."""

from datetime import timedelta

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import endings
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out

_OWNERS: dict[str, str | float] = {"trust": "owner", "source": "tag", "confidence": 0.95}
_DAY = timedelta(days=1)


# ── expiry ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_guess_that_nobody_confirms_expires_after_thirty_days_and_can_come_back() -> None:
    """Its status changes with a reason; undone, it is as it was, and the next night does not insist."""
    with open_memory() as connection:
        told = Candidate("note", "owner", "Adrian may move to Bilbao", source="extraction", confidence=0.3)
        number = admit(connection, told, AdmitContext(START, "2026-02-14", "extraction")).record
        assert number is not None
        first = get(connection, number)
        assert carry_out(connection, endings.EXPIRY, START + timedelta(days=29)) == []
        [change] = carry_out(connection, endings.EXPIRY, START + timedelta(days=31))
        gone = get(connection, number)
        assert (gone.status, gone.valid_to) == ("expired", first.expires)
        assert change.reason == "it was a guess, and nobody confirmed it by 2026-03-16"
        event = connection.execute("SELECT id FROM event WHERE type = 'expired'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(START + timedelta(days=32), "2026-03-18", "owner"))
        back = get(connection, number)
        assert (back.status, back.valid_to) == ("active", None)
        assert carry_out(connection, endings.EXPIRY, START + timedelta(days=60)) == []


def test_a_guess_that_came_up_again_or_was_confirmed_does_not_expire() -> None:
    """A repeat takes its end away, and so does its owner's yes (Engram 2)."""
    with open_memory() as connection:
        told = Candidate("note", "owner", "Adrian may move to Bilbao", source="extraction", confidence=0.3)
        for days, turn in ((0, 1), (20, 2)):
            admit(connection, told, AdmitContext(START + days * _DAY, "2026-02-14", "extraction", evidence=turn))
        assert carry_out(connection, endings.EXPIRY, START + timedelta(days=400)) == []


def test_an_expired_guess_can_be_learned_again() -> None:
    """The key dies with the record's liveness (Engram 1)."""
    with open_memory() as connection:
        told = Candidate("note", "owner", "Adrian may move to Bilbao", source="extraction", confidence=0.3)
        admit(connection, told, AdmitContext(START, "2026-02-14", "extraction", evidence=1))
        carry_out(connection, endings.EXPIRY, START + timedelta(days=31))
        again = admit(connection, told, AdmitContext(START + 40 * _DAY, "2026-03-26", "extraction", evidence=9))
        assert again.action == "created"


def test_a_guess_that_matters_too_much_loses_its_end_instead() -> None:
    """What may harm somebody is not dropped for want of a yes; a new one gets no end at all."""
    with open_memory() as connection:
        ends = stamp(START + timedelta(days=30))
        grave = put_record(connection, "may be allergic to penicillin", confidence=0.2, importance=0.95, expires=ends)
        [change] = carry_out(connection, endings.EXPIRY, START + timedelta(days=31))
        assert (change.kind, get(connection, grave.id).status, get(connection, grave.id).expires) == (
            "kept",
            "active",
            None,
        )
        told = Candidate("note", "owner", "Ana may have epilepsy", source="extraction", confidence=0.2, importance=1.0)
        number = admit(connection, told, AdmitContext(START, "2026-02-14", "extraction")).record
        assert number is not None
        assert get(connection, number).expires is None


def test_what_held_until_a_day_is_over_after_it_even_if_its_owner_said_it() -> None:
    """Its own words say so."""
    with open_memory() as connection:
        ends = stamp(START + timedelta(days=5))
        record = put_record(connection, "On holiday in Rome", columns=_OWNERS, expires=ends)
        [change] = carry_out(connection, endings.EXPIRY, START + timedelta(days=6))
        assert (change.record, change.reason) == (record.id, "it held until 2026-02-19")


# ── archival ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("columns", "days", "goes"),
    [
        ({}, 91, True),
        ({"form": "episode"}, 91, True),
        ({}, 90, False),
        ({"importance": 0.3}, 91, False),
        ({"use_count": 3}, 91, False),
        ({"category": "preference"}, 91, False),
        ({"category": "commitment"}, 91, False),
        ({"category": "principle"}, 91, False),
        ({"category": "correction"}, 91, False),
        ({"verification": "user_confirmed"}, 91, False),
        ({"policy_class": "protected"}, 91, False),
        ({"tier": "core"}, 91, False),
        ({"tier": "ref:network"}, 91, False),
        ({"form": "summary"}, 91, False),
        (_OWNERS, 3650, False),
    ],
)
def test_a_slight_old_unused_fact_is_archived_and_nothing_else(
    columns: dict[str, str | float], days: int, goes: bool
) -> None:
    """Each of Engram's conditions, and each of invariant 6, keeps it by itself."""
    with open_memory() as connection:
        record = put_record(connection, columns={"importance": 0.2, "use_count": 2, **columns})
        done = carry_out(connection, endings.ARCHIVAL, START + timedelta(days=days))
        assert [change.record for change in done] == ([record.id] if goes else [])
        assert get(connection, record.id).status == ("archived" if goes else "active")


# ── beliefs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_belief_goes_stale_below_a_tenth_and_leaves_below_a_twentieth() -> None:
    """.6 is halved every thirty days: .1 after 77.5 days, .05 after 107.5 (seed 003, 7)."""
    with open_memory() as connection:
        record = put_record(connection, confidence=0.6)
        assert carry_out(connection, endings.BELIEFS, START + timedelta(days=77)) == []
        [change] = carry_out(connection, endings.BELIEFS, START + timedelta(days=78))
        assert (change.kind, get(connection, record.id).lifecycle) == ("cooled", "stale")
        assert carry_out(connection, endings.BELIEFS, START + timedelta(days=107)) == []
        [change] = carry_out(connection, endings.BELIEFS, START + timedelta(days=108))
        now = get(connection, record.id)
        assert (change.kind, now.status, now.lifecycle, now.valid_to) == ("pruned", "archived", "archived", None)


@pytest.mark.parametrize("heard", ["last_used", "last_seen", "confirmed"])
def test_a_recall_a_repeat_or_a_yes_stops_the_decay_of_a_belief(heard: str) -> None:
    """The clock starts again with each of them (Personal AI 8)."""
    with open_memory() as connection:
        when = stamp(START + timedelta(days=100))
        record = put_record(connection, confidence=0.6, columns={heard: when})
        assert carry_out(connection, endings.BELIEFS, START + timedelta(days=170)) == []
        assert get(connection, record.id).lifecycle == "candidate"


@pytest.mark.parametrize(
    "columns",
    [
        _OWNERS,
        {"verification": "user_confirmed"},
        {"policy_class": "protected"},
        {"importance": 0.9},
        {"tier": "core"},
        {"form": "episode"},
        {"form": "procedure"},
        {"trust": "guest", "scope": "user:fake-2", "source": "tag", "confidence": 0.7},
    ],
)
def test_what_is_protected_said_outright_or_consolidated_is_never_pruned(columns: dict[str, str | float]) -> None:
    """Invariant 6: ten years of silence take nothing of it."""
    with open_memory() as connection:
        record = put_record(connection, columns=columns)
        assert carry_out(connection, endings.BELIEFS, START + timedelta(days=3650)) == []
        assert get(connection, record.id) == record


@pytest.mark.parametrize("one", [endings.BELIEFS, endings.LIFECYCLE, endings.ARCHIVAL], ids=lambda one: one.name)
def test_what_somebody_brought_back_from_the_archive_is_left_alone(one: Pass) -> None:
    """Whichever pass had sent it there, no other sends it there again."""
    with open_memory() as connection:
        record = put_record(connection, confidence=0.35, importance=0.2)
        carry_out(connection, endings.BELIEFS, START + timedelta(days=300))
        event = connection.execute("SELECT id FROM event WHERE type = 'pruned'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(START + timedelta(days=301), "2026-12-12", "owner"))
        assert get(connection, record.id).status == "active"
        carry_out(connection, one, START + timedelta(days=400))
        assert get(connection, record.id).status == "active"


# ── scratchpads ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_scratchpad_dies_after_seven_days_without_a_touch() -> None:
    """Seed 002: written on 14 February at 14:30, gone at an age of 7.4 days; and the next tag starts a new one."""
    with open_memory() as connection:
        written = START.replace(hour=14, minute=30)
        pad = Candidate("scratchpad", "chat:telegram-1", "- Status: resolved", slot="working")
        number = admit(connection, pad, AdmitContext(written, "2026-02-14", "model")).record
        assert number is not None
        assert carry_out(connection, endings.SCRATCHPADS, written + timedelta(days=6.9)) == []
        [change] = carry_out(connection, endings.SCRATCHPADS, written + timedelta(days=7.4))
        assert (get(connection, number).status, change.reason) == ("expired", "nobody has written it for 7.4 days")
        assert records.slot_record(connection, "chat:telegram-1", "scratchpad", "working") is None
        again = admit(connection, pad, AdmitContext(written + 8 * _DAY, "2026-02-22", "model")).record
        assert again != number


def test_writing_the_same_scratchpad_again_is_a_touch_and_so_is_undoing_its_end() -> None:
    """From either it has seven days more."""
    with open_memory() as connection:
        pad = Candidate("scratchpad", "chat:telegram-1", "- Status: open", slot="working")
        number = admit(connection, pad, AdmitContext(START, "2026-02-14", "model")).record
        admit(connection, pad, AdmitContext(START + 5 * _DAY, "2026-02-19", "model"))
        assert carry_out(connection, endings.SCRATCHPADS, START + 11 * _DAY) == []
        assert len(carry_out(connection, endings.SCRATCHPADS, START + 12.5 * _DAY)) == 1
        event = connection.execute("SELECT id FROM event WHERE type = 'expired'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(START + 13 * _DAY, "2026-02-27", "owner"))
        assert carry_out(connection, endings.SCRATCHPADS, START + 19 * _DAY) == []
        assert [change.record for change in carry_out(connection, endings.SCRATCHPADS, START + 21 * _DAY)] == [number]


def test_scopes_are_never_mixed() -> None:
    """Every pass changes each scope's records by that scope's own."""
    with open_memory() as connection:
        for scope in ("owner", "user:fake-2", "chat:fake-3"):
            put_record(connection, scope=scope, confidence=0.35, importance=0.2)
        done = carry_out(connection, endings.ARCHIVAL, START + timedelta(days=120))
        assert len(done) == 3
        assert all(len(change.parts) == 1 for change in done)


def test_numbers_are_the_seeds() -> None:
    """They stand in the policy, where they can be looked up."""
    policy = DEFAULT.pruning
    assert (policy.archive_days, policy.archive_importance, policy.archive_uses, policy.keep_resolved_days) == (
        90,
        0.3,
        2,
        90,
    )
    assert (policy.stale_below, DEFAULT.value.faded_below, DEFAULT.sleep.scratchpad_days) == (0.10, 0.05, 7)
    assert (policy.max_identity_bytes, DEFAULT.admit.speculative_days) == (8192, 30)
