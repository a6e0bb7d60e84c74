"""Frozen dataclasses behave as those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, Generic, TypeVar

import pytest

from kenobot.ports import frozen

T = TypeVar("T")


@frozen.dataclass(frozen=True, slots=True)
class Place:
    """A place."""

    name: str
    rooms: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


@frozen.dataclass(frozen=True, slots=True)
class Town(Place):
    people: int = 0

    def __repr__(self) -> str:
        return f"<{self.name}>"


@frozen.dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One of anything."""

    what: T

    def __post_init__(self) -> None:
        if self.what is None:
            raise ValueError("nothing")


def _make_place(make: Callable[..., Callable[[type], type]]) -> Any:
    """Make the class `Place` with either of the two decorators."""

    class Place:
        """A place."""

        name: str
        rooms: tuple[str, ...] = ()
        notes: list[str] = field(default_factory=list)
        seen: int = field(default=0, compare=False, repr=False)

    return make(frozen=True, slots=True)(Place)


def test_it_does_what_a_dataclass_of_the_standard_library_does() -> None:
    """Signature, text, equality, hash, fields, copies and matching are those of the standard library's dataclass."""
    ours, theirs = _make_place(frozen.dataclass), _make_place(dataclasses.dataclass)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    assert [each.name for each in dataclasses.fields(ours)] == [each.name for each in dataclasses.fields(theirs)]
    assert (ours.__slots__, ours.__match_args__, ours.__doc__) == (theirs.__slots__, theirs.__match_args__, "A place.")
    for kind in (ours, theirs):
        one = kind("Oslo", ("hall",))
        assert one == kind("Oslo", ("hall",), [], 7) != kind("Oslo")
        assert one.__eq__("Oslo") is NotImplemented
        assert repr(one).endswith("Place(name='Oslo', rooms=('hall',), notes=[])")
        assert dataclasses.replace(one, name="Rome") == kind("Rome", ("hall",))
        assert dataclasses.asdict(one) == {"name": "Oslo", "rooms": ("hall",), "notes": [], "seen": 0}
        assert copy.deepcopy(one) == one
        assert kind("Oslo").notes is not kind("Oslo").notes
        assert not hasattr(one, "__dict__")
        with pytest.raises(TypeError):  # for its list
            hash(one)
        with pytest.raises(TypeError):
            kind()


def test_nothing_of_an_object_can_be_set_or_deleted() -> None:
    """A field can be neither set nor deleted, and no other attribute added."""
    one: Any = Place("Oslo")
    with pytest.raises(FrozenInstanceError):
        one.name = "Rome"
    with pytest.raises(FrozenInstanceError):
        del one.name
    with pytest.raises(FrozenInstanceError):
        one.age = 3


def test_a_class_inherits_fields_and_keeps_methods_of_its_own() -> None:
    """An heir has the fields of its base before its own, the methods that it writes, and is no equal of its base."""
    town = Town("Oslo", people=7)
    assert (town.name, town.people, repr(town)) == ("Oslo", 7, "<Oslo>")
    assert Town("Oslo") != Place("Oslo")
    assert hash(Found(3)) == hash(Found(3))
    with pytest.raises(ValueError, match="nothing"):
        Found(None)
    with pytest.raises(FrozenInstanceError):
        town.people = 8  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(town)) == town


def test_other_options_are_left_to_the_standard_library() -> None:
    """A dataclass that is not frozen is the standard library's; a field with options of its own is refused."""

    @frozen.dataclass(slots=True)
    class Count:
        number: int = 0

    count = Count()
    count.number = 3
    assert count == Count(3)
    with pytest.raises(TypeError, match="standard library"):

        @frozen.dataclass(frozen=True, slots=True)
        class _Hidden:
            number: int = field(default=0, init=False)
