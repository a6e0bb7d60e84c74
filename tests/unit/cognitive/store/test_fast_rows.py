"""Records made fast are the records that would have been made slowly."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from kenobot.cognitive.store import fast_rows
from kenobot.cognitive.store.fast_rows import maker
from kenobot.cognitive.store.records import Record
from kenobot.testing.clock import START
from tests.memory_rows import get, open_memory, put_record


@dataclass(frozen=True, slots=True)
class _Pair:
    one: int
    other: str = "x"


@dataclass(frozen=True, slots=True)
class _Heap:
    items: list[int] = field(default_factory=list)


def test_what_is_made_fast_is_a_frozen_dataclass_like_any_other() -> None:
    """Equal, hashed, copied, pickled and told as if its class had been called, and nobody can change it."""
    made, called = maker(_Pair)(1, "y"), _Pair(1, "y")
    assert (made, hash(made), repr(made), type(made)) == (called, hash(called), repr(called), _Pair)
    assert replace(made, one=2) == _Pair(2, "y")
    assert copy.copy(made) == pickle.loads(pickle.dumps(made)) == called
    with pytest.raises(FrozenInstanceError):
        made.one = 3  # type: ignore[misc]


def test_every_value_has_to_be_given() -> None:
    """A default would be left out without anybody's noticing when a column is added."""
    with pytest.raises(TypeError):
        maker(_Pair)(1)


def test_a_class_that_does_more_than_hold_values_is_refused() -> None:
    """What it makes anew or looks at when it is called would be left out."""
    with pytest.raises(TypeError, match="_Heap"):
        maker(_Heap)


def test_where_objects_cannot_change_their_class_the_class_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a Python that lays out the two differently."""

    class Elsewhere:
        def __init__(self, *values: object) -> None:
            self.values = values

    monkeypatch.setattr(fast_rows, "make_dataclass", lambda *_args, **_more: Elsewhere)
    assert maker(_Pair)(1, "y") == _Pair(1, "y")


def test_a_record_read_among_many_is_the_record_read_alone() -> None:
    """By each of its columns, with the name of who said it."""
    with open_memory() as connection:
        from kenobot.cognitive.store import records

        numbers = [put_record(connection, f"note {at}", at=START).id for at in range(45)]
        connection.execute('UPDATE record SET attrs = \'{"by": "Ana"}\' WHERE id = ?', (numbers[3],))
        found = records.by_ids(connection, [*numbers, 10_000], ("owner",))
        assert found == {number: get(connection, number) for number in numbers}
        assert {each.by for each in found.values()} == {"", "Ana"}
        assert all(type(each) is Record for each in found.values())
