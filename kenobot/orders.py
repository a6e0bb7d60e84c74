"""Every command that can be given in chat."""

from collections.abc import Callable

from kenobot.access import Access
from kenobot.commands import Command, Commands
from kenobot.loss_commands import Lost
from kenobot.memory_commands import Memory, Remember, Undo, Why
from kenobot.memory_hands import Hands
from kenobot.memory_questions import Forget, PlainWords
from kenobot.people_commands import Pair, People
from kenobot.proposal_commands import Approve, Proposals, Reject


def commands(access: Access, changed: Callable[[], None], hands: Hands, decided: Callable[[], None]) -> Commands:
    """The house's own commands, and the ears for those in plain words.

    changed: see `Pair`. decided: called when the owner has approved a proposal.
    """
    people: list[Command] = [Pair(access, changed, hands.language), People(changed, hands.language)]
    memory: list[Command] = [Remember(hands), Forget(hands), Why(hands), Memory(hands), Undo(hands), Lost(hands)]
    improve: list[Command] = [Proposals(hands, decided), Approve(hands, decided), Reject(hands, decided)]
    return Commands([*people, *memory, *improve], PlainWords(hands))
