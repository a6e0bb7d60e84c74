"""Find no row of another home anywhere: each home's secret word is looked for in all that others have or saw."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from tests.hosting.chaos.stage import Stage
from tests.hosting.chaos.talk import SECRET, HomesModel, find_secrets

_COLUMNS = """
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema IN ('kenobot', 'kenobot_home') OR table_name LIKE 'procrastinate%%' ORDER BY 1, 2, ordinal_position
"""


def find_strangers(stage: Stage) -> list[str]:
    """Find words of one home in rows, files, replies, prompts or logs of another; count what was looked at."""
    with psycopg.connect(stage.cell.own_url, autocommit=True) as connection:
        found = [*_search_rows(stage, connection)]
    return [*found, *_search_files(stage), *_search_replies(stage), *_search_prompts(stage), *_search_logs(stage)]


def _search_rows(stage: Stage, connection: "psycopg.Connection[Any]") -> Iterator[str]:
    """Search each table that has homes for the words in each of its rows, and the others for any word at all."""
    tables: dict[tuple[str, str], dict[str, str]] = {}
    for schema, table, column, kind in connection.execute(_COLUMNS).fetchall():
        tables.setdefault((schema, table), {})[column] = kind
    for name, columns in tables.items():
        text = SQL(" || ' ' || ").join(_read(column, kind) for column, kind in columns.items())
        home = Identifier("home") if "home" in columns else SQL("0")
        query = SQL(
            "SELECT home, secret[1]::int, count(*) FROM (SELECT {} AS home, {} AS text FROM {}) AS row, "
            "regexp_matches(text, {}, 'gi') AS secret GROUP BY 1, 2"
        ).format(home, text, Identifier(*name), SECRET.pattern.decode())
        for home_number, secret, count in connection.execute(query).fetchall():
            if home_number == secret:
                stage.outcome.counts["rows with their own secret"] += count
            else:
                yield f"{'.'.join(name)}: {count} rows of home {home_number} have the secret of home {secret}"


def _read(column: str, kind: str) -> Composable:
    form = "encode({}, 'escape')" if kind == "bytea" else "{}::text"
    return SQL("coalesce(" + form + ", '')").format(Identifier(column))


def _search_files(stage: Stage) -> Iterator[str]:
    """Search every file of each worker's copies, byte by byte."""
    for worker in stage.cell.workers:
        root = stage.cell.folder_of(worker.name)
        for path in _list_files(root):
            name = path.relative_to(root).parts[0]
            for secret in find_secrets(path.read_bytes()):
                if str(secret) == name:
                    stage.outcome.counts["files with their own secret"] += 1
                else:
                    yield f"{path.relative_to(root)} of {worker.name} has the secret of home {secret}"


def _list_files(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file())


def _search_replies(stage: Stage) -> Iterator[str]:
    homes = {chat: home.number for home in stage.cell.homes for chat in home.chats}
    for item in stage.platform.sent:
        for secret in find_secrets(item.text.encode()):
            if secret == homes[item.chat]:
                stage.outcome.counts["replies with their own secret"] += 1
            else:
                yield f"a reply to chat {item.chat} of home {homes[item.chat]} has the secret of home {secret}"


def _search_prompts(stage: Stage) -> Iterator[str]:
    assert isinstance(stage.model, HomesModel)
    stage.outcome.counts["prompts with their own secret"] = stage.model.watched.prompts
    yield from stage.model.watched.leaks


def _search_logs(stage: Stage) -> Iterator[str]:
    for process in stage.cell.processes:
        if any(find_secrets(line.encode()) for line in process.log):
            yield f"the log of {process.name} has what was said"
