"""`kenobot plugin check`: run the contract suites, and a plugin's own tests, and tell what failed in plain words."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core import home_plugins
from kenobot.core.home_plugins import HomePlugin
from kenobot.core.plugins import KINDS
from kenobot.core.redaction import escape_controls
from kenobot.ports.errors import ConfigError, PluginError

_SECONDS = 600.0
_NEEDED = ("pytest", "pytest_asyncio")
_SUITES = (
    "from pathlib import Path\n\nfrom kenobot_testing.check import suites\n\nglobals().update(suites(Path({path!r})))\n"
)
_NO_TESTS = 5  # pytest's exit code


def check(context: CommandContext) -> int:
    """Check the plugins at a path. Returns 0 when they keep to their contracts."""
    path = Path(context.args.path).absolute()
    if not path.exists():
        raise options.NothingFound("plugins.no_such_source", path=path)
    if any(importlib.util.find_spec(module) is None for module in _NEEDED):
        raise ConfigError("plugins.pytest_missing")
    found = home_plugins.describe(path)
    with tempfile.TemporaryDirectory(prefix="kenobot-check-") as folder:
        rows, said = _run(path, found, Path(folder))
    if not rows:
        raise PluginError("plugins.unchecked", said=said)
    if context.args.json:
        for row in rows:
            print(json.dumps(row))
    else:
        _print(found, rows)
    return options.FAILED if any(row["outcome"] == "failed" for row in rows) else 0


def _run(path: Path, found: tuple[HomePlugin, ...], folder: Path) -> tuple[list[dict[str, str]], str]:
    """Run pytest in a process of its own; returns a row a test, and the end of what it printed."""
    suite, report = folder / "test_contracts.py", folder / "report.jsonl"
    suite.write_text(_SUITES.format(path=str(path)), "utf-8")
    own = path / "tests"
    paths = (*sorted({str(each.root) for each in found}), *filter(None, sys.path))
    command = (
        *(sys.executable, "-m", "pytest", "-q", "-p", "kenobot_testing.check", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(folder), "--import-mode", "importlib"),
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
        *("--kenobot-report", str(report), str(suite), *([str(own)] if own.is_dir() else [])),
    )
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - this Python's own pytest, for code that its author has checked
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environ,
            cwd=folder,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise PluginError("plugins.checks_late", seconds=_SECONDS) from None
    rows = [json.loads(line) for line in report.read_text("utf-8").splitlines()] if report.exists() else []
    if done.returncode not in (0, 1, _NO_TESTS):  # the process died, or a file of tests could not be imported
        rows.append({"test": "", "asked": say("the tests can be run"), "outcome": "failed", "why": _reason(done)})
    return rows, _reason(done)


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the last error that pytest printed, or else what the process printed last."""
    errors = [line.removeprefix("E ").strip() for line in done.stdout.splitlines() if line.startswith("E ")]
    printed = [*done.stdout.strip().splitlines(), *done.stderr.strip().splitlines()]
    return (errors or printed or [say("the process ended with exit code {code}", code=done.returncode)])[-1]


def _print(found: tuple[HomePlugin, ...], rows: list[dict[str, str]]) -> None:
    for plugin in found:
        print(f"{KINDS[plugin.group]} {plugin.name} ({plugin.value})")
    for outcome, mark in (("failed", "✗"), ("skipped", "–")):
        by_reason: dict[str, list[str]] = {}
        for row in rows:
            if row["outcome"] == outcome:
                by_reason.setdefault(_because(row), []).append(row["asked"])
        for reason, asked in by_reason.items():
            more = say(" (and {number} more)", number=len(asked) - 1) if len(asked) > 1 else ""
            print(escape_controls(f"  {mark} {asked[0]}{more}\n      {reason}"))
    counts: Mapping[str, int] = {
        outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("passed", "failed", "skipped")
    }
    print(say("{passed} passed, {failed} failed, {skipped} could not be tried.", **counts))


def _because(row: Mapping[str, str]) -> str:
    lines = row["why"].strip().splitlines()
    return lines[0] if lines else row["test"]
