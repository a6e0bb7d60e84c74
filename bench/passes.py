"""`python -m bench.passes`: what would be different without each pass of sleep, one after another.

Each stage is played with the whole night first, and then without each pass that planned a change or asked a question in
it; counted are the texts that only one of the two runs has. The stages are the month, a fortnight and forty days
of `bench.years`, for their figures; the golden month of `tests.golden`, for what people see: prompts of replies, texts
sent, answers of commands, files; and the steps of `kenobot demo`, five months of the first seed. An hour, in one
process at a time; `--stages` and `--passes` take less.
"""

import argparse
import atexit
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kenobot.cli.options import show_progress
from kenobot.cognitive.sleep import night
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass

_SHOWN = 200  # characters of what differs
_TIMED = frozenset({"night", "turn", "database", "tree", "index"})  # figures of `bench.years` that no two runs share
_TURN = re.compile(r"^##### \d+ · (?P<at>\S+) · turn · ", re.MULTILINE)
OFF, SEEN = "BENCH_WITHOUT", "BENCH_BUSY"
_LIFE = ("kenobot", "bench", "life", "--embedder", "none", "--json", "--person")
_NONE = "none"  # the whole night once more: what differs then is chance

Outcome = Mapping[str, frozenset[str]]
"""What a stage came to: texts by their kind."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A module to run with arguments, in which {} is a folder. kinds: those of its outcome."""

    runs: Sequence[Sequence[str]]
    kinds: Sequence[str]


STAGES: Mapping[str, Stage] = {
    "month": Stage([("bench.month", "--fast", "--json")], ("month",)),
    "life": Stage([(*_LIFE, "tom", "--model", "careful")], ("life",)),
    "years": Stage([("bench.years", "--days", "40", "--per-day", "4", "--json")], ("years",)),
    "golden": Stage([("tests.golden", "record", "{}", "--homes", "model")], ("prompts", "texts", "commands", "files")),
    "demo": Stage([("kenobot", "demo", "--json")], ("demo",)),
}


def main(argv: Sequence[str] | None = None) -> int:
    names = [_NONE, *(one.name for one in night.NIGHT)]
    parser = argparse.ArgumentParser(prog="python -m bench.passes", description=__doc__)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), help="those to play (all)")
    parser.add_argument("--passes", nargs="+", choices=names, default=names, help="those to leave out, in turn (all)")
    arguments = parser.parse_args(argv)
    cells: dict[tuple[str, str], str] = {}
    for title in arguments.stages:
        whole, busy = _play(title, "")
        for name in arguments.passes:
            lacking = _play(title, name)[0] if name in {*busy, _NONE} else whole
            for kind in STAGES[title].kinds:
                different = sorted(whole[kind] ^ lacking[kind])
                cells[name, kind] = str(len(different)) if name in {*busy, _NONE} else "–"
                for text in different[:3]:
                    print(f"{name}, {kind}: {text[:_SHOWN]!r}", file=sys.stderr, flush=True)
            figures = ", ".join(cells[name, kind] for kind in STAGES[title].kinds)
            print(f"{title}, without {name}: {figures}", flush=True)
    kinds = [kind for title in arguments.stages for kind in STAGES[title].kinds]
    print(f"| without | {' | '.join(kinds)} |\n|---|{'---:|' * len(kinds)}")
    for name in arguments.passes:
        print(f"| {name} | {' | '.join(cells[name, kind] for kind in kinds)} |")
    show_progress()
    return 0


# ── one stage ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _play(title: str, off: str) -> tuple[Outcome, frozenset[str]]:
    """Play a stage without a pass; what it came to, and the passes that had something to do."""
    show_progress(f"{title}, without {off or 'none'}")
    found: dict[str, set[str]] = {kind: set() for kind in STAGES[title].kinds}
    with tempfile.TemporaryDirectory(prefix="kenobot-passes-") as name:
        folder = Path(name)
        for words in STAGES[title].runs:
            argv = [sys.executable, "-m", "bench.passes", *(word.format(folder) for word in words)]
            environment = {**os.environ, OFF: off, SEEN: str(folder / "busy"), "PYTHONHASHSEED": "0"}
            done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
            for kind, text in _read(title, done.stdout, folder):
                found[kind].add(text)
        busy = frozenset((folder / "busy").read_text("utf-8").split()) if (folder / "busy").exists() else frozenset()
    return {kind: frozenset(texts) for kind, texts in found.items()}, busy


def _read(title: str, printed: str, folder: Path) -> Iterator[tuple[str, str]]:
    match title:
        case "golden":
            yield from _golden(folder)
        case "years":
            for row in map(json.loads, filter(lambda line: line.startswith("{"), printed.splitlines())):
                yield title, json.dumps({key: value for key, value in row.items() if key not in _TIMED})
        case _:
            yield from ((title, line) for line in printed.splitlines() if line.startswith("{"))


def _golden(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what people see of the golden month; commands that name the passes or the place of a night are left out."""
    for home in sorted(path for path in folder.iterdir() if path.is_dir()):
        for prompt in re.split(r"^(?=##### )", (home / "prompts.txt").read_text("utf-8"), flags=re.MULTILINE):
            if (match := _TURN.match(prompt)) is not None:
                yield "prompts", f"{home.name} {match['at']} {prompt[match.end() :]}"
        for text in (home / "outbox.txt").read_text("utf-8").split("\n--- "):
            yield "texts", f"{home.name} {text}"
        for command in re.split(r"^##### ", (home / "commands.txt").read_text("utf-8"), flags=re.MULTILINE):
            if "kenobot sleep" not in command.partition("\n")[0]:
                yield "commands", f"{home.name} {command}"
        for path in sorted((home / "files").rglob("*")):
            if path.is_file():
                yield "files", f"{path.relative_to(folder)}\n{path.read_text('utf-8', 'replace')}"


# ── in a process of its own: the night without a pass ────────────────────────────────────────────────────────────────


def _run_without(off: str, seen: str, words: Sequence[str]) -> None:
    """Run a module whose nights lack a pass, and add the names of those that had something to do to the file `seen`."""
    busy: set[str] = set()

    def watch(one: Pass) -> Pass:
        def plan(view: NightView) -> Iterator[Change]:
            for change in one.plan(view):
                busy.add(one.name)
                yield change

        def ask(view: NightView) -> Sequence[ModelQuestion]:
            questions = one.questions(view)
            busy.update({one.name} if questions else ())
            return questions

        return replace(one, plan=plan, questions=ask)

    night.NIGHT = tuple(watch(one) for one in night.NIGHT if one.name != off)
    atexit.register(partial(_append, Path(seen), busy))
    sys.argv = list(words)
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def _append(path: Path, names: set[str]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{name}\n" for name in sorted(names)))


if __name__ == "__main__":
    if OFF in os.environ:
        _run_without(os.environ[OFF], os.environ[SEEN], sys.argv[1:])
    else:
        sys.exit(main())
