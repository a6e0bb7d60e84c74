"""`/proposals`, `/approve N` and `/reject N`: the owner, in a private chat, decides on the proposals of sleep."""

from collections.abc import Mapping

from kenobot.agent.commands.base import ChatCommand, one_line
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.control.find import parse_number
from kenobot.cognitive.identity.identity_files import FOLDER
from kenobot.cognitive.sleep import proposals
from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.cognitive.store.proposals import Proposal
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.storage.connection import Connection

_SHOWN = 10
_LONGEST = 400  # characters of a proposal in a list

_DOES: Mapping[str, Text] = {
    "rule": Text(" (a line in rules.json)", " (una línea en rules.json)"),
    "preference": Text(" (a line in preferences.md)", " (una línea en preferences.md)"),
    "merge_entities": Text(" (two names become one)", " (dos nombres pasan a ser uno)"),
    "setting": Text(" (advice only)", " (solo un consejo)"),
}


class _ProposalCommand(ChatCommand):
    changes = frozenset({"memory", "proposals"})
    owner_only = True

    def _decision(self, call: CommandCall) -> DecisionContext:
        return DecisionContext(call.at, "owner", self._context.folder / FOLDER)


class ProposalsCommand(_ProposalCommand):
    """`/proposals`: list the proposals that wait for a decision."""

    names = ("proposals", "propuestas")

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        waiting = proposal_store.list_proposals(connection)
        if not waiting:
            return texts.PROPOSALS_NONE(language)
        lines = "\n".join(_line(each, language) for each in waiting[:_SHOWN])
        parts = [texts.PROPOSALS_SOME(language, lines=lines)]
        if len(waiting) > _SHOWN:
            parts.append(texts.PROPOSALS_MORE(language, count=len(waiting) - _SHOWN))
        return "\n\n".join(parts)


class ApproveCommand(_ProposalCommand):
    """`/approve N`: carry out a proposal."""

    names = ("approve", "aprobar")

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        number = parse_number(call.arguments.rstrip("."))
        if number is None:
            return texts.APPROVE_HOW(language)
        try:
            done = proposals.approve(connection, number, self._decision(call))
        except CannotDecide as error:
            return texts.PROPOSAL_HINDERED(language, why=error)
        if done.kind == "setting":
            name = done.payload.get("setting")
            return texts.PROPOSAL_ADVICE(language, setting=f" (`{name}`)" if isinstance(name, str) else "")
        return texts.PROPOSAL_APPROVED(language, title=_plain(done.title), number=number)


class RejectCommand(_ProposalCommand):
    """`/reject N`: turn a proposal down, or take back one that was approved."""

    names = ("reject", "rechazar")

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        number = parse_number(call.arguments.rstrip("."))
        if number is None:
            return texts.REJECT_HOW(language)
        proposal = proposal_store.get(connection, number)
        try:
            if proposal is not None and proposal.state == "approved":
                done = proposals.undo_approval(connection, number, self._decision(call))
                return texts.PROPOSAL_UNDONE(language, title=_plain(done.title))
            done = proposals.reject(connection, number, self._decision(call))
        except CannotDecide as error:
            return texts.PROPOSAL_HINDERED(language, why=error)
        return texts.PROPOSAL_REJECTED(language, title=_plain(done.title))


def _line(proposal: Proposal, language: Language) -> str:
    does = _DOES[proposal.kind](language) if proposal.kind in _DOES else ""
    return texts.PROPOSAL_LINE(
        language, number=proposal.id, title=_plain(proposal.title), text=_plain(proposal.text), does=does
    )


def _plain(text: str) -> str:
    """Clip a text to one line without formatting."""
    return one_line(" ".join(text.replace("*", "").replace("`", "").split()).rstrip("."), _LONGEST)
