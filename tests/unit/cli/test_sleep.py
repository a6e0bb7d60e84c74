"""`kenobot sleep`: a night by hand, what it came to, and taking it back."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from kenobot.cli.sleep import run_night
from kenobot.cognitive.background.sleep import SleepContext
from kenobot.cognitive.sleep import night, run_rows
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.store.change import change
from kenobot.core.settings.home import Home
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.nights import PHASES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, put_record
from tests.unit.cli.conftest import Cli
from tests.unit.cognitive.sleep.small_night import FADE, GATHER, PROPOSE, fill

pytestmark = pytest.mark.usefixtures("by_words")

OVER = stamp(START - timedelta(days=1))


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """The command sends the log to the stderr of its process, which here is that of one test."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A night of three small passes in the place of the real one."""
    passes = (GATHER, FADE, PROPOSE)
    monkeypatch.setattr(night, "NIGHT", passes)
    monkeypatch.setattr(run_night, "SleepContext", partial(SleepContext, passes=passes))
    yield


def _remembered(database: sqlite3.Connection) -> list[tuple[object, ...]]:
    return database.execute("SELECT id, status, tags, text FROM record ORDER BY id").fetchall()


def _json(cli: Cli, *arguments: str) -> Any:
    code, out, _ = cli("sleep", *arguments, "--json")
    assert code == 0
    return json.loads(out)


# ── where there is nothing ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("command", ["run", "status", "report", "undo"])
def test_a_home_without_a_bot_has_nothing_to_show(cli: Cli, home: Home, command: str) -> None:
    """Said in one line, with what to do; nothing is made on disk."""
    code, out, err = cli("sleep", command)
    assert (code, out) == (2, "")
    assert "start with `kenobot chat`" in err
    assert not home.path.exists()


def test_who_never_slept_has_nothing_to_show(cli: Cli, database: sqlite3.Connection) -> None:
    """Exit code 2, as everywhere."""
    for command in ("status", "report", "undo"):
        code, out, err = cli("sleep", command)
        assert (code, out) == (2, "")
        assert "kenobot sleep" in err
    for command in ("report", "undo"):
        assert cli("sleep", command, "7")[0] == 2


# ── a night ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("small")
def test_a_night_tells_what_it_did_and_why_and_the_way_back(cli: Cli, database: sqlite3.Connection) -> None:
    """As Markdown on stdout, while stderr tells how far it is."""
    fill(database)
    code, out, err = cli("sleep", "run")
    assert code == 0
    assert err.splitlines() == [
        "1/3 consolidate: gather, 1 decisions",
        "2/3 prune: fade, 4 decisions",
        "3/3 improve: propose, 1 decisions",
    ]
    assert out.startswith("# Night 1, 2026-02-14 14:30\n\nFinished · 6 decisions.\n")
    assert "**Many at once:** fade changed 4 of 13 memories." in out
    assert "### Lets stale things go (fade)\n" in out
    (line,) = [line for line in out.splitlines() if "number 3”" in line]
    assert line.startswith("- expired #4 “something stale that was said as number 3” (status: active → expired")
    assert "Why: it is stale. [`kenobot memory undo " in line
    assert out.rstrip().endswith("`kenobot sleep undo 1` takes all of it back.")
    assert cli("sleep", "report")[1] == out
    assert cli("sleep", "report", "1")[1] == out


def test_a_real_night_lets_go_of_what_has_ended(cli: Cli, database: sqlite3.Connection, home: Home) -> None:
    """With the passes that ship, the report as JSON, and the files of memory written."""
    put_record(database, "the fair is on until Friday", expires=OVER, confidence=0.9)
    kept = put_record(database, "Ana likes tea", trust="owner", confidence=0.95)
    told = _json(cli, "run")
    (change,) = [change for each in told["passes"] for change in each["changes"] if change["what"] == "expired"]
    assert (change["pass"], change["record"], change["text"]) == ("expiry", 1, "the fair is on until Friday")
    assert ["status", "active", "expired"] in change["changes"]
    assert change["undo"] == f"kenobot memory undo {change['event']}"
    assert (told["state"], told["dry_run"], told["waiting"], told["tokens"]) == ("finished", False, 0, 0)
    assert database.execute("SELECT status FROM record WHERE id = ?", (kept.id,)).fetchone() == ("active",)
    assert "Ana likes tea" in "".join(path.read_text("utf-8") for path in home.memory.rglob("*.md"))


@pytest.mark.usefixtures("small")
def test_a_rehearsal_changes_nothing_and_shows_all_phases(cli: Cli, database: sqlite3.Connection, home: Home) -> None:
    """Later passes see what earlier ones would have done, and the copy that it was played on is gone."""
    fill(database)
    (home.path / ".sleep-left-by-a-kill").mkdir()
    before, files = _remembered(database), {path.name for path in home.path.iterdir()}
    code, out, _ = cli("sleep", "run", "--dry-run")
    assert code == 0
    assert out.startswith("# What a night would do, 2026-02-14 14:30\n\n6 decisions.\n")
    assert "undo" not in out
    assert "proposed" in out, "it sees what fade would have let go"
    assert _remembered(database) == before
    assert database.execute("SELECT count(*) FROM sleep_run").fetchone() == (0,)
    assert {path.name for path in home.path.iterdir()} == files - {".sleep-left-by-a-kill"} | {"sleep.lock"}
    assert _json(cli, "run", "--dry-run")["dry_run"] is True


@pytest.mark.usefixtures("small")
def test_a_phase_can_be_played_alone(cli: Cli, database: sqlite3.Connection) -> None:
    """It is no whole night: the next one is due all the same."""
    fill(database)
    told = _json(cli, "run", "--phase", "prune")
    assert [each["pass"] for each in told["passes"]] == ["fade"]
    assert told["phases"] == ["prune"]
    assert _json(cli, "status")["next"] == "2026-02-14T14:30:00+00:00"
    _json(cli, "run")
    assert _json(cli, "status")["next"] == "2026-02-15T10:30:00+00:00"


@pytest.mark.usefixtures("small")
def test_a_night_that_was_cut_short_is_gone_on_with(cli: Cli, database: sqlite3.Connection) -> None:
    """First its rest, whatever its phases; then what was asked for, if that was not part of it."""
    fill(database)
    run_rows.begin_or_resume(database, START - timedelta(hours=1), "hourly", ("consolidate",))
    assert _json(cli, "status")["state"] == "cut short"
    assert "kenobot sleep run" in cli("sleep", "undo", "1")[2]
    told = _json(cli, "run", "--phase", "prune")
    assert (told["run"], told["phases"]) == (2, ["prune"])
    assert [row[0] for row in database.execute("SELECT name FROM sleep_pass ORDER BY run_id")] == ["gather", "fade"]


def test_a_trouble_is_shown(cli: Cli, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the report and in the state, with the name of what failed."""

    def broken(_: object) -> Iterator[Any]:
        raise ValueError("an odd memory")

    odd = Pass("odd", "prune", "fails", broken)
    monkeypatch.setattr(night, "NIGHT", (odd,))
    code, out, _ = cli("sleep", "run")
    assert code == 0
    assert "**Trouble:** ValueError: an odd memory" in out
    assert "trouble in odd: ValueError: an odd memory" in cli("sleep", "status")[1]


# ── beside a bot, and beside another night ───────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("small")
def test_it_works_beside_a_running_bot(cli: Cli, database: sqlite3.Connection, home: Home) -> None:
    """The bot keeps its files itself, and notices within a second."""
    fill(database)
    with home.lock():
        assert _json(cli, "run")["done"] == 6
        assert not list(home.memory.glob("2*.md"))
        assert len(_json(cli, "undo")["undone"]) == 5


@pytest.mark.usefixtures("small")
def test_two_never_sleep_at_once(cli: Cli, database: sqlite3.Connection, home: Home) -> None:
    """Said in one line; nothing happens."""
    fill(database)
    with home.sleep_lock():
        for command in (("run",), ("run", "--dry-run"), ("undo",)):
            code, out, err = cli("sleep", *command)
            assert (code, out) == (1, "")
            assert "asleep in this home already" in err
        run_rows.begin_or_resume(database, START, "hourly", PHASES)
        assert _json(cli, "status")["state"] == "asleep"
    assert _json(cli, "status")["state"] == "cut short"


# ── taking back ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("small")
def test_a_night_is_taken_back_whole(cli: Cli, database: sqlite3.Connection) -> None:
    """Every decision that stands, the newest first; what it proposed is withdrawn, what it made is gone."""
    fill(database)
    before = _remembered(database)
    run = _json(cli, "run")
    first = next(change["event"] for each in run["passes"] for change in each["changes"] if each["pass"] == "fade")
    cli("memory", "undo", str(first))
    told = _json(cli, "undo")
    assert (told["run"], len(told["undone"]), told["kept"], told["unchanged"]) == (1, 4, [], 1)
    assert told["undone"] == sorted(told["undone"], reverse=True)
    assert _remembered(database)[: len(before)] == before
    assert database.execute("SELECT status FROM record WHERE form = 'summary'").fetchone() == ("invalidated",)
    assert database.execute("SELECT state FROM proposal").fetchall() == [("undone",)]
    assert _json(cli, "status")["night"] == "undone"
    report = cli("sleep", "report", "1")[1]
    assert "Taken back · 6 decisions" in report
    assert report.count("taken back since") == 5
    assert cli("sleep", "undo")[0] == 2, "there is no other night"


@pytest.mark.usefixtures("small")
def test_what_was_built_upon_stays_and_is_named(cli: Cli, database: sqlite3.Connection) -> None:
    """With the reason; all else is taken back."""
    fill(database)
    _json(cli, "run", "--phase", "prune")
    record = get(database, 1)
    change(database, record, "archived", {"status": "archived"}, ChangeContext(START, "owner", "it has been long"))
    told = _json(cli, "undo")
    assert (len(told["undone"]), len(told["kept"])) == (3, 1)
    assert "#1 was changed again since" in told["kept"][0]["why"]
    assert [row[1] for row in _remembered(database)[:4]] == ["archived", "active", "active", "active"]
    out = cli("sleep", "undo", "1")[1]
    assert "1 could not be taken back:" in out
    assert "expired: #1 was changed again since" in out
