"""The list of all chat commands."""

from kenobot.agent.commands.base import CommandContext
from kenobot.agent.commands.forget import ForgetCommand, MemoryPhraseMatcher
from kenobot.agent.commands.memory import MemoryOverviewCommand, RememberCommand, UndoCommand, WhyCommand
from kenobot.agent.commands.missing_files import MissingFilesCommand
from kenobot.agent.commands.people import PairCommand, PeopleCommand
from kenobot.agent.commands.proposals import ApproveCommand, ProposalsCommand, RejectCommand
from kenobot.agent.commands.registry import CommandRegistry
from kenobot.gateway.access import Access


def build_commands(context: CommandContext, access: Access) -> CommandRegistry:
    """Build all commands and the matcher of plain words."""
    people = (PairCommand(context, access), PeopleCommand(context))
    memory = (RememberCommand, ForgetCommand, WhyCommand, MemoryOverviewCommand, UndoCommand, MissingFilesCommand)
    proposals = (ProposalsCommand, ApproveCommand, RejectCommand)
    commands = (*people, *(command(context) for command in (*memory, *proposals)))
    return CommandRegistry(commands, MemoryPhraseMatcher(context))
