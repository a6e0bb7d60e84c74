"""What earlier nights found of pairs saves work and changes nothing: each night plans as if it compared all anew."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.consolidate import synthesize
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.cognitive.sleep.plan.comparison_cache import ComparisonCache, LikelyPairs
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import term_index
from kenobot.cognitive.store.change import change
from kenobot.language.fingerprint import key_of
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory
from tests.property.effort import effort
from tests.unit.cognitive.sleep.beliefs import put
from tests.unit.cognitive.sleep.nights import UTC

_WHO = st.sampled_from(["Adrian", "Laura", "el usuario", "I"])
_DOES = st.sampled_from(["likes", "dislikes", "loves", "does not like", "no come", "works at", "prefers", "le gusta"])
_WHAT = st.sampled_from(["green tea", "té verde", "Acme", "绿茶", "C++", "C", "room 4", "room 5"])
_MORE = st.sampled_from(["", ".", " as a rule", " in Lyon", " on Monday", " if asked", " in Lyon since spring"])
_SAID = st.builds(lambda who, does, what, more: f"{who} {does} {what}{more}", _WHO, _DOES, _WHAT, _MORE)
_NEAR = st.builds(  # most of these share enough words to be looked at, and few are near enough
    lambda what, where, when: f"Adrian buys {what} {where} {when}",
    st.sampled_from(["green tea", "green paint", "black tea", "black paint"]),
    st.sampled_from(["in Lyon", "in Oporto", "in the market"]),
    st.sampled_from(["every Monday", "every Friday", "every summer"]),
)
_TEXT = _SAID | _NEAR | _NEAR
_NOTE = st.tuples(
    _TEXT,
    st.sampled_from(["owner"] * 6 + ["chat:1"]),
    st.sampled_from(["owner"] * 6 + ["bob"]),
    st.sampled_from(["daily", "core"]),
    st.sampled_from(["owner", "model", "model", "owner", "tool"]),
    st.sampled_from(["note"] * 5 + ["episode"]),
)
_TURN = st.one_of(
    st.tuples(st.just("put"), _NOTE),
    st.tuples(st.just("reword"), st.tuples(st.integers(0, 99), _TEXT)),
    st.tuples(st.just("echo"), st.tuples(st.integers(0, 99), st.integers(0, 99))),
    st.tuples(st.just("doubt"), st.tuples(st.integers(0, 99), st.just(""))),
    st.tuples(st.just("end"), st.tuples(st.integers(0, 99), st.just(""))),
    st.tuples(st.just("promote"), st.tuples(st.integers(0, 99), st.just(""))),
)
_DAYS = st.lists(st.tuples(st.lists(_TURN, min_size=1, max_size=8), st.booleans()), min_size=3, max_size=6)
_PASSES = (pair_review.DUPLICATES, pair_review.CONTRADICTIONS, synthesize.PASS)


def _happen(memory: Connection, kind: str, given: tuple[object, ...], day: int) -> None:
    if kind == "put":
        text, scope, subject, tier, trust, form = map(str, given)
        at = START + timedelta(days=day)
        put(
            memory, text, scope=scope, subject=subject, tier=tier, trust=trust, form=form, at=at,
            key=f"{text}|{day}|{memory.total_changes}",
        )  # fmt: skip
        return
    ids = [row[0] for row in memory.execute("SELECT id FROM record WHERE status = 'active' ORDER BY id")]
    if not ids:
        return
    record = get(memory, ids[int(str(given[0])) % len(ids)])
    act = ChangeContext(START + timedelta(days=day), "owner", "a test")
    text = str(given[1])
    if kind == "echo":
        text = f"{get(memory, ids[int(text) % len(ids)]).text}!"
    if kind in ("reword", "echo"):
        values = {"text": text, "key": f"{key_of(text)}|{record.id}|{memory.total_changes}"}
        change(memory, record, "reworded", values, act)
    elif kind == "doubt":
        change(memory, record, "disputed", {"verification": "disputed"}, act, shown=False)
    elif kind == "promote":
        change(memory, record, "promoted", {"tier": "core"}, act)
    else:
        change(memory, record, "forgotten", {"status": "forgotten"}, act)
    term_index.index_record(memory, record.id, record.scope)


def _night(memory: Connection, one: Pass, number: int, compared: ComparisonCache, *, asked: bool) -> None:
    now = START + timedelta(days=number, hours=14)
    view = NightView(memory, now, UTC, model_available=asked, comparison_cache=compared)
    anew = NightView(memory, now, UTC, model_available=asked)
    assert one.questions(view) == one.questions(anew)
    planned = list(one.plan(view))
    assert planned == list(one.plan(anew))
    for wanted in planned:
        apply_change(memory, wanted, PassContext(number, one.name, now, UTC))


@given(days=_DAYS)
@effort(20, 1)
def test_nights_that_remember_plan_what_nights_that_compare_everything_plan(
    days: list[tuple[list[tuple[str, tuple[object, ...]]], bool]],
) -> None:
    """Whatever comes, changes and goes between them, and whether or not somebody is there to be asked."""
    compared = ComparisonCache()
    with open_memory() as memory:
        for number, (turns, asked) in enumerate(days, 1):
            for kind, given_ in turns:
                _happen(memory, kind, given_, number)
            for one in _PASSES:
                _night(memory, one, number, compared, asked=asked)


def test_a_second_night_reads_no_pair_that_came_to_nothing() -> None:
    """The texts of two that are as they were are not held against each other again; those of a changed one are."""
    compared = ComparisonCache()
    with open_memory() as memory:
        first = put(memory, "Adrian likes green tea in Lyon")
        put(memory, "Adrian likes green tea in Paris")
        for _ in range(2):
            _night(memory, pair_review.CONTRADICTIONS, 1, compared, asked=False)
        (held,) = (seal for apart in compared._apart.values() for seal in apart)
        change(
            memory,
            first,
            "disputed",
            {"verification": "disputed"},
            ChangeContext(START, "owner", "a test"),
            shown=False,
        )
        _night(memory, pair_review.CONTRADICTIONS, 2, compared, asked=False)
        assert [seal for apart in compared._apart.values() for seal in apart if seal != held]


def test_no_more_pairs_are_kept_than_may_be() -> None:
    """Those beyond are compared again each night, which costs time and nothing else."""
    compared = ComparisonCache(most=3)
    for _ in range(2):
        known = compared.begin_round("x", {})
        assert not all(known.is_known_different(number, number + 1) for number in range(5))
        for number in range(5):
            known.mark_different(number, number + 1)
        known.close()
        assert {name: len(apart) for name, apart in compared._apart.items()} == {"x": 3}


def test_pairs_are_looked_for_once_while_nothing_happens() -> None:
    """What was found for a nearer limit does not do for a wider one, nor after an event, nor the night after."""
    compared, looks = ComparisonCache(), list[float]()

    def likely(event: int, least: float) -> LikelyPairs:
        def find() -> LikelyPairs:
            looks.append(least)
            return {(1, 2): least}

        return compared.likely_pairs(event, least, find)

    for event, least in ((1, 0.7), (1, 0.8), (1, 0.6), (1, 0.7), (2, 0.7)):
        assert likely(event, least)
    assert looks == [0.7, 0.6, 0.7]
    compared.end_night()
    likely(2, 0.7)
    assert looks == [0.7, 0.6, 0.7, 0.7]
