"""Read calls of tools in the forms in which models write them into their text."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple, cast

from kenobot.core import lazy
from kenobot.ports.json_value import Json

_KIND: Final = r"(?:DSML[|｜]|[a-z]{2,12}[:_])?(?:tool|function)"
MARK: Final = "|".join(
    [
        rf"<[|｜]?(?:start_|begin_)?{_KIND}[_▁]?calls?(?:[_▁]section)?(?:[_▁](?:begin|start))?(?:[|｜]?>| name=)",
        r"<(?:[|｜]DSML[|｜])?(?:function=|(?:function|invoke) name=)",
        *(r"\[TOOL_CALLS\]", r"functools\[", r"<\|python_tag\|>", r"<\|(?:start_action|action_start)\|>"),
        *(r"<\|channel\|>commentary to=", r"<\|start\|>assistant(?:<\|channel\|>commentary)? to="),
    ]
)
"""What begins a call, of one model or another, wherever it is outside of code."""
LOOSE_MARK: Final = r"<(?:tools?|tool_use|call|action)>|<tool name=|(?:commentary )?to=functions\."
"""What may begin one of an offered tool."""
_BEGUN_TAG: Final = r"<[|｜]?[\w:▁|｜]{0,40}(?: n?a?m?e?)?|<\|(?:start|channel)\|>[a-z<>| ]{0,40}|\[[A-Z_]{0,12}"
BEGUN_TAG: Final = lazy.regex(rf"(?i)(?:{_BEGUN_TAG})\Z")
"""A mark in brackets that is cut off."""
BEGUN_MARK: Final = lazy.regex(
    rf"(?i)(?:{_BEGUN_TAG}"
    r"|\bfu?n?c?t?o?o?l?s?|\bt(?:o(?:=[a-z]{0,9})?)?|\bco?m?m?e?n?t?a?r?y?(?: to?=?[a-z]{0,9}| )?)\Z"
)
"""A mark that is cut off."""
_FUNCTION: Final = lazy.regex(
    r"(?s)<(?:[|｜]DSML[|｜])?(?:function|invoke|tool_call|tool)(?:=| name=)\"?([\w.-]+)\"?[^<>]*>(.*?)"
    r"(?:</(?:[|｜]DSML[|｜])?(?:function|invoke|tool_call|tool)>|\Z)"
)
_PARAMETER: Final = lazy.regex(
    r"(?s)<(?:[|｜]DSML[|｜])?parameter(?:=| name=)\"?([\w.-]+)\"?[^<>]*>"
    r"\n?(.*?)\n?(?:</(?:[|｜]DSML[|｜])?parameter>|\Z)"
)
_KEYED: Final = lazy.regex(r"(?s)<tool_call>\s*([\w.-]+)\s*(?:(<arg_key>.*?)(?:</tool_call>|\Z)|</tool_call>)")
_KEY: Final = lazy.regex(r"(?s)<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)")
_COLON: Final = lazy.regex(r"call:([\w.-]+)\s*(?={)")
_STRING: Final = lazy.regex(r'<escape>|<\|"\|>')
_BARE_KEY: Final = lazy.regex(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_CODE: Final = lazy.regex(r"(?s)\s*(?:<[^<>]*>|\[TOOL_CALLS\])\s*(\[?\s*[\w.]+\(.*?\)\s*\]?)\s*(?:<[^<>]*>\s*)*")
_BEFORE: Final = lazy.regex(
    r"([A-Za-z_][\w.-]*)(?::\d+)?\s*(?:(?:\[CALL_ID\]\w+)?\[ARGS\]|<[^<>{}]*>|```json"
    r"|(?:<\|channel\|>commentary)? ?(?:<\|constrain\|>)?json(?:<\|message\|>)?)?\s*\Z"
)
_MALFORMED: Final = lazy.regex(r'\s*"(?:name|function|tool|tool_name)"\s*:\s*"([^"]{1,100})"')
_NAMES: Final = ("name", "function", "tool", "tool_name")
ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_SPACES: Final = ("functions.", "default_api.")  # before the name of a tool
_LABELS: Final = ("type", "id", "index", "call_id", "status")
_NAME: Final = lazy.regex(r"[a-z][\w.-]{0,63}")
_MOST_BRACKETS: Final = 2000
_MOST_FUNCTIONS: Final = 500
_MOST_CLOSINGS: Final = 8  # brackets that may close the call of a function
_DECODER: Final = json.JSONDecoder()


class WrittenCall(NamedTuple):
    """A call. arguments: its JSON, which may be malformed."""

    name: str
    arguments: str


def strip_space(name: str) -> str:
    """Return the name of a tool without the space of names that a model puts before it."""
    for space in _SPACES:
        name = name.removeprefix(space)
    return name


def is_overgrown(text: str, name: str = "") -> bool:
    """Return whether looking for calls in a text, or for those of a function, would take too long."""
    functions = text.count(f"{name}(") if name else 0
    return text.count("{") + text.count("[") > _MOST_BRACKETS or functions > _MOST_FUNCTIONS


def read_values(text: str) -> tuple[list[Json], str]:
    """Read the JSON values with which a text begins; return them and what follows."""
    values: list[Json] = []
    while text := text.lstrip(" \t\r\n,;"):
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            break
        values.append(cast("Json", value))
        text = text[end:]
    return values, text


def find_calls_in(value: Json) -> Iterator[WrittenCall]:
    """Yield the calls that a value is: one, or a list of them."""
    if isinstance(value, list):
        for each in value:
            yield from find_calls_in(each)
    elif isinstance(value, dict):
        inner = value.get("tool_calls", value.get("function"))
        if isinstance(inner, list | dict):
            yield from find_calls_in(inner)
        elif name := next((name for key in _NAMES if isinstance(name := value.get(key), str)), ""):
            arguments = next((value[key] for key in ARGUMENTS if key in value), {})
            if isinstance(arguments, str):
                arguments = _read_value(arguments) if arguments.strip() else {}
            yield WrittenCall(strip_space(name), json.dumps(arguments))


def is_call(value: Json) -> bool:
    """Return whether a value has the form of a call, or of several, and holds nothing else."""
    if isinstance(value, list):
        return bool(value) and all(map(is_call, value))
    if not isinstance(value, dict):
        return False
    inner = value.get("tool_calls", value.get("function"))
    if isinstance(inner, list | dict):
        return set(value) <= {"tool_calls", "function", *_LABELS} and is_call(inner)
    arguments = [value[name] for name in ARGUMENTS if name in value]
    names = [value[name] for name in _NAMES if name in value]
    fits = len(arguments) == len(names) == 1 and set(value) <= {*ARGUMENTS, *_NAMES, *_LABELS}
    return fits and isinstance(arguments[0], dict | str) and bool(_NAME.fullmatch(str(names[0])))


def read_marked_calls(text: str) -> list[WrittenCall]:
    """Return the calls in a text that begins with the mark of one."""
    for read in (_read_tagged, _read_colon, _read_objects, _read_code):
        if calls := list(read(text)):
            return calls
    return []


def _read_tagged(text: str) -> Iterator[WrittenCall]:
    """Yield calls whose name and arguments are in tags."""
    tagged = [(each[1], dict(_PARAMETER.findall(each[2])), each[2]) for each in _FUNCTION.finditer(text)]
    tagged += [(each[1], dict(_KEY.findall(each[2] or "")), "") for each in _KEYED.finditer(text)]
    for name, arguments, inner in tagged:
        is_json = inner.strip() and not arguments
        yield WrittenCall(name, json.dumps(_read_value(inner.strip())) if is_json else _write_arguments(arguments))


def _read_colon(text: str) -> Iterator[WrittenCall]:
    """Yield calls of the form `call:name{key:value}` (FunctionGemma, Gemma 4)."""
    if not _COLON.search(text):
        return
    pieces = _STRING.split(text)
    plain = "".join(
        json.dumps(piece) if number % 2 else _BARE_KEY.sub(r'\1"\2":', piece) for number, piece in enumerate(pieces)
    )
    for call in _COLON.finditer(plain):
        try:
            value, _ = _DECODER.raw_decode(plain, call.end())
        except (ValueError, RecursionError):
            yield WrittenCall(call[1], plain[call.end() :])
        else:
            yield WrittenCall(call[1], json.dumps(value))


def _read_code(text: str) -> list[WrittenCall]:
    """Return the calls that stand behind a mark as those of functions in Python."""
    found = _CODE.fullmatch(text)
    return read_code(found[1]) if found else []


def read_code(text: str) -> list[WrittenCall]:
    """Return the calls of functions in Python of which a text consists; none where there is anything else in it."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
        return [_read_node(node) for node in nodes]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def find_code(text: str, name: str) -> Iterator[WrittenCall]:
    """Yield the calls of one tool that stand in a text as those of functions in Python."""
    for found in re.finditer(rf"\b{re.escape(name)}(?:\.call)?\(", text):
        ends = islice((end.end() for end in re.finditer(r"\)", text[found.end() :])), _MOST_CLOSINGS)
        tries = (read_code(text[found.start() : found.end() + end]) for end in ends)
        yield from next(filter(None, tries), [])


def _read_node(node: ast.expr) -> WrittenCall:
    """Read the call of a function. Raises ValueError for anything else."""
    if not isinstance(node, ast.Call):
        raise ValueError("no call")
    name = ast.unparse(node.func)
    if name == "print" and len(node.args) == 1:
        return _read_node(node.args[0])
    if node.args or not all(each.arg for each in node.keywords):
        return WrittenCall(strip_space(name).removesuffix(".call"), ast.unparse(node))  # malformed: the model is told
    arguments = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
    return WrittenCall(strip_space(name).removesuffix(".call"), json.dumps(arguments, default=str))


def _read_objects(text: str) -> Iterator[WrittenCall]:
    """Yield calls that are JSON, or whose arguments are."""
    before = ""
    while opening := re.search(r"[{\[]", text):
        at = opening.start()
        before += text[:at]
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if named := _MALFORMED.match(text, at + 1):
                yield WrittenCall(named[1], text[at:])  # malformed: the model is told
            before, text = before + text[at], text[at + 1 :]
            continue
        calls = list(find_calls_in(cast("Json", value)))
        if not calls and isinstance(value, dict) and (named := _BEFORE.search(before)):
            calls = [WrittenCall(strip_space(named[1]), json.dumps(value))]
        yield from calls
        before, text = "", text[end:]


def _write_arguments(arguments: Mapping[str, str]) -> str:
    """Return arguments as JSON; each is a value of JSON, or a text."""
    return json.dumps({name: _read_value(text) for name, text in arguments.items()})


def _read_value(text: str) -> Json:
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError):
        return text
