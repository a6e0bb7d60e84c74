"""Define the services that every turn uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.agent.commands.registry import CommandListener, CommandRegistry
from kenobot.agent.media.intake import MediaIntake
from kenobot.agent.prompt.prompt_service import PromptService
from kenobot.agent.turn import state_machine as machine
from kenobot.cognitive.memory import EmbeddingWorker
from kenobot.core.bus import Bus
from kenobot.core.i18n import Language
from kenobot.core.redaction import Redactor
from kenobot.gateway.access import Access
from kenobot.gateway.delivery import Delivery
from kenobot.gateway.personal_settings import PersonalSettings
from kenobot.identity.identity_files import Identity
from kenobot.ledger.models import ReplyModel
from kenobot.ports.channel import Channel
from kenobot.ports.clock import Clock
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_files import Mirror
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.database import Database

if TYPE_CHECKING:
    from kenobot.agent.turn.memory_report import MemoryReporter
    from kenobot.agent.turn.task_worker import TaskWorker
    from kenobot.agent.turn.tool_stage import ToolStage


@dataclass(frozen=True, slots=True)
class TurnServices:
    """Dependencies of a turn.

    language: of the bot's own sentences; None goes by the message. answer_parts: how many parts an answer may have.
    patience_seconds: of waiting, after which the person is told that it takes longer. memory_reporter: makes, at the
    first need, what reports memory to a provider that answers from that; None where there is none. shows_drafts: show a
    reply while it is written, where the channel can. media: reads attachments; None leaves them unread.
    tools: None offers none. tasks: in the background; None has none.
    """

    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    access: Access
    prompt_service: PromptService
    embedding: EmbeddingWorker
    mirror: Mirror
    model: ReplyModel
    pipeline: Pipeline
    channels: Mapping[str, Channel]
    redact: Redactor
    rng: Random
    commands: CommandRegistry
    command_listeners: Sequence[CommandListener]
    identity: Identity
    delivery: Delivery
    personal: PersonalSettings
    language: Language | None = None
    default_language: Language = "en"
    answer_parts: int = 10
    patience_seconds: float = 25.0
    policy: machine.TurnPolicy = field(default_factory=machine.TurnPolicy)
    memory_reporter: Callable[[], "MemoryReporter"] | None = None
    shows_drafts: bool = True
    media: MediaIntake | None = None
    tools: "ToolStage | None" = None
    tasks: "TaskWorker | None" = None
