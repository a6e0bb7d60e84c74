"""`kenobot host`: a home moves in, out and on by commands, with nothing lost."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kenobot.cli import main
from kenobot.core.settings.home import Home
from kenobot_host.cell_address import VARIABLE
from kenobot_host.sealing import KEY_FILE
from tests.hosting.cell import Cell, read_truth
from tests.scene import Scene

Run = Callable[..., tuple[int, str, str]]

_LOCAL_KEYS = ("mirror:event", "cards:event", "mirror:patterns")  # which files were written


@pytest.fixture
def run(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a cell of its own; gives its exit code, and what it printed."""
    monkeypatch.setenv(VARIABLE, database_url)
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "key"))
    monkeypatch.setenv("LANG", "C")

    def call(*words: object, home: Path | None = None) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*(["--home", str(home)] if home else []), *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    assert call("host", "key", tmp_path / "key")[0] == 0
    assert call("host", "upgrade")[0] == 0
    return call


@pytest.fixture
def other_cell(postgres_url: str) -> Iterator[Cell]:
    """Another database with the tables of homes."""
    name = f"keno_{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    cell = Cell(make_conninfo(postgres_url, dbname=name))
    yield cell
    cell.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def _make_home(folder: Path) -> Home:
    """A home in which somebody talked and slept, with settings, a secret, an attachment, and a memory file edited."""
    replies = ["Hello.<memory>Lives in Ibiza</memory>", "Noted.<memory>Allergic to walnuts</memory>", "Sure."]
    async with Scene(folder, replies) as scene:
        for words in ("I live in Ibiza.", "I am allergic to walnuts.", "Thanks."):
            await scene.say(words)
        await scene.app.background.sleep_worker.sleep("command")
    home = scene.home
    home.config_file.write_text("[bot]\nname = 'Kai'\n")
    (home.credentials / "telegram_token").write_text(f"123456789:{'A' * 35}")
    home.media.mkdir(exist_ok=True)
    (home.media / ("ab" * 32)).write_bytes(b"\x00picture")
    (home.plugins / "mine").mkdir(parents=True)
    (home.plugins / "mine" / "__init__.py").write_text("x = 1\n")
    return home


def _compare(one: Home, two: Home) -> None:
    """Check that two homes hold the same, but for which files were written."""
    truths = [read_truth(home.database) for home in (one, two)]
    for rows, _ in truths:
        rows["key_value"] = [row for row in rows["key_value"] if row[0] not in _LOCAL_KEYS]
    assert truths[0] == truths[1]
    for path in ("kenobot.toml", "credentials/telegram_token", f"media/{'ab' * 32}", "plugins/mine/__init__.py"):
        assert (one.path / path).read_bytes() == (two.path / path).read_bytes()
        assert (one.path / path).stat().st_mode & 0o777 == (two.path / path).stat().st_mode & 0o777
    for file in one.identity.iterdir():
        assert file.read_bytes() == (two.identity / file.name).read_bytes()


async def test_a_home_moves_in_and_out_with_nothing_lost(run: Run, tmp_path: Path) -> None:
    """All its rows and files are in the folder that comes out; its log is read, a change undone, and it answers on."""
    home = await _make_home(tmp_path / "one")
    code, out, _ = run("host", "add", "ana", "--json", home=home.path)
    assert code == 0
    assert json.loads(out)["skipped"] == []
    assert run("host", "status")[1].startswith("name  last change (UTC)  held by\nana ")
    target = tmp_path / "two" / "home"
    assert run("host", "export", "ana", target, "--remove")[0] == 0
    out_again = Home(target)
    _compare(home, out_again)
    (kept,) = target.glob("moved-in-*")
    assert {path.relative_to(kept) for path in kept.rglob("*.md")} == {
        path.relative_to(home.memory) for path in home.memory.rglob("*.md") if "identity" not in path.parts
    }
    assert run("host", "status")[0] == 2

    code, log, said = run("memory", "log", home=target)
    assert (code, said) == (0, "")
    assert log == run("memory", "log", home=home.path)[1]
    assert "walnuts" in log
    async with Scene(tmp_path / "two", ["Walnuts."]) as scene:
        scene.channel.number = 100
        await scene.say("What am I allergic to?")
        assert "Allergic to walnuts" in scene.requests[-1]
        await scene.app.memory_files.sync_out()
        assert any("walnuts" in path.read_text() for path in scene.home.memory.rglob("*.md"))
    listed = [json.loads(line) for line in run("memory", "log", "--json", home=target)[1].splitlines()]
    change = next(row for row in listed if (row["type"], row["record_id"]) == ("created", 2))
    undone = await asyncio.to_thread(run, "memory", "undo", change["id"], home=target)  # it has a loop of its own
    assert undone[0] == 0
    assert "walnuts" not in run("memory", "list", home=target)[1]


async def test_an_export_leaves_the_home_in_the_host(run: Run, tmp_path: Path) -> None:
    """And does not write into a folder that has something."""
    home = await _make_home(tmp_path / "one")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "export", "ana", home.path)[0] == 78
    assert run("host", "export", "ana", tmp_path / "two")[0] == 0
    assert run("host", "export", "ana", tmp_path / "three")[0] == 0
    _compare(Home(tmp_path / "two"), Home(tmp_path / "three"))
    code, _, err = run("host", "add", "ana", home=home.path)
    assert (code, "ana already" in err) == (78, True)


async def test_no_bot_runs_in_a_home_that_moves_in(run: Run, tmp_path: Path) -> None:
    """What it would write meanwhile would be lost."""
    home = await _make_home(tmp_path / "one")
    with home.lock():
        code, _, err = run("host", "add", "ana", home=home.path)
    assert (code, "already running" in err) == (78, True)
    assert run("host", "status")[0] == 2
    assert run("host", "add", "eva", home=tmp_path / "nothing")[0] == 2


async def test_a_home_is_removed_only_when_it_is_meant(run: Run, tmp_path: Path) -> None:
    """Without anybody to ask, --yes says so."""
    home = await _make_home(tmp_path / "one")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "remove", "ana")[0] == 2
    (row,) = run("host", "status", "--json")[1].splitlines()
    assert json.loads(row)["name"] == "ana"
    assert run("host", "remove", "ana", "--yes", "--json")[0] == 0
    assert run("host", "status", "ana")[0] == 2
    assert run("host", "remove", "ana", "--yes")[0] == 78


async def test_mail_on_its_way_keeps_a_home_in_the_host(run: Run, tmp_path: Path, database_url: str) -> None:
    """It would be gone with the home; afterwards the home is held and committed to as before."""
    home = await _make_home(tmp_path / "one")
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


def test_a_home_moves_to_another_cell(
    run: Run, tmp_path: Path, other_cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its bot, the bot's chats and the mail that waits; back again, and out with its bot."""
    home = asyncio.run(_make_home(tmp_path / "one"))
    here, (there, token) = tmp_path / "here", (tmp_path / "there", tmp_path / "token")
    here.write_text(os.environ[VARIABLE])
    there.write_text(other_cell.url)
    token.write_text(f"123456789:{'A' * 35}")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "bot", "set", "ana", "--token-file", token, "--chat", "77", "--webhook")[0] == 0
    with psycopg.connect(here.read_text(), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) "
            "SELECT '123456789', 5, home, '77', '{}' FROM kenobot.home"
        )
    moved = run("host", "move", "ana", "--to", there, "--json")
    assert json.loads(moved[1])["bots"] == ["123456789"]
    assert run("host", "status")[0] == run("host", "bot", "list")[0] == 2
    assert _read_intake(here.read_text()) == []
    assert _read_intake(there.read_text()) == [("123456789", "webhook", "77"), ("123456789", 5), ("home:1",)]
    monkeypatch.setenv(VARIABLE, there.read_text())
    assert run("host", "move", "ana", "--to", there)[0] == 78
    assert run("host", "move", "ana", "--to", here)[0] == 0
    monkeypatch.setenv(VARIABLE, here.read_text())
    with psycopg.connect(here.read_text(), autocommit=True) as connection:
        connection.execute("DELETE FROM kenobot.mail")
    assert "123456789 has left" in run("host", "export", "ana", tmp_path / "two", "--remove")[1]
    _compare(home, Home(tmp_path / "two"))
    assert _read_intake(here.read_text()) == []


def _read_intake(url: str) -> list[tuple[object, ...]]:
    """The bots of a cell with their chats, its mail, and the activations that wait for homes with work left."""
    with psycopg.connect(url) as connection:
        found = (
            connection.execute(sql)
            for sql in (
                "SELECT bot, intake, chat FROM kenobot.bot LEFT JOIN kenobot.route USING (bot)",
                "SELECT bot, update_id FROM kenobot.mail",
                "SELECT queueing_lock FROM procrastinate_jobs JOIN kenobot.activity ON is_unfinished",
            )
        )
        return [row for cursor in found for row in cursor.fetchall()]


def test_homes_that_share_a_bot_move_together(run: Run, tmp_path: Path, other_cell: Cell) -> None:
    """One alone does not: its bot would be polled in two cells, and each would have half of what people say."""
    home = asyncio.run(_make_home(tmp_path / "one"))
    there, token = tmp_path / "there", tmp_path / "token"
    there.write_text(other_cell.url)
    token.write_text(f"123456789:{'A' * 35}")
    for name, chat in (("ana", "1"), ("eva", "2")):
        assert run("host", "add", name, home=home.path)[0] == 0
        assert run("host", "bot", "set", name, "--token-file", token, "--chat", chat)[0] == 0
    code, _, err = run("host", "move", "ana", "--to", there)
    assert (code, "also serves eva" in err) == (78, True)
    assert json.loads(run("host", "status", "ana", "--json")[1])["moving"] is False
    assert run("host", "move", "ana", "eva", "--to", there)[0] == 0
    with psycopg.connect(there.read_text()) as connection:
        routes = connection.execute("SELECT chat, name FROM kenobot.route JOIN kenobot.home USING (home)").fetchall()
    assert sorted(routes) == [("1", "ana"), ("2", "eva")]


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
    home = await _make_home(tmp_path / "one")
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
