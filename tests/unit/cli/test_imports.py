"""What a command may import before it answers: a start is short as long as these lists hold."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SDKS = ("telegram", "anthropic", "prompt_toolkit", "httpx", "numpy", "opentelemetry")
_LIGHT = (
    *_SDKS,
    "asyncio",
    "sqlite3",
    "pydantic",
    "kenobot.app",
    "kenobot.agent",
    "kenobot.cognitive",
    "kenobot.storage",
)
_BEHIND_THE_TURNS = (
    "apscheduler",
    "kenobot.cognitive.workers",
    "kenobot.agent.safety.urls",
    "kenobot.agent.commands.forget",
    "kenobot.agent.commands.memory",
    "kenobot.agent.commands.owner",
    "kenobot.cognitive.mirror.cleanup",
    "kenobot.cognitive.background.compaction",
    "kenobot.cognitive.background.extraction",
    "kenobot.cognitive.background.sleep",
    "kenobot.agent.turn.memory_report",
    "kenobot.language.facts.heuristic",
)
_FOR_OTHER_COMMANDS = (
    "kenobot.app.plugin_report",
    "kenobot.core.frames",
    "kenobot.core.health",
    "kenobot.core.status_report",
)


@pytest.mark.parametrize("words", [["--version"], ["--help"]])
def test_version_and_help_import_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    """Neither a model's SDK nor settings nor any part of a bot is imported to print a text."""
    assert _imported(words, _LIGHT, tmp_path) == []


def test_a_first_answer_imports_nothing_of_the_work_behind_the_turns(tmp_path: Path) -> None:
    """One question is answered before commands, sleep, extraction, compaction, the scheduler or an SDK is imported."""
    assert _imported(["chat", "-m", "hello"], (*_SDKS, *_BEHIND_THE_TURNS), tmp_path) == []


def test_a_first_answer_imports_nothing_that_only_other_commands_ask_a_bot_for(tmp_path: Path) -> None:
    """The frames of the socket, and what they tell of health and plugins, are for a bot that goes on running."""
    assert _imported(["chat", "-m", "hello"], _FOR_OTHER_COMMANDS, tmp_path) == []


def _imported(words: list[str], heavy: tuple[str, ...], home: Path) -> list[str]:
    """Run a command in a new process; returns the heavy modules that it imported."""
    code = (
        f"import sys; from kenobot.cli import main; code = main({words!r});"
        f"print([m for m in sorted(sys.modules) if (m + '.').startswith(tuple(h + '.' for h in {heavy!r}))], code)"
    )
    environ = {**os.environ, "KENOBOT_HOME": str(home), "KENOBOT_PROVIDER__NAME": "offline"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    listed, _, code = done.stdout.splitlines()[-1].rpartition(" ")
    assert code == "0", done.stderr
    return [name.strip("'") for name in listed.strip("[]").split(", ") if name]
