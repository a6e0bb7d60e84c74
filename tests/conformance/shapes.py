"""Complete a case's input by the shape of its area: what is missing or null takes the original's own default.

An object with keys is a record, which may have further fields; `{}` is a free mapping. A list shows the shape of its
elements. A default of null leaves a field as the case has it, and null where the case has none. Cases of an operation
(`op`) share one shape beneath that of their area.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def shapes() -> Mapping[str, Any]:
    """Read the shapes by area; a name that ends in `/` or `.` stands for a family of areas."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("shapes.json").read_text("utf-8"))
    return found


def complete(area: str, value: Any) -> Any:
    """Complete the input of an area's case; an input without a shape stays as it is."""
    if isinstance(value, dict) and "op" in value:
        value = _completed(shapes()["op"], _without_nulls(value))
    names = [name for name in shapes() if area == name or (name[-1] in "/." and area.startswith(name))]
    return _completed(shapes()[max(names, key=len)], value) if names else value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _completed(shape: Any, value: Any) -> Any:
    if value is None:
        value = type(shape)() if isinstance(shape, dict | list) else shape
    match shape, value:
        case dict(), dict() if shape:
            return {**value, **{name: _completed(default, value.get(name)) for name, default in shape.items()}}
        case [dict() as element, *_], list():
            return [_completed(element, each) for each in value]
        case _:
            return value
