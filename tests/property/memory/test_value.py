"""What holds of value, lifecycle and links whatever happens to a record, in whatever order, at whatever times."""

import math
from datetime import datetime, timedelta
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from kenobot.cognitive.beliefs.lifecycle import (
    LIFECYCLE_STAGES,
    POLICY_CLASSES,
    VERIFICATIONS,
    LifecycleEvent,
    LifecycleState,
    apply_event,
    next_state,
)
from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.beliefs.value import ValueFeatures, decay, features, salience, strength
from kenobot.cognitive.policy.beliefs import GraphPolicy, ValuePolicy
from kenobot.cognitive.recall.candidates.spreading_activation import spread_activation
from kenobot.cognitive.sleep.prune.endings import LIFECYCLE
from kenobot.cognitive.store import events, links
from kenobot.cognitive.store.feedback import NO_FEEDBACK, FeedbackCounts
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import LinkType, Record
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out

_EVENTS = get_args(LifecycleEvent)
_MOMENTS = st.integers(-4000, 4000).map(lambda days: stamp(START + timedelta(days=days)))
_TIMES = _MOMENTS | st.sampled_from(["", "garbage", "2026-02-14", "2026-02-14 10:00:00", "0001-01-01T00:00:00+00:00"])
_NUMBERS = st.floats(-1, 2) | st.sampled_from([math.nan, math.inf, -math.inf])
_RECORDS = st.builds(
    Record,
    id=st.just(1),
    form=st.sampled_from(["note", "episode"]),
    category=st.sampled_from(["fact", "correction", "preference"]),
    scope=st.just("owner"),
    text=st.just("x"),
    trust=st.sampled_from(["owner", "guest", "model", "tool"]),
    tier=st.just("daily"),
    status=st.just("active"),
    confidence=st.floats(0, 1),
    mentions=st.integers(1, 9),
    created=_TIMES,
    updated=_TIMES,
    day=st.just("2026-02-14"),
    changed_event=st.just(0),
    source=st.sampled_from(["tag", "edit", "command", "extraction", "import"]),
    importance=st.floats(0, 1),
    stability=st.floats(0.5, 5),
    use_count=st.integers(0, 100),
    lifecycle=st.sampled_from(LIFECYCLE_STAGES),
    verification=st.sampled_from(VERIFICATIONS),
    policy_class=st.sampled_from(POLICY_CLASSES),
    last_seen=_TIMES,
    last_used=st.none() | _TIMES,
    confirmed=st.none() | _TIMES,
)
_OPINIONS = st.builds(FeedbackCounts, st.integers(0, 5), st.integers(0, 5))
_LINK_TYPES = st.sampled_from(get_args(LinkType))


def _rows(record: Record, now: datetime, opinions: FeedbackCounts = NO_FEEDBACK) -> dict[str, float]:
    """Every value there is, each the better the higher."""
    known: ValueFeatures = features(record, now, opinions)
    return {
        "heat": known.shares["heat"],
        "kept": 1 - decay(known),
        "tier": known.value(ValuePolicy().tier_weights),
        "strength": strength(record, now),
    }


def _holds(lower: dict[str, float], higher: dict[str, float]) -> bool:
    return all(lower[name] <= higher[name] + 1e-9 for name in lower)


@given(_RECORDS, _NUMBERS, _NUMBERS, _NUMBERS, _OPINIONS)
def test_every_value_is_between_nothing_and_all(
    record: Record, confidence: float, importance: float, stability: float, opinions: FeedbackCounts
) -> None:
    """Also with broken times, times ahead, and numbers that are none."""
    odd = record._replace(confidence=confidence, importance=importance, stability=stability)
    assert all(0.0 <= value <= 1.0 for value in _rows(odd, START, opinions).values())


@given(_RECORDS, st.floats(0, 4000), st.floats(0, 4000))
def test_value_falls_with_idleness(record: Record, days: float, more: float) -> None:
    """Invariant 12: the longer nobody speaks of a record, the less it is worth; never more."""
    sooner, later = START + timedelta(days=days), START + timedelta(days=days + more)
    assert _holds(_rows(record, later), _rows(record, sooner))


@given(_RECORDS, _OPINIONS)
def test_value_rises_with_use_and_confirmation(record: Record, opinions: FeedbackCounts) -> None:
    """Invariant 12: a use and a yes never make a record worth less, and a no never more."""
    plain = _rows(record, START, opinions)
    shown = record._replace(
        use_count=record.use_count + 1, last_used=stamp(START), stability=min(5.0, record.stability + 0.1)
    )
    assert _holds(plain, _rows(shown, START, opinions))
    with_yes = record._replace(verification="user_confirmed", confirmed=stamp(START))
    assert _holds(plain, _rows(with_yes, START, FeedbackCounts(opinions.approvals + 1, opinions.objections)))
    with_no = record._replace(verification="disputed")
    assert _holds(_rows(with_no, START, FeedbackCounts(opinions.approvals, opinions.objections + 1)), plain)


@given(
    st.builds(
        LifecycleState,
        st.sampled_from(LIFECYCLE_STAGES),
        st.sampled_from(VERIFICATIONS),
        st.sampled_from(POLICY_CLASSES),
    ),
    st.lists(st.sampled_from(_EVENTS), max_size=8),
)
def test_no_event_leaves_an_undefined_state(standing: LifecycleState, story: list[str]) -> None:
    """From everywhere, by whatever happens, a record ends up in one of the states there are."""
    for happening in story:
        standing = next_state(standing, happening)  # type: ignore[arg-type]
        assert (standing.state in LIFECYCLE_STAGES, standing.verification in VERIFICATIONS) == (True, True)
        assert standing.policy_class in POLICY_CLASSES


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(_EVENTS), st.integers(0, 200)), max_size=10), st.booleans())
def test_every_change_of_a_life_has_an_event_that_can_put_it_back(story: list[tuple[str, int]], owners: bool) -> None:
    """Invariant 3: what the events overwrote, put back from the last to the first, is the record that was there."""
    with open_memory() as connection:
        said: dict[str, str | float] = {"trust": "owner", "source": "tag", "confidence": 0.95}
        first = put_record(connection, columns=said if owners else {})
        now, began = START, connection.execute("SELECT max(id) FROM event").fetchone()[0]
        for happening, days in story:
            now += timedelta(days=days)
            apply_event(connection, get(connection, first.id), happening, ChangeContext(now, "owner"))  # type: ignore[arg-type]
            carry_out(connection, LIFECYCLE, now)
            known = get(connection, first.id)
            assert (known.status == "archived") == (known.lifecycle == "archived")
            assert 0.0 <= known.confidence <= 1.0
        numbers = connection.execute("SELECT id FROM event WHERE id > ? ORDER BY id DESC", (began,)).fetchall()
        last = get(connection, first.id)
        for (event,) in numbers:
            held = events.get_event(connection, event)
            assert held is not None
            last = last._replace(**held.previous_values)  # type: ignore[arg-type]
        assert last._replace(changed_event=0) == first._replace(changed_event=0)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), _LINK_TYPES, st.integers(0, 400)), max_size=25))
def test_repeating_a_link_raises_its_confidence_and_never_its_number(
    told: list[tuple[int, int, LinkType, int]],
) -> None:
    """Invariant 11: one row for both ends and type; a repeat leaves it surer than silence had, and seen once more."""
    with open_memory() as connection:
        ids = [put_record(connection).id for _ in range(4)]
        now, kept = START, {}
        for one, two, type_, days in told:
            if one == two:
                continue
            now += timedelta(days=days)
            made = strengthen_link(connection, ids[one], ids[two], type_, now)
            again = strengthen_link(connection, ids[one], ids[two], type_, now)
            assert again.seen == made.seen + 1
            assert again.confidence > made.confidence or again.confidence == 1.0
            assert 0.0 < again.confidence <= 1.0
            kept[made.src, made.dst, type_] = again.seen
        rows = connection.execute("SELECT src, dst, type, seen FROM link").fetchall()
        assert {(src, dst, type_): seen for src, dst, type_, seen in rows} == kept


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), _LINK_TYPES), max_size=40),
    st.dictionaries(st.integers(0, 9), st.floats(0, 1), max_size=4),
    st.integers(0, 2),
)
def test_activation_stays_in_reach_and_can_be_followed(
    told: list[tuple[int, int, LinkType]], seeds: dict[int, float], foreign: int
) -> None:
    """Whatever the links: nothing of another scope, no seed, three steps at most, and each path is made of links."""
    with open_memory() as connection:
        scopes = ["owner", "chat:fake-1", "user:fake-2"]
        records = [put_record(connection, scope=scopes[place % 3]) for place in range(10)]
        for one, two, type_ in told:
            if one != two:
                strengthen_link(connection, records[one].id, records[two].id, type_, START)
        reach = tuple(scope for place, scope in enumerate(scopes) if place != foreign)
        policy = GraphPolicy()
        found = spread_activation(
            connection, {records[place].id: seed for place, seed in seeds.items()}, reach, policy, at=START
        )
        scope_of = {record.id: record.scope for record in records}
        for number, reached in found.items():
            assert scope_of[number] in reach
            assert scope_of[reached.seed] in reach
            assert number not in {records[place].id for place in seeds if seeds[place] > 0}
            assert reached.score > 0
            assert 1 <= len(reached.path) <= policy.max_steps
            assert reached.path[-1].dst == number
            for step in reached.path:
                ends = {(step.src, step.dst), (step.dst, step.src)}
                assert any(links.get_link(connection, src, dst, step.type) for src, dst in ends)


@given(st.text(max_size=200))
def test_any_text_has_a_salience(text: str) -> None:
    """Between 0 and 1, in every script."""
    assert 0.0 <= salience(text) <= 1.0
