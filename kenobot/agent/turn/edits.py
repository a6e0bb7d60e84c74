"""Have an edit of a message count: the last one is answered anew, of an earlier one the conversation tells.

What the old words taught memory is taken back as a whole, unless something built on it since; of an earlier message the
new words take its place at once, and the person reads what changed.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.agent.commands.command import Command, CommandCall, CommandContext, one_line
from kenobot.agent.prompt.speakers import message_text
from kenobot.cognitive.memory import AdmitContext, Memory
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.memory_changes import UndoError
from kenobot.ports.records import Record
from kenobot.ports.turns import EditedWords
from kenobot.storage import approvals, conversation, edits, tasks
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.edits import EditedTurn
from kenobot.storage.inbox_rows import PendingMessage, join_message

_log = logging.getLogger(__name__)

_NOTE = "[edited an earlier message, which reads now:]"
_BIRTHS = ("created", "replaced")
_LATEST = 5000  # memories of a scope among which those of a message are looked for


@dataclass(frozen=True, slots=True)
class TakenEdit:
    """Plan what is to be done of an edit.

    pending: the message to answer in place of what was edited; None for none. renews: the row of the answer there.
    command: what answers it, where no model does.
    """

    pending: PendingMessage | None = None
    renews: int | None = None
    command: Command | None = None


class Edits:
    """Take edits in."""

    def __init__(self, database: Database, clock: Clock, zone: ZoneInfo) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone

    async def take_in(self, edit: PendingMessage, principal: Principal) -> TakenEdit:
        """Take an edit in; one of what is not known is a message like any other. Raises StoreError."""
        at = self._clock.now()

        def work(connection: Connection) -> TakenEdit:
            turn = edits.find_edited_turn(connection, edit)
            if turn is None:
                return TakenEdit(edit)
            if not turn.is_changed:
                edits.end_without_answer(connection, edit.id, at)
                return TakenEdit()
            approvals.withdraw_calls(connection, edit.session, at, min(turn.rows))  # which followed from the old words
            if not turn.is_last:
                follow = Command((), lambda *given: self._follow(edit, *given), stores_argument=True, openly=True)
                return TakenEdit(edit, command=follow)
            # No later than the new words were said: what they repeat is believed again.
            when = min(at, edit.inbound.sent_at)
            for record in self._find_taught(connection, edit, turn, principal):
                self._take_back(connection, edit, record, principal, when)
            edits.take_over(connection, edit, turn)
            tasks.cancel_replaced(connection, turn.rows, at)
            return TakenEdit(_renew_message(edit, turn), turn.answer)

        return await self._database.write(work)

    def _follow(self, edit: PendingMessage, connection: Connection, call: CommandCall, context: CommandContext) -> str:
        """Change memory and the conversation after the edit of an earlier message; returns what the person reads."""
        from kenobot.cognitive.memory import Telling

        turn = edits.find_edited_turn(connection, edit)
        assert turn is not None
        principal, when = call.principal, min(call.at, edit.inbound.sent_at)
        changed = Telling.follow_edit(
            connection,
            EditedWords(turn.before, turn.after, Telling.build_turn(edit, principal)),
            list(self._find_taught(connection, edit, turn, principal)),
            lambda record: self._take_back(connection, edit, record, principal, when),
            session=edit.session,
            at=call.at,
            zone=self._zone,
            nearness=context.admit_context(call).nearness,
        )
        told = _tell(changed.gone, changed.learned, call.language)
        edits.note_edit(connection, edit, turn)
        conversation.append_turn(connection, _describe_edit(edit, principal, call.at, told))
        return told

    def _find_taught(
        self, connection: Connection, edit: PendingMessage, turn: EditedTurn, principal: Principal
    ) -> Iterator[Record]:
        """Yield what the turn of the old words alone made of memory, the newest first."""
        reach = principal.read_scopes if principal.role == "owner" else (principal.write_scope,)
        lately = Memory.records.list_lately_learned(connection, edit.session)
        for scope in reach:
            lately += Memory.records.list_told_by(connection, scope, turn.rows, _LATEST)
        for record in Memory.records.get_all(connection, list(dict.fromkeys(lately)), reach).values():
            sources = set(record.source_message_ids)
            if sources and sources <= set(turn.rows) and record.status == "active":
                yield record

    def _take_back(
        self, connection: Connection, edit: PendingMessage, record: Record, principal: Principal, at: datetime
    ) -> bool:
        """Undo what made a memory; returns whether that could be."""
        reach = principal.read_scopes if principal.role == "owner" else (principal.write_scope,)
        day = at.astimezone(self._zone).date().isoformat()
        act = AdmitContext(at, day, principal.role, edit.session, evidence=edit.id)
        births = [each for each in Memory.history.list_events(connection, record.id) if each.kind in _BIRTHS]
        if not births:
            return False
        try:
            Memory.undo(
                connection, births[-1].decision_id, reach, act, "" if edit.inbound.private else edit.inbound.user
            )
        except UndoError as error:
            _log.info("what an edited message taught stays: %s", error)
            return False
        return True


def _tell(gone: tuple[str, ...], learned: tuple[str, ...], language: Language) -> str:
    """Tell what memory has in place of what; "" where it says the same as before."""
    old = "; ".join(one_line(each).rstrip(".") for each in gone if each not in learned)
    new = "; ".join(one_line(each).rstrip(".") for each in learned if each not in gone)
    if not new:
        return texts.EDIT_FORGOT(language, what=old) if old else ""
    instead = f" {texts.EDIT_INSTEAD(language, what=old)}" if old else ""
    return f"{texts.EDIT_LEARNED(language, what=new)}{instead}"


def _renew_message(edit: PendingMessage, turn: EditedTurn) -> PendingMessage:
    whole = join_message(turn.parts).inbound if len(turn.parts) > 1 else turn.parts[0].inbound
    inbound = replace(edit.inbound, text=whole.text, attachments=whole.attachments)
    return replace(edit, inbound=inbound, fragments=turn.parts)


def _describe_edit(edit: PendingMessage, principal: Principal, at: datetime, told: str) -> conversation.FinishedTurn:
    """Return what the conversation tells of an edit of an earlier message."""
    inbound = edit.inbound
    text = message_text(replace(inbound, text=f"{_NOTE}\n{inbound.text}"), principal.role)
    author = "" if inbound.private else inbound.user
    return conversation.FinishedTurn(
        edit.session, edit.id, at, text, told, principal.trust, principal.write_scope, author=author
    )
