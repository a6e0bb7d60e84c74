"""Fetch the attachments of messages and read what is in them, from the arrival of a message on and before its turn.

What came of each attachment is on disk, so a restart goes on where the last run was.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from kenobot.agent.media.documents import document_format, read_document
from kenobot.agent.media.message_words import AttachedMedia, describe
from kenobot.agent.media.problems import Unreadable
from kenobot.core.containment import contain
from kenobot.core.retry import Backoff
from kenobot.ledger.ledger import ModelCall
from kenobot.ledger.transcription import LedgerTranscriber
from kenobot.ports.channel import Channel, FetchesMedia
from kenobot.ports.clock import Clock
from kenobot.ports.errors import AnswerLost, OverBudget, Rejected, RemoteError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment
from kenobot.ports.transcriber import Recording, UnplayableRecording
from kenobot.providers import pictures
from kenobot.storage import attachments as store
from kenobot.storage.attachments import AttachmentRow
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.media_files import MediaFolder, TooLarge

ResultT = TypeVar("ResultT")

_log = logging.getLogger(__name__)

_AT_ONCE = 4  # attachments that are fetched or read at the same time, over all chats
_TRIES = 4
_RETRY = Backoff(1.0, 15.0, longest_asked=30.0)
_MEGABYTE = 1_000_000
_HEAD = 16  # bytes by which a picture is told
_SOUND = ("voice", "audio", "video")


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """Limits of attachments. most_mb: size of one. document_chars: that the documents of one message may take in its
    prompt. fetch_seconds, document_seconds: to fetch and to read one. keep_days, keep_mb: of pictures that the
    conversation shows, and of all files.
    """

    most_mb: float = 20.0
    fetch_seconds: float = 60.0
    document_chars: int = 12_000
    document_seconds: float = 20.0
    keep_days: int = 90
    keep_mb: float = 2000.0


class MediaIntake:
    """Read the attachments of messages. transcriber: None for none."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        channels: Mapping[str, Channel],
        folder: MediaFolder,
        limits: MediaLimits,
        transcriber: LedgerTranscriber | None = None,
    ) -> None:
        self.limits = limits
        self._database = database
        self._clock = clock
        self._channels = channels
        self._folder = folder
        self._transcriber = transcriber
        self._slots = asyncio.Semaphore(_AT_ONCE)
        # bounded: messages with attachments that wait for their turn: at most IntakePolicy.backlog; turn
        self._under_way: dict[int, asyncio.Task[dict[int, AttachmentRow]]] = {}

    def begin(self, pending: PendingMessage) -> "asyncio.Task[dict[int, AttachmentRow]]":
        """Begin to read the attachments of a message, unless that is under way."""
        task = self._under_way.get(pending.id)
        if task is None:
            task = asyncio.create_task(self._read_all(pending), name=f"attachments of {pending.id}")
            self._under_way[pending.id] = task
            task.add_done_callback(partial(self._is_done, pending.id))
        return task

    async def wait_until_ready(self, pending: PendingMessage) -> AttachedMedia:
        """Return a message once its attachments have been read, in words. Raises StoreError."""
        rows = await asyncio.shield(self.begin(pending))
        return describe(pending.inbound, rows, self.limits.document_chars)

    async def stop(self) -> None:
        """Break off what is under way; the next start goes on with it."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def remove_unused(self) -> None:
        """Remove the files that nothing refers to; see `MediaFolder.remove_unused`."""
        since = (self._clock.now() - timedelta(days=self.limits.keep_days)).isoformat()
        used = await self._database.read(partial(store.digests_in_use, since=since))
        await asyncio.to_thread(self._folder.remove_unused, used, int(self.limits.keep_mb * _MEGABYTE))

    def _is_done(self, message: int, task: "asyncio.Task[dict[int, AttachmentRow]]") -> None:
        self._under_way.pop(message, None)
        if not task.cancelled():
            task.exception()  # retrieved, also where its turn has not come yet: that begins it anew

    async def _read_all(self, pending: PendingMessage) -> dict[int, AttachmentRow]:
        rows = await self._database.read(partial(store.load_rows, message=pending.id))
        attachments = enumerate(pending.inbound.attachments)
        read = [self._read_one(pending, each, rows.get(number, AttachmentRow(number))) for number, each in attachments]
        return {row.number: row for row in await asyncio.gather(*read)}

    async def _read_one(self, pending: PendingMessage, attachment: Attachment, row: AttachmentRow) -> AttachmentRow:
        if row.is_over or not attachment.handle:  # without a handle all of it stands in the message
            return row
        async with self._slots:
            try:
                with contain():
                    if row.state == "waiting":
                        row = await self._fetch(pending, attachment, row)
                    return await self._read(pending, attachment, row)
            except Unreadable as error:
                row = replace(row, state="failed", problem=error.problem)
            except StoreError:
                raise
            except Exception:
                _log.exception("an attachment of message %s could not be read", pending.id)
                row = replace(row, state="failed", problem="damaged")
            await self._save(pending, row)
            return row

    async def _save(self, pending: PendingMessage, row: AttachmentRow, call: ModelCall | None = None) -> None:
        def write(connection: Connection) -> None:
            store.save_row(connection, pending.id, row)
            if call is not None:
                call.settle(connection)

        await self._database.write(write)

    # ── the bytes ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _fetch(self, pending: PendingMessage, attachment: Attachment, row: AttachmentRow) -> AttachmentRow:
        """Store the bytes of an attachment. Raises Unreadable."""
        self._require_use(attachment)
        channel, most = self._channels.get(pending.inbound.channel), int(self.limits.most_mb * _MEGABYTE)
        if not isinstance(channel, FetchesMedia):
            raise Unreadable("not_fetched")
        if attachment.size is not None and attachment.size > most:
            raise Unreadable("too_large")
        try:
            async with asyncio.timeout(self.limits.fetch_seconds):
                digest = await self._retry(lambda: self._folder.save(channel.fetch(attachment), most), Rejected)
        except TooLarge:
            raise Unreadable("too_large") from None
        except (RemoteError, TimeoutError) as error:
            _log.warning("an attachment of message %s could not be fetched: %s", pending.id, error or "no answer")
            raise Unreadable("not_fetched") from None
        row = replace(row, state="stored", digest=digest)
        await self._save(pending, row)
        return row

    def _require_use(self, attachment: Attachment) -> None:
        """Raise Unreadable for a fetched attachment that could not be read."""
        if attachment.kind in _SOUND and self._transcriber is None:
            raise Unreadable("no_transcriber")
        is_picture = attachment.kind == "image" or attachment.mime in pictures.KINDS
        if not is_picture and attachment.kind not in _SOUND and not document_format(attachment.name, attachment.mime):
            raise Unreadable("unknown_kind")

    async def _retry(self, call: Callable[[], Awaitable[ResultT]], *final: type[RemoteError]) -> ResultT:
        """Return what a call gives, which is tried again after a pause. final: errors that end the tries."""
        failures = 0
        while True:
            try:
                return await call()
            except RemoteError as error:
                failures += 1
                if failures == _TRIES or isinstance(error, final):
                    raise
                await self._clock.sleep(_RETRY.pause(failures - 1, error))

    # ── what is in them ──────────────────────────────────────────────────────────────────────────────────────────

    async def _read(self, pending: PendingMessage, attachment: Attachment, row: AttachmentRow) -> AttachmentRow:
        """Read stored bytes. Raises Unreadable."""
        file = self._folder.file(row.digest)
        try:
            mime, size = await asyncio.to_thread(lambda: (pictures.picture_kind(_head(file)), file.stat().st_size))
        except OSError:
            raise Unreadable("not_fetched") from None
        call: ModelCall | None = None
        if mime:
            if size > pictures.MOST_BYTES:
                raise Unreadable("large_picture")
            row = replace(row, state="done", mime=mime)
        elif attachment.kind in _SOUND:
            text, call = await self._transcribe(pending, attachment, row)
            row = replace(row, state="done", text=text, problem="" if text else "no_words")
        elif attachment.kind == "image" or not (kind := document_format(attachment.name, attachment.mime)):
            raise Unreadable("unknown_kind")
        else:
            limits, sent_at = self.limits, pending.inbound.sent_at
            text = await read_document(file, kind, limits.document_chars, limits.document_seconds, sent_at)
            if not text:
                raise Unreadable("no_text")
            row = replace(row, state="done", text=text)
        await self._save(pending, row, call)
        return row

    async def _transcribe(
        self, pending: PendingMessage, attachment: Attachment, row: AttachmentRow
    ) -> tuple[str, ModelCall]:
        """Return what is said in a recording, with its call. Raises Unreadable."""
        if self._transcriber is None:
            raise Unreadable("no_transcriber")
        recording = Recording(self._folder.file(row.digest), attachment.mime, attachment.seconds)
        transcriber = self._transcriber
        try:
            transcript, call = await self._retry(
                lambda: transcriber.transcribe(recording, pending.session, pending.id), Rejected, AnswerLost
            )
        except OverBudget:
            raise Unreadable("over_budget") from None
        except RemoteError as error:
            _log.warning("a recording of message %s was not written down: %s", pending.id, error)
            raise Unreadable("damaged" if isinstance(error, UnplayableRecording) else "not_heard") from None
        return transcript.text.strip(), call


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(_HEAD)
