"""`/proposals`, `/approve N` and `/reject N`: the owner, in a private chat, decides what sleep has laid before them."""

from collections.abc import Callable, Mapping

from kenobot.agent.commands.memory_base import MemoryCommandContext
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.identity.identity_files import FOLDER
from kenobot.cognitive.sleep import proposals
from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.cognitive.store.proposals import Proposal
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection

_SHOWN = 10
_LONGEST = 400  # characters of a proposal in a list
_DIGITS = 9

_DOES: Mapping[str, Text] = {
    "rule": Text(" (a line in rules.json)", " (una línea en rules.json)"),
    "preference": Text(" (a line in preferences.md)", " (una línea en preferences.md)"),
    "merge_entities": Text(" (two names become one)", " (dos nombres pasan a ser uno)"),
    "setting": Text(" (advice only)", " (solo un consejo)"),
}


class _ByOwner:
    """What the three share: only the owner may, alone with the bot."""

    names: tuple[str, ...] = ()

    def __init__(self, hands: MemoryCommandContext, decided: Callable[[], None]) -> None:
        self._hands = hands
        self._decided = decided

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        return OWNER_SCOPE in principal.read_scopes and not inbound.forwarded

    def _ruling(self, order: CommandCall) -> DecisionContext:
        return DecisionContext(order.at, "owner", self._hands.folder / FOLDER)


class ProposalsCommand(_ByOwner):
    """`/proposals`: what waits for a decision."""

    names = ("proposals", "propuestas")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        waiting = proposal_store.list_proposals(connection)
        if not waiting:
            return texts.PROPOSALS_NONE(language)
        lines = "\n".join(_line(each, language) for each in waiting[:_SHOWN])
        parts = [texts.PROPOSALS_SOME(language, lines=lines)]
        if len(waiting) > _SHOWN:
            parts.append(texts.PROPOSALS_MORE(language, count=len(waiting) - _SHOWN))
        return "\n\n".join(parts)


class ApproveCommand(_ByOwner):
    """`/approve N`: have it done."""

    names = ("approve", "aprobar")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        number = _number(order.arguments)
        if number is None:
            return texts.APPROVE_HOW(language)
        try:
            done = proposals.approve(connection, number, self._ruling(order))
        except CannotDecide as error:
            return texts.PROPOSAL_HINDERED(language, why=error)
        self._decided()
        if done.kind == "setting":
            name = done.payload.get("setting")
            return texts.PROPOSAL_ADVICE(language, setting=f" (`{name}`)" if isinstance(name, str) else "")
        return texts.PROPOSAL_APPROVED(language, title=_plain(done.title), number=number)


class RejectCommand(_ByOwner):
    """`/reject N`: turn it down, or take back what was approved."""

    names = ("reject", "rechazar")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        number = _number(order.arguments)
        if number is None:
            return texts.REJECT_HOW(language)
        known = proposal_store.get(connection, number)
        try:
            if known is not None and known.state == "approved":
                done = proposals.undo_approval(connection, number, self._ruling(order))
                self._decided()
                return texts.PROPOSAL_UNDONE(language, title=_plain(done.title))
            done = proposals.reject(connection, number, self._ruling(order))
        except CannotDecide as error:
            return texts.PROPOSAL_HINDERED(language, why=error)
        return texts.PROPOSAL_REJECTED(language, title=_plain(done.title))


def _number(text: str) -> int | None:
    digits = text.strip().lstrip("#").rstrip(".")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS else None


def _line(proposal: Proposal, language: Language) -> str:
    does = _DOES[proposal.kind](language) if proposal.kind in _DOES else ""
    return texts.PROPOSAL_LINE(
        language, number=proposal.id, title=_plain(proposal.title), text=_plain(proposal.text), does=does
    )


def _plain(text: str) -> str:
    """A text in one line that cannot pass for another, or for formatting."""
    line = " ".join(text.replace("*", "").replace("`", "").split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
