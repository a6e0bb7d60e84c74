"""Follow an order about reminders in plain words."""

from dataclasses import replace

from kenobot.agent.commands import reminders
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext
from kenobot.agent.commands.reminder_orders import match_order
from kenobot.core import texts
from kenobot.storage.connection import Connection


def obey(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """Follow an order in plain words."""
    order = match_order(call.arguments, reminders.read_local_now(connection, call, context))
    if order is None:  # its words tell no time where the owner is now
        return texts.REMIND_HOW(call.language)
    call = replace(call, language=order.language)
    if order.kind == "add":
        return reminders.set_reminder(connection, order, call, context)
    if order.kind == "list":
        return reminders.list_reminders(connection, replace(call, arguments=""), context)
    from kenobot.agent.commands import reminder_changes  # noqa: PLC0415 - few orders need it

    return reminder_changes.change(connection, order, call, context)
