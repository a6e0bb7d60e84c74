"""What came since a pass last judged what was remembered, however many nights were missed, and whose word it is.

How far a pass has come is an event of its own, planned last: cut short, a night leaves it where it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kenobot.cognitive.sleep.consolidate import watermark_rows
from kenobot.cognitive.sleep.consolidate.watermark_rows import PassWatermark
from kenobot.cognitive.sleep.plan.changes import Change, LogEvent
from kenobot.cognitive.sleep.plan.passes import NightView
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.ports.identity import OWNER_SCOPE

_ELSEWHERE = frozenset({"sleep", "import"})  # what sleep made is no news to it, and an import is hearsay
LESSON = "lesson"


class UnjudgedRecords:
    """Read what a pass has not judged yet. Read all of `records` before `save_watermark`."""

    def __init__(self, view: NightView, name: str, tiers: tuple[str, ...] = ()) -> None:
        """tiers: those that count; none, all."""
        self._view = view
        self._name = name
        self._tiers = tiers
        self.watermark = watermark_rows.load_watermark(view.connection, name)
        self._came_to = self.watermark

    def records(self) -> Iterator[Record]:
        """The entries that people vouch for, in the order in which they came or were reworded."""
        for record in watermark_rows.changed_since(self._view.connection, self.watermark, ALL_SCOPES):
            if self._tiers and record.tier not in self._tiers:
                continue
            self._came_to = replace(self._came_to, event=record.changed, record=record.id)
            if is_own_word(record):
                yield record

    def not_yet_asked(self, limit: int) -> list[Record]:
        """The entries that a model was not asked about, at most `limit`, in the order they came."""
        return watermark_rows.not_yet_asked(self._view.connection, self.watermark, ALL_SCOPES, limit)

    def save_watermark(self, asked: int | None) -> Iterator[Change]:
        """The change that keeps how far the pass has come; none when it has come no further.

        asked: the newest record that a model need not be asked about any more.
        """
        mark: PassWatermark = replace(self._came_to, last_asked=self.watermark.last_asked if asked is None else asked)
        if mark != self.watermark:
            yield Change("judged", "what came up to here was looked through", (LogEvent(mark.event_data(self._name)),))


def is_own_word(record: Record) -> bool:
    """Whether an entry is of those who own its scope, and not quoted, imported or of sleep's own making.

    In a group everybody's words are its own; in the owner's memory a guest's are not.
    """
    if record.source in _ELSEWHERE or record.category == LESSON:
        return False
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope != OWNER_SCOPE)


def batches_by_scope(records: Sequence[Record], size: int) -> list[tuple[Record, ...]]:
    """Records in batches of `size`, none with those of two scopes; the owner's come first."""
    scopes: dict[str, list[Record]] = {}
    for record in records:
        scopes.setdefault(record.scope, []).append(record)
    order = sorted(scopes, key=lambda scope: (scope != OWNER_SCOPE, scope))
    return [tuple(scopes[scope][at : at + size]) for scope in order for at in range(0, len(scopes[scope]), size)]
