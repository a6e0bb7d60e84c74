"""Explain configuration mistakes, one plain line each: the place, the value and the accepted values."""

import json
from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from kenobot.core.plugins import did_you_mean
from kenobot.core.redaction import one_line
from kenobot.core.settings.sources import CREDENTIAL_FILES, ENV_ALIASES, ENV_PREFIX, PLUGIN_SECTIONS, KeyPath, is_secret

_LISTS = (list, tuple, set, frozenset)
_ONE: Mapping[Any, str] = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
NOT_A_TABLE = frozenset({"model_type", "dict_type", "model_attributes_type"})
_MANY: Mapping[Any, str] = {int: "whole numbers", float: "numbers", str: "texts"}


def explain(
    error: ValidationError, model: type[BaseModel], origins: Mapping[str, str], known: Iterable[str], at: KeyPath = ()
) -> list[str]:
    """Explain each mistake in `error`, raised by validating the table `at` as a `model`."""
    return [_line(detail, model, origins, known, at) for detail in error.errors(include_url=False)]


def unknown_key(key: KeyPath, value: object, origins: Mapping[str, str], known: Iterable[str]) -> str:
    """Explain an unknown key, with the nearest known one."""
    dotted = ".".join(key)
    what = f"unknown section [{dotted}]" if isinstance(value, dict) else f'unknown key "{dotted}"'
    alike = [other for other in known if other.count(".") == len(key) - 1]
    return f"{origin_prefix(key, origins)}{one_line(what)}{did_you_mean(dotted, alike) or '.'}"


def list_dotted_keys(model: type[BaseModel], at: KeyPath = ()) -> Iterator[str]:
    """Yield every dotted key of `model`, sections included."""
    for name, field in model.model_fields.items():
        yield ".".join((*at, name))
        if inner := _model(field):
            yield from list_dotted_keys(inner, (*at, name))


def _line(
    detail: ErrorDetails, model: type[BaseModel], origins: Mapping[str, str], known: Iterable[str], at: KeyPath
) -> str:
    kind, value = detail["type"], detail["input"]
    names = tuple(part for part in detail["loc"] if isinstance(part, str))
    key = (*at, *names)
    dotted = ".".join(key)
    stray = kind == "dict_type" and len(key) == 2 and key[0] in PLUGIN_SECTIONS
    if kind == "extra_forbidden" or stray:
        return unknown_key(key, value, origins, known)
    if kind == "missing":
        return f"{dotted} is not set: {_places(key)}."
    place = f"{origin_prefix(key, origins)}{one_line(dotted)}"
    field = _field(model, names)
    if field is None or _model(field):
        return f"{place} is a section, not a value." if kind in NOT_A_TABLE else f"{place}: {_message(detail)}"
    if not is_secret(key[-1]) and not isinstance(value, SecretStr):
        place += f" = {_render_value(value)}"
    takes = describe_values(field) if _is_about_kind(kind) else None
    return f"{place} must be {takes}." if takes else f"{place}: {_message(detail)}"


def origin_prefix(key: KeyPath, origins: Mapping[str, str]) -> str:
    """Return the file or variable that sets `key`, as `PATH: `; a section stands where its first key does."""
    dotted = ".".join(key)
    for name, origin in origins.items():
        if name == dotted or name.startswith(f"{dotted}.") or dotted.startswith(f"{name}."):
            return f"{origin.partition(' ')[2]}: "
    return ""


def _places(key: KeyPath) -> str:
    files = [f"in credentials/{name}" for name, meant in CREDENTIAL_FILES.items() if meant == key]
    short = [f"in {name}" for name, meant in ENV_ALIASES if meant == key]
    variable = ENV_PREFIX + "__".join(key).upper().replace("-", "_")
    places = (files + short) if files or short else ["in kenobot.toml", f"in {variable}"]
    return f"put it {' or '.join(places)}"


def _message(detail: ErrorDetails) -> str:
    cause = detail.get("ctx", {}).get("error")
    text = str(cause) if cause else detail["msg"][:1].lower() + detail["msg"][1:]
    return one_line(text if text.endswith("?") else text.rstrip(".") + ".")


def _is_about_kind(kind: str) -> bool:
    return kind.endswith(("_parsing", "_type", "_equal", "_than", "_number")) or kind in {
        "int_from_float",
        "literal_error",
    }


def _render_value(value: object) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 60 else f"{text[:57]}..."


def describe_values(field: FieldInfo) -> str | None:
    """Describe the values of a setting, such as "a whole number from 1 to 30"; None where its kind is vague."""
    kind = _strip_none(field.annotation)
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(choice) or '""' for choice in get_args(kind))
    if get_origin(kind) in _LISTS:
        item = next(iter(get_args(kind)), None)
        items = "tables" if _is_model(item) else _MANY.get(item)
        return f"a list of {items}" if items else None
    text = _ONE.get(kind)
    low = next((x for rule in field.metadata if (x := getattr(rule, "ge", None)) is not None), None)
    high = next((x for rule in field.metadata if (x := getattr(rule, "le", None)) is not None), None)
    if text is None or (low is None and high is None):
        return text
    if low is None or high is None:
        return f"{text}, {low} or more" if high is None else f"{text}, {high} or less"
    return f"{text} from {low} to {high}"


def _strip_none(annotation: Any) -> Any:
    """Return `int | None` → int."""
    if get_origin(annotation) in (Union, UnionType):
        rest = [part for part in get_args(annotation) if part is not type(None)]
        return rest[0] if len(rest) == 1 else annotation
    return annotation


def _model(field: FieldInfo) -> type[BaseModel] | None:
    kind = _strip_none(field.annotation)
    return kind if _is_model(kind) else None


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _field(model: type[BaseModel], names: KeyPath) -> FieldInfo | None:
    found: FieldInfo | None = None
    inner: type[BaseModel] | None = model
    for name in names:
        found = inner.model_fields.get(name) if inner else None
        inner = _model(found) if found else None
    return found
