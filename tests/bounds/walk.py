"""Finds what could grow: containers that outlive a call, in the code, and tables, in the schema."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kenobot.storage.migrate import migrations
from tests.sources import find_modules, module_name, name_called, place

ROOT = Path(__file__).resolve().parents[2]
NOT_RUNNING = (  # tests' own parts, commands that end, and readers in a process of their own that does
    "kenobot.agent.media.formats",
    "kenobot_testing",
    "kenobot.cli",
    "kenobot.cognitive.control.export",
    "kenobot_deploy",
    "kenobot_importers",
    "kenobot_evals.demo",
)

_EMPTY = "deque dict list set Counter OrderedDict defaultdict Queue SimpleQueue LifoQueue PriorityQueue".split()
_CACHES = ("cache", "lru_cache")
_MARK = re.compile(r"# bounded: (.+); (\w+)$")
_TABLE = re.compile(r"CREATE TABLE (\w+)")
_DROP = re.compile(r"^DROP TABLE (?:IF EXISTS )?(\w+);", re.MULTILINE)
_RENAME = re.compile(r"ALTER TABLE (\w+) RENAME TO (\w+)")


@dataclass(frozen=True, slots=True)
class Marker:
    """What a comment `# bounded: limit; test` beside a container, or above it, says."""

    limit: str
    test: str


@dataclass(frozen=True, slots=True)
class Found:
    """A container or a cache, as module.class.name; its place, and its marker."""

    name: str
    place: str
    marker: Marker | None
    is_cache: bool = False


def running() -> Iterator[Found]:
    """Every container that begins empty in an object or a module, and every cache with arguments, of what runs on."""
    for path in find_modules():
        module = module_name(path)
        if not module.startswith(NOT_RUNNING):
            yield from in_source(path.read_text("utf-8"), f"{module}.", place(path))


def in_source(source: str, prefix: str = "", file: str = "") -> Iterator[Found]:
    """The same for one module's source."""
    lines = source.splitlines()
    first_of = dict(reversed([*_in_module(ast.parse(source))]))
    for name, node in first_of.items():
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        first, last = min([node.lineno, *(each.lineno for each in decorators)]), node.end_lineno or node.lineno
        near = [*lines[first - 1 : last], *(line for line in lines[first - 2 : first - 1] if line.strip()[:1] == "#")]
        marks = [mark for line in near if (mark := _MARK.search(line))]
        marker = Marker(marks[0][1].strip(), marks[0][2]) if marks else None
        yield Found(f"{prefix}{name}", f"{file}:{first}", marker, isinstance(node, ast.FunctionDef))


def _in_module(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    yield from _in_body(tree.body, "")
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _in_body(node.body, f"{node.name}.")
            yield from _in_methods(node)
        elif isinstance(node, ast.FunctionDef) and any(_is_cache(each) for each in node.decorator_list):
            yield from [(node.name, node)] if node.args.args else []


def _in_body(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and _is_empty(value):
                yield f"{prefix}{target.id}", node


def _in_methods(node: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    for inner in ast.walk(node):
        for target, value in _assignments(inner):
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self" and _is_empty(value):
                assert isinstance(inner, ast.stmt)
                yield f"{node.name}.{target.attr}", inner


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            pairs = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            if pairs and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="set")):  # of an event or a context variable
            return False
        case ast.Call(func=function, keywords=keywords):
            name = name_called(function)
            made = [name_called(word.value) for word in keywords if word.arg == "default_factory"]
            return name in _EMPTY or any(each in _EMPTY for each in made)
        case _:
            return False


def _is_cache(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return name_called(called) in _CACHES


def tables() -> set[str]:
    """Every table of the schema as it is after all migrations."""
    names: set[str] = set()
    for _, script in migrations():
        names.update(_TABLE.findall(script))
        names.difference_update(_DROP.findall(script))
        for old, new in _RENAME.findall(script):
            names = (names - {old}) | {new}
    return names
