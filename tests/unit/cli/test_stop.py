"""`kenobot stop` says how it went, in every case."""

import pytest

from kenobot.cli import stop as module
from kenobot.core.settings.home import Home
from tests.unit.cli.conftest import Cli


def test_where_none_runs_it_says_so(cli: Cli, home: Home) -> None:
    """A home that does not exist is not made; one that is free is named."""
    assert cli("stop")[0] == 2
    assert not home.path.exists()
    home.prepare()
    code, _, err = cli("stop")
    assert (code, str(home.path) in err) == (2, True)


def test_a_process_that_does_not_listen_is_named(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do instead, in the terminal's language."""
    monkeypatch.setenv("LC_ALL", "es_ES.UTF-8")
    monkeypatch.setattr(module, "STOP_SECONDS", 0)
    home.prepare()
    with home.lock():
        code, _, err = cli("stop")
    assert code == 1
    assert "acaba con él con `kill " in err
