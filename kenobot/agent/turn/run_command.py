"""Carry out a command and answer it, in one transaction."""

from dataclasses import replace

from kenobot.agent.commands.command import CommandAnswer, CommandCall
from kenobot.agent.turn.turn_data import TurnData
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.agent.turn.turn_signals import TurnSignals
from kenobot.core.i18n import Language
from kenobot.gateway.bot_messages import render_answer, render_file, sends_files
from kenobot.gateway.buttons import Pressers, add_buttons, for_owner
from kenobot.ports.channel import Capabilities, capabilities_of
from kenobot.ports.messages import Outbound
from kenobot.ports.signals import MESSAGE_OUT
from kenobot.storage import inbox_rows, outbox
from kenobot.storage.connection import Connection


async def run_command(services: TurnServices, signals: TurnSignals, data: TurnData) -> None:
    """Carry out the command of a turn, commit it with its answer, and send that."""
    assert data.command is not None
    pending, (command, arguments) = data.pending, data.command
    principal = data.principal
    if command.owner_only and not pending.inbound.private:  # the answer is the owner's alone to see
        principal = services.access.principal(replace(pending.inbound, private=True))
    call = CommandCall(pending.inbound, principal, arguments, data.language, services.clock.now(), pending.id)
    if command.stores_argument:
        await services.embedding.prepare_statements([arguments])
    elif "memory" in command.changes:
        await services.embedding.rehearse()
    await services.prompt_service.sync_edits(pending.session)

    def write(connection: Connection) -> tuple[str, list[Outbound]]:
        inbox_rows.finish(connection, pending.id, data.attempt, "answered", call.at)
        answer, language = services.commands.run(connection, command, call)
        return answer.text, _enqueue(connection, services, data, call, answer, language)

    text, parts = await services.database.write(write)
    for follow in services.command_listeners:
        follow(command.changes)
    services.delivery.dispatch([*data.beside, *parts])
    services.mirror.mark_dirty()
    services.embedding.note_news()
    await signals.emit_in_chat(MESSAGE_OUT, pending, text=text)


def _enqueue(
    connection: Connection,
    services: TurnServices,
    data: TurnData,
    call: CommandCall,
    answer: CommandAnswer,
    language: Language,
) -> list[Outbound]:
    """Put an answer into the outbox, with its buttons where the channel has any."""
    if not answer.text:
        return []
    inbound = data.pending.inbound
    channel = services.channels.get(inbound.channel)
    abilities = Capabilities() if channel is None else capabilities_of(channel)
    if answer.file is not None and sends_files(services.channels, inbound.channel):
        parts = render_file(services.channels, inbound.channel, answer.file, answer.text, answer.text).parts
    else:
        lines = [] if answer.file is None else ["```", *answer.file.text.splitlines(), "```"]
        text = "\n".join([answer.text, *lines])
        parts = render_answer(services.channels, inbound.channel, text, language, services.answer_parts).parts
    assert data.command is not None
    command = data.command[0]
    is_secret = abilities.one_reader and not inbound.private and command.owner_only
    if abilities.buttons:
        rows = for_owner(answer.buttons) if is_secret else answer.buttons
        accounts = (inbound.user,) if answer.pressers is None else answer.pressers
        pressers = Pressers(inbound.channel, inbound.chat, accounts, owner=answer.pressers is not None)
        parts = add_buttons(connection, parts, rows, pressers, language, call.at)
    replaced = inbound.target if inbound.kind == "action" and abilities.edits else ""
    to = data.destination(replaces=replaced)
    is_for_others = command.openly or answer.pressers is not None
    if is_secret or (abilities.one_reader and not inbound.private and not is_for_others):
        to = replace(to, reader=inbound.user, secret=is_secret)
    quiet = [replace(part, has_previews=False) for part in parts]  # what is shown is not opened thereby
    return outbox.enqueue(connection, to, quiet, call.at)
