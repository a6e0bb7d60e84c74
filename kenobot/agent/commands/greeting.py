"""`/start` and `/new`: greet a person, and begin a new conversation."""

from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext
from kenobot.cognitive.memory import Telling
from kenobot.core import texts
from kenobot.gateway.buttons import Choice
from kenobot.ports.names import sanitize_name
from kenobot.storage import approvals, prompt_prefix
from kenobot.storage.connection import Connection


def greet(_: Connection, call: CommandCall, context: CommandContext) -> CommandAnswer:
    """`/start`: say who this is, and what it can do."""
    name = sanitize_name(call.inbound.user_name).split(" ")[0]
    greeting = texts.START_NAMED(call.language, name=name) if name else texts.START_UNNAMED(call.language)
    text = f"{greeting} {texts.START(call.language, bot=context.bot_name)}"
    return CommandAnswer(text, ((Choice(texts.BUTTON_HELP(call.language), "help"),),))


def begin_anew(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """`/new`: begin a new conversation. What was said before is shown to the model no more; memory stays.

    In a group a guest ends what they alone wrote; what others wrote is the owner's to end, by the button too.
    """
    if call.author and not prompt_prefix.is_only_author(connection, call.inbound.session, call.author):
        anew = Choice(texts.BUTTON_NEW(call.language), "new")
        return CommandAnswer(texts.NEW_OTHERS(call.language), ((anew,),), pressers=())
    approvals.withdraw_calls(connection, call.inbound.session, call.at)
    Telling.begin_anew(connection, call.inbound.session, call.at)
    return texts.NEW_BEGUN(call.language)
