"""`/stop`: say what came of it. The loop breaks off the turn under way as soon as the word is stored."""

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.storage import approvals, inbox_rows
from kenobot.storage.connection import Connection


def tell_stopped(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Say whether anything was broken off. A tool call that waits for a yes is not run any more."""
    said = call.inbound
    author = "" if said.private else said.user
    stopped = inbox_rows.was_stopped(connection, said.session, call.inbox_id, author)
    if approvals.withdraw_calls(connection, said.session, call.at, account=author) and not stopped:
        return texts.TOOL_WITHDRAWN(call.language)
    return (texts.STOPPED if stopped else texts.NOTHING_TO_STOP)(call.language)
