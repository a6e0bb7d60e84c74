"""Hot and cold: what is used a lot comes to hand, a full MEMORY.md lets go of what is worth least."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.night import NIGHT
from kenobot.cognitive.sleep.prune.tiers import TIERS
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out, play

_SMALL: Policy = replace(DEFAULT, pruning=replace(DEFAULT.pruning, max_core_tokens=60))
_LATER = START + timedelta(days=120)
_USED: dict[str, str | float] = {"use_count": 20, "last_used": stamp(_LATER), "confidence": 0.9}


def _worn(connection: Connection, text: str, confidence: float = 0.6, **columns: str | float) -> int:
    """Something in MEMORY.md that nobody has asked for since."""
    return put_record(connection, text, tier="core", confidence=confidence, columns=columns).id


def test_a_full_memory_md_lets_go_of_what_is_worth_least_and_no_more_than_it_must() -> None:
    """Least first, until it fits; what leaves is still live, and says why it left."""
    with open_memory() as connection:
        numbers = [_worn(connection, f"fact number {n} " + "x" * 60, 0.5 + n / 100) for n in range(5)]
        done = carry_out(connection, TIERS, _LATER, policy=_SMALL)
        tiers = [get(connection, number).tier for number in numbers]
        assert tiers == ["archive", "archive", "archive", "core", "core"]
        assert {get(connection, number).status for number in numbers} == {"active"}
        assert done[0].reason.startswith("MEMORY.md is fuller than it should be")


def test_a_small_memory_md_keeps_everything() -> None:
    """What fits costs nothing: seed 002's fact stands there months later."""
    with open_memory() as connection:
        number = _worn(connection, "n8n webhooks prefer query params for auth")
        assert carry_out(connection, TIERS, _LATER) == []
        assert get(connection, number).tier == "core"


@pytest.mark.parametrize(
    ("columns", "days"),
    [
        ({"source": "edit"}, 120),
        ({"source": "command"}, 120),
        ({"policy_class": "protected"}, 120),
        ({"confidence": 0.95, "importance": 0.6}, 120),
        ({}, 13),
    ],
)
def test_what_a_person_put_there_what_is_worth_it_and_what_is_new_stays(
    columns: dict[str, str | float], days: int
) -> None:
    """However full it is."""
    with open_memory() as connection:
        held = {"confidence": 0.1, "importance": 0.1, **columns}
        number = put_record(connection, "x" * 400, tier="core", columns=held).id
        assert carry_out(connection, TIERS, START + timedelta(days=days), policy=_SMALL) == []
        assert get(connection, number).tier == "core"


def test_what_was_put_away_and_is_used_a_lot_comes_to_hand() -> None:
    """From a value of .70 on; what is not used stays where it is, and so does what others wrote."""
    with open_memory() as connection:
        loved = put_record(connection, "the router is at 10.0.0.1", tier="archive", columns=_USED)
        put_record(connection, "the old router was blue", tier="archive", confidence=0.9)
        put_record(connection, "a tool said so", tier="archive", columns={**_USED, "trust": "tool"})
        put_record(connection, "likes tea", tier="archive", columns={**_USED, "category": "preference"})
        [change] = carry_out(connection, TIERS, _LATER)
        assert (change.kind, change.record, get(connection, loved.id).tier) == ("raised", loved.id, "core")


def test_what_comes_to_hand_needs_room_there() -> None:
    """A MEMORY.md that is full is not made fuller, and the night does not move anything twice."""
    with open_memory() as connection:
        put_record(connection, "x" * 180, tier="core", columns={"source": "edit"})
        put_record(connection, "y" * 100, tier="archive", columns=_USED)
        assert carry_out(connection, TIERS, _LATER, policy=_SMALL) == []


def test_what_is_worth_little_makes_room_for_what_is_worth_much() -> None:
    """A full MEMORY.md changes one for the other in a single night."""
    with open_memory() as connection:
        little = _worn(connection, "x" * 180, 0.1)
        much = put_record(connection, "y" * 100, tier="archive", columns=_USED)
        carry_out(connection, TIERS, _LATER, policy=_SMALL)
        assert (get(connection, little).tier, get(connection, much.id).tier) == ("archive", "core")


def test_what_somebody_put_back_is_not_moved_again() -> None:
    """Undone, a move is not made by the next night."""
    with open_memory() as connection:
        number = _worn(connection, "x" * 400, 0.1)
        carry_out(connection, TIERS, _LATER, policy=_SMALL)
        event = connection.execute("SELECT id FROM event WHERE type = 'demoted'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(_LATER, "2026-06-14", "owner"))
        assert carry_out(connection, TIERS, _LATER + timedelta(days=1), policy=_SMALL) == []
        assert get(connection, number).tier == "core"


def test_scopes_have_room_of_their_own() -> None:
    """A full MEMORY.md of one costs another nothing."""
    with open_memory() as connection:
        mine = _worn(connection, "x" * 400, 0.1)
        theirs = _worn(connection, "y" * 40, 0.1, scope="user:fake-2")
        carry_out(connection, TIERS, _LATER, policy=_SMALL)
        assert (get(connection, mine).tier, get(connection, theirs).tier) == ("archive", "core")


def test_no_night_undoes_what_another_did() -> None:
    """All passes together for two months: whatever once left MEMORY.md, or came into it, stays there."""
    with open_memory() as connection:
        for number in range(30):
            text = f"Learned: host {number} always fails with error {number} unless it is restarted " + "z" * 40
            columns: dict[str, str | float] = {
                "tier": ("core", "daily", "archive")[number % 3],
                "confidence": 0.3 + number / 50,
                "importance": number / 40,
                "source": "tag",
            }
            if number % 5 == 0:
                columns |= {"use_count": 20, "last_used": stamp(_LATER), "confidence": 0.95, "trust": "owner"}
            put_record(connection, text, columns=columns)
        policy = replace(DEFAULT, pruning=replace(DEFAULT.pruning, max_core_tokens=400))
        places, kinds = {record: [tier] for record, tier in _tiers(connection)}, set[str]()
        for night in range(0, 60, 3):
            kinds |= {change.kind for change in play(connection, NIGHT, _LATER + timedelta(days=night), policy=policy)}
            for record, tier in _tiers(connection):
                seen = places.setdefault(record, [tier])
                if seen[-1] != tier:
                    seen.append(tier)
        assert [seen for seen in places.values() if len(seen) != len(set(seen))] == []
        assert kinds >= {"raised", "demoted", "promoted"}


def _tiers(connection: Connection) -> list[tuple[int, str]]:
    return connection.execute("SELECT id, tier FROM record WHERE form = 'note' AND status = 'active'").fetchall()
