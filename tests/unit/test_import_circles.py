"""Modules import each other in one direction: no circle, however late or only for types an import is done."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from itertools import pairwise

from tests.sources import find_modules, module_name


def _find_imports(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Iterate over the imports in a body, those in functions, classes and branches too."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _find_imports(getattr(statement, name, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _find_imports(part.body)


def _imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """Iterate over what a statement may import: a module of a package, else the package or module itself."""
    if isinstance(statement, ast.Import):
        yield from ((alias.name, alias.name) for alias in statement.names)
    else:
        source = resolve_name("." * statement.level + (statement.module or ""), package)
        yield from ((f"{source}.{alias.name}", source) for alias in statement.names)


def _graph(sources: dict[str, tuple[str, str]]) -> dict[str, dict[str, int]]:
    """By module, the modules that it imports, each with a line. sources: the package and the text of each module."""
    graph: dict[str, dict[str, int]] = {}
    for name, (package, text) in sources.items():
        edges = graph[name] = {}
        for statement in _find_imports(ast.parse(text).body):
            for longest, source in _imported(statement, package):
                target = longest if longest in sources else source
                if target in sources and target != name:
                    edges.setdefault(target, statement.lineno)
    return graph


def _find_circles(graph: dict[str, dict[str, int]]) -> list[str]:
    """Name the imports of each circle; those of one circle are taken away before the next is looked for."""
    found: list[str] = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle: list[str] = error.args[1][::-1]
            steps = (f"{module}:{graph[module].pop(other)} imports {other}" for module, other in pairwise(circle))
            found.append("; ".join(steps))
        else:
            return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also under TYPE_CHECKING and in functions: what two of them share belongs below both."""
    sources = {}
    for path in find_modules():
        name = module_name(path)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        sources[name] = package, path.read_text("utf-8")
    assert len(sources) > 500
    assert _find_circles(_graph(sources)) == []


def test_a_circle_is_found_and_its_imports_are_named() -> None:
    """By imports under a condition, in a function, and of a module from its package."""
    sources = {
        "a": ("", "if TYPE_CHECKING:\n    from a.b import X"),
        "a.b": ("a", "def f():\n    try:\n        pass\n    except OSError:\n        from . import c"),
        "a.c": ("a", "import a"),
        "a.d": ("a", "import a, os"),
    }
    (circle,) = _find_circles(_graph(sources))
    assert sorted(circle.split("; ")) == ["a.b:5 imports a.c", "a.c:1 imports a", "a:2 imports a.b"]
