"""Recordings of the tour: a terminal session in asciinema's format, version 2, and a short form for a page."""

import json
from collections.abc import Iterable, Iterator, Sequence

from kenobot_evals.demo.play import FileChange, StepResult
from kenobot_evals.demo.show import DisplayStyle, change_kind, diff_lines
from kenobot_evals.demo.story import Act

_LINE = 0.04  # seconds from line to line
_READ = 2.5  # seconds after a page
_HEIGHT = 40
_ASIDE = "SESSION.md"  # says what other files say
_LINES = 3  # of a file's changes that the short form shows
_LONGEST = 116  # characters


def asciinema_cast(pages: Iterable[str], width: int, title: str) -> str:
    """Return the pages as a recording, as if somebody read them one after the other. The same pages, the same bytes."""
    header = {"version": 2, "width": width, "height": _HEIGHT, "title": title, "env": {"TERM": "xterm-256color"}}
    lines, at = [json.dumps(header)], 0.0
    for page in pages:
        for line in page.splitlines():
            lines.append(json.dumps([round(at, 2), "o", f"{line}\r\n"], ensure_ascii=False))
            at += _LINE
        at += _READ
    return "".join(f"{line}\n" for line in lines)


def page_excerpt(act: Act, steps: Sequence[StepResult], look: DisplayStyle) -> str:
    """Render an act in a few lines a step, as a fenced block of a page: what was said, known and changed."""
    lines = ["```diff"]
    for seen in steps:
        who = seen.step.who
        lines.append(f"@@ {look.moment(seen.step.at)} · {seen.step.title[look.language]} @@")
        if who is not None:
            lines.append(f"  {who.name}: {seen.step.says}")
            lines += [f"  (in the prompt) {line}" for line in _iterate_known(seen)]
            lines += [f"  KenoBot: {line}" for line in seen.answer.splitlines()[:1]]
        told = (f"! {name}: {deed.reason}" for _, decisions in seen.sleep.with_changes for name, deed in decisions)
        lines += dict.fromkeys(told)
        lines += [line for file in seen.files if file.path != _ASIDE for line in _file(file, look)]
    return "\n".join([*(_clip(line) for line in lines), "```"])


def _iterate_known(seen: StepResult) -> Iterator[str]:
    """Yield the lines of the prompt's memory that the story is about."""
    wanted = [line for expect in seen.step.expect for text in expect.prompt for line in text.splitlines()]
    for line in seen.memory.splitlines():
        if not line.startswith("#") and any(text in line for text in wanted):
            yield line.removeprefix("- ")


def _file(file: FileChange, look: DisplayStyle) -> list[str]:
    if file.moved_to:
        return [f"- {file.path}", f"+ {file.moved_to}"]
    lines = [line for line in diff_lines(file) if line[0] in "+-" and any(map(str.isalnum, line))]
    return [f"  {file.path}: {look.label(change_kind(file))}", *lines[:_LINES]]


def _clip(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
