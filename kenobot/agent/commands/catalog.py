"""The list of all chat commands."""

from collections.abc import Callable

from kenobot.agent.commands.base import CommandContext
from kenobot.agent.commands.forget import ForgetCommand, MemoryPhraseMatcher
from kenobot.agent.commands.memory import MemoryOverviewCommand, RememberCommand, UndoCommand, WhyCommand
from kenobot.agent.commands.missing_files import MissingFilesCommand
from kenobot.agent.commands.people import PairCommand, PeopleCommand
from kenobot.agent.commands.proposals import ApproveCommand, ProposalsCommand, RejectCommand
from kenobot.agent.commands.registry import Command, CommandRegistry
from kenobot.gateway.access import Access


def build_commands(
    context: CommandContext, access: Access, people_changed: Callable[[], None], decided: Callable[[], None]
) -> CommandRegistry:
    """Build all commands and the matcher of plain words. decided: called when the owner has approved a proposal."""
    memory = (RememberCommand, ForgetCommand, WhyCommand, MemoryOverviewCommand, UndoCommand, MissingFilesCommand)
    proposals = (ProposalsCommand, ApproveCommand, RejectCommand)
    commands: list[Command] = [
        PairCommand(context, access, people_changed),
        PeopleCommand(context, people_changed),
        *(command(context) for command in memory),
        *(command(context, decided) for command in proposals),
    ]
    return CommandRegistry(commands, MemoryPhraseMatcher(context))
