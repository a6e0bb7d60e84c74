"""`/stop`: say what came of it. The loop breaks off the turn under way as soon as the word is stored."""

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.storage import inbox
from kenobot.storage.connection import Connection


def tell_stopped(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Say whether anything was broken off."""
    said = call.inbound
    stopped = inbox.was_stopped(connection, said.session, call.inbox_id, "" if said.private else said.user)
    return (texts.STOPPED if stopped else texts.NOTHING_TO_STOP)(call.language)
