"""Decide how much of a conversation a prompt shows, and when the rest is summarized. Pure.

A new prompt begins with the last messages, and with all that is not summarized yet. Compaction summarizes before that
is more than fits: every message is shown or summarized.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.conversation import StoredMessage

_FEW = 8  # messages that are worth a summary, however short a history is asked for


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """The size of a history.

    history_min, history_max: messages when a new prompt begins, and when it is full. message_tokens: where one message
    is clipped. total_tokens: all messages and the summary. summary_tokens: the summary; 0 without one.
    """

    history_min: int
    history_max: int
    message_tokens: int
    total_tokens: int
    summary_tokens: int = 0

    @property
    def summary_budget(self) -> int:
        """Tokens that a summary may take."""
        return min(self.summary_tokens, self.total_tokens // 4)

    @property
    def summary_batch(self) -> int:
        """Messages that may wait to be summed up: a new prompt shows at most twice the history that is asked for."""
        return max(1, min((self.history_max - self.history_min) // 2, max(self.history_min, _FEW)))

    def line_tokens(self, line: StoredMessage) -> int:
        """Tokens of a message in the prompt, where a very long one is clipped."""
        return min(estimate_tokens(line.text), self.message_tokens) + estimate_tokens(line.context)

    def fits(self, lines: Sequence[StoredMessage], taken: int = 0) -> bool:
        """Whether a prompt may go on to show `lines`. taken: tokens of the summary."""
        return len(lines) <= self.history_max and sum(map(self.line_tokens, lines)) <= self.total_tokens - taken

    def minimum_shown(self, lines: Sequence[StoredMessage], taken: int = 0) -> Sequence[StoredMessage]:
        """What of `lines` a new prompt shows at least: the last ones, within half of the room."""
        return _asked_first(self._fitting(lines, self.history_min, self.total_tokens // 2 - taken))

    def shown(self, lines: Sequence[StoredMessage], cursor: int, taken: int = 0) -> Sequence[StoredMessage]:
        """What of `lines` a new prompt shows: the newest, and back to message `cursor`, after which nothing is summed
        up, as far as there is room.
        """
        least = self.minimum_shown(lines, taken)
        if not self.summary_tokens:
            return least
        unsummed = [line for line in lines if line.id > cursor]
        more = self._fitting(
            unsummed, self.history_min + self.summary_batch, self.total_tokens - self.total_tokens // 4 - taken
        )
        return max(least, _asked_first(more), key=len)

    def unsummarized(self, lines: Sequence[StoredMessage], taken: int = 0) -> Sequence[StoredMessage]:
        """What of `lines`, none of which is summed up, a new prompt would not show by itself."""
        return lines[: len(lines) - len(self.minimum_shown(lines, taken))]

    def is_due(self, waiting: Sequence[StoredMessage]) -> bool:
        """Whether so much waits that it has to be summed up."""
        return len(waiting) >= self.summary_batch or sum(map(self.line_tokens, waiting)) >= self.total_tokens // 4

    def is_overdue(self, waiting: Sequence[StoredMessage]) -> bool:
        """Whether a new prompt may already leave out some of what waits."""
        return len(waiting) >= 2 * self.summary_batch or sum(map(self.line_tokens, waiting)) >= self.total_tokens // 2

    def _fitting(self, lines: Sequence[StoredMessage], most: int, room: int) -> Sequence[StoredMessage]:
        """The longest end of `lines` within so many messages and tokens."""
        first = len(lines)
        while first and len(lines) - first < most and (room := room - self.line_tokens(lines[first - 1])) >= 0:
            first -= 1
        return lines[first:]


def _asked_first(lines: Sequence[StoredMessage]) -> Sequence[StoredMessage]:
    """`lines` from the first one on that a person wrote: an answer alone says nothing."""
    first = next((at for at, line in enumerate(lines) if line.role == "user"), len(lines))
    return lines[first:]
