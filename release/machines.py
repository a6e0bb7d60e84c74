"""Whether what is locked can be installed without a compiler on each Python and machine: `python -m release.machines`.

uv resolves requirements.lock for other machines and downloads nothing. Needs a package index; exit code 1 when a part
that is promised there has no wheel. odfpy, which is Python alone, comes as source everywhere.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from release.page import ROOT
from tests.packaging.lowest import extras

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROMISED = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux arm64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
}
"""Where every extra is installed from wheels."""
SEEN = {"macOS x86-64": "x86_64-apple-darwin", "Linux musl x86-64": "x86_64-unknown-linux-musl"}
"""Where it is shown what there is, and nothing is promised."""


def lacking(platform: str, python: str, extra: str) -> str:
    """Return the end of what uv says against an extra on a machine; "" when it can be installed."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        pick = ["--python-platform", platform, "--python-version", python]
        pick += ["--only-binary", ":all:", "--no-binary", "odfpy"]
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *pick, "--constraint", "requirements.lock"]
        command += ["--extra", extra, "--output-file", str(wanted), "pyproject.toml"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return " ".join(done.stderr.split())[:300] if done.returncode else ""


def main() -> int:
    failed = 0
    for name, platform in (PROMISED | SEEN).items():
        for python in PYTHONS:
            wrong = {extra: said for extra in extras() if (said := lacking(platform, python, extra))}
            print(f"{name}, Python {python}: {'all' if not wrong else 'all but ' + ', '.join(wrong)}", flush=True)
            for said in dict.fromkeys(wrong.values()):
                print(f"      {said}")
            failed += bool(wrong) and name in PROMISED
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
