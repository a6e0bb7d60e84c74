"""Every command that can be given in chat."""

from collections.abc import Callable

from kenobot.agent.commands.forget import Forget, PlainWords
from kenobot.agent.commands.memory import Memory, Remember, Undo, Why
from kenobot.agent.commands.memory_base import Hands
from kenobot.agent.commands.missing_files import Lost
from kenobot.agent.commands.people import Pair, People
from kenobot.agent.commands.proposals import Approve, Proposals, Reject
from kenobot.agent.commands.registry import Command, Commands
from kenobot.gateway.access import Access


def commands(access: Access, changed: Callable[[], None], hands: Hands, decided: Callable[[], None]) -> Commands:
    """The house's own commands, and the ears for those in plain words.

    changed: see `Pair`. decided: called when the owner has approved a proposal.
    """
    people: list[Command] = [Pair(access, changed, hands.language), People(changed, hands.language)]
    memory: list[Command] = [Remember(hands), Forget(hands), Why(hands), Memory(hands), Undo(hands), Lost(hands)]
    improve: list[Command] = [Proposals(hands, decided), Approve(hands, decided), Reject(hands, decided)]
    return Commands([*people, *memory, *improve], PlainWords(hands))
