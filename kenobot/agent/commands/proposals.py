"""`/proposals`, `/approve N` and `/reject N`: the owner, in a private chat, decides what sleep has laid before them."""

from collections.abc import Callable, Mapping
from typing import Literal

from kenobot.agent.commands.memory_base import MemoryCommandContext
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.identity.identity_files import FOLDER
from kenobot.cognitive.sleep import proposals
from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.cognitive.store.proposals import Proposal
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection

_SHOWN = 10
_LONGEST = 400  # characters of a proposal in a list
_DIGITS = 9

_Said = Literal[
    "none", "some", "more", "line", "how_approve", "how_reject", "advice", "approved", "rejected", "undone", "hindered"
]
_SENTENCES: Mapping[_Said, Mapping[Language, str]] = {
    "none": {
        "en": "I have nothing to propose. Nights when memory is looked after may bring something.",
        "es": "No tengo nada que proponer. Puede surgir algo en las noches en que reviso la memoria.",
    },
    "some": {
        "en": "What I propose:\n{lines}\n\n`/approve NUMBER` has it done, `/reject NUMBER` turns it down. "
        "Nothing changes by itself.",
        "es": "Lo que propongo:\n{lines}\n\n`/aprobar NÚMERO` lo lleva a cabo, `/rechazar NÚMERO` lo descarta. "
        "Nada cambia por sí solo.",
    },
    "more": {
        "en": "{count} more wait: `kenobot proposals list` shows them all.",
        "es": "Esperan {count} más: `kenobot proposals list` las muestra todas.",
    },
    "line": {"en": "- {number}. *{title}* — {text}{does}", "es": "- {number}. *{title}* — {text}{does}"},
    "how_approve": {
        "en": "Write `/approve` and the number of a proposal; `/proposals` shows them.",
        "es": "Escribe `/aprobar` y el número de una propuesta; `/propuestas` las muestra.",
    },
    "how_reject": {
        "en": "Write `/reject` and the number of a proposal; `/proposals` shows them.",
        "es": "Escribe `/rechazar` y el número de una propuesta; `/propuestas` las muestra.",
    },
    "advice": {
        "en": "Noted. This is advice: a setting is yours to change{setting}.",
        "es": "Anotado. Es un consejo: el ajuste lo cambias tú{setting}.",
    },
    "approved": {
        "en": "Done: {title}. `/reject {number}` takes it back.",
        "es": "Hecho: {title}. `/rechazar {number}` lo deshace.",
    },
    "rejected": {
        "en": "Good, I leave it: {title}. I do not propose it again.",
        "es": "De acuerdo, lo dejo: {title}. No volveré a proponerlo.",
    },
    "undone": {"en": "Taken back: {title}.", "es": "Deshecho: {title}."},
    "hindered": {"en": "I cannot do that: {why}", "es": "No puedo hacerlo: {why}"},
}
_DOES: Mapping[str, Mapping[Language, str]] = {
    "rule": {"en": " (a line in rules.json)", "es": " (una línea en rules.json)"},
    "preference": {"en": " (a line in preferences.md)", "es": " (una línea en preferences.md)"},
    "merge_entities": {"en": " (two names become one)", "es": " (dos nombres pasan a ser uno)"},
    "setting": {"en": " (advice only)", "es": " (solo un consejo)"},
}


def proposal_text(sentence: _Said, language: Language, **values: object) -> str:
    """One of these sentences in `language`, with `values` in their places."""
    return _SENTENCES[sentence][language].format(**values)


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
            return proposal_text("none", language)
        lines = "\n".join(_line(each, language) for each in waiting[:_SHOWN])
        parts = [proposal_text("some", language, lines=lines)]
        if len(waiting) > _SHOWN:
            parts.append(proposal_text("more", language, count=len(waiting) - _SHOWN))
        return "\n\n".join(parts)


class ApproveCommand(_ByOwner):
    """`/approve N`: have it done."""

    names = ("approve", "aprobar")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        number = _number(order.arguments)
        if number is None:
            return proposal_text("how_approve", language)
        try:
            done = proposals.approve(connection, number, self._ruling(order))
        except CannotDecide as error:
            return proposal_text("hindered", language, why=error)
        self._decided()
        if done.kind == "setting":
            name = done.payload.get("setting")
            return proposal_text("advice", language, setting=f" (`{name}`)" if isinstance(name, str) else "")
        return proposal_text("approved", language, title=_plain(done.title), number=number)


class RejectCommand(_ByOwner):
    """`/reject N`: turn it down, or take back what was approved."""

    names = ("reject", "rechazar")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        number = _number(order.arguments)
        if number is None:
            return proposal_text("how_reject", language)
        known = proposal_store.get(connection, number)
        try:
            if known is not None and known.state == "approved":
                done = proposals.undo_approval(connection, number, self._ruling(order))
                self._decided()
                return proposal_text("undone", language, title=_plain(done.title))
            done = proposals.reject(connection, number, self._ruling(order))
        except CannotDecide as error:
            return proposal_text("hindered", language, why=error)
        return proposal_text("rejected", language, title=_plain(done.title))


def _number(text: str) -> int | None:
    digits = text.strip().lstrip("#").rstrip(".")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS else None


def _line(proposal: Proposal, language: Language) -> str:
    does = _DOES.get(proposal.kind, {}).get(language, "")
    return proposal_text(
        "line", language, number=proposal.id, title=_plain(proposal.title), text=_plain(proposal.text), does=does
    )


def _plain(text: str) -> str:
    """A text in one line that cannot pass for another, or for formatting."""
    line = " ".join(text.replace("*", "").replace("`", "").split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
