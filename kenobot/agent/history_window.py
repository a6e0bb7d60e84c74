"""How much of a conversation a prompt shows. Pure; shared by who builds prompts and by who sums up what they leave out.

A new prompt begins with the last `history` messages, and with all that is not summed up yet. Whoever sums up does so
before that is more than fits: so every message is shown or summed up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kenobot.core.token_estimate import estimate
from kenobot.storage.conversation import Line

_FEW = 8  # messages that are worth a summary, however short a history is asked for


@dataclass(frozen=True, slots=True)
class Window:
    """history, most: messages, as a new prompt begins and as it has grown. message: tokens at which one is clipped.

    room: tokens of all messages together, the summary included. summary: tokens that it may take; 0: there is none.
    """

    history: int
    most: int
    message: int
    room: int
    summary: int = 0

    @property
    def for_summary(self) -> int:
        """Tokens that a summary may take, whatever the room is."""
        return min(self.summary, self.room // 4)

    @property
    def step(self) -> int:
        """Messages that may wait to be summed up: a new prompt shows at most twice the history that is asked for."""
        return max(1, min((self.most - self.history) // 2, max(self.history, _FEW)))

    def size(self, line: Line) -> int:
        """Tokens of a message in the prompt, where a very long one is clipped."""
        return min(estimate(line.text), self.message) + estimate(line.context)

    def has_room(self, lines: Sequence[Line], taken: int = 0) -> bool:
        """Whether a prompt may go on to show `lines`. taken: tokens of the summary."""
        return len(lines) <= self.most and sum(map(self.size, lines)) <= self.room - taken

    def newest(self, lines: Sequence[Line], taken: int = 0) -> Sequence[Line]:
        """What of `lines` a new prompt shows at least: the last ones, within half of the room."""
        return _asked_first(self._fitting(lines, self.history, self.room // 2 - taken))

    def since(self, lines: Sequence[Line], cursor: int, taken: int = 0) -> Sequence[Line]:
        """What of `lines` a new prompt shows: the newest, and back to message `cursor`, after which nothing is summed
        up, as far as there is room.
        """
        least = self.newest(lines, taken)
        if not self.summary:
            return least
        unsummed = [line for line in lines if line.id > cursor]
        more = self._fitting(unsummed, self.history + self.step, self.room - self.room // 4 - taken)
        return max(least, _asked_first(more), key=len)

    def waiting(self, lines: Sequence[Line], taken: int = 0) -> Sequence[Line]:
        """What of `lines`, none of which is summed up, a new prompt would not show by itself."""
        return lines[: len(lines) - len(self.newest(lines, taken))]

    def is_due(self, waiting: Sequence[Line]) -> bool:
        """Whether so much waits that it has to be summed up."""
        return len(waiting) >= self.step or sum(map(self.size, waiting)) >= self.room // 4

    def is_late(self, waiting: Sequence[Line]) -> bool:
        """Whether a new prompt may already leave out some of what waits."""
        return len(waiting) >= 2 * self.step or sum(map(self.size, waiting)) >= self.room // 2

    def _fitting(self, lines: Sequence[Line], most: int, room: int) -> Sequence[Line]:
        """The longest end of `lines` within so many messages and tokens."""
        first = len(lines)
        while first and len(lines) - first < most and (room := room - self.size(lines[first - 1])) >= 0:
            first -= 1
        return lines[first:]


def _asked_first(lines: Sequence[Line]) -> Sequence[Line]:
    """`lines` from the first one on that a person wrote: an answer alone says nothing."""
    first = next((at for at, line in enumerate(lines) if line.role == "user"), len(lines))
    return lines[first:]
