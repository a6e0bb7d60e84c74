"""Every threshold of memory, in one place."""

from dataclasses import dataclass, field

from kenobot.cognitive.policy.admit import AdmitPolicy
from kenobot.cognitive.policy.boxes import BoxPolicy
from kenobot.cognitive.policy.compact import CompactPolicy
from kenobot.cognitive.policy.consolidation import MergePolicy
from kenobot.cognitive.policy.control import HandsPolicy
from kenobot.cognitive.policy.decay import DecayPolicy
from kenobot.cognitive.policy.extract import ExtractPolicy
from kenobot.cognitive.policy.files import DiskPolicy
from kenobot.cognitive.policy.graph import GraphPolicy
from kenobot.cognitive.policy.meaning import MeaningPolicy
from kenobot.cognitive.policy.practice import PracticePolicy
from kenobot.cognitive.policy.proposals import ImprovePolicy
from kenobot.cognitive.policy.pruning import UpkeepPolicy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.policy.sleep import SleepPolicy
from kenobot.cognitive.policy.value import ValuePolicy
from kenobot.ports.identity import Trust


@dataclass(frozen=True, slots=True)
class Policy:
    """Numbers are the seeds' where a seed has one.

    confidence: of a new record, by who said it. reinforcement: added by a repeat, capped at 1.
    longest_text: characters of one record; the rest is cut. window_days: days of daily logs that count as recent.
    """

    confidence: dict[Trust, float] = field(
        default_factory=lambda: {"owner": 0.95, "guest": 0.7, "model": 0.7, "tool": 0.4, "forward": 0.4}
    )
    reinforcement: float = 0.1
    importance: float = 0.5
    stability: float = 1.0
    longest_text: int = 16_000
    window_days: int = 3
    long_term_share: float = 0.5
    chat_share: float = 0.25
    working_tokens: int = 800
    admit: AdmitPolicy = field(default_factory=AdmitPolicy)
    value: ValuePolicy = field(default_factory=ValuePolicy)
    graph: GraphPolicy = field(default_factory=GraphPolicy)
    boxes: BoxPolicy = field(default_factory=BoxPolicy)
    disk: DiskPolicy = field(default_factory=DiskPolicy)
    hands: HandsPolicy = field(default_factory=HandsPolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    extract: ExtractPolicy = field(default_factory=ExtractPolicy)
    meaning: MeaningPolicy = field(default_factory=MeaningPolicy)
    practice: PracticePolicy = field(default_factory=PracticePolicy)
    sleep: SleepPolicy = field(default_factory=SleepPolicy)
    decay: DecayPolicy = field(default_factory=DecayPolicy)
    merge: MergePolicy = field(default_factory=MergePolicy)
    compact: CompactPolicy = field(default_factory=CompactPolicy)
    improve: ImprovePolicy = field(default_factory=ImprovePolicy)
    upkeep: UpkeepPolicy = field(default_factory=UpkeepPolicy)

    @property
    def beside_memory(self) -> int:
        """Tokens, at most, of what a prompt shows beside the memory that every message shows."""
        return self.recall.budget + self.practice.tokens + self.working_tokens


DEFAULT = Policy()
