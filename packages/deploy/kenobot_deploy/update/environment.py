"""Make an environment of another version beside the one in use, by pip or uv; ask an index which versions there are."""

import contextlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kenobot.ports.errors import ConfigError
from kenobot.storage.updates import Side
from kenobot_deploy.update.installation import Installation
from kenobot_deploy.update.programs import DiskGuard, UpdateFailed, run

_SECONDS = 1800.0  # for a slow network
_CHECK_SECONDS = 60.0
_WHEEL = re.compile(r"kenobot-(?P<version>[^-]+)-.+\.whl")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Describe an installation. requirement: as pip has it, without extras, such as `kenobot==0.2.0`. version: ""
    when it is not known before.
    """

    requirement: str
    version: str = ""

    def list_requirements(self, extras: Sequence[str], apart: Sequence[str]) -> list[str]:
        """List what pip is to install: this, and beside a wheel those of its version of the distributions `apart`."""
        listed = f"[{','.join(extras)}]" if extras else ""
        if not self.requirement.endswith(".whl"):
            return [self.requirement.replace("kenobot", f"kenobot{listed}", 1)]
        wheel = Path(self.requirement)
        names = {name: f"{name.replace('-', '_')}-{self.version}-*.whl" for name in apart}
        beside = [f"{name} @ {path.as_uri()}" for name, like in names.items() for path in wheel.parent.glob(like)]
        return [f"kenobot{listed} @ {wheel.as_uri()}", *beside]


def find_wheel(path: Path) -> Wanted:
    """Raise ConfigError when there is no such wheel of KenoBot."""
    found = _WHEEL.fullmatch(path.name)
    if found is None or not path.is_file():
        raise ConfigError("update.bad_wheel", path=path)
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
            said = run([*compile_one, "--upgrade", *self._links, "-"], _CHECK_SECONDS, stdin="kenobot\n")
            return said.strip().partition("==")[2]
        with self._pip() as pip:
            ask = [*pip, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report", "-"]
            said = run([*ask, *self._links, "kenobot"], _CHECK_SECONDS)
        with contextlib.suppress(ValueError, LookupError, TypeError):
            return str(json.loads(said)["install"][0]["metadata"]["version"])
        raise UpdateFailed("update.unknown_newest")

    def install(self, wanted: Wanted, versions: Path, guard: DiskGuard) -> Side:
        """Make an environment below the folder `versions`; what failed leaves nothing. Raises UpdateFailed, OSError."""
        versions.mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{wanted.version or 'new'}-", dir=versions))
        try:
            installed = self._installation
            asked = [*wanted.list_requirements(installed.extras, installed.apart), *installed.others]
            with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as temporary:
                self._fill(folder, asked, partial(run, seconds=_SECONDS, environ={"TMPDIR": temporary}, guard=guard))
            version = run([str(python_of(folder)), "-P", "-m", "kenobot", "version"], _CHECK_SECONDS).split()[-1]
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Side(version=version, environment=folder)

    def _fill(self, folder: Path, asked: Sequence[str], run_one: Callable[[Sequence[str]], str]) -> None:
        """Make a virtual environment and install into it. run_one: runs a program."""
        python = str(folder / "bin" / "python")
        if self._uv is not None:
            run_one([self._uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)])
            install = [self._uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
        elif self._has_pip:
            run_one([sys.executable, "-m", "venv", "--without-pip", str(folder)])
            install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        else:
            run_one([sys.executable, "-m", "venv", str(folder)])
            install = [python, "-m", "pip", "install", "--quiet"]
        run_one([*install, *self._links, *asked])

    @contextlib.contextmanager
    def _pip(self):  # type: ignore[no-untyped-def]
        if self._has_pip:
            yield [sys.executable, "-m", "pip"]
            return
        with tempfile.TemporaryDirectory(prefix="kenobot-pip-") as folder:
            run([sys.executable, "-m", "venv", folder], _SECONDS)
            yield [str(python_of(Path(folder))), "-m", "pip"]


def python_of(environment: Path) -> Path:
    """Return the interpreter of an environment; of the system's own, the one that runs this."""
    python = environment / "bin" / "python"
    return python if python.exists() else Path(sys.executable)
