"""Cases with a field missing, a null, another order or an unknown field are played like the others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.cases import each
from tests.conformance import runner
from tests.conformance.cases import Case, Checked, Compared, read
from tests.conformance.shapes import complete
from tests.conformance.test_conformance import SAMPLE

_FIRST = {case.area: case for case in read(SAMPLE) if isinstance(case.input, dict)}
_STRICT = ("action_", "eligibility_")  # what they are about is which words and fields are taken


def _variants(given: Any) -> Iterator[Any]:
    """The input without a field, with null in it, and each field of a record in it alike."""
    for name, value in given.items() if isinstance(given, dict) else ():
        yield {other: each for other, each in given.items() if other != name}
        yield {**given, name: None}
        yield from ({**given, name: inner} for inner in _variants(value))


def _play(case: Case) -> object:
    """What comes out, whatever the case wants; raises what the adapter raises."""
    adapter = runner.adapter_for(case.area)
    assert adapter is not None
    outcome = adapter(replace(case, input=complete(case.area, case.input)))
    return outcome.actual if isinstance(outcome, Compared | Checked) else outcome


@each("area", _FIRST)
def test_an_incomplete_input_is_played(area: str) -> None:
    """A missing field and a null take the original's default; no adapter stumbles over them."""
    for given in _variants(_FIRST[area].input):
        _play(replace(_FIRST[area], input=given))


@each("area", _FIRST)
def test_order_and_unknown_fields_change_nothing(area: str) -> None:
    """The same input from its end, with a field more, gives the same result."""
    case = _FIRST[area]
    turned = {**dict(reversed(case.input.items())), **({} if area.startswith(_STRICT) else {"unheard_of": 1})}
    assert _play(replace(case, input=turned)) == _play(case)


def test_defaults_reach_into_records_and_lists() -> None:
    """A null record is an empty one, and each element of a list is completed."""
    assert complete("edge_decay", {"options": None})["options"] == {"window_days": 90, "per_window": 0.1, "floor": 0.1}
    assert complete("box_seal", {"events": [{}]})["events"] == [{"topics": [], "memory_ids": [], "t_ms": 0}]
    assert complete("edge_reinforce", {"confidence": None}) == {"confidence": None, "delta": 0.05}
    assert complete("teapot.colour", None) is None
