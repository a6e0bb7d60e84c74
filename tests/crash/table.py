"""The lines that the scenarios come to, as a table for a terminal, for a document, and for a program."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.checker import Verdict

BEGIN, END = "<!-- crash:begin -->", "<!-- crash:end -->"
_HEAD = ("tried", "times", "messages", "lost", "doubled", "parts again", "calls again", "result")


@dataclass
class Line:
    """What one scenario tried and what came of it. It broke when `broken` names anything.

    times: faults in all. lost, doubled: messages. repeated_parts: answers that Telegram got once more, word for word,
    because the end came between its answer and our record. repeated_calls: answers the model had to write again.
    seconds: how long it took. missing: why it could not be tried here.
    """

    tried: str
    times: int = 0
    messages: int = 0
    lost: int = 0
    doubled: int = 0
    repeated_parts: int = 0
    repeated_calls: int = 0
    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: str = ""
    seconds: float = 0.0

    def add(self, verdict: Verdict, where: str = "") -> None:
        """Count what became of one world's messages."""
        self.messages += verdict.messages
        self.lost += len(verdict.lost)
        self.doubled += len(verdict.doubled)
        self.repeated_parts += verdict.repeated_parts
        self.repeated_calls += verdict.repeated_calls
        if not verdict.holds:
            self.broken.append(f"{where}: {verdict}" if where else str(verdict))

    @property
    def result(self) -> str:
        if self.missing:
            return f"not tried here: {self.missing}"
        told = "held" if not self.broken else f"BROKEN {len(self.broken)}×: {self.broken[0]}"
        return "; ".join((told, *self.notes))

    @property
    def cells(self) -> tuple[str, ...]:
        if self.missing:
            return (self.tried, *[""] * 6, self.result)
        figures = (self.times, self.messages, self.lost, self.doubled, self.repeated_parts, self.repeated_calls)
        return (self.tried, *(f"{figure:,}" for figure in figures), self.result)


def total(lines: Sequence[Line]) -> Line:
    """All lines in one."""
    whole = Line("in all")
    for line in lines:
        for name in ("times", "messages", "lost", "doubled", "repeated_parts", "repeated_calls", "seconds"):
            setattr(whole, name, getattr(whole, name) + getattr(line, name))
        whole.broken += line.broken
    return whole


def for_terminal(lines: Sequence[Line]) -> str:
    """Aligned columns; the result stands last and may be long."""
    rows = [_HEAD, *(line.cells for line in (*lines, total(lines)))]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in (0, len(row) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def for_document(lines: Sequence[Line]) -> str:
    """The same as a Markdown table."""
    rows = [_HEAD, ("---", *["--:"] * (len(_HEAD) - 2), "---"), *(line.cells for line in (*lines, total(lines)))]
    return "\n".join(f"| {' | '.join(cell.replace('|', '¦') for cell in row)} |" for row in rows)


def for_programs(lines: Sequence[Line]) -> str:
    """JSON: a list of lines, every field by its name."""
    return json.dumps([dataclasses.asdict(line) for line in lines], ensure_ascii=False, indent=1) + "\n"


def write(document: Path, body: str) -> None:
    """Put `body` between the markers of `document`; at its end when it has none yet."""
    text = document.read_text("utf-8")
    section = f"{BEGIN}\n{body}\n{END}"
    if BEGIN in text and END in text:
        before, _, rest = text.partition(BEGIN)
        text = f"{before}{section}{rest.partition(END)[2]}"
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    document.write_text(text, "utf-8")
