"""Where things are, who may look at them, and that only one process works there."""

import os
import stat
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot.ports.errors import ConfigError

needs_common_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("environ", "argument", "expected"),
    [
        ({"HOME": "/people/ana"}, None, "/people/ana/.kenobot"),
        ({"HOME": "/people/ana", "KENOBOT_HOME": "/srv/keno"}, None, "/srv/keno"),
        ({"HOME": "/people/ana", "KENOBOT_HOME": "/srv/keno"}, "~/other", "/people/ana/other"),
        ({"HOME": "/people/ana", "KENOBOT_HOME": ""}, None, "/people/ana/.kenobot"),
    ],
)
def test_argument_beats_environment_beats_default(environ: dict[str, str], argument: str | None, expected: str) -> None:
    """The home is --home, else KENOBOT_HOME, else ~/.kenobot."""
    assert Home.find(environ, argument).path == Path(expected)


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home does not move when the process changes its directory."""
    monkeypatch.chdir(tmp_path)
    assert Home.find({}, "here").path == tmp_path / "here"


def test_folders_are_for_the_owner_only(tmp_path: Path) -> None:
    """Every folder that `prepare` makes is closed to others."""
    home = Home(tmp_path / "deep" / "home")
    home.prepare()
    home.prepare()
    for folder in (home.path, home.credentials, home.backups, home.memory):
        assert mode(folder) == 0o700


def test_an_open_home_of_ours_is_closed(tmp_path: Path) -> None:
    """A home that others could read is tightened."""
    home = Home(tmp_path)
    home.config_file.touch()
    tmp_path.chmod(0o755)
    home.prepare()
    assert mode(tmp_path) == 0o700


def test_an_open_folder_of_others_is_refused(tmp_path: Path) -> None:
    """`--home /tmp` must not lock everybody out of /tmp."""
    (tmp_path / "somebody.txt").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(ConfigError, match="holds other things"):
        Home(tmp_path).prepare()
    assert mode(tmp_path) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["somebody.txt"]


def test_a_file_is_no_home(tmp_path: Path) -> None:
    """A home that cannot be used is one plain line."""
    (tmp_path / "file").touch(mode=0o600)
    with pytest.raises(ConfigError) as caught:
        Home(tmp_path / "file").prepare()
    assert "\n" not in str(caught.value)
    assert "cannot be used as a home" in str(caught.value)


@needs_common_user
def test_a_home_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A read-only home is said to be one before anything runs."""
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigError):
        Home(tmp_path).prepare()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """A second start in the same home is refused with the pid of the first."""
    home = Home(tmp_path)
    with home.lock():
        assert (home.path / "kenobot.lock").read_text() == f"{os.getpid()}\n"
        assert mode(home.path / "kenobot.lock") == 0o600
        with pytest.raises(ConfigError, match=rf"already running in this home \(process {os.getpid()}\)"), home.lock():
            pass
    with home.lock():
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    """The lock dies with its process, however that ended."""
    code = "import os, sys, pathlib; from kenobot.core.settings.home import Home\n"
    code += "with Home(pathlib.Path(sys.argv[1])).lock(): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    with Home(tmp_path).lock():
        pass


def test_a_new_home_gets_the_identity_templates(tmp_path: Path) -> None:
    """Seeding copies every shipped template, readable by the owner only."""
    home = Home(tmp_path)
    assert home.seed_identity()
    shipped = {
        path.name: path.read_bytes() for path in resources.files("kenobot").joinpath("config/identity").iterdir()
    }
    assert {path.name: path.read_bytes() for path in home.identity.iterdir()} == shipped
    assert {mode(path) for path in home.identity.iterdir()} == {0o600}
    assert [path.name for path in home.memory.iterdir()] == ["identity"]


def test_seeding_brings_nothing_back(tmp_path: Path) -> None:
    """A finished BOOTSTRAP.md and an edited core.md are left as they are."""
    home = Home(tmp_path)
    home.seed_identity()
    (home.identity / "BOOTSTRAP.md").unlink()
    (home.identity / "core.md").write_text("mine")
    assert not home.seed_identity()
    assert not (home.identity / "BOOTSTRAP.md").exists()
    assert (home.identity / "core.md").read_text() == "mine"
