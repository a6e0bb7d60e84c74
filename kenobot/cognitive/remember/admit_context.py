"""Context of an admission, and sanitising of texts."""

from collections.abc import Set as AbstractSet
from datetime import datetime

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.nearness import Nearness
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory_changes import ChangeContext


@dataclass(frozen=True, slots=True)
class AdmitContext:
    """Time, actor and session of an admission. day: the owner's calendar day, YYYY-MM-DD.

    evidence: inbox row of the turn. said_at: time of the words, where not `at`. speaker_name: name of a guest.
    nearness: similarity search. part_of: event of the decision that this belongs to. spared: records that stay as they
    are, whatever is said against them.
    """

    at: datetime
    day: str
    actor: str
    session: str = ""
    evidence: int | None = None
    policy: Policy = DEFAULT
    said_at: datetime | None = None
    speaker_name: str = ""
    nearness: Nearness | None = None
    part_of: int | None = None
    spared: AbstractSet[int] = frozenset()

    def change_context(self, reason: str, part_of: int | None = None) -> ChangeContext:
        """Return the occasion as the author of a change, a part of the same decision as the occasion itself."""
        return ChangeContext(
            self.at, self.actor, reason, self.session, part_of if self.part_of is None else self.part_of
        )
