"""Tell below a reply what the guard held back of it, and why, with a button or words that show it.

What was held back is stored in the transaction that stores the reply, so that it can be shown after a restart.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from kenobot.agent.commands.held_back import KIND, HeldPayload
from kenobot.agent.turn.turn_data import TurnData
from kenobot.core import texts
from kenobot.gateway.buttons import Choice, Pressers, add_buttons
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.messages import MessagePart
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection

_SHOWN_WITHIN = timedelta(days=30)  # as long as a button can be pressed


def note_in_reply(data: TurnData, channel: Channel | None) -> str:
    """Word what was held back and why, for a channel without buttons; "" elsewhere, and where nothing was."""
    if not data.held_addresses or _has_buttons(channel):
        return ""
    return f"{texts.HELD_NOTE(data.language)} {texts.HELD_SAY(data.language)}"


def add_note(
    connection: Connection, data: TurnData, parts: Sequence[MessagePart], channel: Channel | None, at: datetime
) -> Sequence[MessagePart]:
    """Store what was held back, and put the note with its button behind a reply; the button takes only its place.

    Where the channel has no buttons, the note stands in the reply.
    """
    if not data.held_addresses:
        return parts
    to, pending = data.pending.inbound, data.pending
    newest = message_rows.newest_message_id(connection, pending.session)
    payload = asdict(HeldPayload(list(data.held_addresses), pending.id, newest))
    number = approvals.add_beside(connection, Approval(pending.session, to.user, KIND, payload, at + _SHOWN_WITHIN))
    if channel is None or not _has_buttons(channel):
        return parts
    note = channel.render(texts.HELD_NOTE(data.language))
    people = Pressers(to.channel, to.chat, (to.user,) if to.private else (), owner=True)
    show = Choice(texts.BUTTON_SHOW_HELD(data.language), "show_held", str(number))
    return [*parts, *add_buttons(connection, note, ((show,),), people, data.language, at)]


def without_previews(data: TurnData, parts: Sequence[MessagePart]) -> Sequence[MessagePart]:
    """Keep platforms from fetching the addresses of a reply that was made while words of others were on show."""
    if data.context is None or not data.context.shows_untrusted:
        return parts
    return [replace(part, has_previews=False) for part in parts]


def _has_buttons(channel: Channel | None) -> bool:
    return channel is not None and capabilities_of(channel).buttons
