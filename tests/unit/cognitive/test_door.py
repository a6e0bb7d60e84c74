"""The rest of the product imports memory by its door, `kenobot.cognitive.memory`; what goes past it may only fall."""

import ast

from tests.sources import CORE, find_modules

_DOOR = "kenobot.cognitive.memory"
_PAST_THE_DOOR = 79  # names imported from other modules of memory: lower this number, never raise it
_AT_THE_DOOR = 58  # names that the door offers and others import


def _imported_names() -> set[tuple[str, str]]:
    """List what modules outside of memory import from it, as module and name."""
    found = set()
    for path in find_modules():
        if path.is_relative_to(CORE / "cognitive"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kenobot.cognitive"):
                found |= {(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names if alias.name.startswith("kenobot.cognitive")}
    return found


def test_ever_fewer_names_go_past_the_door() -> None:
    """A new user of memory imports the door, and a method that is missing there is added there."""
    past = {f"{module}: {name}" for module, name in _imported_names() if module != _DOOR}
    assert len(past) <= _PAST_THE_DOOR, sorted(past)


def test_the_door_stays_narrow() -> None:
    """Values come out of methods; a type is imported only where it is made or named."""
    at_door = {name for module, name in _imported_names() if module == _DOOR}
    assert len(at_door) <= _AT_THE_DOOR, sorted(at_door)
