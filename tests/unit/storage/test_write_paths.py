"""Every way to write to a home's database leads by its keeper: no other module opens one, or commits."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kenobot

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


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in (*sorted(_CORE.rglob("*.py")), *sorted(_PACKAGES.rglob("*.py"))):
        if "tests" not in path.parts and "build" not in path.parts:
            yield path.relative_to(_CORE.parent).as_posix(), ast.parse(path.read_text("utf-8"))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def _imports_connect(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "kenobot.storage.connection"
        and any(name.name == "connect" for name in node.names)
        for node in ast.walk(tree)
    )


def _is_read(call: ast.Call) -> bool:
    return any(each.arg == "readonly" and ast.unparse(each.value) == "True" for each in call.keywords)


def test_sqlite_is_opened_in_named_modules() -> None:
    """Anything else asks `kenobot.storage.connection`, which asks for the keeper."""
    found = {module for module, tree in _modules() for name, _ in _calls(tree) if name.endswith("sqlite3.connect")}
    assert found == set(_OPENS)


def test_a_home_is_opened_to_write_in_named_modules() -> None:
    """Others write by `Database`, or by `kenobot.storage.transactions`."""
    found = {
        module
        for module, tree in _modules()
        for name, call in _calls(tree)
        if ((name == "connect" and _imports_connect(tree)) or name == "connection.connect") and not _is_read(call)
    }
    assert found == _WRITES
    writers = {module for module, tree in _modules() for name, _ in _calls(tree) if name.endswith("open_writer")}
    assert writers == {"kenobot/storage/database.py", "kenobot/storage/migrate.py"}


def test_no_sql_commits_past_the_keeper() -> None:
    """A transaction ends by `commit` of its connection."""
    found = {
        module
        for module, tree in _modules()
        for name, call in _calls(tree)
        if name.rpartition(".")[2] in ("execute", "executescript")
        and re.search(r"\bCOMMIT\b", ast.unparse(call.args[0]) if call.args else "")
    }
    assert found == _COMMITS
