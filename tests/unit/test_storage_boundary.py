"""SQL stands where rows are read and written, and what the core's tables hold is read through `kenobot.storage`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kenobot

_MEMORY = Path(kenobot.__file__).parent / "cognitive"
_CORE_TABLES = re.compile(
    r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:message|inbox|turn|turn_step|outbox|hidden_turn|approval|prompt_prefix)\b"
)
_SQL = re.compile(r"\b(?:SELECT|INSERT (?:OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET)\b")


def _statements() -> Iterator[tuple[str, str]]:
    """Each string of SQL in memory's modules, with its module."""
    for path in sorted(_MEMORY.rglob("*.py")):
        module = path.relative_to(_MEMORY).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.search(node.value):
                yield module, node.value
            elif isinstance(node, ast.JoinedStr) and _SQL.search(text := ast.unparse(node)):
                yield module, text


def test_memory_reads_no_table_of_the_core_by_itself() -> None:
    """Mail, messages, turns and hidden turns: only modules of `kenobot.storage` read and write them."""
    statements = list(_statements())
    assert len(statements) > 100
    assert [(module, sql) for module, sql in statements if _CORE_TABLES.search(sql)] == []


def test_sql_stands_in_modules_of_rows() -> None:
    """In memory's store and in modules whose name ends so; rules and texts are told apart from where they lie."""
    loose = {
        module for module, _ in _statements() if not module.startswith("store/") and not module.endswith("_rows.py")
    }
    assert loose == set()
