"""`kenobot host`: a home moves in, out and on by commands, with nothing lost."""

import asyncio
import json
import shutil
from pathlib import Path

import psycopg
import pytest

from kenobot.cli import main
from kenobot.core.settings.home import Home
from kenobot_host.cell_address import VARIABLE
from kenobot_host.sealing import KEY_FILE
from tests.hosting.cell import Cell
from tests.hosting.homes import Run, compare_homes, make_home
from tests.scene import Scene


async def test_a_home_moves_in_and_out_with_nothing_lost(run: Run, tmp_path: Path) -> None:
    """All its rows and files are in the folder that comes out; its log is read, a change undone, and it answers on."""
    home = await make_home(tmp_path / "one")
    code, out, _ = run("host", "add", "ana", "--json", home=home.path)
    assert code == 0
    assert json.loads(out)["skipped"] == []
    assert run("host", "status")[1].startswith("name  last change (UTC)  held by\nana ")
    target = tmp_path / "two" / "home"
    assert run("host", "export", "ana", target, "--remove")[0] == 0
    out_again = Home(target)
    compare_homes(home, out_again)
    (kept,) = target.glob("moved-in-*")
    assert {path.relative_to(kept) for path in kept.rglob("*.md")} == {
        path.relative_to(home.memory) for path in home.memory.rglob("*.md") if "identity" not in path.parts
    }
    assert run("host", "status")[0] == 2
    facts = [path for path in target.rglob("memory/**/*.md") if "walnuts" in path.read_text()]
    assert facts, "memory has no files"

    code, log, said = run("memory", "log", home=target)
    assert (code, said) == (0, "")
    assert log == run("memory", "log", home=home.path)[1]
    assert "walnuts" in log
    async with Scene(tmp_path / "two", ["Walnuts."]) as scene:
        scene.channel.number = 100
        await scene.say("What am I allergic to?")
        assert "Allergic to walnuts" in scene.requests[-1]
        await scene.app.memory_files.sync_out()
        assert all("walnuts" in path.read_text() for path in facts)
    assert run("memory", "log", home=target)[1] == log, "a file that was written passed for an edit"
    listed = [json.loads(line) for line in run("memory", "log", "--json", home=target)[1].splitlines()]
    change = next(row for row in listed if (row["type"], row["record_id"]) == ("created", 2))
    undone = await asyncio.to_thread(run, "memory", "undo", change["id"], home=target)  # it has a loop of its own
    assert undone[0] == 0
    assert "walnuts" not in run("memory", "list", home=target)[1]


async def test_what_is_erased_is_in_no_row(run: Run, tmp_path: Path, cell: Cell) -> None:
    """The home leaves for it, and comes back; memory files of its first arrival go by hand."""
    home = await make_home(tmp_path / "one")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert "file" in _find_tables(cell, "walnut")
    target = tmp_path / "two" / "home"
    assert run("host", "export", "ana", target, "--remove")[0] == 0
    found = [json.loads(line) for line in run("memory", "list", "--json", home=target)[1].splitlines()]
    (number,) = [row["id"] for row in found if "walnut" in row["text"]]
    assert (await asyncio.to_thread(run, "memory", "purge", number, "--yes", home=target))[0] == 0
    for kept in target.glob("moved-in-*"):
        shutil.rmtree(kept)
    assert run("host", "add", "ana", home=target)[0] == 0
    assert _find_tables(cell, "walnut") == []
    assert _find_tables(cell, "Ibiza") != []


def _find_tables(cell: Cell, word: str) -> list[str]:
    """The tables of a cell that have a word in a row, also as bytes."""
    tables = cell.execute(
        "SELECT schemaname, tablename FROM pg_tables WHERE schemaname ~ '^(kenobot|public)' ORDER BY 2"
    )
    forms = [word, word.encode().hex()]
    return [
        str(name)
        for schema, name in tables
        if cell.execute(f'SELECT 1 FROM {schema}."{name}" AS row WHERE row::text ~ ANY(%s) LIMIT 1', forms)
    ]


async def test_an_export_leaves_the_home_in_the_host(run: Run, tmp_path: Path) -> None:
    """And does not write into a folder that has something."""
    home = await make_home(tmp_path / "one")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "export", "ana", home.path)[0] == 78
    assert run("host", "export", "ana", tmp_path / "two")[0] == 0
    assert run("host", "export", "ana", tmp_path / "three")[0] == 0
    compare_homes(Home(tmp_path / "two"), Home(tmp_path / "three"))
    code, _, err = run("host", "add", "ana", home=home.path)
    assert (code, "ana already" in err) == (78, True)


async def test_no_bot_runs_in_a_home_that_moves_in(run: Run, tmp_path: Path) -> None:
    """What it would write meanwhile would be lost."""
    home = await make_home(tmp_path / "one")
    with home.lock():
        code, _, err = run("host", "add", "ana", home=home.path)
    assert (code, "already running" in err) == (78, True)
    assert run("host", "status")[0] == 2
    assert run("host", "add", "eva", home=tmp_path / "nothing")[0] == 2


async def test_a_home_is_removed_only_when_it_is_meant(run: Run, tmp_path: Path) -> None:
    """Without anybody to ask, --yes says so."""
    home = await make_home(tmp_path / "one")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "remove", "ana")[0] == 2
    (row,) = run("host", "status", "--json")[1].splitlines()
    assert json.loads(row)["name"] == "ana"
    assert run("host", "remove", "ana", "--yes", "--json")[0] == 0
    assert run("host", "status", "ana")[0] == 2
    assert run("host", "remove", "ana", "--yes")[0] == 78


async def test_mail_on_its_way_keeps_a_home_in_the_host(run: Run, tmp_path: Path, database_url: str) -> None:
    """It would be gone with the home; afterwards the home is held and committed to as before."""
    home = await make_home(tmp_path / "one")
    number = json.loads(run("host", "add", "ana", "--json", home=home.path)[1])["home"]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) VALUES ('kai', 1, %s, '1', '{}')", (number,)
        )
        code, _, err = run("host", "export", "ana", tmp_path / "two", "--remove")
        assert (code, "1 messages" in err) == (78, True)
        assert not (tmp_path / "two").exists()
        assert connection.execute("SELECT is_here FROM kenobot.home").fetchone() == (True,)
        connection.execute("DELETE FROM kenobot.mail")
    assert run("host", "export", "ana", tmp_path / "two", "--remove")[0] == 0


def test_what_is_missing_is_said(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address, its tables, the server: each with what to do, and never the password."""
    monkeypatch.setenv("LANG", "C")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["host", "status"]) == 78
    assert VARIABLE in capsys.readouterr().err
    monkeypatch.setenv(VARIABLE, database_url)
    assert main(["host", "status"]) == 78
    assert "kenobot host upgrade" in capsys.readouterr().err
    monkeypatch.setenv(VARIABLE, "postgresql://kai:hunter2@127.0.0.1:1/nowhere")
    assert main(["host", "status"]) == 1
    said = capsys.readouterr().err
    assert "does not answer" in said
    assert "hunter2" not in said
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "host_database").write_text(f"{database_url}\n")
    assert main(["host", "upgrade", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unfinished"] == []


async def test_secrets_need_the_key_they_were_sealed_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any, a home with secrets does not move in; with another, none comes out."""
    home = await make_home(tmp_path / "one")
    monkeypatch.delenv(KEY_FILE)
    code, _, err = run("host", "add", "ana", home=home.path)
    assert (code, "KENOBOT_HOST_KEY_FILE" in err) == (78, True)
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "key"))
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "key", tmp_path / "another")[0] == 0
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "another"))
    code, _, err = run("host", "export", "ana", tmp_path / "two")
    assert (code, "sealed for another" in err) == (78, True)
    assert not (tmp_path / "two").exists()
