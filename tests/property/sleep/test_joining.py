"""Joining while asleep, whatever is remembered: the same from any order, done once, nothing lost, nobody mixed."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory
from tests.property.effort import effort
from tests.unit.cognitive.sleep.beliefs import links, put
from tests.unit.cognitive.sleep.nights import THEN, sleep

_WHO = st.sampled_from(["Adrian", "Laura", "el usuario", "I"])
_DOES = st.sampled_from(["likes", "like", "dislikes", "loves", "does not like", "no come", "works at", "prefers"])
_WHAT = st.sampled_from(["green tea", "té verde", "Acme", "绿茶", "C++", "C", "room 4", "room 5"])
_MORE = st.sampled_from(["", ".", "!", " as a rule", " in Lyon", " on Monday", " if asked", " in Lyon since spring"])
_TEXT = st.builds(lambda who, does, what, more: f"{who} {does} {what}{more}", _WHO, _DOES, _WHAT, _MORE)
_NOTE = st.tuples(
    _TEXT,
    st.sampled_from(["owner", "chat:1"]),
    st.sampled_from(["owner", "bob"]),
    st.sampled_from(["daily", "core"]),
    st.sampled_from(["owner", "tool"]),
)
_Note = tuple[str, str, str, str, str]
_NOTES = st.lists(_NOTE, min_size=2, max_size=9, unique_by=lambda note: note[:3])


def _fill(memory: Connection, notes: Sequence[_Note]) -> dict[int, _Note]:
    return {
        put(
            memory, note[0], scope=note[1], subject=note[2], tier=note[3], trust=note[4], source_messages=f"[{at}]",
            key=f"{note[0]}|{note[2]}",
        ).id: note
        for at, note in enumerate(sorted(notes), 1)
    }  # fmt: skip


def _left(
    memory: Connection, names: dict[int, _Note]
) -> tuple[list[tuple[_Note, str, str]], list[tuple[_Note, _Note]]]:
    """What lives, with its words and its trust, and what took the place of what; by what they were."""
    known = {number: get(memory, number) for number in names}
    live = sorted((names[n], r.text, r.trust) for n, r in known.items() if r.status == "active")
    return live, sorted((names[new], names[old]) for new, old in links(memory, "supersedes"))


@given(notes=_NOTES, seed=st.randoms(use_true_random=False))
@effort(15, 1)
def test_the_order_of_arrival_says_nothing(notes: list[_Note], seed: Random) -> None:
    """Any order of the same notes ends in the same memory, and the pass has nothing left to do then."""
    outcomes = []
    for turn in range(2):
        order = [*notes]
        if turn:
            seed.shuffle(order)
        with open_memory() as memory:
            names = {
                put(memory, n[0], scope=n[1], subject=n[2], tier=n[3], trust=n[4], key=f"{n[0]}|{n[2]}").id: n
                for n in order
            }
            sleep(memory, pair_review.DUPLICATES)
            outcomes.append(_left(memory, names))
    assert outcomes[0] == outcomes[1]


@given(notes=_NOTES)
@effort(15, 1)
def test_nothing_is_lost_and_nobody_mixed(notes: list[_Note]) -> None:
    """Every wording and turn stands in what lives or in its past, of one scope and subject; undo restores it all."""
    with open_memory() as memory:
        names = _fill(memory, notes)
        before = {number: get(memory, number) for number in names}
        sleep(memory, pair_review.DUPLICATES)
        taken = links(memory, "supersedes")
        for new, old in taken:
            assert (names[new][1], names[new][2]) == (names[old][1], names[old][2])
            assert set(before[old].source_message_ids) <= set(get(memory, new).source_message_ids)
        past = {row[0] for row in memory.execute("SELECT json_extract(data, '$.was.text') FROM event")}
        words = {get(memory, number).text for number in names} | past
        assert {note[0] for note in notes} <= words
        assert all(get(memory, n).status == "active" or n in {old for _, old in taken} for n in names)
        roots = memory.execute(
            "SELECT id FROM event WHERE type = 'merged' AND json_extract(data, '$.part_of') IS NULL ORDER BY id DESC"
        ).fetchall()
        for (root,) in roots:
            undo(memory, root, ("owner", "chat:1"), AdmitContext(THEN, "2026-02-15", "owner"))
        for number, was in before.items():
            now = get(memory, number)
            assert (now.text, now.status, now.key, now.source_messages, now.tier) == (
                was.text, was.status, was.key, was.source_messages, was.tier,
            )  # fmt: skip


@given(notes=_NOTES, late=st.sets(st.integers(0, 8)))
@effort(10, 1)
def test_contradictions_delete_nothing_and_stay_at_home(notes: list[_Note], late: set[int]) -> None:
    """Records only change their status, a stranger takes nothing away, and a second night finds nothing to do."""
    with open_memory() as memory:
        names = {
            put(
                memory, n[0], scope=n[1], subject=n[2], tier=n[3], trust=n[4], key=f"{n[0]}|{n[2]}",
                at=START + timedelta(hours=at in late),
            ).id: n
            for at, n in enumerate(notes)
        }  # fmt: skip
        sleep(memory, pair_review.DUPLICATES)
        sleep(memory, pair_review.CONTRADICTIONS)
        for new, old in links(memory, "contradicts"):
            assert names[new][1:3] == names[old][1:3]
            assert "tool" not in (names[new][4], names[old][4])
        rows = memory.execute("SELECT count(*) FROM record WHERE form = 'note'").fetchone()
        assert rows == (len(notes),)
