"""Decide how much of a conversation a prompt shows, and when the rest is summarized.

A new prompt begins with the last messages, and with all that is not summarized yet. Compaction summarizes before that
is more than fits: every message is shown or summarized.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Role

_FEW = 8  # messages that are worth a summary, however short a history is asked for


class HistoryLine(Protocol):
    """A message of a conversation and its size."""

    @property
    def id(self) -> int: ...
    @property
    def role(self) -> Role: ...
    @property
    def text_tokens(self) -> int: ...
    @property
    def context_tokens(self) -> int: ...


L = TypeVar("L", bound=HistoryLine)


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

    def line_tokens(self, line: HistoryLine) -> int:
        """Return tokens of a message in the prompt, where a very long one is clipped."""
        return min(line.text_tokens, self.message_tokens) + line.context_tokens

    def fits(self, messages: int, tokens: int, taken: int = 0) -> bool:
        """Return whether a prompt may go on to show so many messages of so many tokens. taken: of the summary."""
        return messages <= self.history_max and tokens <= self.total_tokens - taken

    def minimum_shown(self, lines: Sequence[L], taken: int = 0) -> Sequence[L]:
        """Return what of `lines` a new prompt shows at least: the last ones, within half of the room."""
        return _begin_with_person(self._fitting(lines, self.history_min, self.total_tokens // 2 - taken))

    def select_shown(self, lines: Sequence[L], cursor: int, taken: int = 0) -> Sequence[L]:
        """Return what of `lines` a new prompt shows: the newest, and back to message `cursor`, after which nothing is
        summed up, as far as there is room.
        """
        least = self.minimum_shown(lines, taken)
        if not self.summary_tokens:
            return least
        unsummed = [line for line in lines if line.id > cursor]
        more = self._fitting(
            unsummed, self.history_min + self.summary_batch, self.total_tokens - self.total_tokens // 4 - taken
        )
        return max(least, _begin_with_person(more), key=len)

    def select_unsummarized(self, lines: Sequence[L], taken: int = 0) -> Sequence[L]:
        """Return what of `lines`, none of which is summed up, a new prompt would not show by itself."""
        return lines[: len(lines) - len(self.minimum_shown(lines, taken))]

    def is_due(self, waiting: Sequence[HistoryLine]) -> bool:
        """Return whether so much waits that it has to be summed up."""
        return len(waiting) >= self.summary_batch or sum(map(self.line_tokens, waiting)) >= self.total_tokens // 4

    def is_short(self, messages: int, tokens: int) -> bool:
        """Return whether so many messages of so many tokens, none of which is summed up, leave nothing due."""
        return messages < self.history_min + self.summary_batch and tokens < self.total_tokens // 4

    def is_overdue(self, waiting: Sequence[HistoryLine]) -> bool:
        """Return whether a new prompt may already leave out some of what waits."""
        return len(waiting) >= 2 * self.summary_batch or sum(map(self.line_tokens, waiting)) >= self.total_tokens // 2

    def _fitting(self, lines: Sequence[L], most: int, room: int) -> Sequence[L]:
        """Return the longest end of `lines` within so many messages and tokens."""
        first = len(lines)
        while first and len(lines) - first < most and (room := room - self.line_tokens(lines[first - 1])) >= 0:
            first -= 1
        return lines[first:]


def _begin_with_person(lines: Sequence[L]) -> Sequence[L]:
    """Return `lines` from the first one on that a person wrote: an answer alone says nothing."""
    first = next((at for at, line in enumerate(lines) if line.role == "user"), len(lines))
    return lines[first:]
