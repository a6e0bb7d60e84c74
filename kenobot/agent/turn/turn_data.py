"""The data of one turn: what is known and wanted so far, before anything of it is written."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kenobot.agent.commands.command import Command
from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.turn.drafts import ReplyDraft
from kenobot.agent.turn.phases import PhaseTimes
from kenobot.agent.turn.tool_rounds import ToolJournal
from kenobot.core import lazy
from kenobot.core.i18n import Language, find_language
from kenobot.ledger.models import TurnCalls
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.messages import Outbound
from kenobot.ports.provider import ToolCall
from kenobot.ports.turns import ReplyGrade
from kenobot.postprocessors.pipeline import ProcessedReply
from kenobot.storage import outbox
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.turn_steps import FreshReply

if TYPE_CHECKING:
    from kenobot.agent.turn.input_form import Form
    from kenobot.agent.turn.report_data import MemoryReport
    from kenobot.agent.turn.task_run import TaskRun, TaskSeed


_QUOTED = lazy.regex(r"[“«][^”»]*[”»]")


@dataclass(slots=True)
class CollectedEffects:
    """Effects that post-processors ask of this turn; see `kenobot.ports.postprocessor.TurnEffects`."""

    session: str
    principal: Principal
    candidates: list[Candidate] = field(default_factory=list)  # bounded: one reply; turn
    bootstrap_ended: bool = False

    def admit(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)

    def end_bootstrap(self) -> None:
        self.bootstrap_ended = OWNER_SCOPE in self.principal.read_scopes  # the first conversation is the owner's


@dataclass(slots=True)
class TurnData:
    """One turn's data, from claim to commit.

    calls: of models, that no transaction has written yet. cut_short: a crash ended the attempt before this one.
    unsaved: a piece of the answer that has no checkpoint yet.
    draft: what the chat sees of the reply while it is written.
    report: what the message changed in memory and what was found for it, for a provider that answers from that.
    violated_rules: patterns that rules.json forbids, in the reply.
    attachments_read: they stand in the words of `pending`. unread: for the person, which could not be read, and why.
    pictures_refused: the model took the request without its pictures only. sees_pictures: the provider that was asked
    last may show them to its model. over_budget: a provider was passed over for the budget.
    tools: what became of the tools that were called. reduced: the prompt had to be cut. brings_foreign: a tool brought
    words from outside. renews: inbox row whose answer this one takes the place of.
    as_file: the person wants the answer as a file, and the channel sends some.
    called_nothing: the model called a tool, and none was offered. interrupted: tools that a crash broke off.
    held_back: a call that the owner is asked about, and what the model was told of it. pressed: the answer to such a
    question that a button gives, and its number. form: what a tool wants to know of the owner. answers: that the turn
    began with the call to which its message says yes. held_addresses: what the guard held back of the reply. task: that
    this turn is the work of; None for a turn of the chat. seed: what a task begins with that the model wants begun.
    has_steps: some may be stored. beside: what a command put into the outbox beside its answer.
    """

    pending: PendingMessage
    principal: Principal
    language: Language
    calls: TurnCalls
    times: PhaseTimes
    command: tuple[Command, str] | None = None
    attempt: int = 0
    cut_short: bool = False
    first_call_at: float | None = None
    context: PromptContext | None = None
    unsaved: FreshReply | None = None
    has_steps: bool = False
    effects: CollectedEffects | None = None
    processed: ProcessedReply | None = None
    held_addresses: tuple[str, ...] = ()
    grade: ReplyGrade | None = None
    draft: ReplyDraft | None = None
    report: "MemoryReport | None" = None
    violated_rules: tuple[str, ...] = ()
    attachments_read: bool = False
    unread: str = ""
    pictures_refused: bool = False
    sees_pictures: bool = True
    over_budget: bool = False
    tools: ToolJournal = field(default_factory=ToolJournal)
    reduced: bool = False
    called_nothing: bool = False
    brings_foreign: bool = False
    held_back: tuple[ToolCall, str] | None = None
    form: "Form | None" = None
    interrupted: tuple[str, ...] = ()
    pressed: str = ""
    renews: int | None = None
    answers: bool = False
    as_file: bool = False
    task: "TaskRun | None" = None
    seed: "TaskSeed | None" = None
    beside: list[Outbound] = field(default_factory=list)  # bounded: one message; turn
    decisions: list[tuple[Candidate, Decision]] = field(default_factory=list)  # bounded: one reply; turn

    def begin_anew(self) -> None:
        """Drop what a prompt led to that may show what was purged meanwhile."""
        self.context = self.report = self.effects = self.processed = self.unsaved = None
        self.held_back = self.form = self.seed = self.first_call_at = None
        self.decisions = []

    @property
    def reply_language(self) -> Language:
        """Return the language of the reply, as far as its own words tell, or else of the turn."""
        reply = self.processed.clean if self.processed is not None else ""
        return find_language(_QUOTED.sub("", reply)) or self.language

    @property
    def asks_about_tools(self) -> bool:
        """Return whether the reply ends in a question about a tool call."""
        return self.held_back is not None or self.form is not None

    def destination(self, first: int = 0, *, replaces: str = "") -> outbox.Destination:
        """Return where the parts of an answer go, numbered from `first`; below 0 stand notices beside the answer."""
        pending, to = self.pending, self.pending.inbound
        return outbox.Destination(
            to.channel,
            to.chat,
            pending.trace,
            pending.id,
            first,
            reply_to=to.answer_to,
            replaces=replaces,
            thread=to.thread,
            renews=self.renews if first == 0 else None,
            previewed=not to.private and first == 0,
        )
