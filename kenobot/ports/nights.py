"""Nights of memory, and their reports."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json

Phase = Literal["consolidate", "errors", "prune", "improve"]


PHASES: tuple[Phase, ...] = ("consolidate", "errors", "prune", "improve")


@dataclass(frozen=True, slots=True)
class SleepRun:
    """A night. cause: "hourly", "request" or "command". finished: None while it is under way."""

    id: int
    at: datetime
    cause: str
    phases: tuple[str, ...]
    state: str
    finished: datetime | None
    report: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PassResult:
    """A finished pass. live_records: at its beginning. done, skipped: decisions. trouble: why it failed, or ""."""

    name: str
    phase: Phase
    live_records: int
    changed_records: int
    done: int
    skipped: int
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """One decision. record: the one it is about. changes: column, before, after. other_records: changed too."""

    event: int
    kind: str
    reason: str
    record: int | None
    text: str
    changes: tuple[tuple[str, str, str], ...]
    other_records: int
    undone: bool

    @property
    def is_change(self) -> bool:
        """Return whether it changed memory, and not only logged, linked or proposed something."""
        return bool(self.changes or self.other_records) or self.record is not None


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass. is_large: it changed so much that the owner is told. shown_changes: the first of its decisions."""

    result: PassResult
    description: str
    is_large: bool
    shown_changes: tuple[ChangeReport, ...]

    @property
    def omitted(self) -> int:
        """Return how many decisions are not shown."""
        return max(0, self.result.done - len(self.shown_changes))


@dataclass(frozen=True, slots=True)
class NightReport:
    """One night. tokens: used by the model. passes_left: still to do."""

    run: SleepRun
    tokens: int
    passes: tuple[PassReport, ...]
    passes_left: int = 0

    @property
    def large_passes(self) -> tuple[PassResult, ...]:
        """The passes that the owner is told of."""
        return tuple(report.result for report in self.passes if report.is_large)

    @property
    def decisions(self) -> int:
        """Decisions in all."""
        return sum(report.result.done for report in self.passes)


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """A decision that could not be undone, and why."""

    event: int
    kind: str
    reason: str


@dataclass(slots=True)
class NightUndo:
    """The outcome of undoing a night. undone: events. unchanged: decisions that changed no memory."""

    run: int
    undone: list[int] = field(default_factory=list)  # bounded: the decisions of one night; night
    conflicts: list[UndoConflict] = field(default_factory=list)  # bounded: the decisions of one night; night
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class NightProgress:
    """The pass that a night is at, by its name and phase. result: None when it begins."""

    run: SleepRun
    name: str
    phase: Phase
    number: int
    total: int
    result: PassResult | None = None
