"""Every command that can be given in chat."""

from collections.abc import Callable

from kenobot.agent.commands.forget import ForgetCommand, MemoryPhraseMatcher
from kenobot.agent.commands.memory import MemoryOverviewCommand, RememberCommand, UndoCommand, WhyCommand
from kenobot.agent.commands.memory_base import MemoryCommandContext
from kenobot.agent.commands.missing_files import MissingFilesCommand
from kenobot.agent.commands.people import PairCommand, PeopleCommand
from kenobot.agent.commands.proposals import ApproveCommand, ProposalsCommand, RejectCommand
from kenobot.agent.commands.registry import Command, CommandRegistry
from kenobot.gateway.access import Access


def build_commands(
    access: Access, changed: Callable[[], None], hands: MemoryCommandContext, decided: Callable[[], None]
) -> CommandRegistry:
    """The house's own commands, and the ears for those in plain words.

    changed: see `Pair`. decided: called when the owner has approved a proposal.
    """
    people: list[Command] = [PairCommand(access, changed, hands.language), PeopleCommand(changed, hands.language)]
    memory: list[Command] = [
        RememberCommand(hands),
        ForgetCommand(hands),
        WhyCommand(hands),
        MemoryOverviewCommand(hands),
        UndoCommand(hands),
        MissingFilesCommand(hands),
    ]
    improve: list[Command] = [
        ProposalsCommand(hands, decided),
        ApproveCommand(hands, decided),
        RejectCommand(hands, decided),
    ]
    return CommandRegistry([*people, *memory, *improve], MemoryPhraseMatcher(hands))
