"""What a server declares of its tools is read within limits, and believed as far as its owner says."""

import json
from typing import Any

import pytest

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.tool import ToolEffects
from kenobot.tools.mcp.declared import DeclaredTool, choose_tool_name, effects_of, read_tools
from kenobot.tools.mcp.results import word_failure, word_request, word_result
from kenobot.tools.mcp.schema import UnusableSchema, find_mistakes, simplify_schema

TEXT = {"type": "string"}


def _deep(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"x": schema, "y": {"type": "array", "items": schema}}}
    return schema


@pytest.mark.parametrize(
    ("declared", "simple"),
    [
        ({"type": "object"}, {}),
        ({"properties": {"a": TEXT}, "required": ["a", "b", 3]}, {"a": TEXT}),
        ({"properties": {"a": {"type": ["string", "null", "cat"]}}}, {"a": {"type": ["string", "null"]}}),
        ({"properties": {"a": {"type": "cat", "x-run": "rm"}}}, {"a": {}}),
        ({"properties": {"a": True, "b": 7, "c d": TEXT}}, {"a": {}, "b": {}}),
        (
            {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": ["x", "y"]}}},
            {"a": {"enum": ["x", "y"]}},
        ),
        ({"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": TEXT}}, {"a": TEXT}),
        ({"properties": {"a": {"$ref": "https://example.org/a.json"}}}, {"a": {}}),
        ({"properties": {"a": {"$ref": "#"}}}, {"a": {}}),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}, {"a": {}}),
        ({"properties": {"a": {"oneOf": [TEXT, {"type": "null"}]}}}, {"a": {"anyOf": [TEXT, {"type": "null"}]}}),
        ({"properties": {"a": {"allOf": [TEXT]}}}, {"a": TEXT}),
        ({"properties": {"a": {"enum": list(range(999))}}}, {"a": {}}),
        ({"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}, {"a": TEXT}),
        (
            {"properties": {"a": {"type": "integer", "minimum": 1e300, "maximum": 9}}},
            {"a": {"type": "integer", "maximum": 9}},
        ),
    ],
)
def test_a_schema_says_the_same_within_limits(declared: dict[str, Any], simple: dict[str, Any]) -> None:
    """References are put in, what is strange or without an end is left open."""
    assert simplify_schema(declared)["properties"] == simple


@pytest.mark.parametrize("declared", [_deep(5), _deep(9), {"properties": {f"p{n}": _deep(2) for n in range(40)}}])
def test_a_schema_stays_small(declared: dict[str, Any]) -> None:
    """However deep and broad it is, it is worked through soon and takes little of a prompt."""
    assert len(json.dumps(simplify_schema(declared))) <= 4000


@pytest.mark.parametrize(
    "declared",
    [
        None,
        [],
        "object",
        {"type": "array"},
        {"type": ["object", "null"]},
        {"properties": {"a b": TEXT}, "required": ["a b"]},
        {"properties": {f"a_rather_long_name_{n}": TEXT for n in range(500)}},
    ],
)
def test_a_schema_that_no_model_can_use_is_refused(declared: object) -> None:
    """The tool is left out."""
    with pytest.raises(UnusableSchema):
        simplify_schema(declared)


@pytest.mark.parametrize(
    ("arguments", "mistakes"),
    [
        ({"a": "x"}, []),
        ({"a": "x", "n": 3.0, "more": 1}, []),
        ({}, ["a: Field required"]),
        ({"a": 1}, ["a: should be of the type string"]),
        ({"a": "x", "n": True}, ["n: should be of the type integer"]),
        ({"a": "x", "n": 1.5}, ["n: should be of the type integer"]),
    ],
)
def test_plain_mistakes_are_found(arguments: dict[str, Any], mistakes: list[str]) -> None:
    """The rest is the server's to find."""
    schema = simplify_schema({"properties": {"a": TEXT, "n": {"type": "integer"}}, "required": ["a"]})
    assert find_mistakes(schema, arguments) == mistakes


def test_tools_are_sorted_cut_and_unique() -> None:
    """Descriptions have no hidden characters; the first of two of a name counts; what is unusable is said."""
    schema = {"type": "object"}
    listed = [
        {"name": "b", "inputSchema": schema, "description": "Do\u200b it\U000e0041.\n\x1b[31m Now" + "!" * 999},
        {"name": "a", "inputSchema": schema, "annotations": {"readOnlyHint": True, "openWorldHint": False}},
        {"name": "a", "inputSchema": schema, "description": "again"},
        {"name": "c", "inputSchema": []},
        {"name": 3, "inputSchema": schema},
        "d",
    ]
    tools, left_out = read_tools(listed)
    assert [(tool.name, tool.description[:14], tool.reads_only, tool.closed) for tool in tools] == [
        ("a", "a", True, True),
        ("b", "Do it. [31m No", False, False),
    ]
    assert len(tools[1].description) == 400
    assert len(left_out) == 3
    assert read_tools(tool.encode() for tool in tools)[0] == tools


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("files", "read", "files_read"),
        ("files", "get-env", "files_get-env"),
        ("memory", "search", "memory_search_"),
        ("files", "leer año", "files_leer_a_o_"),
        ("files", "x" * 80, "files_xxx"),
        ("files", "\ud800", "files__"),
    ],
)
def test_names_are_fit_and_unique(server: str, tool: str, name: str) -> None:
    """A name that others have, or that had to be changed, has six more letters, the same ones every time."""
    found = choose_tool_name(server, tool, {"memory_search"})
    assert found.startswith(name)
    assert len(found) <= 64
    assert (found == name) == (name in ("files_read", "files_get-env"))
    assert choose_tool_name(server, tool, {"memory_search"}) == found


ALL = ToolEffects(asks_always=True)
NONE = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=False)


@pytest.mark.parametrize(
    ("settings", "effects"),
    [
        ({}, ALL),
        ({"trust_hints": True}, ToolEffects(True, False, False, False)),
        ({"effects": []}, NONE),
        ({"effects": ["changes_outside", "asks_first"]}, ToolEffects(False, False, False, True, True)),
        ({"effects": ["changes_outside"], "trust_hints": True}, NONE),
        ({"effects": [], "tool_effects": {"look": ["way_out"]}}, ToolEffects(False, False, True, False)),
        ({"trust_hints": True, "tool_effects": {"look": ["changes_outside"]}}, ToolEffects(False, False, False, True)),
        ({"tool_effects": {"other": []}}, ALL),
    ],
)
def test_hints_are_claims(settings: dict[str, Any], effects: ToolEffects) -> None:
    """A tool that says that it is harmless has every effect, until its owner says less."""
    tool = DeclaredTool("look", "Look.", {"type": "object"}, reads_only=True, closed=True)
    assert effects_of(tool, McpServerSettings(command="x", **settings)) == effects


@pytest.mark.parametrize(
    ("content", "structured", "words"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {"c": 1}, "a\nb"),
        ([], {"c": "ñ"}, '{"c": "ñ"}'),
        (
            [{"type": "image"}, {"type": "image"}, {"type": "audio"}],
            None,
            "[2 images, not shown]\n[1 audio, not shown]",
        ),
        ([{"type": "resource_link", "name": "n", "uri": "x:y"}], None, "[link: n x:y]"),
        (
            [{"type": "resource", "resource": {"text": "t"}}, {"type": "resource", "resource": {"blob": "AA"}}],
            None,
            "t\n[1 file, not shown]",
        ),
        ([{"type": "text", "text": ""}, {}], None, "[1 file, not shown]"),
    ],
)
def test_results_are_put_into_words(content: list[dict[str, Any]], structured: object, words: str) -> None:
    """Texts, else structures; the rest is counted."""
    assert word_result(content, structured) == words


def test_long_results_and_wishes_are_cut() -> None:
    """Whatever a server sends, the words have an end."""
    assert len(word_result([{"type": "text", "text": "x" * 9_000_000}], None)) < 201_000
    assert len(word_result([{"type": "text", "text": "x"}] * 100_000, None)) < 3000
    assert word_failure([]) == "The tool failed and does not say why."
    wish = {"method": "elicitation/create", "params": {"message": "Who\n are you? " * 99}}
    assert '"Who are you? Who' in word_request({"a": wish})
    assert len(word_request({str(n): wish for n in range(99)})) < 2000
