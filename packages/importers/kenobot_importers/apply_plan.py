"""Admit what a plan holds, each thing once: in one transaction, or in many short ones beside a bot that runs.

A copy of something known is no news: it is counted, and changes nothing. What the owner has forgotten here, had erased,
or what something newer took the place of stays so, whatever an old file says. All of one import is one decision, so one
`kenobot memory undo` takes it back.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.memory import DEFAULT, AdmitContext, Imports, Memory, Policy
from kenobot.core.redaction import REDACTED, Redactor, find_secret
from kenobot.language.calendar import local_day
from kenobot.language.fingerprint import key_of
from kenobot.language.sanitize import sanitize
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage import conversation, imported_talk
from kenobot.storage.connection import Connection
from kenobot_importers.apply_talk import ACTOR, TalkCounts, TalkImport
from kenobot_importers.plan import FilePlan, ImportItem, ImportPlan

_SAMPLES, _SAMPLE = 2, 100  # memories that are shown beforehand, and characters of each
_STEP = 10  # memories, which take about fifteen milliseconds
_KEPT = 16  # of a mark: enough that no two of one import meet by chance


@dataclass
class FileResult:
    """Result for one file. new, known: memories, or messages of a conversation. secrets: refused, by kind.

    lines, samples: see `plan.FilePlan` and `talk.TalkSummary`. speakers: by their messages.
    """

    path: str
    kind: str
    new: int = 0
    known: int = 0
    secrets: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    note: str = ""
    lines: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    first: str = ""
    last: str = ""
    samples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import. event: the decision that `undo` takes back; None when nothing was new."""

    results: tuple[FileResult, ...]
    event: int | None

    @property
    def lines(self) -> Counter[str]:
        """The lines and messages of every file by kind."""
        return sum((result.lines for result in self.results), Counter[str]())

    @property
    def totals(self) -> dict[str, int]:
        """The counts of every file, added up."""
        results = self.results
        return {
            "new": sum(result.new for result in results),
            "known": sum(result.known for result in results),
            "secrets": sum(result.secrets.total() for result in results),
            "skipped": sum(result.skipped.total() for result in results),
        }


def apply_plan(
    connection: Connection, plan: ImportPlan, policy: Policy = DEFAULT, tell: Callable[[int], None] = lambda _: None
) -> Generator[None, None, ImportReport]:
    """Ask memory to take in all that `plan` holds. Each step leaves what a commit may keep; a later run does the rest.

    tell: is called with how many memories and messages were looked at. Raises StoreError, sqlite3.Error or OSError;
    then do not commit the step.
    """
    import_ = _Import(connection, plan, policy)
    number = 0
    for number, (sheet, item) in enumerate(plan.items(), 1):
        import_.admit(sheet, item)
        if number % _STEP == 0:
            import_.mark()
            tell(number)
            yield
    import_.mark()
    for _ in import_.talk(plan):
        tell(number + import_.said)
        yield
    for sheet in plan.files:
        if sheet.messages:
            yield
            import_.converse(sheet)
    return ImportReport(tuple(import_.results.values()), import_.close())


class _Import:
    """One import, for the length of one call."""

    def __init__(self, connection: Connection, plan: ImportPlan, policy: Policy) -> None:
        self._connection = connection
        self._about = plan.about
        self._policy = policy
        self._seen = Imports.read_marks(connection)
        self._marks: list[str] = []
        self.results = {id(sheet): _result(sheet, self._about.zone) for sheet in plan.files}
        self._root, self._has_marked = Imports.begin(connection, plan.source, self._about.now, ACTOR, plan.origin)
        self.said = 0

    def admit(self, sheet: FilePlan, item: ImportItem) -> None:
        result, candidate = self.results[id(sheet)], item.candidate
        text = sanitize(candidate.text, self._policy.max_text_chars)
        if (kind := find_secret(text)) is not None:
            result.secrets[kind] += 1
            text = _drop_secrets(text, candidate.subject)
            if not text:
                return
            candidate = replace(candidate, text=text)
        mark = _mark(candidate.scope, candidate.slot or candidate.form, text)
        why = "" if mark in self._seen else self._find_obstacle(candidate.scope, candidate.slot, text)
        if mark in self._seen or why == "known":
            result.known += 1
            return
        if why:
            result.skipped[why] += 1
            return
        day = local_day(item.said_at, self._about.zone)
        occasion = AdmitContext(
            self._about.now, day, ACTOR, policy=self._policy, said_at=item.said_at, part_of=self._root
        )
        decision = Memory.remember(self._connection, candidate, occasion)
        if decision.action in ("created", "replaced"):
            result.new += 1
        elif decision.action == "reinforced":
            result.known += 1
        else:
            result.skipped[decision.reason] += 1
            return
        self._seen.add(mark)
        self._marks.append(mark)

    def _find_obstacle(self, scope: str, slot: str, text: str) -> str:
        """Return why memory is not to be asked about `text`: "known", another reason, or "" when it is."""
        if slot:
            form = "profile" if slot == "context" else "scratchpad"
            held = Imports.find_slot(self._connection, scope, form, slot)
            return "" if held is None else "known" if held == text else "this chat has one already"
        return Imports.find_obstacle(self._connection, scope, text)

    def talk(self, plan: ImportPlan) -> Generator[None, None, None]:
        """Write what was said elsewhere into conversations of its own."""
        sheets = [(sheet, sheet.talk) for sheet in plan.files if sheet.talk is not None]
        if not sheets:
            return
        known = imported_talk.load_known_marks(self._connection, Imports.list_withdrawn(self._connection))
        writer = TalkImport(self._connection, self._about, self._policy, self._root, known)
        for sheet, source in sheets:
            counts, result, before = TalkCounts(), self.results[id(sheet)], self.said
            for _ in writer.write(sheet, source, counts):
                self.said = before + counts.new + counts.known
                yield
            result.new, result.known, result.secrets = counts.new, counts.known, counts.secrets
            self.said = before + counts.new + counts.known
            self._has_marked |= bool(counts.new)

    def converse(self, sheet: FilePlan) -> None:
        """Begin a chat with its old conversation, so that it goes on where it was; a begun one is left as it is.

        Its memories are in the other files: it counts as read.
        """
        result, session = self.results[id(sheet)], sheet.session
        own = session in self._about.owner_sessions
        fit = []
        for role, text, at in sheet.messages:
            if (kind := find_secret(text)) is not None:
                result.secrets[kind] += 1
            else:
                fit.append((role, sanitize(text, len(text)), min(at, self._about.now)))
        scope = OWNER_SCOPE if own else chat_scope(session)
        newest = conversation.import_history(self._connection, session, fit, "owner" if own else "guest", scope)
        if newest:
            result.new += len(fit)
            Imports.skip_reading(self._connection, session, newest)
        else:
            result.skipped["this chat has been talked in here already"] += len(fit)

    def mark(self) -> None:
        """Note what was brought since the last call, so that no later import brings it again."""
        if self._marks:
            told = {"part_of": self._root, "marks": [*self._marks]}
            Imports.note(self._connection, self._about.now, ACTOR, told)
            self._marks.clear()
            self._has_marked = True

    def close(self) -> int | None:
        """Return the decision that all of it belongs to; None when there was nothing new."""
        if not self._has_marked:
            new = any(result.new for result in self.results.values())
            if not new:
                Imports.drop_empty(self._connection, self._root)
            return None
        Imports.note(self._connection, self._about.now, ACTOR, {"part_of": self._root, "done": True})
        return self._root


def _result(sheet: FilePlan, zone: ZoneInfo) -> FileResult:
    result = FileResult(sheet.path, sheet.kind, skipped=Counter(sheet.skipped), note=sheet.note, lines=sheet.lines)
    if sheet.talk is not None:
        summary = sheet.talk.summary
        result.speakers, result.samples = summary.speakers, summary.samples
        result.first, result.last = (local_day(at, zone) if at else "" for at in (summary.first, summary.last))
    else:
        result.samples = [" ".join(item.candidate.text.split())[:_SAMPLE] for item in sheet.items[:_SAMPLES]]
    return result


def _drop_secrets(text: str, subject: str) -> str:
    """Return the lines of a text that have no part of a secret; "" when that cannot be told."""
    lines = [line for line in Redactor()(text).split("\n") if REDACTED not in line]
    rest = "\n".join(lines).strip()
    if not rest or find_secret(rest) is not None:
        return ""
    return rest if not subject or text.startswith(lines[0]) else f"{subject}: {rest}"


def _mark(scope: str, form: str, text: str) -> str:
    """Return what tells a memory that was brought from every other, without its words."""
    return hashlib.sha256(f"{scope}\0{form}\0{key_of(text)}".encode("utf-8", "surrogatepass")).hexdigest()[:_KEPT]
