"""Forms of servers are read within limits, and answers formed as the servers want them."""

from typing import Any

import pytest

from kenobot.ports.tool_input import GivenInput, WantedInput
from kenobot.tools.mcp.inputs import CannotAsk, form_responses, read_requests, read_state


def _form(properties: Any, *, required: Any = (), message: Any = "Which?") -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _url(address: Any) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "message": "Pay.", "url": address}}


def _read(**requests: Any) -> WantedInput:
    return read_requests("house", requests, {"state": "s1"}, 60)


@pytest.mark.parametrize(
    ("node", "kind", "choices", "default"),
    [
        ({"type": "string", "default": "a"}, "text", (), "a"),
        ({"type": "integer", "minimum": 1, "default": "a"}, "integer", (), None),
        ({"type": "number", "default": 1.5}, "number", (), 1.5),
        ({"type": "boolean", "default": False}, "boolean", (), False),
        ({"type": "string", "enum": ["r", "g"], "default": "g"}, "choice", (("r", "r"), ("g", "g")), "g"),
        ({"type": "string", "enum": ["r"], "enumNames": ["Red"]}, "choice", (("r", "Red"),), None),
        ({"type": "string", "oneOf": [{"const": "r", "title": "Red\u202e"}]}, "choice", (("r", "Red"),), None),
        (
            {"type": "array", "items": {"enum": ["r", "g"]}, "default": ["r"]},
            "choices",
            (("r", "r"), ("g", "g")),
            ("r",),
        ),
        ({"type": "array", "items": {"anyOf": [{"const": "r", "title": "R"}]}}, "choices", (("r", "R"),), None),
        ({"type": "array", "items": {"enum": ["r"]}, "default": [["r"]]}, "choices", (("r", "r"),), None),
    ],
)
def test_each_kind_of_field_is_read(node: dict[str, Any], kind: str, choices: object, default: object) -> None:
    """With its choices, and a default that fits."""
    [field] = _read(a=_form({"x": node})).fields
    assert (field.group, field.name, field.kind, field.choices, field.default) == ("a", "x", kind, choices, default)


def test_a_form_is_kept_as_it_is() -> None:
    """What is stored and read again is the same form, and what was given too."""
    wanted = _read(a=_form({"x": {"type": "array", "items": {"enum": ["r"]}, "default": ["r"]}}), b=_url("https://h/p"))
    assert WantedInput.from_json(wanted.to_json()) == wanted
    given = GivenInput(wanted.state, {"a": {"x": ["r"]}})
    assert GivenInput.from_json(given.to_json()) == given
    assert read_state(given, "state") == "s1"
    assert read_state(given, "live") is None
    assert form_responses(given) == {"a": {"action": "accept", "content": {"x": ["r"]}}, "b": {"action": "accept"}}
    declined = GivenInput(wanted.state, {}, declined=True)
    assert form_responses(declined) == {"a": {"action": "decline"}, "b": {"action": "decline"}}


def test_a_form_without_fields_wants_a_yes() -> None:
    """And nothing more."""
    assert [field.kind for field in _read(a=_form({}, message="Go on?")).fields] == ["consent"]


def test_what_cannot_be_asked_for_is_left_out_where_it_may_be() -> None:
    """Words and names have an end."""
    asked = {"x": {"type": "string", "description": "y" * 9000}, "z": {"type": "object"}, "n" * 999: {"type": "string"}}
    [field] = _read(a=_form(asked, message="m" * 9000)).fields
    assert (field.name, len(field.label), len(field.message)) == ("x", 200, 500)


@pytest.mark.parametrize(
    "requests",
    [
        {},
        {str(number): _form({}) for number in range(4)},
        {"a": {"method": "sampling/createMessage", "params": {}}},
        {"a": {"method": "roots/list"}},
        {"a": {"method": "elicitation/create", "params": []}},
        {"a": {"method": "elicitation/create", "params": {"message": "x", "requestedSchema": 7}}},
        {"a": _form(7)},
        {"a": _form({str(number): {"type": "string"} for number in range(17)})},
        {"a": _form({"x": {"type": "object"}}, required=["x"])},
        {"a": _form({"x": {"type": "string", "enum": [str(number) for number in range(99)]}}, required=["x"])},
        {"a": _form({"x": {"type": "string", "enum": [1, 2]}}, required=["x"])},
        {"a" * 999: _form({})},
        {"a": _url("javascript:alert(1)")},
        {"a": _url("https://h/a b")},
        {"a": _url("https://h/`")},
        {"a": _url("https://аpple.example/")},
        {"a": _url(f"https://h/{'x' * 5000}")},
        {"a": _url(None)},
    ],
)
def test_what_is_strange_is_not_asked(requests: dict[str, Any]) -> None:
    """The reason is told in its place."""
    with pytest.raises(CannotAsk):
        _read(**requests)


def test_a_state_without_end_is_not_kept() -> None:
    """It would stand in the database."""
    with pytest.raises(CannotAsk):
        read_requests("house", {"a": _form({})}, {"state": "x" * 99_999}, 60)
