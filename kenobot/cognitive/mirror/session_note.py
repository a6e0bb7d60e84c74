"""Write `memory/SESSION.md`: what is going on in the owner's own chats, for them to read, also while the bot is down.

It shows working memory, what is open, and the summary of what was said earlier. It is never read: what a person changes
in it is put into the archive, and the file written anew.
"""

import asyncio
import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.cognitive.beliefs.lifecycle import find_resolution_day
from kenobot.cognitive.compact import summary_rows
from kenobot.cognitive.mirror.paths import ARCHIVE
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.store import events
from kenobot.core.redaction import Redactor
from kenobot.identity import amend
from kenobot.identity.amend import AmendError
from kenobot.language import sentence_content
from kenobot.language.summary.digest import KEY, render_digest
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.disk import FileStamp, peek
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.state import read_state, write_state

log = logging.getLogger(__name__)

PATH = "SESSION.md"
_HEAD = """# What is going on

_Written by KenoBot for you to read, the chats where something changed last first. Changes made here are not read._
"""
_NOTHING = "\nNothing is under way.\n"
_CHATS = 40  # records of chats that are shown
_OPEN = 20  # open things of each chat
_STATE = "session-note"
_BLOT = Redactor()


@dataclass(frozen=True, slots=True)
class _Basis:
    """State that the file was made of.

    event: the newest that changed a record; owners: whose each chat is, by its scope.
    """

    event: int
    today: date
    owners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Told:
    """Part of the file about a chat's summary: what is still open in it, and all of it."""

    open: tuple[str, ...]
    earlier: str


class SessionNote:
    """Keeps the file below `root` in step. Call `sync_out` after commits."""

    def __init__(self, root: Path, database: Database, clock: Clock, zone: ZoneInfo) -> None:
        self._root = root.resolve()
        self._database = database
        self._clock = clock
        self._zone = zone
        self._writing = asyncio.Lock()  # of two rounds at once, one would take the other for a person
        self._basis: _Basis | None = None
        self._mark: FileStamp | None = None
        self._told: dict[Record, _Told] = {}  # bounded: 40 summaries; turn
        self._scopes: dict[str, tuple[int, str]] = {}  # bounded: 40 chats; turn

    async def sync_out(self) -> None:
        """Write the file if it does not say what is going on now. Raises StoreError; the disk's own errors wait."""
        async with self._writing:
            await self._write()

    def is_due(self, connection: Connection) -> bool:
        """Tell whether the file may have to be written anew. Looks at the disk."""
        return not self._is_known(connection, events.last_record_event(connection), self._today(), self._peek())

    async def _write(self) -> None:
        today, path, mark = self._today(), self._root / PATH, self._peek()
        wanted = await self._database.read(lambda connection: self._news(connection, today, mark))
        if wanted is None:
            return
        text, before, basis = wanted
        try:
            if not text or await asyncio.to_thread(amend.read_text, path) == text:
                self._basis, self._mark = basis, mark
                return
            # Noted first: a crash before or after the writing leaves a file that is known as our own.
            known = f"{before.rpartition(' ')[2]} {_digest(text)}".strip()
            await self._database.write_soon(lambda connection: write_state(connection, _STATE, known))
            self._mark = await asyncio.to_thread(_put, path, text, before.split(), self._clock.now())
            self._basis = basis
        except AmendError as error:  # somebody changes it just now, or the disk fails: the next round sees to it
            log.warning("%s", error)

    def _news(self, connection: Connection, today: date, mark: FileStamp | None) -> tuple[str, str, _Basis] | None:
        """Render the file anew, with its basis; None when it is made of that and stands there already.

        Most turns change nothing that it tells, and several rounds of writing follow each.
        """
        event = events.last_record_event(connection)
        if self._is_known(connection, event, today, mark):
            return None
        under_way = summary_rows.working_notes_by_chat(connection, ALL_SCOPES, _CHATS)
        owners = self._owners(connection, under_way)
        chats = {chat: under_way[chat] for chat, owner in owners.items() if owner == OWNER_SCOPE}
        text, before = self._render(connection, chats, today)
        return text, before, _Basis(event, today, owners)

    def _is_known(self, connection: Connection, event: int, today: date, mark: FileStamp | None) -> bool:
        """Tell whether the file stands there and is made of just that."""
        known = self._basis
        if known is None or (known.today, self._mark) != (today, mark):
            return False
        if known.event != event:
            if summary_rows.has_news_of_chats(connection, known.event):
                return False
            self._basis = known = replace(known, event=event)
        return self._owners(connection, known.owners) == known.owners

    def _owners(self, connection: Connection, chats: Iterable[str]) -> dict[str, str]:
        """Read whose each chat is; anew only of those where something was said since."""
        newest, known = summary_rows.last_message_of_each(connection, chats), self._scopes
        self._scopes = {
            chat: known[chat]
            if chat in known and known[chat][0] == message
            else (message, summary_rows.last_scope_of(connection, chat))
            for chat, message in newest.items()
        }
        return {chat: scope for chat, (_, scope) in self._scopes.items()}

    def _today(self) -> date:
        return self._clock.now().astimezone(self._zone).date()

    def _peek(self) -> FileStamp | None:
        return peek(f"{self._root}/{PATH}")

    def _render(self, connection: Connection, chats: Mapping[str, Sequence[Record]], today: date) -> tuple[str, str]:
        """Render the file, "" when there is nothing to tell; and read what tells the one that was written last."""
        before = read_state(connection, _STATE) or ""
        mine = _list_lines(_open(connection, OWNER_SCOPE, today, self._zone))
        sections = [f"\n## Open\n\n{mine}\n"] if mine else []
        summaries = [record for records in chats.values() for record in records if record.key == KEY]
        self._told = {record: self._told.get(record) or _tell(connection, record, self._zone) for record in summaries}
        sections += [self._chat(connection, scope, records, today) for scope, records in chats.items()]
        if not sections:
            return (_HEAD + _NOTHING if before else "", before)
        return _BLOT("".join([_HEAD, *sections])), before

    def _chat(self, connection: Connection, scope: str, records: Sequence[Record], today: date) -> str:
        latest = max(record.updated for record in records)
        parts = [f"\n## {scope.removeprefix('chat:')} — {_when(latest, self._zone)}\n"]
        pad = next((record for record in records if record.key != KEY and record.text.strip()), None)
        if pad is not None:
            since = _when(pad.updated, self._zone)
            parts.append(f"\n### Working memory (updated {since})\n\n{render_record(pad, indent='')}\n")
        summary = next((record for record in records if record.key == KEY), None)
        told = self._told[summary] if summary is not None else _Told((), "")
        left = _list_lines([*_open(connection, scope, today, self._zone), *told.open])
        if left:
            parts.append(f"\n### Open\n\n{left}\n")
        return "".join([*parts, told.earlier])


def _tell(connection: Connection, summary: Record, zone: ZoneInfo) -> _Told:
    digest = summary_rows.load_digest(connection, summary)
    left = tuple(line.text for line in digest.lines if sentence_content.is_open(line.text))
    shown = render_digest(digest)
    upto = f" (up to {_when(digest.last_message_at, zone)})" if digest.last_message_at else ""
    return _Told(left, f"\n### Earlier in this conversation{upto}\n\n{shown}\n" if shown else "")


def _open(connection: Connection, scope: str, today: date, zone: ZoneInfo) -> list[str]:
    """Render what is remembered of a scope and still to be done or known."""
    found = summary_rows.open_items(connection, scope, _OPEN)
    kept = (record for record in found if record.form == "question" or find_resolution_day(record, today, zone) is None)
    return [render_record(record) for record in kept]


def _list_lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in dict.fromkeys(texts))


def _when(moment: str, zone: ZoneInfo) -> str:
    return f"{datetime.fromisoformat(moment).astimezone(zone):%Y-%m-%d %H:%M}"


def _put(path: Path, text: str, ours: Sequence[str], now: datetime) -> FileStamp | None:
    """Write the file; what a person wrote into it goes to the archive first. Raises AmendError.

    Its mark, if what stands there afterwards is what was written.
    """
    held = amend.read_text(path)
    if held and _digest(held) not in ours:
        try:
            archive = path.parent / ARCHIVE
            archive.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.rename(archive / f"SESSION-{now:%Y%m%dT%H%M%S%f}.md")
        except OSError as error:
            raise AmendError("identity.unmovable", path=PATH, reason=error) from error
        held = ""
    amend.replace_text(path, held, text)
    mark = peek(str(path))
    return mark if amend.read_text(path) == text else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
