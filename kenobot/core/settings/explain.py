"""Explain configuration mistakes, one plain line each: the place, the value and the accepted values."""

import json
from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from kenobot.core.plugins import find_near
from kenobot.core.redaction import one_line
from kenobot.core.settings.older import KeyPath
from kenobot.core.settings.sources import CREDENTIAL_FILES, ENV_ALIASES, ENV_PREFIX, PLUGIN_SECTIONS, is_secret
from kenobot.ports.sentences import Sentence, change_values, find_sentence, join_sentences

_LISTS = (list, tuple, set, frozenset)
_ONE: Mapping[Any, str] = {
    int: "settings.a_whole_number",
    float: "settings.a_number",
    str: "settings.a_text",
    bool: "settings.a_switch",
}
_UNKNOWN: Mapping[tuple[bool, bool], str] = {
    (False, False): "settings.unknown_key",
    (False, True): "settings.unknown_key_near",
    (True, False): "settings.unknown_section",
    (True, True): "settings.unknown_section_near",
}
"""The sentences about a key, or a section, that nothing knows, without and with one that is like it."""
NOT_A_TABLE = frozenset({"model_type", "dict_type", "model_attributes_type"})
_MANY: Mapping[Any, str] = {int: "settings.whole_numbers", float: "settings.numbers", str: "settings.texts"}


def explain(
    error: ValidationError, model: type[BaseModel], origins: Mapping[str, str], known: Iterable[str], at: KeyPath = ()
) -> list[str]:
    """Explain each mistake in `error`, raised by validating the table `at` as a `model`."""
    return [_line(detail, model, origins, known, at) for detail in error.errors(include_url=False)]


def unknown_key(key: KeyPath, value: object, origins: Mapping[str, str], known: Iterable[str]) -> str:
    """Explain an unknown key, with the nearest known one."""
    dotted = ".".join(key)
    near = find_near(dotted, (other for other in known if other.count(".") == len(key) - 1))
    name = _UNKNOWN[isinstance(value, dict), bool(near)]
    return with_origin(key, origins, Sentence(name, key=one_line(dotted), near=near))


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
        return Sentence("settings.missing", key=dotted, places=_places(key))
    place = one_line(dotted)
    field = _field(model, names)
    if field is None or _model(field):
        is_value = kind in NOT_A_TABLE
        return with_origin(key, origins, tell_section(place) if is_value else _tell_problem(place, detail))
    if not is_secret(key[-1]) and not isinstance(value, SecretStr):
        place += f" = {_render_value(value)}"
    takes = describe_values(field) if _is_about_kind(kind) else None
    told = Sentence("settings.wrong_kind", place=place, wanted=takes) if takes else _tell_problem(place, detail)
    return with_origin(key, origins, told)


def tell_section(place: str) -> Sentence:
    """Say that a section has a value in its place."""
    return Sentence("settings.section", place=place)


def with_origin(key: KeyPath, origins: Mapping[str, str], text: str) -> str:
    """Put the file or variable that sets `key` before a mistake, see `origin_prefix`."""
    prefix = origin_prefix(key, origins)
    return join_sentences((prefix, text), "") if prefix else text


def origin_prefix(key: KeyPath, origins: Mapping[str, str]) -> str:
    """Return the file or variable that sets `key`, as `PATH: `; a section stands where its first key does."""
    dotted = ".".join(key)
    for name, origin in origins.items():
        if name == dotted or name.startswith(f"{dotted}.") or dotted.startswith(f"{name}."):
            return f"{origin.partition(' ')[2]}: "
    return ""


def _places(key: KeyPath) -> str:
    files = [f"credentials/{name}" for name, meant in CREDENTIAL_FILES.items() if meant == key]
    short = [name for name, meant in ENV_ALIASES if meant == key]
    variable = ENV_PREFIX + "__".join(key).upper().replace("-", "_")
    places = (files + short) if files or short else ["kenobot.toml", variable]
    return join_sentences(places, Sentence("settings.or_in"))


def _tell_problem(place: str, detail: ErrorDetails) -> Sentence:
    problem = word_detail(detail)
    name = "settings.question" if problem.endswith("?") else "settings.problem"
    return Sentence(name, place=place, problem=problem)


def word_detail(detail: Mapping[str, Any]) -> str:
    """Word a mistake that pydantic found: by its kind, or as a validator of ours said it."""
    limits: Mapping[str, Any] = detail.get("ctx", {})
    if cause := limits.get("error"):
        return change_values(str(cause), one_line)
    key = f"pydantic.{detail['type']}"
    try:
        return Sentence(key, **limits) if find_sentence(key, "en") else _lower(detail["msg"])
    except KeyError:
        return _lower(detail["msg"])


def _lower(message: str) -> str:
    return one_line(message[:1].lower() + message[1:]).rstrip(".")


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
        choices = ", ".join(str(choice) or '""' for choice in get_args(kind))
        return Sentence("settings.one_of", choices=choices)
    if get_origin(kind) in _LISTS:
        item = next(iter(get_args(kind)), None)
        items = "settings.tables" if _is_model(item) else _MANY.get(item)
        return Sentence(items) if items else None
    text = _ONE.get(kind)
    low = next((x for rule in field.metadata if (x := getattr(rule, "ge", None)) is not None), None)
    high = next((x for rule in field.metadata if (x := getattr(rule, "le", None)) is not None), None)
    if text is None or (low is None and high is None):
        return Sentence(text) if text else None
    has_both = low is not None and high is not None
    key = "settings.from_to" if has_both else "settings.from" if high is None else "settings.to"
    return Sentence(key, kind=Sentence(text), low=low, high=high)


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
