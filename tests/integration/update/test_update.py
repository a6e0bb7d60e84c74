"""A new version is put in place and taken, or taken back: with wheels of this tree, and a bot that serves."""

import json
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kenobot.storage import migrate

from .bot import Product

pytestmark = pytest.mark.crash

NOW = migrate.migrations()[-1][0]
BIKE = "What colour is my bike?"
TRAIN = "Remember that the train leaves at 7:40."

Wheels = Callable[[str], Path]


def test_a_good_version_is_taken_and_can_be_taken_back(product: Product, wheels: Wheels) -> None:
    """The service runs it, every command hands over to it, and the unit follows; `--back` returns."""
    product.serve()
    before = product.process
    done = product.run("update", "--from", wheels("0.2.0"), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    row = json.loads(done.stdout)
    assert (row["outcome"], row["from"], row["to"]) == ("updated", "0.1.0", "0.2.0")
    assert product.run("version").stdout == "kenobot 0.2.0\n"
    assert product.process != before
    assert product.schema() == NOW + 1
    unit = product.folder / "config" / "systemd" / "user" / "kenobot.service"
    assert f"ExecStart={product.home.versions}/current/bin/python -m kenobot" in unit.read_text()
    product.have_answered(BIKE, "bike")
    product.wait(
        lambda: bool(product.rows("SELECT 1 FROM signal WHERE name = 'update:finished'")), "the owner to be told"
    )

    assert product.run("update", "--back").returncode == 2  # nobody there who agrees
    done = product.run("update", "--back", "--yes")
    assert done.returncode == 0, done.stderr
    assert product.run("version").stdout == "kenobot 0.1.0\n"
    assert product.schema() == NOW
    product.have_answered("Are you there?", "there")
    assert product.answers_to(BIKE) == 0
    kept, way = done.stdout.splitlines()[1:]
    (folder,) = product.home.path.glob("replaced-*")
    assert kept == f"What was said and learned since the update is kept in {folder}."
    product.shell(way.partition(": ")[2])
    assert product.answers_to(BIKE) == 1


@pytest.mark.slow
def test_a_version_that_fails_its_canary_is_never_put_in_place(product: Product, wheels: Wheels) -> None:
    """The bot goes on without a restart, and nothing of the new version stays."""
    product.serve()
    before = product.process
    done = product.run("update", "--from", wheels("0.3.0"))
    assert done.returncode == 1
    assert "0.3.0 does not answer on a copy of the home" in done.stderr
    assert product.process == before
    assert [path.name for path in product.home.versions.iterdir()] == []
    assert not list(product.home.path.glob(".backup-*"))
    assert product.run("version").stdout == "kenobot 0.1.0\n"


def test_a_version_that_does_not_get_well_is_taken_back_with_what_came_in(product: Product, wheels: Wheels) -> None:
    """The database is as it was; a message that the new version took in is answered by the old one, once."""
    product.serve()
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "15", "--json") as updating:
        product.wait(lambda: product.schema() == NOW + 1, "the new version to migrate")
        product.wait(lambda: product.post(TRAIN, "train") == 202, "a message held")
        assert product.answers_to(TRAIN) == 0
        said = updating.communicate(timeout=200)[0]
    assert updating.returncode == 1, said
    row = json.loads(said)
    assert (row["outcome"], row["reason"]) == ("returned", "it was not well within 15 seconds")
    assert product.run("version").stdout == "kenobot 0.1.0\n"
    product.have_answered(BIKE, "bike")
    assert product.schema() == NOW
    assert product.rows("PRAGMA integrity_check") == [("ok",)]
    product.wait(lambda: product.answers_to(TRAIN) == 1, "an answer")
    assert product.rows("SELECT state FROM inbox WHERE external_id LIKE '%train'") == [("answered",)]
    assert list(product.home.path.glob("replaced-*/kenobot.db"))
    product.wait(
        lambda: bool(product.rows("SELECT 1 FROM signal WHERE name = 'update:finished'")), "the owner to be told"
    )


@pytest.mark.slow
def test_sigterm_while_it_installs_leaves_nothing(product: Product, wheels: Wheels) -> None:
    """Neither of the new version nor of the programs that were making it; the bot goes on."""
    product.serve()
    before = product.process
    with product.begin("update", "--from", wheels("0.2.0")) as updating:
        product.wait(lambda: any(product.home.versions.glob("0.2.0-*/pyvenv.cfg")), "an environment that is begun")
        updating.send_signal(signal.SIGTERM)
        updating.communicate(timeout=100)
    assert updating.returncode == 130
    assert list(product.home.versions.iterdir()) == []
    assert not _working_in(product.home.versions)
    assert product.process == before
    assert product.run("version").stdout == "kenobot 0.1.0\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_command_on_trial_has_the_old_version_back(
    product: Product, wheels: Wheels, number: signal.Signals
) -> None:
    """As Ctrl-C does, also when it comes from the end of a session or of its terminal."""
    product.serve()
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "100", "--json") as updating:
        product.wait(lambda: product.schema() == NOW + 1, "the new version to migrate")
        updating.send_signal(number)
        said = updating.communicate(timeout=100)[0]
    row = json.loads(said)
    assert (row["outcome"], row["reason"]) == ("returned", "it was interrupted")
    assert (product.phase(), product.schema()) == ("returned", NOW)
    assert [path.name for path in product.home.versions.glob("0.*")] == []
    product.have_answered(BIKE, "bike")
    assert product.run("version").stdout == "kenobot 0.1.0\n"


@pytest.mark.slow
def test_a_cut_on_trial_has_the_old_version_back(product: Product, wheels: Wheels) -> None:
    """Command and bot are killed; what the new version took in is answered once, by the old one, after a start."""
    product.serve()
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "100") as updating:
        product.wait(lambda: product.phase() == "trial", "the trial")
        product.wait(lambda: product.schema() == NOW + 1, "the new version to migrate")
        product.wait(lambda: product.post("Remember the red door.", "door") == 202, "a message held")
        product.cut(updating)
    product.systemctl("start")
    product.have_answered("Remember the red door.", "door")
    assert (product.run("version").stdout, product.schema()) == ("kenobot 0.1.0\n", NOW)
    assert product.rows("PRAGMA integrity_check") == [("ok",)]


def _working_in(folder: Path) -> list[str]:
    """List the commands of processes that have to do with a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text("utf-8", "replace").replace("\0", " "))
    return [command for command in found if str(folder) in command]
