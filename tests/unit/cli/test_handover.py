"""Every command goes on as the environment in use, if an update put one in use and knows who called."""

import os
import sys
from pathlib import Path

import pytest

from kenobot.cli import handover
from kenobot.core.settings.home import Home
from kenobot.storage.updates import Environments, Side

Handed = list[tuple[str, list[str]]]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Handed:
    """What was handed over, to which interpreter, with which words."""
    calls: Handed = []
    monkeypatch.setattr(os, "execve", lambda path, words, environ: calls.append((path, words)))
    monkeypatch.delenv("_KENOBOT_ENVIRONMENT", raising=False)
    return calls


@pytest.fixture
def environments(tmp_path: Path) -> Environments:
    """A home with another environment in use, and this one known."""
    found = Environments(Home(tmp_path / "home"))
    python = tmp_path / "home" / "versions" / "2" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o700)
    found.switch(python.parents[1])
    found.note_launcher(Side(version="1.0", environment=Path(sys.prefix).resolve()))
    return found


def test_a_command_is_handed_over(environments: Environments, handed: Handed, tmp_path: Path) -> None:
    words = ["--home", str(tmp_path / "home"), "run"]
    handover.hand_over(words, "1.0")
    python = str(tmp_path / "home" / "versions" / "2" / "bin" / "python")
    assert handed == [(python, [python, "-P", "-m", "kenobot", *words])]


@pytest.mark.parametrize("why", ["other home", "installed anew", "handed over", "another account's", "gone"])
def test_it_is_not_handed_over(
    environments: Environments, handed: Handed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Not to what no update put in use, what is broken, or what another account could have put there."""
    words, version = [f"--home={tmp_path / 'home'}", "run"], "1.0"
    if why == "other home":
        words = ["--home", str(tmp_path / "other"), "run"]
    elif why == "installed anew":
        version = "1.1"
    elif why == "handed over":
        monkeypatch.setenv("_KENOBOT_ENVIRONMENT", str((tmp_path / "home" / "versions" / "2").resolve()))
    elif why == "another account's":
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    else:
        (tmp_path / "home" / "versions" / "2" / "bin" / "python").unlink()
    handover.hand_over(words, version)
    assert handed == []


def test_the_environment_in_use_goes_on_itself(environments: Environments, handed: Handed, tmp_path: Path) -> None:
    environments.switch(Path(sys.prefix).resolve())
    handover.hand_over(["--home", str(tmp_path / "home"), "run"], "1.0")
    assert handed == []
