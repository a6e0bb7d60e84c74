"""Show what an import would bring, or has brought: by file, with counts and samples."""

import json
from collections.abc import Iterator
from pathlib import Path

from kenobot.cli.language import say, translate
from kenobot.core.redaction import Redactor, one_line
from kenobot_importers.apply_plan import FileResult, ImportReport
from kenobot_importers.plan import ImportPlan

_LINE_KINDS = {
    "kept": "kept",
    "system": "of the program",
    "media": "pictures and files",
    "empty": "empty",
    "branch": "on branches that were left",
    "unclear": "not understood",
}
_MOST_FILES = 40  # files of one kind that are shown one by one
_MOST_SPEAKERS = 8
_BLOT = Redactor()


def print_report(plan: ImportPlan, report: ImportReport, as_json: bool, *, done: bool) -> None:
    """Print the report of an import, or of its rehearsal. as_json: one object a line."""
    if as_json:
        for row in _rows(plan, report, done):
            print(json.dumps(row, ensure_ascii=False))
        return
    print(say("From {origin}, taken in:" if done else "From {origin}, to be taken in:", origin=plan.origin))
    shown: dict[str, int] = {}
    for result in report.results:
        shown[result.kind] = shown.get(result.kind, 0) + 1
        if shown[result.kind] <= _MOST_FILES:
            for line in _lines(result, with_samples=not done):
                print(line)
    for kind, count in shown.items():
        if count > _MOST_FILES:
            print(say("  … and {count} more files: {kind}", count=count - _MOST_FILES, kind=say(kind)))
    for path, advice in plan.manual_files.items():
        print(f"  {one_line(path)} · {say('left to you:')} {translate(advice)}")
    names = (("new", "new"), ("known", "known already"), ("secrets", "refused as secrets"), ("skipped", "left alone"))
    totals = report.totals
    counts = [f"{totals[key]} {say(name)}" for key, name in names if totals[key] or key == "new"]
    if lines := _line_counts(report.lines):
        print(say("Lines and messages of the files: {counts}.", counts=lines))
    print(f"{', '.join(counts)}.")
    if not done and not plan.about.owner_names and any(result.speakers for result in report.results):
        print(say("None of the speakers counts as you: say with --me NAME who you are."))


def write_report(path: Path, plan: ImportPlan) -> None:
    """Write what was not understood into a file, a line each. Raises OSError."""
    with path.open("w", encoding="utf-8") as file:
        for sheet in plan.files:
            for number, text in sheet.unclear:
                file.write(f"{one_line(sheet.path)}:{number}: {one_line(_BLOT(text))}\n")
            for why, count in sheet.skipped.items():
                file.write(f"{one_line(sheet.path)}: {count} {translate(why)}\n")


def _rows(plan: ImportPlan, report: ImportReport, done: bool) -> Iterator[dict[str, object]]:
    yield from map(vars, report.results)
    for path, advice in plan.manual_files.items():
        yield {"path": path, "kind": "offer", "advice": advice}
    event = report.event if done else None
    yield {"from": plan.origin, "done": done, **report.totals, "lines": report.lines, "event": event}


def _lines(result: FileResult, *, with_samples: bool) -> Iterator[str]:
    counts = [f"{result.new} {say('new')}"] if result.new else []
    counts += [f"{result.known} {say('known already')}"] if result.known else []
    note = f" ({translate(result.note)})" if result.note else ""
    yield f"  {one_line(result.path)} · {say(result.kind)}: {', '.join(counts) or say('nothing')}{note}"
    if result.speakers:
        speakers = [f"{one_line(name)} {count}" for name, count in result.speakers.most_common(_MOST_SPEAKERS)]
        more = " …" if len(result.speakers) > _MOST_SPEAKERS else ""
        yield f"      {result.first} – {result.last} · {', '.join(speakers)}{more}"
    if lines := _line_counts(result.lines):
        yield f"      {lines}"
    for sample in result.samples if with_samples else ():
        yield f"      “{one_line(_BLOT(sample))}”"
    for why, count in result.secrets.items():
        yield say("      {count} refused: it looks like {why}", count=count, why=translate(why))
    for why, count in result.skipped.items():
        yield say("      {count} left alone: {why}", count=count, why=one_line(translate(why)))


def _line_counts(lines: dict[str, int]) -> str:
    return ", ".join(f"{lines[kind]} {say(name)}" for kind, name in _LINE_KINDS.items() if lines.get(kind))
