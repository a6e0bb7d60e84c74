"""`kenobot logs` shows what fits of the log that stands in files."""

import json
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.cli.log import filter_lines

_PLAIN = [
    "2026-03-01T12:00:00.000+00:00 info kenobot.app.serve: ready: telegram",
    "2026-03-01T12:00:01.000+00:00 error kenobot.core.worker [abc1]: it broke",
    "Traceback (most recent call last):",
    '  File "x.py", line 1',
    "2026-03-01T12:00:02.000+00:00 warning test [abc2]: careful: error test: no",
]


@pytest.mark.parametrize(
    ("level", "trace", "numbers"),
    [
        ("debug", None, [0, 1, 2, 3, 4]),
        ("warning", None, [1, 2, 3, 4]),
        ("error", None, [1, 2, 3]),
        ("debug", "abc2", [4]),
        ("error", "abc2", []),
    ],
)
def test_a_traceback_stays_with_its_line(level: str, trace: str | None, numbers: list[int]) -> None:
    """A line that is no line of the log belongs to the one above it."""
    assert list(filter_lines(_PLAIN, level, trace)) == [_PLAIN[number] for number in numbers]


def test_lines_of_json_are_chosen_alike() -> None:
    """By their level and trace."""
    lines = [json.dumps({"level": level, "trace": trace}) for level, trace in (("info", "a"), ("error", "b"))]
    assert list(filter_lines([*lines, "[1]", "{broken"], "warning", None)) == [lines[1], "[1]", "{broken"]
    assert list(filter_lines(lines, "debug", "a")) == lines[:1]


def test_without_a_file_it_is_said_where_the_log_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And how there is one from now on."""
    assert main(["logs", "--home", str(tmp_path)]) == 2
    assert '[log] to = "file"' in capsys.readouterr().err


def test_a_bot_logs_into_its_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it stands on standard error, and the command shows it."""
    monkeypatch.setenv("KENOBOT_LOG__TO", "file")
    monkeypatch.setenv("KENOBOT_LOG__LEVEL", "info")
    monkeypatch.setenv("KENOBOT_PROVIDER__NAME", "offline")
    home = str(tmp_path / "home")
    assert main(["chat", "--home", home, "-m", "hello"]) == 0
    assert "ready" not in capsys.readouterr().err
    assert main(["logs", "--home", home, "--lines", "100"]) == 0
    assert "info kenobot.app.serve: ready: console, with offline" in capsys.readouterr().out
