"""Thresholds of memory, one module a room."""

from dataclasses import field, replace
from typing import TYPE_CHECKING

from kenobot.cognitive.policy.beliefs import GraphPolicy, ValuePolicy
from kenobot.cognitive.policy.control import ControlPolicy, FilesPolicy
from kenobot.cognitive.policy.procedural import ProceduralPolicy
from kenobot.cognitive.policy.recall import MeaningPolicy, RecallPolicy
from kenobot.cognitive.policy.remember import AdmitPolicy, BoxPolicy, CompactPolicy, ExtractPolicy
from kenobot.cognitive.policy.sleep import (
    WEEKLY_LOGS,
    ConsolidationPolicy,
    DecayPolicy,
    ProposalPolicy,
    PruningPolicy,
    SleepPolicy,
)
from kenobot.language.sanitize import MAX_RECORD_CHARS
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust

if TYPE_CHECKING:
    from kenobot.core.settings.schema import SleepSettings


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds of memory, by room."""

    confidence: dict[Trust, float] = field(  # of a new record, by its speaker
        default_factory=lambda: {"owner": 0.95, "guest": 0.7, "model": 0.7, "tool": 0.4, "forward": 0.4}
    )
    reinforcement: float = 0.1  # confidence gained by a repeat, up to 1
    importance: float = 0.5  # of a new record
    stability: float = 1.0  # of a new record
    max_text_chars: int = MAX_RECORD_CHARS
    long_term_share: float = 0.5  # of the memory budget, for MEMORY.md
    chat_share: float = 0.25  # of what the core leaves, for the lists beside it
    working_tokens: int = 800  # of each working memory
    admit: AdmitPolicy = field(default_factory=AdmitPolicy)
    value: ValuePolicy = field(default_factory=ValuePolicy)
    graph: GraphPolicy = field(default_factory=GraphPolicy)
    boxes: BoxPolicy = field(default_factory=BoxPolicy)
    files: FilesPolicy = field(default_factory=FilesPolicy)
    control: ControlPolicy = field(default_factory=ControlPolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    extract: ExtractPolicy = field(default_factory=ExtractPolicy)
    meaning: MeaningPolicy = field(default_factory=MeaningPolicy)
    procedural: ProceduralPolicy = field(default_factory=ProceduralPolicy)
    sleep: SleepPolicy = field(default_factory=SleepPolicy)
    decay: DecayPolicy = field(default_factory=DecayPolicy)
    consolidation: ConsolidationPolicy = field(default_factory=ConsolidationPolicy)
    compact: CompactPolicy = field(default_factory=CompactPolicy)
    proposals: ProposalPolicy = field(default_factory=ProposalPolicy)
    pruning: PruningPolicy = field(default_factory=PruningPolicy)

    @classmethod
    def of(cls, settings: "SleepSettings") -> "Policy":
        """Build the policy from the settings of sleep."""
        preset = WEEKLY_LOGS if settings.daily_log == "weekly" else SleepPolicy()
        return cls(sleep=replace(preset, expired=settings.expired))


DEFAULT = Policy()
