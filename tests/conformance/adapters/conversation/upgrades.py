"""The database's own upgrades: each once, with one copy before it, or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.errors import KenobotError
from kenobot.storage import migrate
from tests.conformance.cases import Adapter, Case, NotApplicable, Outcome, compare
from tests.scratch import scratch


def migrated(case: Case) -> Outcome:
    """The case's own migrations instead of those that ship, on a database that was there before."""
    steps = [(each["v"], f"{each['sql']};") for each in case.input["migrations"]]
    if not steps:
        return NotApplicable("there is nothing to migrate")
    times = {"migrate": 1, "migrate_twice": 2}.get(case.input["op"])
    if times is None:
        return NotApplicable(f"unknown operation: {case.input['op']}")
    with scratch() as folder, pytest.MonkeyPatch.context() as patch:
        path, backups = Path(folder) / "kenobot.db", Path(folder) / "backups"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE before (id TEXT)")
        patch.setattr(migrate, "migrations", lambda: steps)
        raised, copies = False, []
        for _ in range(times):
            try:
                migrate.migrate(path, backups)
            except KenobotError:
                raised = True
            copies.append(len(list(backups.glob("*.db"))))
        with closing(sqlite3.connect(path)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'before'")
            tables = sorted(row[0] for row in rows)
        found: dict[str, Any] = {
            "raises": raised,
            "applied": [number for number, _ in steps if number <= version],
            "backups_after_first": copies[0],
            "backups_after_second": copies[-1],
        }
        return compare(case, {name: found.get(name, _told(tables, case.expected[name])) for name in case.expected})


def _told(tables: list[str], wanted: object) -> object:
    """What is there after all, in the form a case asks for it: names, how many, or whether there is anything."""
    match wanted:
        case bool():
            return bool(tables)
        case int():
            return len(tables)
        case _:
            return tables


ADAPTERS: dict[str, Adapter] = {"migration/": migrated}
