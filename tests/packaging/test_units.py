"""What starts KenoBot by itself: the systemd unit and the container files."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from importlib import resources
from pathlib import Path

import pytest

from kenobot.core.settings.sources import CREDENTIAL_FILES

ROOT = Path(__file__).resolve().parents[2]


def unit() -> str:
    return resources.files("kenobot").joinpath("config", "systemd", "kenobot.service").read_text("utf-8")


def settings() -> ConfigParser:
    parser = ConfigParser(interpolation=None, comment_prefixes=("#",), strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(unit())
    return parser


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_has_nothing_to_say_against_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` accepts it; the command is swapped for one that exists on every machine."""
    text = re.sub(r"^ExecStart=\S+", f"ExecStart={shutil.which('true')}", unit(), flags=re.MULTILINE)
    (tmp_path / "kenobot.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "kenobot.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "kenobot" in line]) == (0, [])


def test_a_configuration_error_does_not_loop() -> None:
    """Exit 78 ends it; a crash or a full disk brings it back, however often; it says when it is ready."""
    service = settings()["Service"]
    assert service["RestartPreventExitStatus"] == "78"
    assert settings()["Unit"]["StartLimitIntervalSec"] == "0"  # systemd.unit(5): else ten failed starts are the last
    assert service["Restart"] == "on-failure"
    assert service["Type"] == "notify"
    assert service["KillSignal"] == "SIGTERM"
    assert int(service["TimeoutStopSec"]) > 10


def test_the_container_runs_as_nobody_in_particular() -> None:
    """Not root, a volume for the home, and SIGTERM for an orderly end."""
    lines = (ROOT / "docker" / "Dockerfile").read_text("utf-8").splitlines()
    assert "USER 10001" in lines
    assert "VOLUME /home/kenobot/.kenobot" in lines
    assert "STOPSIGNAL SIGTERM" in lines


def test_the_container_s_copy_of_the_tree_leaves_secrets_behind() -> None:
    """Only what is named goes to the builder: a token that lies beside the Dockerfile does not get into an image."""
    lines = (ROOT / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule.removeprefix("!") for rule in rules if rule.startswith("!docker")} == {"docker/build.lock"}
    assert all((ROOT / rule.removeprefix("!")).exists() for rule in rules if rule.startswith("!"))


def test_compose_takes_everything_away_that_is_not_needed() -> None:
    """A read-only root, no capabilities, no new privileges."""
    text = (ROOT / "docker" / "compose.yml").read_text("utf-8")
    for line in ("read_only: true", "no-new-privileges:true", "- ALL", "- /tmp", "- home:/home/kenobot/.kenobot"):
        assert line in text


def test_compose_hands_secrets_over_as_files_of_the_names_that_are_read() -> None:
    """In a file of its own, for those who do not want them in the volume."""
    text = (ROOT / "docker" / "compose.secrets.yml").read_text("utf-8")
    assert "CREDENTIALS_DIRECTORY: /run/secrets" in text
    for name in CREDENTIAL_FILES:
        assert f"  {name}:\n    file: ./{name}\n" in text
