"""Rewrite the JSON schemas that servers declare, so that none is deep, huge or without an end. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from kenobot.core import lazy
from kenobot.ports.json_value import Json

_DEEPEST = 6
_MOST_NODES = 150
_MOST_CHOICES = 50
_LONGEST_CHOICE = 100  # characters
_LONGEST_DESCRIPTION = 200  # characters
_LONGEST = 4000  # characters of a whole schema
_NAME = lazy.regex(r"[a-zA-Z0-9_.-]{1,64}")
_LOCAL = lazy.regex(r"#/(?:\$defs|definitions)/([^/]+)")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


class UnusableSchema(ValueError):
    """A schema that no model can be shown."""


def simplify_schema(declared: object) -> dict[str, Json]:
    """Return a schema that says the same within limits, with the local references put in. Raises UnusableSchema."""
    if not isinstance(declared, Mapping):
        raise UnusableSchema("its arguments have no schema")
    if declared.get("type", "object") != "object":
        raise UnusableSchema("its arguments are not an object")
    for describes, deepest in ((True, _DEEPEST), (False, _DEEPEST), (False, 2)):
        simple = _Reader(declared, describes, deepest).read_object(declared, 0, ())
        if len(json.dumps(simple)) <= _LONGEST:
            return simple
    raise UnusableSchema("the schema of its arguments is too large")


def find_mistakes(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> list[str]:
    """Return what is plainly wrong with arguments: some are missing, or of another type. The server looks closer."""
    properties, required = schema.get("properties"), schema.get("required")
    mistakes = [
        f"{name}: Field required" for name in (required if isinstance(required, list) else ()) if name not in arguments
    ]
    for name, value in arguments.items():
        declared = properties.get(name) if isinstance(properties, dict) else None
        wanted = declared.get("type") if isinstance(declared, dict) else None
        if isinstance(wanted, str) and not _is_a(value, wanted):
            mistakes.append(f"{name}: should be of the type {wanted}")
    return mistakes


def _is_a(value: Json, wanted: str) -> bool:
    if isinstance(value, bool) or wanted == "boolean":
        return isinstance(value, bool) and wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[wanted])


@dataclass(slots=True)
class _Reader:
    """Reads one schema. describes: with the descriptions of its parts. nodes: read so far."""

    root: Mapping[str, object]
    describes: bool
    deepest: int
    nodes: int = field(default=0)

    def read_object(self, node: Mapping[str, object], depth: int, within: tuple[str, ...]) -> dict[str, Json]:
        """Read the schema of an object. within: the references that lead here."""
        simple: dict[str, Json] = {"type": "object"}
        declared = node.get("properties")
        wanted = node.get("required")
        required = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
        properties: dict[str, Json] = {}
        for name, inner in declared.items() if isinstance(declared, Mapping) else ():
            if isinstance(name, str) and _NAME.fullmatch(name):
                properties[name] = self.read(inner, depth + 1, within)
            elif depth == 0 and name in required:
                raise UnusableSchema("an argument that it needs has a name that models cannot write")
        if properties or depth == 0:
            simple["properties"] = properties
        if found := [name for name in dict.fromkeys(required) if name in properties]:
            simple["required"] = [*found]
        if isinstance(more := node.get("additionalProperties"), bool):
            simple["additionalProperties"] = more
        return simple

    def read(self, node: object, depth: int, within: tuple[str, ...]) -> dict[str, Json]:
        """Read a schema; what is too deep, too much or without an end is left open."""
        self.nodes += 1
        if not isinstance(node, Mapping) or depth > self.deepest or self.nodes > _MOST_NODES:
            return {}
        if isinstance(reference := node.get("$ref"), str):
            return self._follow(reference, node, depth, within)
        kind = _kind(node)
        simple: dict[str, Json] = {"type": kind} if kind else {}
        if kind == "object" or "properties" in node:
            simple = self.read_object(node, depth, within)
        if "items" in node and kind == "array":
            simple["items"] = self.read(node["items"], depth + 1, within)
        for word in ("anyOf", "oneOf"):
            if isinstance(options := node.get(word), list) and options:
                simple["anyOf"] = [self.read(each, depth + 1, within) for each in options[:10]]
        if isinstance(all_of := node.get("allOf"), list) and len(all_of) == 1:
            simple = self.read(all_of[0], depth + 1, within) | simple
        return simple | dict(self._details(node))

    def _follow(
        self, reference: str, node: Mapping[str, object], depth: int, within: tuple[str, ...]
    ) -> dict[str, Json]:
        found = _LOCAL.fullmatch(reference)
        name = found[1] if found else ""
        target = next((table.get(name) for table in self._definitions() if name in table), None)
        if target is None or name in within:
            return dict(self._details(node))
        return self.read(target, depth + 1, (*within, name)) | dict(self._details(node))

    def _definitions(self) -> Iterator[Mapping[str, object]]:
        for word in ("$defs", "definitions"):
            if isinstance(table := self.root.get(word), Mapping):
                yield table

    def _details(self, node: Mapping[str, object]) -> Iterator[tuple[str, Json]]:
        if isinstance(choices := node.get("enum"), list):
            plain = [each for each in choices if _is_plain(each)]
            if plain and len(plain) == len(choices) <= _MOST_CHOICES:
                yield "enum", [*plain]
        for word in ("const", "default"):
            if word in node and _is_plain(value := node[word]):
                yield word, value
        for word in _NUMBERS:
            value = node.get(word)
            if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
                yield word, value
        if self.describes and isinstance(text := node.get("description"), str) and text.strip():
            yield "description", shorten(text, _LONGEST_DESCRIPTION)


def shorten(text: str, longest: int) -> str:
    """Return a text of a server's on one line, without characters that nobody sees."""
    line = " ".join("".join(each for each in text[: 4 * longest] if each.isprintable() or each.isspace()).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _kind(node: Mapping[str, object]) -> Json:
    kind = node.get("type")
    if isinstance(kind, list):
        kinds: list[Json] = [each for each in kind if isinstance(each, str) and each in _TYPES]
        return kinds[:7] or None
    return kind if isinstance(kind, str) and kind in _TYPES else None


def _is_plain(value: object) -> TypeGuard[str | int | float | bool | None]:
    return (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and len(value) <= _LONGEST_CHOICE)
    )
