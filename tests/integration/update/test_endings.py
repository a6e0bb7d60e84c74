"""More ways for an update to end."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kenobot.storage import migrate

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


def test_a_return_that_was_cut_off_is_finished_by_the_next_command(product: Product, wheels: Wheels) -> None:
    """Whichever version stands then is whole and answers."""
    product.serve()
    with product.begin("update", "--from", wheels("0.4.0"), "--deadline", "8") as updating:
        product.wait(lambda: product.phase() == "returning", "the return")
        product.cut(updating)
    product.systemctl("start")
    product.have_answered(BIKE, "bike")
    stands = product.run("version").stdout, product.schema()
    assert stands in {("kenobot 0.1.0\n", NOW), ("kenobot 0.4.0\n", NOW + 1)}
    product.run("update", "--back", "--yes")
    product.have_answered("Are you there?", "there")
    _is_the_old_one(product)


def _is_the_old_one(product: Product) -> None:
    assert (product.run("version").stdout, product.schema()) == ("kenobot 0.1.0\n", NOW)
    assert product.rows("PRAGMA integrity_check") == [("ok",)]
