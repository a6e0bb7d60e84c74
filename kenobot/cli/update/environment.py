"""Make an environment of another version beside the one in use, by pip or uv; ask an index which versions there are."""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kenobot.cli.update.installation import Installation
from kenobot.ports.errors import ConfigError, KenobotError
from kenobot.storage.updates import Side

_SECONDS = 1800.0  # for a slow network
_CHECK_SECONDS = 60.0
_TOLD = 300  # characters of what a program said last
_WHEEL = re.compile(r"kenobot-(?P<version>[^-]+)-.+\.whl")


class UpdateFailed(KenobotError):
    """The new version could not be installed, or did not pass. The one in use was left alone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to install. requirement: as pip has it, without extras: `kenobot==0.2.0`, or a wheel's path. version: ""
    when it is not known before.
    """

    requirement: str
    version: str = ""

    def with_extras(self, extras: Sequence[str]) -> str:
        listed = f"[{','.join(extras)}]" if extras else ""
        if self.requirement.endswith(".whl"):
            return f"kenobot{listed} @ {Path(self.requirement).as_uri()}"
        return self.requirement.replace("kenobot", f"kenobot{listed}", 1)


def wanted_wheel(path: Path) -> Wanted:
    """Raises ConfigError when there is no such wheel of KenoBot."""
    found = _WHEEL.fullmatch(path.name)
    if found is None or not path.is_file():
        raise ConfigError(f"{path} is no wheel of KenoBot: its name is like kenobot-0.2.0-py3-none-any.whl.")
    return Wanted(str(path.absolute()), found["version"])


class PackageInstaller:
    """Installs from the index that pip, or uv, is configured for. source: a folder or page of wheels beside it."""

    def __init__(self, installation: Installation, source: str = "") -> None:
        self._installation = installation
        self._links = ["--find-links", source] if source else []
        uv = shutil.which("uv")
        has_pip = importlib.util.find_spec("pip") is not None
        self._uv = uv if uv and (installation.kind == "uv" or not has_pip) else None
        self._has_pip = has_pip

    def newest(self) -> str:
        """Ask which version is the newest. Raises UpdateFailed."""
        if self._uv is not None:
            compile_one = [self._uv, "pip", "compile", "--quiet", "--no-deps", "--no-header", "--no-annotate"]
            said = _run([*compile_one, "--upgrade", *self._links, "-"], _CHECK_SECONDS, stdin="kenobot\n")
            return said.strip().partition("==")[2]
        with self._pip() as pip:
            ask = [*pip, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report", "-"]
            said = _run([*ask, *self._links, "kenobot"], _CHECK_SECONDS)
        with contextlib.suppress(ValueError, LookupError, TypeError):
            return str(json.loads(said)["install"][0]["metadata"]["version"])
        raise UpdateFailed("pip did not say which version is the newest: name one with --to.")

    def install(self, wanted: Wanted, versions: Path) -> Side:
        """Make an environment below the folder `versions`; what failed leaves nothing. Raises UpdateFailed."""
        versions.mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{wanted.version or 'new'}-", dir=versions))
        try:
            asked = [wanted.with_extras(self._installation.extras), *self._installation.others]
            self._fill(folder, asked)
            version = _run([str(python_of(folder)), "-P", "-m", "kenobot", "version"], _CHECK_SECONDS).split()[-1]
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Side(version=version, environment=folder)

    def _fill(self, folder: Path, asked: Sequence[str]) -> None:
        """Make a virtual environment and install into it."""
        python = str(folder / "bin" / "python")
        if self._uv is not None:
            _run([self._uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)], _SECONDS)
            install = [self._uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
        elif self._has_pip:
            _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], _SECONDS)
            install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        else:
            _run([sys.executable, "-m", "venv", str(folder)], _SECONDS)
            install = [python, "-m", "pip", "install", "--quiet"]
        _run([*install, *self._links, *asked], _SECONDS)

    @contextlib.contextmanager
    def _pip(self):  # type: ignore[no-untyped-def]
        if self._has_pip:
            yield [sys.executable, "-m", "pip"]
            return
        with tempfile.TemporaryDirectory(prefix="kenobot-pip-") as folder:
            _run([sys.executable, "-m", "venv", folder], _SECONDS)
            yield [str(python_of(Path(folder))), "-m", "pip"]


def python_of(environment: Path) -> Path:
    """Return the interpreter of an environment; of the system's own, the one that runs this."""
    python = environment / "bin" / "python"
    return python if python.exists() else Path(sys.executable)


def _run(command: Sequence[str], seconds: float, *, stdin: str = "") -> str:
    """Run a program and return what it printed. Raises UpdateFailed."""
    done = run_quietly(command, seconds, stdin=stdin)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
        errors = [line for line in lines if line.startswith(("ERROR", "error", "  ×"))] or lines
        raise UpdateFailed(f"{Path(command[0]).name} could not do it: {errors[-1].strip()[:_TOLD]}")
    return done.stdout


def run_quietly(
    command: Sequence[str], seconds: float, *, stdin: str = "", environ: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program without this terminal. environ: set beside this process's own. Raises UpdateFailed."""
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "LC_ALL": "C.UTF-8"}
    try:
        # A program of this environment, or of the one that was made beside it.
        return subprocess.run(  # noqa: S603
            command,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            env={**os.environ, **quiet, **(environ or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UpdateFailed(f"{Path(command[0]).name} did not end within {seconds:g} seconds.") from None
    except OSError as error:
        raise UpdateFailed(f"{command[0]} cannot be run: {(error.strerror or str(error)).lower()}.") from error
