"""Files of memory: large edits, files that vanished, lines that came back, and imports of an export."""

from dataclasses import field

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class IntakeNotice:
    """A large intake that begins, or is done. changes: lines or files that are not as they were."""

    path: str
    changes: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """Memories whose files are gone at once. where: a folder or file that shows it. files: how many files or lines.

    records: whose files or lines they were, which are held back. event: the decision that forgot them instead, 0 where
    they are held back. told: the owner knows.
    """

    at: str
    where: str
    files: int
    records: tuple[int, ...] = ()
    event: int = 0
    told: bool = False


@dataclass(frozen=True, slots=True)
class RevivedLine:
    """A line that came back. record: what it says, as it was forgotten; 0: it was erased, and `text` is all of it."""

    scope: str
    record: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class RevivedLines:
    """Lines that came back, the file of the first, and when. told: the owner has been asked."""

    at: str
    where: str
    lines: tuple[RevivedLine, ...]
    told: bool = False


@dataclass(slots=True)
class MemoryImportReport:
    """Counts what an import did, by kind of line. already_known: was here already, and stayed as it was.

    skipped: by reason.
    """

    added: dict[str, int]
    already_known: dict[str, int]
    skipped: dict[str, int] = field(default_factory=dict)  # bounded: the reasons there are; turn
