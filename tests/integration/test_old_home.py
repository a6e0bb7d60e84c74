"""Homes that commit 55beb48 wrote, in the last state before tables, columns and signals got the field's names."""

import asyncio
import gzip
import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.cli.logs import BEHIND
from kenobot.core.settings.home import Home
from kenobot.storage.connection import connect
from kenobot.storage.database import Database
from kenobot_testing.clock import EagerClock, ManualClock
from tests.scene import Scene

_DATA = Path(__file__).parents[1] / "data"
_AFTER = datetime(2026, 3, 30, 9, tzinfo=UTC)
_FORMER = ("attrs", "evidence", "seen", "uses")

Cli = Callable[..., str]


@pytest.fixture(params=["model", "offline"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    with tarfile.open(_DATA / f"home-55beb48-{request.param}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return Home(tmp_path / "home")


@pytest.fixture
def cli(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("KENOBOT_HOME", str(home.path))
    monkeypatch.setenv("KENOBOT_MEMORY__EMBEDDER", "none")

    def call(*arguments: str) -> str:
        assert main(arguments, ManualClock(_AFTER)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return call


async def _migrate(home: Home) -> None:
    await Database.open(home.database, home.backups).close()


async def test_every_row_is_kept_under_its_new_name(home: Home) -> None:
    """Counts stay, old names are gone from events and signals, and a backup was made before."""
    with closing(connect(home.database, readonly=True)) as old:
        tables = ("veil", "card", "mirror", "record_term", "spend", "state", "record", "event", "signal")
        before = [old.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]
        questions = old.execute("SELECT count(*) FROM state WHERE key LIKE 'question:%'").fetchone()[0]
        held = old.execute("SELECT id, attrs, seen, uses, evidence, changed FROM record ORDER BY id").fetchall()
        was = [
            [old.execute("SELECT id, json_extract(data, ?) FROM event ORDER BY id", (f"$.was.{name}",)).fetchall()]
            for name in _FORMER
        ]
    await _migrate(home)
    now = ("attributes", "source_messages", "mentions", "use_count")
    with closing(connect(home.database, readonly=True)) as new:
        tables = (
            "hidden_turn", "record_file", "list_file", "term_index", "model_day", "key_value",
            "record", "event", "signal",
        )  # fmt: skip
        after = [new.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]
        after[tables.index("key_value")] = (after[tables.index("key_value")][0] + questions,)  # they are approvals now
        assert after == before
        assert new.execute("SELECT count(*) FROM prompt_prefix").fetchone() == (0,), "prompts begin anew"
        columns = "id, attributes, mentions, use_count, source_messages, changed_event"
        assert new.execute(f"SELECT {columns} FROM record ORDER BY id").fetchall() == held
        assert was == [
            [new.execute("SELECT id, json_extract(data, ?) FROM event ORDER BY id", (f"$.was.{name}",)).fetchall()]
            for name in now
        ]
        for name in _FORMER:
            sql = "SELECT count(*) FROM event WHERE json_type(data, ?) IS NOT NULL"
            assert new.execute(sql, (f"$.was.{name}",)).fetchone() == (0,)
        assert new.execute("SELECT count(*) FROM signal WHERE name = 'memory:extracted'").fetchone() == (0,)
        assert new.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(list(home.backups.glob("kenobot-before-0007.db"))) == 1


async def test_it_goes_on(home: Home, tmp_path: Path) -> None:
    """A turn sees what was remembered, and files and database stay in step."""
    async with Scene(tmp_path, ["Understood."], clock=EagerClock(_AFTER)) as scene:
        scene.channel.number = 100_000
        assert await scene.say("Do you remember where I live?") == "Understood."
        core = await scene.rows(
            "SELECT text FROM record WHERE status = 'active' AND tier = 'core' AND scope = 'owner' AND form = 'note'"
        )
        assert any(str(text) in scene.requests[-1] for (text,) in core)
        assert all(str(text) in scene.read("MEMORY.md") for (text,) in core)


def test_the_command_line_reads_undoes_and_exports(home: Home, cli: Cli, tmp_path: Path) -> None:
    """`list`, `why`, `log` and `signals`, the undo of an old event, a night, and an export into another home."""
    asyncio.run(_migrate(home))
    with closing(connect(home.database, readonly=True)) as connection:
        decisions = connection.execute(
            "SELECT event.id, record_id, json_extract(data, '$.was.source_messages') FROM event "
            "JOIN record ON record.id = record_id WHERE json_type(data, '$.was.source_messages') IS NOT NULL "
            "AND json_extract(data, '$.part_of') IS NULL AND form = 'note' AND status = 'active' ORDER BY event.id DESC"
        ).fetchall()
    assert json.loads(cli("memory", "list", "--json").splitlines()[0])
    events = [json.loads(line) for line in cli("memory", "log", "--json", "--limit", "2000").splitlines()]
    assert len(events) > 600
    changes = [event for event in events if event["type"] not in BEHIND]
    table = cli("memory", "log", "--limit", "2000").splitlines()[1:]
    assert [int(line.split()[0]) for line in table] == [event["id"] for event in changes]
    assert "extraction:finished" in cli("signals", "--limit", "1000")
    undone = (row for row in decisions if main(["memory", "undo", str(row[0])], ManualClock(_AFTER)) == 0)
    for event, record, was in islice(undone, 1):
        assert str(record) in cli("memory", "why", str(record))
        with closing(connect(home.database, readonly=True)) as connection:
            sql = "SELECT source_messages FROM record WHERE id = ?"
            assert connection.execute(sql, (record,)).fetchone() == (was,), event
    assert cli("sleep", "run")
    export = tmp_path / "memory.jsonl"
    cli("memory", "export", str(export))
    assert json.loads(export.read_text("utf-8").splitlines()[0])["head"]["version"] == 2


def test_an_export_of_that_state_is_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Version 1 has the older names: its records come in with their counts and links, as in the migrated home."""
    with tarfile.open(_DATA / "home-55beb48-model.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    migrated, fresh = Home(tmp_path / "home"), Home(tmp_path / "fresh")
    export = tmp_path / "memory.jsonl"
    export.write_bytes(gzip.decompress((_DATA / "export-55beb48.jsonl.gz").read_bytes()))
    asyncio.run(_migrate(migrated))
    arguments = ["memory", "import", str(export), "--home", str(fresh.path)]
    assert main(arguments, ManualClock(_AFTER)) == 0, capsys.readouterr().err
    columns = "key, text, status, mentions, use_count, attributes, confidence"
    counts = "SELECT type, count(*) FROM link GROUP BY type ORDER BY type"
    with (
        closing(connect(migrated.database, readonly=True)) as old,
        closing(connect(fresh.database, readonly=True)) as new,
    ):
        for sql in (f"SELECT {columns} FROM record ORDER BY key, id", counts):
            assert new.execute(sql).fetchall() == old.execute(sql).fetchall()
