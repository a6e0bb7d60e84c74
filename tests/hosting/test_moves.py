"""Homes that move between cells: with their bots, also where the command is killed, and while people talk."""

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from kenobot.core.settings.home import Home
from kenobot_host.cell_address import VARIABLE
from tests.crash.world import Model
from tests.hosting.cell import Cell
from tests.hosting.chaos.platform import Platform
from tests.hosting.homes import Run, compare_homes, make_home
from tests.hosting.talk import Talk


def test_a_home_moves_to_another_cell(
    run: Run, tmp_path: Path, other_cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its bot, the bot's chats and the mail that waits; back again, and out with its bot."""
    home = asyncio.run(make_home(tmp_path / "one"))
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
    compare_homes(home, Home(tmp_path / "two"))
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
    home = asyncio.run(make_home(tmp_path / "one"))
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


def _put_in(run: Run, folder: Path) -> None:
    """Put a home into the cell with a bot, a chat of it, and mail that waits."""
    home, token = asyncio.run(make_home(folder / "one")), folder / "token"
    token.write_text(f"123456789:{'A' * 35}")
    assert run("host", "add", "ana", home=home.path)[0] == 0
    assert run("host", "bot", "set", "ana", "--token-file", token, "--chat", "77")[0] == 0
    with psycopg.connect(os.environ[VARIABLE], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) "
            "SELECT '123456789', 5, home, '77', '{}' FROM kenobot.home"
        )


@pytest.mark.parametrize("stride", [61, pytest.param(7, marks=pytest.mark.long)])
def test_a_move_that_is_killed_anywhere_is_done_by_the_same_again(
    run: Run, tmp_path: Path, other_cell: Cell, stride: int
) -> None:
    """Before each exchange with a server: the home is never in two cells, and nothing of it or its bot is lost."""
    _put_in(run, tmp_path)
    words = (os.environ[VARIABLE], other_cell.url, str(stride))
    done = subprocess.run(
        [sys.executable, "-m", "tests.hosting.killed_moves", *words],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 100 // stride


def test_a_move_that_was_broken_off_can_be_taken_back(
    run: Run, tmp_path: Path, other_cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home stays with its bot, and what was of it in the other cell is gone; one that does not move is left."""
    _put_in(run, tmp_path)
    there = tmp_path / "there"
    there.write_text(other_cell.url)
    assert run("host", "move", "ana", "--to", there, "--cancel")[0] == 78
    with monkeypatch.context() as patch:
        patch.setattr("kenobot_host.moves.move_rows.note_departure", _break_off)
        with pytest.raises(_BrokenOffError):
            run("host", "move", "ana", "--to", there)
    assert json.loads(run("host", "status", "--json")[1])["moving"] is True
    assert other_cell.execute("SELECT name, is_here FROM kenobot.home") == [("ana", False)]
    assert "ana stays" in run("host", "move", "ana", "--to", there, "--cancel")[1]
    assert json.loads(run("host", "status", "--json")[1])["moving"] is False
    assert _read_intake(os.environ[VARIABLE]) == [("123456789", "poll", "77"), ("123456789", 5), ("home:1",)]
    assert _read_intake(other_cell.url) == []
    assert other_cell.execute("SELECT name FROM kenobot.home") == []


@pytest.mark.long
async def test_homes_move_while_people_talk(tmp_path: Path, cell: Cell, other_cell: Cell) -> None:
    """To another cell and back, one bot polled and one posted to: every message has one answer, in its chat's order."""
    async with Platform() as platform, Model() as model:
        talk = Talk(platform, model, tmp_path)
        await asyncio.to_thread(talk.build, cell.url, 1, 2)
        for name, url in (("here", cell.url), ("there", other_cell.url)):
            talk.add_worker(f"{name}-worker", url)
            talk.add_ingress(f"{name}-ingress", url)
        try:
            await talk.start(*talk.processes)
            for come, to in ((cell.url, other_cell.url), (other_cell.url, cell.url)):
                await talk.say(12)
                await asyncio.gather(_move(come, to, tmp_path), talk.say(24))
            await talk.end()
            routes = cell.execute("SELECT DISTINCT bot, home FROM kenobot.route")
            numbers = {str(bot): int(str(home)) for bot, home in routes}
            talk.homes = [replace(home, number=numbers[home.token.partition(":")[0]]) for home in talk.homes]
            counts = await asyncio.to_thread(talk.check, cell.url)
        finally:
            await talk.stop()
        assert counts["repeated"] == 0
        assert len(platform.sent) == 72


async def _move(here: str, there: str, folder: Path) -> None:
    """Run `kenobot host move` of both homes."""
    (folder / "to").write_text(there)
    words = ("host", "move", "home-0-0", "home-1-0", "--to", str(folder / "to"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kenobot", *words), env={**os.environ, VARIABLE: here}
    )
    assert await process.wait() == 0


class _BrokenOffError(Exception):
    pass


def _break_off(*_: object) -> None:
    raise _BrokenOffError
