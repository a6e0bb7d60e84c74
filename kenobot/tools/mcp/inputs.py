"""Read what a server wants to know before it goes on with a call, and form the answers of the owner for it. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from kenobot.ports.json_value import Json
from kenobot.ports.tool_input import GivenInput, InputField, InputKind, Value, WantedInput
from kenobot.tools.mcp.schema import shorten

_MOST_REQUESTS = 3
_MOST_FIELDS = 16
_MOST_CHOICES = 20
_LONGEST_MESSAGE = 500  # characters
_LONGEST_LABEL = 200
_LONGEST_NAME = 100
_LONGEST_URL = 1000
_LONGEST_STATE = 64_000
_PLAIN: Mapping[str, InputKind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}
_FORMS = ("email", "uri", "date", "date-time", "password")


class CannotAsk(Exception):
    """Raised for an input that the owner is not asked for, with the reason."""


def read_requests(
    server: str, requests: Mapping[str, Mapping[str, object]], state: Mapping[str, str], seconds: float
) -> WantedInput:
    """Read the requests of a server as a form. state: to be given back. Raises CannotAsk."""
    if not requests or len(requests) > _MOST_REQUESTS:
        raise CannotAsk("it asks for nothing that can be given, or for too much")
    modes: dict[str, Json] = {}
    fields: list[InputField] = []
    for key, request in requests.items():
        parameters = request.get("params")
        if request.get("method") != "elicitation/create" or not isinstance(parameters, Mapping):
            raise CannotAsk("it asks for something else than words of the owner")
        modes[key] = "url" if parameters.get("mode") == "url" else "form"
        fields += _read_url(key, parameters) if modes[key] == "url" else _read_form(key, parameters)
    if len(fields) > _MOST_FIELDS or sum(map(len, requests)) > _LONGEST_NAME * _MOST_REQUESTS:
        raise CannotAsk("it asks for too much at once")
    stored = json.dumps({**state, "modes": modes})
    if len(stored) > _LONGEST_STATE:
        raise CannotAsk("what it wants back with the answer is too long")
    return WantedInput(server, tuple(fields), stored, seconds)


def read_state(given: GivenInput, name: str) -> str | None:
    """Read what `read_requests` was given as state."""
    value = json.loads(given.state).get(name)
    return value if isinstance(value, str) else None


def form_responses(given: GivenInput) -> dict[str, dict[str, Json]]:
    """Form the answers to the requests of a form, by their keys."""
    modes = json.loads(given.state).get("modes")
    responses: dict[str, dict[str, Json]] = {}
    for key, mode in modes.items() if isinstance(modes, dict) else ():
        if given.declined:
            responses[key] = {"action": "decline"}
        elif mode == "url":
            responses[key] = {"action": "accept"}
        else:
            responses[key] = {"action": "accept", "content": dict(given.values.get(key, {}))}
    return responses


def _read_url(key: str, parameters: Mapping[str, object]) -> list[InputField]:
    url = parameters.get("url")
    if not isinstance(url, str) or not url.startswith(("https://", "http://")) or len(url) > _LONGEST_URL:
        raise CannotAsk("it names no address that can be opened")
    if not url.isascii() or not url.isprintable() or " " in url or "`" in url:
        raise CannotAsk("its address has characters that addresses do not have")
    return [InputField(key, "", "address", _message(parameters), url)]


def _read_form(key: str, parameters: Mapping[str, object]) -> list[InputField]:
    message, schema = _message(parameters), parameters.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(schema, Mapping):
        raise CannotAsk("it does not say what it wants")
    wanted = schema.get("required")
    required = [each for each in wanted if isinstance(each, str)] if isinstance(wanted, list) else []
    if len(properties) > _MOST_FIELDS:
        raise CannotAsk("it asks for too much at once")
    fields = list(_read_fields(key, message, properties, required))
    return fields or [InputField(key, "", "consent", message)]


def _read_fields(key: str, message: str, properties: Mapping[str, object], required: list[str]) -> Iterator[InputField]:
    for name, node in properties.items():
        read = _read_field(key, message, name, node, needed=name in required)
        if read is not None:
            yield read
        elif name in required:
            raise CannotAsk("it needs something that is no text, number or choice")


def _read_field(key: str, message: str, name: object, node: object, *, needed: bool) -> InputField | None:
    """Read one field; None where it is of no kind that can be asked for."""
    if not isinstance(name, str) or not name or len(name) > _LONGEST_NAME or not isinstance(node, Mapping):
        return None
    title, about = node.get("title"), node.get("description")
    words = [each for each in (title if isinstance(title, str) else name, about) if isinstance(each, str)]
    label = shorten(": ".join(words), _LONGEST_LABEL)
    kind, choices = _kind_of(node)
    if kind is None:
        return None
    low, high = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}.get(
        kind, ("minimum", "maximum")
    )
    form = node.get("format")
    return InputField(
        key,
        name,
        kind,
        message,
        label,
        choices,
        _number(node.get(low)),
        _number(node.get(high)),
        form if isinstance(form, str) and form in _FORMS else "",
        _default(node.get("default"), kind, choices),
        required=needed,
    )


def _kind_of(node: Mapping[str, object]) -> tuple[InputKind | None, tuple[tuple[str, str], ...]]:
    """Return the kind of a field, and what can be chosen."""
    kind = node.get("type")
    if kind == "array":
        items = node.get("items")
        choices = _choices(items) if isinstance(items, Mapping) else ()
        return ("choices" if choices else None), choices
    if kind == "string" and any(word in node for word in ("enum", "oneOf", "anyOf")):
        choices = _choices(node)
        return ("choice" if choices else None), choices
    return (_PLAIN.get(kind) if isinstance(kind, str) else None), ()


def _choices(node: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return what can be chosen, with its titles; () where that cannot be shown."""
    values, names = node.get("enum"), node.get("enumNames")
    titled = next((node[word] for word in ("oneOf", "anyOf") if isinstance(node.get(word), list)), None)
    found: list[tuple[object, object]] = []
    if isinstance(values, list):
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        found = list(zip(values, titles, strict=True))
    elif isinstance(titled, list):
        found = [(each.get("const"), each.get("title", each.get("const"))) for each in titled if isinstance(each, dict)]
    if not 0 < len(found) <= _MOST_CHOICES or not all(isinstance(value, str) for value, _ in found):
        return ()
    return tuple((cast("str", value), shorten(str(title), _LONGEST_NAME)) for value, title in found)


def _default(value: object, kind: InputKind, choices: tuple[tuple[str, str], ...]) -> Value | None:
    """Return the default of a field, if it fits it."""
    known = {each for each, _ in choices}
    match kind, value:
        case "boolean", bool():
            return value
        case "text", str() if len(value) <= _LONGEST_MESSAGE:
            return value
        case "choice", str() if value in known:
            return value
        case "choices", list() if all(isinstance(each, str) and each in known for each in value):
            return tuple(value)
        case (("number" | "integer"), int() | float()) if not isinstance(value, bool) and abs(value) < 1e15:
            return value
        case _:
            return None


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 else None


def _message(parameters: Mapping[str, object]) -> str:
    message = parameters.get("message")
    return shorten(message, _LONGEST_MESSAGE) if isinstance(message, str) else ""
