"""The wheel, installed as people do it: `python -m release.install`. Needs a package index; exit code 1 when one fails.

By pip, pipx and uv, each into a fresh place; then it is told something and asked for it in other words, not one of
which was said, so that only the embedded model finds it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from release.environment import wheel
from release.say import NotSo, tell

_SECONDS = 1800
_TOLD, _ASKED, _FOUND = "Remember that my cat is called Nube", "What do you know about my pet?", "Nube"


def _run(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Run a program and return what it printed. Raises NotSo."""
    done = subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise NotSo(f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def _ways(folder: Path, file: Path) -> dict[str, list[list[str]]]:
    """Return, by name, the commands that install the wheel."""
    wanted = f"{file}[embedded]"
    plain, beside = str(folder / "pip"), ["--find-links", str(file.parent)]  # its extra names a distribution there
    return {
        "pip": [
            [sys.executable, "-m", "venv", plain],
            [f"{plain}/bin/python", "-m", "pip", "install", "--quiet", *beside, wanted],
        ],
        "pipx": [[sys.executable, "-m", "pipx", "install", "--quiet", "--pip-args", " ".join(beside), wanted]],
        "uv": [[sys.executable, "-m", "uv", "tool", "install", "--quiet", "--python", sys.executable, *beside, wanted]],
    }


def main() -> int:
    try:
        file = wheel()
    except subprocess.CalledProcessError as error:
        print(f"No wheel could be built.\n{error.stdout}{error.stderr}", file=sys.stderr)
        return 1
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kenobot-install-") as name:
        folder = Path(name)
        places = {"pip": folder / "pip/bin", "pipx": folder / "pipx/bin", "uv": folder / "uv/bin"}
        environ = {key: value for key, value in os.environ.items() if not re.match("KENOBOT_|PYTHONPATH$", key)}
        environ |= {"HOME": str(folder), "PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(places["pipx"])}
        environ |= {"UV_TOOL_DIR": str(folder / "uv"), "UV_TOOL_BIN_DIR": str(places["uv"])}
        for way, commands in _ways(folder, file).items():
            try:
                for command in commands:
                    _run(command, environ)
                chat = [str(places[way] / "kenobot"), "--home", str(folder / f"{way}-home"), "chat", "-m"]
                _run([*chat, _TOLD], environ)
                if _FOUND not in (said := _run([*chat, _ASKED], environ)):
                    raise NotSo(f"asked “{_ASKED}”, it says {said!r}")
            except NotSo as error:
                failed += 1
                print(f"  ✗ {way}: {error}", file=sys.stderr)
            else:
                tell(f"{way}: installed, and it finds by meaning what it was told")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
