"""The life of a record: what moves it, what does not, and that nothing is lost by it."""

import json
from datetime import timedelta
from typing import get_args

import pytest

from kenobot.cognitive.beliefs.lifecycle import (
    LIFECYCLE_STAGES,
    POLICY_CLASSES,
    STAGE_TRANSITIONS,
    VERIFICATIONS,
    LifecycleEvent,
    LifecycleState,
    apply_event,
    apply_use,
    initial_state,
    next_state,
    state_of,
)
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.prune.endings import LIFECYCLE
from kenobot.cognitive.store import events
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import UTC, carry_out, view

_EVENTS = get_args(LifecycleEvent)
_ACT = ChangeContext(START, "owner", "they said so", "fake-1")


def test_the_tables_name_only_what_there_is() -> None:
    """Every state in the tables is one, and every happening has its place in the list of them."""
    assert STAGE_TRANSITIONS.keys() <= set(_EVENTS)
    assert {state for moves in STAGE_TRANSITIONS.values() for pair in moves.items() for state in pair} <= set(
        LIFECYCLE_STAGES
    )


def test_every_state_can_be_reached_from_a_new_record() -> None:
    """States, verifications and policy classes: each is the end of some story."""
    reached = {
        initial_state("extraction", "model", 0.3),
        initial_state("tag", "owner", 0.9),
        initial_state("command", "owner", 1),
    }
    while True:
        more = {next_state(known, happening) for known in reached for happening in _EVENTS} | reached
        if more == reached:
            break
        reached = more
    assert {known.state for known in reached} == set(LIFECYCLE_STAGES)
    assert {known.verification for known in reached} == set(VERIFICATIONS)
    assert {known.policy_class for known in reached} == set(POLICY_CLASSES)


def test_what_somebody_else_says_does_not_shake_what_the_owner_confirmed() -> None:
    """A contradiction from elsewhere leaves the owner's word standing; the owner's own no does not."""
    sure = LifecycleState("active", "user_confirmed", "durable")
    assert next_state(sure, "contradicted").verification == "user_confirmed"
    assert next_state(sure, "disputed") == LifecycleState("stale", "disputed", "durable")


def test_a_yes_makes_a_record_sure_and_says_so_in_an_event() -> None:
    """Verified, active, surer, with the time of the yes; and the event can put everything back."""
    with open_memory() as connection:
        record = put_record(connection, expires="2026-03-01T00:00:00+00:00")
        event = apply_event(connection, record, "confirmed", _ACT)
        now = get(connection, record.id)
        assert (now.lifecycle, now.verification, now.expires) == ("active", "user_confirmed", None)
        assert now.confidence == pytest.approx(record.confidence + 0.1)
        assert now.confirmed == stamp(START)
        assert event is not None
        kept = events.get_event(connection, event)
        assert kept is not None
        assert kept.previous_values["verification"] == "unverified"
        assert connection.execute("SELECT type, actor, session FROM event WHERE id = ?", (event,)).fetchone() == (
            "confirmed",
            "owner",
            "fake-1",
        )


def test_a_no_never_makes_a_belief_stronger() -> None:
    """It does not restart the clock, and a belief that is hardly held is not lifted to the floor (Personal AI 7)."""
    with open_memory() as connection:
        for confidence in (0.6, 0.05):
            record = put_record(connection, confidence=confidence, at=START - timedelta(days=60))
            apply_event(connection, record, "disputed", _ACT)
            now = get(connection, record.id)
            assert now.confidence <= record.confidence
            assert (now.last_seen, now.confirmed, now.last_used) == (record.last_seen, None, None)


def test_saying_no_twice_counts_once() -> None:
    """The second objection to a record that is disputed already changes nothing, and is no event."""
    with open_memory() as connection:
        record = put_record(connection)
        assert apply_event(connection, record, "disputed", _ACT) is not None
        assert apply_event(connection, get(connection, record.id), "disputed", _ACT) is None


def test_a_pin_protects_and_can_be_taken_away() -> None:
    """A pinned record is protected; unpinned it is as durable as before."""
    with open_memory() as connection:
        record = put_record(connection, policy_class="ephemeral")
        apply_event(connection, record, "pinned", _ACT)
        assert get(connection, record.id).policy_class == "protected"
        apply_event(connection, get(connection, record.id), "unpinned", _ACT)
        assert get(connection, record.id).policy_class == "durable"


@pytest.mark.parametrize("status", ["superseded", "forgotten", "expired", "invalidated"])
def test_what_is_no_longer_remembered_stays_as_it_is(status: str) -> None:
    """No reaction brings back what was forgotten or replaced."""
    with open_memory() as connection:
        record = put_record(connection, status=status)
        assert apply_event(connection, record, "confirmed", _ACT) is None
        assert get(connection, record.id) == record


def test_what_was_archived_comes_back_when_its_owner_speaks_of_it() -> None:
    """It is live again; unless the same words were learned anew since, which then are the record."""
    with open_memory() as connection:
        first = put_record(connection, status="archived", lifecycle="archived", key="tea")
        apply_event(connection, first, "restated", _ACT)
        assert (get(connection, first.id).status, get(connection, first.id).lifecycle) == ("active", "validated")
        second = put_record(connection, status="archived", lifecycle="archived", key="tea")
        assert apply_event(connection, second, "restated", _ACT) is None


def test_idleness_cools_a_guess_and_in_the_end_archives_it() -> None:
    """Nothing is erased: the status changes, with an event that says why, and a second round finds nothing."""
    with open_memory() as connection:
        guess = put_record(connection, confidence=0.35, text="Adrian may like jazz")
        assert carry_out(connection, LIFECYCLE, START + timedelta(days=30)) == []
        [move] = carry_out(connection, LIFECYCLE, START + timedelta(days=120))
        assert (move.record, move.kind) == (guess.id, "cooled")
        assert get(connection, guess.id).lifecycle == "stale"
        [move] = carry_out(connection, LIFECYCLE, START + timedelta(days=200))
        assert (move.kind, get(connection, guess.id).status) == ("faded", "archived")
        assert get(connection, guess.id).valid_to is None
        assert carry_out(connection, LIFECYCLE, START + timedelta(days=900)) == []
        told = connection.execute("SELECT data FROM event WHERE type = 'faded' ORDER BY id DESC").fetchone()[0]
        assert "nobody spoke of it for 200 days" in json.loads(told)["reason"]


@pytest.mark.parametrize(
    "columns",
    [
        {"trust": "owner", "source": "tag", "confidence": 0.95},
        {"verification": "user_confirmed"},
        {"policy_class": "protected"},
        {"importance": 0.95},
    ],
)
def test_what_its_owner_said_confirmed_or_pinned_never_leaves_by_itself(columns: dict[str, str | float]) -> None:
    """Ten years without a word of it, and it is where it was (Engram 10, invariant 6)."""
    with open_memory() as connection:
        kept = put_record(connection, columns=columns)
        assert carry_out(connection, LIFECYCLE, START + timedelta(days=3650)) == []
        assert get(connection, kept.id) == kept


def test_an_episode_of_the_owner_cools_and_stays() -> None:
    """What happened once moves back behind what is so; it does not leave."""
    with open_memory() as connection:
        told = put_record(connection, form="episode", trust="owner", source="tag", confidence=0.95, importance=0.3)
        carry_out(connection, LIFECYCLE, START + timedelta(days=3650))
        carry_out(connection, LIFECYCLE, START + timedelta(days=3651))
        assert (get(connection, told.id).lifecycle, get(connection, told.id).status) == ("stale", "active")


def test_a_plan_that_is_outdated_when_it_is_carried_out_does_nothing() -> None:
    """Between the plan and the deed somebody spoke of the record."""
    with open_memory() as connection:
        guess = put_record(connection, confidence=0.35)
        later = START + timedelta(days=120)
        [move] = LIFECYCLE.plan(view(connection, later))
        apply_event(connection, guess, "confirmed", ChangeContext(later, "owner"))
        assert apply_change(connection, move, PassContext(1, "lifecycle", later, UTC)) is None
        assert get(connection, guess.id).lifecycle == "active"


def test_what_was_consolidated_does_not_fade_and_a_pattern_goes_by_practice() -> None:
    """What stands in MEMORY.md or a topic file, and a pattern, outlive ten years of silence (seed 002, phase 9)."""
    with open_memory() as connection:
        for columns in ({"tier": "core"}, {"tier": "ref:network"}, {"form": "procedure"}):
            put_record(connection, columns=columns, confidence=0.6)
        carry_out(connection, LIFECYCLE, START + timedelta(days=3650))
        carry_out(connection, LIFECYCLE, START + timedelta(days=3651))
        assert connection.execute("SELECT DISTINCT status FROM record").fetchall() == [("active",)]


def test_use_lifts_a_record_once_it_is_warm() -> None:
    """A few uses do nothing; many make a candidate validated, and then active: one event each, no more."""
    with open_memory() as connection:
        record = put_record(connection, confidence=0.8, verification="unverified")
        assert apply_use(connection, [record.id], ALL_SCOPES, _ACT) == []
        connection.execute("UPDATE record SET use_count = 15, last_used = ? WHERE id = ?", (stamp(START), record.id))
        assert apply_use(connection, [record.id], ALL_SCOPES, _ACT) == [record.id]
        assert get(connection, record.id).lifecycle == "validated"
        apply_use(connection, [record.id], ALL_SCOPES, _ACT)
        assert get(connection, record.id).lifecycle == "active"
        assert apply_use(connection, [record.id], ALL_SCOPES, _ACT) == []


def test_use_does_not_lift_what_is_disputed() -> None:
    """However often it is shown, only its owner makes it good again."""
    with open_memory() as connection:
        record = put_record(connection, confidence=0.9, use_count=50, lifecycle="stale", verification="disputed")
        assert apply_use(connection, [record.id], ALL_SCOPES, _ACT) == []


def test_a_state_that_nobody_knows_counts_as_new() -> None:
    """What another version or system wrote breaks nothing (E17: fail open)."""
    with open_memory() as connection:
        record = put_record(connection, lifecycle="dreaming", verification="?", policy_class="")
        assert state_of(record) == LifecycleState("candidate", "unverified", "durable")
        apply_event(connection, record, "restated", _ACT)
        assert state_of(get(connection, record.id)) == LifecycleState("validated", "user_confirmed", "durable")
