"""The working papers of one turn: what is known and wanted so far, before anything of it is written."""

from dataclasses import dataclass, field

from kenobot.agent.commands.registry import Command
from kenobot.agent.prompt.context_builder import Context
from kenobot.cognitive.identity.reply_grade import Grade
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.provider import Reply
from kenobot.postprocessors.pipeline import Processed
from kenobot.storage.inbox import Pending


@dataclass(slots=True)
class Effects:
    """What post-processors want of this turn; see `kenobot.ports.postprocessor.TurnEffects`."""

    session: str
    principal: Principal
    candidates: list[Candidate] = field(default_factory=list)
    bootstrap_ended: bool = False

    def admit(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)

    def end_bootstrap(self) -> None:
        self.bootstrap_ended = OWNER_SCOPE in self.principal.reads  # the first conversation is the owner's


@dataclass(slots=True)
class Work:
    """One turn's working papers, from claim to commit. violated: patterns that rules.json forbids, in the reply."""

    pending: Pending
    principal: Principal
    language: Language
    order: tuple[Command, str] | None = None
    attempt: int = 0
    asked_at: float | None = None
    context: Context | None = None
    unsaved: Reply | None = None
    effects: Effects | None = None
    cleaned: Processed | None = None
    cut: int = 0
    grade: Grade | None = None
    violated: tuple[str, ...] = ()
    decisions: list[tuple[Candidate, Decision]] = field(default_factory=list)
