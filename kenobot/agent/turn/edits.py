"""Have an edit of a message count: the last one is answered anew, of an earlier one the conversation tells.

What the old words taught memory is taken back as a whole, unless something built on it since.
"""

import logging
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.agent.prompt.speakers import message_text
from kenobot.cognitive.control.undo import UndoError, undo
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, feedback
from kenobot.cognitive.store import records as store
from kenobot.ports.clock import Clock
from kenobot.ports.identity import Principal
from kenobot.storage import conversation, edits
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.edits import EditedTurn
from kenobot.storage.inbox import PendingMessage, joined_message

_log = logging.getLogger(__name__)

_NOTE = "[edited an earlier message, which reads now:]"
_BIRTHS = ("created", "replaced")


class Edits:
    """Take edits in."""

    def __init__(self, database: Database, clock: Clock, zone: ZoneInfo) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone

    async def take_in(self, edit: PendingMessage, principal: Principal) -> tuple[PendingMessage | None, int | None]:
        """Return the message to answer in place of what was edited, None for none, and the row of the answer there.

        An edit of what is not known is a message like any other. Raises StoreError.
        """
        at = self._clock.now()

        def work(connection: Connection) -> tuple[PendingMessage | None, int | None]:
            turn = edits.find_edited_turn(connection, edit)
            if turn is None:
                return edit, None
            if not turn.is_changed:
                edits.end_without_answer(connection, edit.id, at)
                return None, None
            # No later than the new words were said: what they repeat is believed again.
            self._take_back(connection, edit, turn, principal, min(at, edit.inbound.sent_at))
            if turn.is_last:
                edits.take_over(connection, edit, turn)
                return _renewed(edit, turn), turn.answer
            edits.note_edit(connection, edit, turn)
            conversation.append_turn(connection, _noted(edit, principal, at))
            edits.end_without_answer(connection, edit.id, at)
            return None, None

        return await self._database.write(work)

    def _take_back(
        self, connection: Connection, edit: PendingMessage, turn: EditedTurn, principal: Principal, at: datetime
    ) -> None:
        """Undo what the turn of the old words made of memory, the newest first."""
        reach = principal.read_scopes if principal.role == "owner" else (principal.write_scope,)
        lately = [number for number, _ in feedback.recently_learned(connection, edit.session)]
        day = at.astimezone(self._zone).date().isoformat()
        act = AdmitContext(at, day, principal.role, edit.session, evidence=edit.id)
        for record in store.by_ids(connection, lately, reach).values():
            if not record.source_message_ids or not set(record.source_message_ids) <= set(turn.rows):
                continue
            births = [each for each in events.record_events(connection, record.id) if each.kind in _BIRTHS]
            if not births or record.status != "active":
                continue
            try:
                undo(connection, births[-1].decision_id, reach, act, "" if edit.inbound.private else edit.inbound.user)
            except UndoError as error:
                _log.info("what an edited message taught stays: %s", error)


def _renewed(edit: PendingMessage, turn: EditedTurn) -> PendingMessage:
    whole = joined_message(turn.parts).inbound if len(turn.parts) > 1 else turn.parts[0].inbound
    inbound = replace(edit.inbound, text=whole.text, attachments=whole.attachments)
    return replace(edit, inbound=inbound, fragments=turn.parts)


def _noted(edit: PendingMessage, principal: Principal, at: datetime) -> conversation.FinishedTurn:
    """Return what the conversation tells of an edit that is not answered."""
    inbound = edit.inbound
    text = message_text(replace(inbound, text=f"{_NOTE}\n{inbound.text}"), principal.role)
    author = "" if inbound.private else inbound.user
    return conversation.FinishedTurn(
        edit.session, edit.id, at, text, "", principal.trust, principal.write_scope, author=author
    )
