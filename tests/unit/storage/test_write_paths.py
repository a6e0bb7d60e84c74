"""Every way to write to a home's database leads by its keeper: no other module opens one, or commits."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import kenobot
from tests.sources import name_called

_CORE = Path(kenobot.__file__).parent
_PACKAGES = _CORE.parent / "packages"

_OPENS = {  # modules that call SQLite's own `connect`, and what for
    "kenobot/storage/connection.py": "here it is wrapped; and an empty copy of a schema",
    "kenobot/storage/diagnosis.py": "reads, with `query_only`",
    "kenobot/storage/backup/snapshot.py": "the copy in a backup",
    "kenobot/storage/backup/restore.py": "an unpacked backup, before `keep_whole`",
    "kenobot/storage/backup/put_back.py": "an older copy, before `keep_whole`",
    "kenobot/cli/context.py": "reads",
    "kenobot/cognitive/inspection.py": "reads the search index",
    "kenobot/cognitive/recall/index/index.py": "the search index, which is made anew",
    "packages/evals/kenobot_evals/recall/caching_embedder.py": "a file of vectors",
    "packages/host/kenobot_host/home_store.py": "working copies that no bot runs on, each with its keeper by hand",
    "packages/host/kenobot_host/tables.py": "an empty copy of a schema",
}
_WRITES = {  # modules that open a home's database to write
    "kenobot/storage/migrate.py",
    "kenobot/storage/transactions.py",
    "kenobot/storage/erasure.py",
}
_COMMITS = {  # modules with SQL that commits: the first for all, the others in other files
    "kenobot/storage/connection.py",
    "kenobot/storage/backup/restore.py",
    "kenobot/storage/backup/put_back.py",
    "kenobot/cognitive/recall/index/index.py",
    "packages/host/kenobot_host/home_store.py",
}


_CALLED = ("connect", "open_writer", "execute", "executescript")


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of one of `_CALLED`. name: as it is written. imports_connect: whether its module imports ours."""

    module: str
    name: str
    node: ast.Call
    imports_connect: bool


@pytest.fixture(scope="module")
def calls() -> list[_Call]:
    """All of them in the product, read once."""
    paths = (*sorted(_CORE.rglob("*.py")), *sorted(_PACKAGES.rglob("*.py")))
    return [call for path in paths if "tests" not in path.parts and "build" not in path.parts for call in _read(path)]


def _read(path: Path) -> Iterator[_Call]:
    text = path.read_text("utf-8")
    if not any(name in text for name in _CALLED):
        return
    module, nodes = path.relative_to(_CORE.parent).as_posix(), list(ast.walk(ast.parse(text)))
    imports_connect = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "kenobot.storage.connection"
        and any(name.name == "connect" for name in node.names)
        for node in nodes
    )
    for node in nodes:
        if isinstance(node, ast.Call) and name_called(node.func).endswith(_CALLED):
            yield _Call(module, ast.unparse(node.func), node, imports_connect)


def _is_read(call: ast.Call) -> bool:
    return any(each.arg == "readonly" and ast.unparse(each.value) == "True" for each in call.keywords)


def test_sqlite_is_opened_in_named_modules(calls: list[_Call]) -> None:
    """Anything else asks `kenobot.storage.connection`, which asks for the keeper."""
    assert {call.module for call in calls if call.name.endswith("sqlite3.connect")} == set(_OPENS)


def test_a_home_is_opened_to_write_in_named_modules(calls: list[_Call]) -> None:
    """Others write by `Database`, or by `kenobot.storage.transactions`."""
    found = {
        call.module
        for call in calls
        if ((call.name == "connect" and call.imports_connect) or call.name == "connection.connect")
        and not _is_read(call.node)
    }
    assert found == _WRITES
    writers = {call.module for call in calls if call.name.endswith("open_writer")}
    assert writers == {"kenobot/storage/database.py", "kenobot/storage/migrate.py"}


def test_no_sql_commits_past_the_keeper(calls: list[_Call]) -> None:
    """A transaction ends by `commit` of its connection."""
    found = {
        call.module
        for call in calls
        if call.name.rpartition(".")[2] in ("execute", "executescript")
        and re.search(r"\bCOMMIT\b", ast.unparse(call.node.args[0]) if call.node.args else "")
    }
    assert found == _COMMITS
