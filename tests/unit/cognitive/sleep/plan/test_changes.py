"""A change that was written down is the same change when it is read again."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.sleep.plan.changes import (
    AddLink,
    AdmitRecord,
    Change,
    LogEvent,
    ProposeChange,
    UpdateRecord,
    change_from_json,
    change_to_json,
)
from kenobot.ports.memory import Candidate, RelationVerdict

TEXT = st.text(max_size=20)
NUMBER = st.integers(min_value=1, max_value=2**53)
VALUE = st.none() | TEXT | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
JSON = st.recursive(VALUE | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=5)
MAP = st.dictionaries(TEXT, JSON, max_size=3)
COLUMNS = st.dictionaries(TEXT, VALUE, max_size=3)
CANDIDATE = st.builds(
    Candidate,
    form=st.sampled_from(["note", "summary", "procedure"]),
    scope=TEXT,
    text=TEXT,
    slot=TEXT,
    tier=st.sampled_from(["daily", "core"]),
    attributes=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    tags=st.lists(TEXT, max_size=2).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    evidence=st.lists(NUMBER, max_size=2).map(tuple),
    expires=st.none() | st.datetimes(timezones=st.just(UTC)),
    verdicts=st.lists(st.builds(RelationVerdict, NUMBER, st.sampled_from(["repeat", "independent"])), max_size=2).map(
        tuple
    ),
)
NUMBERS = st.lists(NUMBER, max_size=3).map(tuple)
PART = st.one_of(
    st.builds(UpdateRecord, NUMBER, COLUMNS, COLUMNS, st.booleans()),
    st.builds(AdmitRecord, CANDIDATE, NUMBERS, NUMBERS, TEXT),
    st.builds(AddLink, NUMBER, NUMBER, st.sampled_from(["related", "derived"]), TEXT, st.floats(0, 1)),
    st.builds(ProposeChange, TEXT, TEXT, TEXT, TEXT, MAP, MAP),
    st.builds(LogEvent, MAP),
)
CHANGE = st.builds(Change, TEXT, TEXT, st.lists(PART, max_size=3).map(tuple), st.none() | NUMBER)


@given(CHANGE)
def test_a_change_survives_being_written_down(change: Change) -> None:
    """Whatever it asks for, in any script, half a character included, and in ASCII so that any file can hold it."""
    text = change_to_json(change)
    assert text.isascii()
    assert change_from_json(text) == change


def test_what_cannot_be_written_down_is_refused() -> None:
    """A pass that plans with something else than text and numbers fails when it plans, not when a crash has lost it."""
    with pytest.raises(TypeError, match="set"):
        change_to_json(Change("x", "x", (UpdateRecord(1, {"tags": {"a"}}),)))  # type: ignore[dict-item]


def test_a_moment_comes_back_as_a_moment() -> None:
    """An expiry is no text."""
    expires = datetime(2026, 2, 14, 3, tzinfo=UTC)
    (part,) = change_from_json(
        change_to_json(Change("x", "x", (AdmitRecord(Candidate("note", "owner", "x", expires=expires)),)))
    ).parts
    assert isinstance(part, AdmitRecord)
    assert part.candidate.expires == expires
