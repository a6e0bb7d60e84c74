"""More ways for an update to end."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kenobot.storage import migrate
from kenobot.storage.updates import Environments

from .bot import Product

pytestmark = [pytest.mark.crash, pytest.mark.slow]

NOW = migrate.migrations()[-1][0]
BIKE = "What colour is my bike?"

Wheels = Callable[[str], Path]


def test_a_version_that_breaks_down_is_taken_back(product: Product, wheels: Wheels) -> None:
    """It migrates and ends at once: the database is as it was, and the old version serves."""
    product.serve()
    done = product.run("update", "--from", wheels("0.5.0"), "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    row = json.loads(done.stdout)
    assert (row["outcome"], row["reason"]) == ("returned", "it ended at once")
    product.have_answered(BIKE, "bike")
    _is_the_old_one(product)


def test_a_cut_while_it_works_on_the_copy_changes_nothing(product: Product, wheels: Wheels) -> None:
    """The old version goes on, and the next command clears away what was left."""
    product.serve()
    with product.begin("update", "--from", wheels("0.2.0")) as updating:
        product.wait(lambda: any(product.home.path.glob(".backup-*/home/kenobot.db")), "the copy")
        product.cut(updating)
    product.systemctl("start")
    product.have_answered(BIKE, "bike")
    _is_the_old_one(product)
    done = product.run("update", "--from", wheels("0.2.0"), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert list(product.home.path.glob(".backup-*")) == []
    assert list(product.home.versions.iterdir()) == []
    _is_the_old_one(product)


def test_a_return_that_was_cut_off_is_finished_by_the_next_start(product: Product, wheels: Wheels) -> None:
    """The old version answers, and there is none to return to any more."""
    product.serve()
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "8") as updating:
        product.wait(lambda: product.phase() == "returning", "the return")
        product.cut(updating)
    product.systemctl("start")
    product.have_answered(BIKE, "bike")
    _is_the_old_one(product)
    product.wait(lambda: product.phase() == "returned", "the return to be noted")
    assert "no earlier version" in product.run("update", "--back", "--yes").stderr


def test_a_return_that_was_cut_off_is_finished_by_the_next_command(product: Product, wheels: Wheels) -> None:
    """`--back` says which version is back then."""
    product.serve()
    assert product.run("update", "--from", wheels("0.2.0")).returncode == 0
    environments = Environments(product.home)
    taken = environments.read()
    assert taken is not None
    product.systemctl("stop")
    environments.write(taken.model_copy(update={"phase": "returning", "reason": "it ended at once"}))
    done = product.run("update", "--back")
    assert (done.returncode, done.stdout.splitlines()[:1]) == (0, ["KenoBot is version 0.1.0 again."]), done.stderr
    product.systemctl("start")
    product.have_answered(BIKE, "bike")
    _is_the_old_one(product)


def _is_the_old_one(product: Product) -> None:
    assert (product.run("version").stdout, product.schema()) == ("kenobot 0.1.0\n", NOW)
    assert product.rows("PRAGMA integrity_check") == [("ok",)]
