"""Whether what is locked can be installed without a compiler on each Python and machine: `python -m release.machines`.

uv resolves requirements.lock for other machines and downloads nothing. Needs a package index; exit code 1 when a part
that is promised there has no wheel.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from release.page import ROOT
from tests.packaging.lowest import extras

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROMISED = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux arm64": "aarch64-manylinux_2_28",
    "macOS 14 arm64": "aarch64-apple-darwin",
}
"""Where every extra is installed from wheels. `listening` needs macOS 14: older ones have no wheel of onnxruntime."""
COMPILED = {"macOS 14 arm64": {"xmpp"}}
"""Extras of which a part has no wheel there: slixmpp, which is then built from source."""
MACOS = "14.0"
SEEN = {"macOS 14 x86-64": "x86_64-apple-darwin", "Linux musl x86-64": "x86_64-unknown-linux-musl"}
"""Where it is shown what there is, and nothing is promised."""
_AT_ONCE = 8


def lacking(platform: str, python: str, *names: str) -> str:
    """Return the end of what uv says against extras on a machine; "" when they can be installed together."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        pick = ["--python-platform", platform, "--python-version", python]
        pick += ["--only-binary", ":all:"]
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *pick, "--constraint", "requirements.lock"]
        command += [part for name in names for part in ("--extra", name)]
        command += ["--output-file", str(wanted), "pyproject.toml"]
        environ = os.environ | {"MACOSX_DEPLOYMENT_TARGET": MACOS}
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    return " ".join(done.stderr.split())[:300] if done.returncode else ""


def _wrong(name: str, python: str) -> dict[str, str]:
    """Return which extras lack something on a machine, with what."""
    platform, every, known = (PROMISED | SEEN)[name], list(extras()), COMPILED.get(name, set())
    if not lacking(platform, python, *every):
        return {}
    is_known = bool(known) and not lacking(platform, python, *(extra for extra in every if extra not in known))
    return {extra: said for extra in (known if is_known else every) if (said := lacking(platform, python, extra))}


def main() -> int:
    failed = 0
    pairs = [(name, python) for name in PROMISED | SEEN for python in PYTHONS]
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # of the time nearly all is waiting for the index
        found = pool.map(lambda pair: _wrong(*pair), pairs)
        for (name, python), wrong in zip(pairs, found, strict=True):
            print(f"{name}, Python {python}: {'all' if not wrong else 'all but ' + ', '.join(wrong)}", flush=True)
            for said in dict.fromkeys(wrong.values()):
                print(f"      {said}")
            failed += name in PROMISED and bool(wrong.keys() - COMPILED.get(name, set()))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
