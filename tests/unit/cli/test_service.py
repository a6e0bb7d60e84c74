"""`kenobot service`: a unit is written for this home, and systemd is told; a stand-in of systemctl notes what."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kenobot.core.settings.home import Home
from kenobot_deploy import service

from .conftest import Cli

_STAND_IN = """#!/bin/sh
case "$*" in
    *is-active*) cat "{calls}.state" 2> /dev/null; exit ;;
    *reset-failed*) exit ;;
esac
echo "$(basename "$0") $*" >> "{calls}"
exit {code}
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """What systemctl and journalctl were called with."""
    told = tmp_path / "calls"
    _stand_in(tmp_path, 0)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(service, "MACHINE_FOLDER", tmp_path / "etc")
    return lambda: told.read_text().splitlines() if told.exists() else []


def _stand_in(folder: Path, code: int) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    for name in ("systemctl", "journalctl"):
        path = folder / "bin" / name
        path.write_text(_STAND_IN.format(calls=folder / "calls", code=code))
        path.chmod(0o755)


def test_a_service_is_installed_steered_and_removed(
    cli: Cli, home: Home, tmp_path: Path, calls: Callable[[], list[str]]
) -> None:
    unit = tmp_path / "config" / "systemd" / "user" / "kenobot.service"
    assert cli("service", "install")[0] == 0
    assert f"ExecStart={sys.executable} -m kenobot --home {home.path} run\n" in unit.read_text()
    assert home.path.is_dir()
    for action in ("stop", "start", "restart", "status"):
        assert cli("service", action)[0] == 0
    assert cli("service", "logs", "--lines", "7")[0] == 0
    assert cli("service", "uninstall")[0] == 0
    assert not unit.exists()
    assert home.path.is_dir()
    assert calls() == [
        "systemctl --user daemon-reload",
        "systemctl --user enable kenobot.service",
        "systemctl --user restart kenobot.service",
        *(f"systemctl --user --no-pager {action} kenobot.service" for action in ("stop", "start", "restart", "status")),
        "journalctl --user --unit kenobot.service --lines 7 --no-pager",
        "systemctl --user disable --now kenobot.service",
        "systemctl --user daemon-reload",
    ]


def test_installed_again_it_is_started_anew(cli: Cli, tmp_path: Path, calls: Callable[[], list[str]]) -> None:
    """What runs goes by the new unit at once; with --no-start it is said that it does not."""
    assert cli("service", "install")[0] == 0
    (tmp_path / "calls.state").write_text("active\n")
    code, out, _ = cli("service", "install")
    assert code == 0
    assert "was started anew" in out
    assert calls()[-1] == "systemctl --user restart kenobot.service"
    code, out, _ = cli("service", "install", "--no-start")
    assert code == 0
    assert "`kenobot service restart` starts it anew" in out
    assert calls()[-1] == "systemctl --user enable kenobot.service"


def test_a_service_of_the_machine_runs_as_somebody_without_rights(
    cli: Cli, home: Home, tmp_path: Path, calls: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts with the machine, may write to its home alone, and is handed the credentials as systemd's."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda *_: None)
    monkeypatch.setenv("SUDO_USER", "nobody")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "telegram_token").write_text("x")
    code, _, said = cli("service", "install", "--machine", "--no-start", "--credentials", str(tmp_path / "secrets"))
    assert code == 0, said
    unit = (tmp_path / "etc" / "kenobot.service").read_text()
    for line in (
        "User=nobody",
        f"ReadWritePaths={home.path}",
        "ProtectSystem=strict",
        "WantedBy=multi-user.target",
        f"LoadCredential=telegram_token:{tmp_path / 'secrets' / 'telegram_token'}",
    ):
        assert f"{line}\n" in unit
    assert calls() == ["systemctl daemon-reload", "systemctl enable kenobot.service"]


def test_the_bot_of_a_machine_is_never_root(cli: Cli, calls: Callable[[], list[str]]) -> None:
    root = pwd.getpwuid(0).pw_name
    code, _, said = cli("service", "install", "--machine", "--user", root)
    assert (code, calls()) == (78, [])
    assert "does not run as root" in said


def test_a_home_of_somebody_else_is_refused(
    cli: Cli, home: Home, calls: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.prepare()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    code, _, said = cli("service", "install", "--machine", "--user", "nobody")
    assert (code, calls()) == (78, [])
    assert "chown -R nobody" in said


def test_wrong_settings_are_named_before_anything_is_installed(
    cli: Cli, home: Home, tmp_path: Path, calls: Callable[[], list[str]]
) -> None:
    home.prepare()
    (home.path / "kenobot.toml").write_text("[bot]\nnmae = 1\n")
    code, _, said = cli("service", "install")
    assert (code, calls()) == (78, [])
    assert "bot.nmae" in said
    assert not (tmp_path / "config").exists()


def test_a_home_with_odd_signs_in_its_name_is_served(cli: Cli, tmp_path: Path) -> None:
    code, unit, _ = cli("--home", str(tmp_path / "my 100% $home"), "service", "install", "--print")
    assert code == 0
    assert f'--home "{tmp_path}/my 100%% $$home" run' in unit


@pytest.mark.parametrize(
    ("in_charge", "why"),
    [("nowhere", "This machine has no systemd"), ("", "systemd does not manage services for this session")],
)
def test_what_systemd_refuses_is_told(
    cli: Cli, tmp_path: Path, calls: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch, in_charge: str, why: str
) -> None:
    """With what may be the reason: systemd is not in charge here, or not of this session."""
    monkeypatch.setattr(service, "_RUNNING", tmp_path / in_charge)
    _stand_in(tmp_path, 1)
    code, _, said = cli("service", "install")
    assert code == 1
    assert "systemctl failed" in said
    assert why in said
    assert cli("service", "status")[0] == 1


def test_without_systemd_and_without_a_service_it_is_said_what_to_do(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Callable[[], list[str]]
) -> None:
    assert cli("service", "status")[0] == 2
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    code, _, said = cli("service", "install")
    assert code == 78
    assert "no systemd" in said


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_the_exposure_of_a_service_of_the_machine_is_low(cli: Cli, tmp_path: Path) -> None:
    """As systemd scores it, 0 to 10; below 2 it says "OK". It has nothing to say against either unit."""
    for kind in ([], ["--machine", "--user", "daemon"]):
        unit = tmp_path / "kenobot.service"
        unit.write_text(cli("service", "install", "--print", *kind)[1])
        verified = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
        )
        assert [line for line in verified.stderr.splitlines() if "kenobot" in line] == []
    scored = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert float(scored.stdout.split("exposure level for kenobot.service:")[1].split()[0]) <= 2.0


def test_a_service_of_the_machine_may_write_to_the_folder_of_backups(
    cli: Cli, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is not there does not keep it from starting."""
    monkeypatch.setenv("SUDO_USER", "nobody")
    home.path.mkdir()
    folders = {str(tmp_path / "usb"): f"ReadWritePaths=-{tmp_path / 'usb'}", "copies": "", "": ""}
    for folder, line in folders.items():
        (home.path / "kenobot.toml").write_text(f"[backup]\nfolder = {folder!r}\n")
        code, unit, said = cli("service", "install", "--machine", "--print")
        assert code == 0, said
        writable = [each for each in unit.splitlines() if each.startswith("ReadWritePaths=")]
        assert writable == [f"ReadWritePaths={home.path}", *filter(None, [line])]
