"""The rest of the product imports memory by its door, `kenobot.cognitive.memory` (a contract in pyproject.toml)."""

import ast

from tests.sources import CORE, find_modules

_DOOR = "kenobot.cognitive.memory"
_AT_THE_DOOR = 30  # names that the door offers and others import: lower this number, never raise it
_METHODS = 10


def _imported_names() -> set[tuple[str, str]]:
    """List what modules outside of memory import from it, as module and name."""
    found = set()
    for path in find_modules():
        if path.is_relative_to(CORE / "cognitive"):
            continue
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "kenobot.cognitive" in text else ():
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kenobot.cognitive"):
                found |= {(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names if alias.name.startswith("kenobot.cognitive")}
    return found


def test_the_door_stays_narrow() -> None:
    """Values come out of methods; a type is imported only where it is made or named."""
    at_door = {name for module, name in _imported_names() if module == _DOOR}
    assert len(at_door) <= _AT_THE_DOOR, sorted(at_door)


def test_memory_has_about_ten_methods() -> None:
    """What is done to memory goes by a few methods with typed results, which one reads at a glance."""
    tree = ast.parse((CORE / "cognitive" / "memory.py").read_text("utf-8"))
    memory = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Memory")
    methods = [node for node in memory.body if isinstance(node, ast.FunctionDef)]
    assert len(methods) <= _METHODS, [method.name for method in methods]
    assert all(method.returns is not None for method in methods)
