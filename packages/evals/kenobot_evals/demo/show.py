"""The tour as people see it in a terminal, and as programs read it."""

import difflib
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib import resources

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.ports.json_value import Json
from kenobot.ports.nights import ChangeReport
from kenobot.ports.recall import PatternMatch
from kenobot_evals.demo.play import FileChange, StepResult
from kenobot_evals.demo.story import Act

_TABLES = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text("utf-8"))
_MONTHS: dict[Language, str] = _TABLES["months"]
_SENTENCES: dict[str, dict[Language, str]] = _TABLES["sentences"]
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}
_TAG = lazy.regex(r"</?[a-z-]+>")
_TOLD = ("tier", "status")  # columns whose change a reader understands
_CONTEXT = 1  # lines around a change


@dataclass(frozen=True, slots=True)
class DisplayStyle:
    """Style of the tour on the terminal. colour: with escape sequences. width: columns."""

    language: Language = "en"
    colour: bool = False
    width: int = 100

    def paint(self, text: str, *styles: str) -> str:
        """Return `text` in a style, if colours are wanted."""
        codes = ";".join(str(_STYLES[style]) for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and text else text

    def heading(self, text: str) -> str:
        """Return a heading over the whole width."""
        return self.paint(f"━━ {text} ".ljust(self.width, "━"), "bold", "cyan")

    def wrap(self, text: str, indent: str = "") -> list[str]:
        """Return `text` in lines that fit."""
        return textwrap.wrap(text, self.width - len(indent), break_long_words=False) or [""]

    def label(self, name: str, **values: object) -> str:
        """Return a sentence of the tour."""
        return _SENTENCES[name][self.language].format(**values)

    def moment(self, moment: datetime) -> str:
        """Return a moment as people write it."""
        day, month, year = moment.day, _MONTHS[self.language].split()[moment.month - 1], moment.year
        date = f"{day} de {month} de {year}" if self.language == "es" else f"{day} {month} {year}"
        return f"{date}, {moment:%H:%M}"


def act_opening(act: Act, look: DisplayStyle) -> str:
    """Return what comes before the steps of an act."""
    title, tells = act.title[look.language], act.tells[look.language]
    return "\n".join([look.heading(title), "", *look.wrap(tells), ""])


def as_text(seen: StepResult, look: DisplayStyle) -> str:
    """Return a step, for people."""
    step = seen.step
    head = f"{seen.number}/{seen.step_count} · {look.moment(step.at)} · {step.title[look.language]}"
    lines = [look.heading(head), "", *look.wrap(step.tells[look.language])]
    if step.who is not None:
        said = [look.paint(line, "bold") for line in look.wrap(step.says, f"{step.who.name}: ")]
        lines += ["", f"{look.paint(step.who.name, 'bold', 'yellow')}: {said[0]}", *said[1:]]
        lines += _section("memory", [_colour_line(line, look) for line in seen.memory.splitlines()], look)
        lines += _section("fits", [_fit(fit, look) for fit in seen.pattern_matches], look)
        lines += _section("reply", [_colour_tags(line, look) for line in step.reply.splitlines()], look)
    if seen.sleep.nights:
        lines += _section("sleep", list(_render_nights(seen, look)), look)
    lines += _section("files", list(_files(seen, look)), look)
    lines += _section("wrong", [look.paint(failure, "bold", "red") for failure in seen.failures], look)
    return "\n".join([*lines, ""])


def _section(name: str, lines: list[str], look: DisplayStyle) -> Iterator[str]:
    if lines:
        yield ""
        yield look.paint(look.label(name), "bold")
        yield from (f"{look.paint('│', 'dim')} {line}".rstrip() for line in lines)


def _colour_line(line: str, look: DisplayStyle) -> str:
    return look.paint(line, "magenta") if line.startswith("#") and not line.startswith("## 1") else line


def _colour_tags(line: str, look: DisplayStyle) -> str:
    return _TAG.sub(lambda tag: look.paint(tag[0], "magenta"), line)


def _fit(fit: PatternMatch, look: DisplayStyle) -> str:
    return look.label("fit", text=fit.text, coverage=fit.coverage, confidence=fit.confidence, score=fit.score)


# ── sleep ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _render_nights(seen: StepResult, look: DisplayStyle) -> Iterator[str]:
    slept = seen.sleep
    yield look.label("nights", nights=slept.nights, quiet=slept.nights - len(slept.with_changes))
    for night, decisions in slept.with_changes:
        yield look.paint(look.moment(night.run.at), "dim")
        for name, deed in decisions:
            yield f"  {look.paint(name, 'cyan')}: {decision_line(deed)}"


def decision_line(deed: ChangeReport) -> str:
    """Return a decision of sleep in one line: what, about which memory, how, and why."""
    changes = "; ".join(f"{before} → {after}" for name, before, after in deed.changes if name in _TOLD)
    text = f" “{deed.text}”" if deed.text else ""
    return f"{deed.kind}{text}{f' ({changes})' if changes else ''}: {deed.reason.rstrip('.')}"


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def change_kind(file: FileChange) -> str:
    """Return what happened to a file: new, changed, gone or moved."""
    if file.moved_to:
        return "moved"
    return "new" if file.before is None else "gone" if file.after is None else "changed"


def diff_lines(file: FileChange) -> list[str]:
    """Return the lines of a file that came and went, each with its sign, and a line around them."""
    if file.moved_to:
        return []
    before, after = (file.before or "").splitlines(), (file.after or "").splitlines()
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@") and line.strip("+- ")]


def _files(seen: StepResult, look: DisplayStyle) -> Iterator[str]:
    if not seen.files:
        yield look.paint(look.label("same"), "dim")
    for file in seen.files:
        where = f"{file.path} → {file.moved_to}" if file.moved_to else file.path
        yield f"{look.paint(where, 'bold')}  {look.paint(look.label(change_kind(file)), 'dim')}"
        for line in diff_lines(file):
            style = {"+": "green", "-": "red"}.get(line[0])
            yield look.paint(line, style) if style else line
    if seen.changed_record_files:
        yield look.paint(look.label("cards", count=seen.changed_record_files), "dim")


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(act: Act, seen: StepResult, language: Language) -> dict[str, Json]:
    """Return a step, for programs."""
    step = seen.step
    return {
        "wording": act.name,
        "step": seen.number,
        "of": seen.step_count,
        "at": step.at.isoformat(),
        "title": step.title[language],
        "tells": step.tells[language],
        "who": step.who.name if step.who is not None else None,
        "says": step.says,
        "memory": seen.memory,
        "reply": step.reply,
        "answer": seen.answer,
        "fits": [
            {"pattern": fit.text, "coverage": fit.coverage, "confidence": fit.confidence}
            for fit in seen.pattern_matches
        ],
        "files": [_file_json(file) for file in seen.files],
        "cards": seen.changed_record_files,
        "nights": seen.sleep.nights,
        "sleep": [
            {"at": night.run.at.isoformat(), "decisions": [_deed_json(name, deed) for name, deed in decisions]}
            for night, decisions in seen.sleep.with_changes
        ],
        "failures": [*seen.failures],
    }


def _file_json(file: FileChange) -> dict[str, Json]:
    return {
        "path": file.path,
        "change": change_kind(file),
        "moved_to": file.moved_to or None,
        "diff": [*diff_lines(file)],
    }


def _deed_json(name: str, deed: ChangeReport) -> dict[str, Json]:
    changes: list[Json] = [[*each] for each in deed.changes]
    return {"pass": name, "what": deed.kind, "why": deed.reason, "text": deed.text, "changes": changes}
