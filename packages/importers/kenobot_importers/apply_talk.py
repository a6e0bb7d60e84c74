"""Write talk that was held elsewhere into conversations of its own, each message once, in small steps."""

import hashlib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field

from kenobot.cognitive.memory import AdmitContext, Imports, Memory, Policy
from kenobot.core.redaction import find_secret
from kenobot.language.calendar import local_day
from kenobot.language.sanitize import sanitize
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE, Trust, name_imported_session
from kenobot.ports.memory import Candidate
from kenobot.ports.names import speaker_label
from kenobot.storage import imported_talk
from kenobot.storage.connection import Connection
from kenobot.storage.imported_talk import ImportedMessage
from kenobot_importers.plan import FilePlan, ImportContext, TalkSource
from kenobot_importers.talk import LONGEST_SAID, TalkRecord

ACTOR = "import"
_STEP = 50  # messages, which take about ten milliseconds
_NAMED = 6  # speakers
_IMPORTANCE = 0.6  # its record stays for as long as the talk


@dataclass(slots=True)
class TalkCounts:
    """Count what became of the messages of a file."""

    new: int = 0
    known: int = 0
    secrets: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class TalkImport:
    """The import of talk as a part of one decision. known: marks of all messages that are there."""

    connection: Connection
    about: ImportContext
    policy: Policy
    root: int
    known: set[str]
    _batch: list[ImportedMessage] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _last: ImportedMessage | None = None

    def write(self, sheet: FilePlan, source: TalkSource, counts: TalkCounts) -> Generator[None, None, None]:
        """Write what was said in a file. Each step leaves what a commit may keep. Raises OSError."""
        self._seen.clear()
        record: int | None = None
        for number, said in enumerate(source.read(), 1):
            if said.kind == "kept" and (message := self._message(sheet, source, said, counts)) is not None:
                self._batch.append(message)
            if number % _STEP == 0:
                record = self._flush(sheet, source, record)
                yield
        self._flush(sheet, source, record)

    def _message(
        self, sheet: FilePlan, source: TalkSource, said: TalkRecord, counts: TalkCounts
    ) -> ImportedMessage | None:
        """Make the message of a record; None for one that is there, or tells a secret."""
        text = sanitize(said.text, LONGEST_SAID)
        at = min(said.at or sheet.modified, self.about.now).isoformat()
        mark = _mark(source.form.name, at, said.speaker_id or said.speaker, text)
        self._seen[mark] += 1
        mark = f"{mark}-{self._seen[mark]}"
        if mark in self.known:
            counts.known += 1
            return None
        if (kind := find_secret(text)) is not None:
            counts.secrets[kind] += 1
            return None
        self.known.add(mark)
        counts.new += 1
        is_owner = fold(said.speaker) in self.about.owner_names
        trust: Trust = "forward" if said.quoted else "owner" if is_owner else "model"
        if not source.form.with_assistant:
            text = speaker_label(said.speaker, "owner" if is_owner else "guest", said.speaker_id or said.speaker) + text
        name = f"{sheet.path}\0{said.conversation}" if not said.conversation else said.conversation
        session = name_imported_session(source.form.name, name)
        return ImportedMessage(session, said.role, text, at, 0, trust, OWNER_SCOPE, mark)

    def _flush(self, sheet: FilePlan, source: TalkSource, record: int | None) -> int | None:
        """Write what has come together; returns the record of the talk, made with its first messages."""
        if not self._batch:
            return record
        if record is None:
            record = self._find_record(sheet) or self._add_record(sheet, source)
        turn = imported_talk.reserve_turns(self.connection, len(self._batch)) - 1
        low, rows = turn + 1, list[ImportedMessage]()
        for message in self._batch:
            if not self._answers(message, low):
                turn += 1
            self._last = message._replace(turn=turn)
            rows.append(self._last)
        self._batch.clear()
        newest = imported_talk.add_messages(self.connection, rows)
        for session in {row.session for row in rows}:  # what was said elsewhere is not read for facts
            Imports.skip_reading(self.connection, session, newest)
        told = {"part_of": self.root, "path": sheet.path, "turns": [low, max(low, turn)]}
        Imports.note(self.connection, self.about.now, ACTOR, told, session=rows[-1].session, record=record)
        return record

    def _answers(self, message: ImportedMessage, low: int) -> bool:
        """Return whether a message is the reply to the one right before it, in the same batch."""
        last = self._last
        asked = last is not None and last.turn >= low and (last.session, last.role) == (message.session, "user")
        return asked and message.role == "assistant"

    def _find_record(self, sheet: FilePlan) -> int | None:
        """Find the record of a file of which a part is there, after a stop."""
        for part in Memory.history.list_decision(self.connection, self.root):
            if part.data.get("path") == sheet.path and part.record is not None:
                return part.record
        return None

    def _add_record(self, sheet: FilePlan, source: TalkSource) -> int | None:
        """Note in memory that there is this talk, which all of its messages come and go with."""
        summary = source.summary
        last = summary.last or sheet.modified
        days = sorted({local_day(at, self.about.zone) for at in (summary.first or last, last)})
        names = [name for name, _ in summary.speakers.most_common(_NAMED)]
        who = ", ".join(names) + (" …" if len(summary.speakers) > _NAMED else "")
        text = f"Talk imported from {source.form.label} ({sheet.path}): {who}; {summary.messages} messages"
        candidate = Candidate(
            "episode", OWNER_SCOPE, f"{text}, {' – '.join(days)}", "moment", "import", "model", importance=_IMPORTANCE
        )
        said_at = min(last, self.about.now)
        occasion = AdmitContext(self.about.now, days[-1], ACTOR, policy=self.policy, said_at=said_at, part_of=self.root)
        return Memory.remember(self.connection, candidate, occasion).record


def _mark(form: str, at: str, speaker: str, text: str) -> str:
    """Return what tells a message from others, without its words."""
    said = "\0".join((form, at, speaker, text))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
