"""Know which messages their senders stop or edit before they are answered."""

from typing import Literal

from kenobot.agent.stop_words import ends, stop_word
from kenobot.ports.messages import Inbound
from kenobot.storage.edits import changes
from kenobot.storage.inbox_rows import PendingMessage

Interruption = Literal["stopped", "edited"]


def is_stop(inbound: Inbound) -> bool:
    """Detect a message that stops the turn under way in its chat."""
    return not inbound.forwarded and bool(stop_word(inbound.text))


class Interruptions:
    """The stops and edits that came in and have not had their own turn yet."""

    def __init__(self) -> None:
        self._stops: dict[str, PendingMessage] = {}  # bounded: chats with messages: at most IntakePolicy.backlog; turn
        # bounded: edits that wait for their turn: at most IntakePolicy.backlog; turn
        self._edits: dict[tuple[str, str, str], PendingMessage] = {}

    def add_stop(self, stop: PendingMessage) -> None:
        """Note that a message stops the earlier ones of its sender."""
        self._stops[stop.session] = stop

    def add_edit(self, edit: PendingMessage) -> None:
        """Note that a message is answered in place of the one that it edits."""
        self._edits[_identify_target(edit)] = edit

    def begin_turn(self, pending: PendingMessage) -> None:
        """Forget a stop or an edit whose own turn begins, and a stop before it: what they end has ended."""
        stop, edit = self._stops.get(pending.session), self._edits.get(_identify_target(pending))
        if stop is not None and stop.id <= pending.id:
            del self._stops[pending.session]
        if edit is not None and edit.id == pending.id:
            del self._edits[_identify_target(pending)]

    def find(self, pending: PendingMessage) -> Interruption | None:
        """Return how a message was interrupted by a later one of its sender; None for not at all."""
        stop = self._stops.get(pending.session)
        if stop is not None and pending.id < stop.id and ends(stop.inbound, pending.inbound):
            return "stopped"
        return "edited" if self._edits and any(map(self._is_edited, pending.fragments or (pending,))) else None

    def _is_edited(self, fragment: PendingMessage) -> bool:
        inbound = fragment.inbound
        for name in (inbound.platform_id, *(one.item for one in inbound.attachments if one.item)):
            edit = self._edits.get((fragment.session, inbound.user, name))
            if edit is not None and edit.inbound.target and fragment.id < edit.id and changes(edit, fragment):
                return True
        return False


def _identify_target(edit: PendingMessage) -> tuple[str, str, str]:
    """Return the chat, sender and platform's id of the message that an edit changes."""
    return edit.session, edit.inbound.user, edit.inbound.target
