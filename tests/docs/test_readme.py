"""README.md keeps its word: the conversation in it is what `kenobot chat` prints, and its make targets exist."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_MAKE = re.compile(r"(?:^|&&|;|\$)\s*make\s+([a-z][a-z0-9-]*)", re.MULTILINE)
_TARGET = re.compile(r"^([a-z][a-z0-9-]*):", re.MULTILINE)


@dataclass
class Step:
    """A shell command of a transcript, what the person types into it, and the lines that it should print."""

    command: str
    typed: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)


def steps(block: str) -> list[Step]:
    """A transcript cut at its lines that start with "$ ". Fails when it begins with anything else."""
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line.removeprefix("$ ")))
            continue
        assert found, f'a transcript begins with "$ kenobot chat", not with {line!r}'
        if line.startswith("> "):
            found[-1].typed.append(line.removeprefix("> "))
        else:
            found[-1].printed.append(line)
    return found


def fits(line: str, expected: str) -> bool:
    """Whether a printed line is the expected one, in which "…" stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), line) is not None


def play(step: Step, home: Path) -> "subprocess.CompletedProcess[str]":
    """Run a step as somebody would who has nothing set up, with `kenobot` on the path."""
    ours = ("KENOBOT_", "TELEGRAM_", "ANTHROPIC_", "CREDENTIALS_DIRECTORY")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environ |= {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ.get('PATH', '')}"}
    return subprocess.run(
        ["/bin/sh", "-c", step.command],
        input="".join(f"{line}\n" for line in step.typed),
        capture_output=True,
        encoding="utf-8",
        env=environ,
        cwd=home,
        timeout=60,
        check=False,
    )


@pytest.mark.long
def test_the_conversation_is_what_the_bot_prints(tmp_path: Path) -> None:
    """Every transcript, played from an empty home on, prints the lines that README.md shows."""
    blocks = _BLOCK.findall(README.read_text("utf-8"))
    assert blocks, "README.md shows no conversation: it needs a ```console block that begins with `$ kenobot chat`"
    for number, block in enumerate(blocks):
        home = tmp_path / str(number)
        home.mkdir()
        for step in steps(block):
            done = play(step, home)
            printed = done.stdout.splitlines()
            shown = f"$ {step.command}\n{done.stdout}\n--- README.md says ---\n" + "\n".join(step.printed)
            assert (done.returncode, done.stderr) == (0, ""), f"{shown}\n{done.stderr}"
            assert len(printed) == len(step.printed), shown
            wrong = [pair for pair in zip(printed, step.printed, strict=True) if not fits(*pair)]
            assert not wrong, f"{shown}\nprinted, expected: {wrong[0]}"


def test_every_make_target_exists() -> None:
    """What README.md tells people to `make` is a target of the Makefile."""
    text = README.read_text("utf-8")
    code = [*_FENCE.findall(text), *_INLINE.findall(_FENCE.sub("", text))]
    named = {target for piece in code for target in _MAKE.findall(piece)}
    assert named, "README.md names no make target"
    assert named <= set(_TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
