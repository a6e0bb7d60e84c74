"""Measures how functions are named and docstrings begin, by package.

`python -m tests.docs.prose [PATH]` lists the faults, `--lower` writes fewer of them into prose.toml.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.sources import find_modules, place

ALLOWED = Path(__file__).with_name("prose.toml")
KINDS = ("docstrings", "participles", "verbless")

_WORDS = {
    key: frozenset(text.split())
    for key, text in tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8")).items()
}
_CLAUSES = frozenset(
    (
        "what",
        "whether",
        "whoever",
        "whatever",
        "who",
        "whom",
        "whose",
        "which",
        "where",
        "how",
        "those",
        "every",
        "whichever",
    )
)
_PROPERTIES = frozenset(
    ("property", "cached_property", "computed_field", "overload", "setter", "field_validator", "fixture")
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Fault:
    """A name or docstring that does not read as the others do."""

    package: str
    kind: str
    place: str
    text: str


def find_faults() -> Iterator[Fault]:
    """Yield the faults of all modules, in order."""
    for path in find_modules():
        top, *rest = place(path).split("/")
        package = top if top != "kenobot" else rest[0] if len(rest) > 1 else "."
        for node in _walk(ast.parse(path.read_text("utf-8"))):
            for kind, text in _judge(node):
                yield Fault(package, kind, f"{place(path)}:{getattr(node, 'lineno', 1)}", text)


def count_faults() -> dict[str, dict[str, int]]:
    """Count the faults of each package by kind."""
    counts: dict[str, dict[str, int]] = {}
    for fault in find_faults():
        kinds = counts.setdefault(fault.package, dict.fromkeys(KINDS, 0))
        kinds[fault.kind] += 1
    return counts


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a module and the statements in it, without their expressions."""
    yield node
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, None) or ():
            yield from _walk(child)


def _judge(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.ClassDef | ast.Module):
        first = _find_first_word(node)
        if first in _CLAUSES - {"every"}:
            yield "docstrings", f"{getattr(node, 'name', 'module')}: {first}"
    elif isinstance(node, Function):
        first = _find_first_word(node)
        exempt = _is_property(node) or node.name.startswith(("__", "test_"))
        if first is not None and (first in _CLAUSES or (not exempt and first not in _WORDS["verbs"])):
            yield "docstrings", f"{node.name}: {first}"
        if not exempt:
            yield from _judge_name(node)


def _judge_name(node: Function) -> Iterator[tuple[str, str]]:
    name = node.name.strip("_")
    words = name.split("_")
    if name in _WORDS["terms"]:
        return
    if _is_participle(words[0]) or set(words) <= (_WORDS["adjectives"] | _WORDS["particles"]) - _WORDS["verbs"]:
        yield "participles", node.name
    elif _does_something(node) and words[0] not in _WORDS["verbs"] | _WORDS["predicates"]:
        yield "verbless", node.name


def _find_first_word(node: ast.ClassDef | ast.Module | Function) -> str | None:
    docstring = ast.get_docstring(node)
    if not docstring:
        return None
    word = re.match(r"[\w'-]+", re.sub(r"^`/[^:]*: ", "", docstring))  # a chat command before its docstring
    return word[0].lower() if word else docstring.split()[0]


def _is_participle(word: str) -> bool:
    if word in _WORDS["not_participles"] | (_WORDS["verbs"] - _WORDS["participles"]):
        return False
    return word in _WORDS["participles"] or (word.endswith("ed") and len(word) > 4)


def _does_something(node: Function) -> bool:
    returns_nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
    return (returns_nothing or isinstance(node, ast.AsyncFunctionDef)) and not _is_context_manager(node)


def _is_context_manager(node: Function) -> bool:
    return any("contextmanager" in ast.unparse(each) for each in node.decorator_list)


def _is_property(node: Function) -> bool:
    names = {
        part.attr if isinstance(part, ast.Attribute) else part.id
        for each in node.decorator_list
        for part in ast.walk(each)
        if isinstance(part, ast.Attribute | ast.Name)
    }
    return bool(names & _PROPERTIES)


def lower_allowance() -> None:
    """Write the counts of today where they are lower than what is allowed."""
    allowed = tomllib.loads(ALLOWED.read_text("utf-8")) if ALLOWED.exists() else {}
    lines = [
        "# How many faults (tests/docs/prose.py) a package may still have. A number may only fall:",
        "# python -m tests.docs.prose --lower",
        "",
    ]
    for package, kinds in sorted(count_faults().items()):
        least = {kind: min(count, allowed.get(package, {}).get(kind, count)) for kind, count in kinds.items()}
        if any(least.values()):
            lines.append(f'"{package}" = {{ ' + ", ".join(f"{kind} = {count}" for kind, count in least.items()) + " }")
    ALLOWED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--lower"]:
        lower_allowance()
    else:
        for found in find_faults():
            if not sys.argv[1:] or found.place.startswith(sys.argv[1]):
                print(found.place, found.kind, found.text)
