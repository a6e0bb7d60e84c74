"""Read what a pass has not judged yet, however many nights were missed.

The watermark is an event of its own, planned last: a night that is cut short leaves it where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kenobot.cognitive.sleep.consolidate import watermark_rows
from kenobot.cognitive.sleep.plan.changes import Change, LogEvent
from kenobot.cognitive.sleep.plan.model_answers import parse_object
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView
from kenobot.cognitive.store.records import Record
from kenobot.ports.identity import OWNER_SCOPE

Batch = tuple[Record, ...]

_ELSEWHERE = frozenset({"sleep", "import"})  # what sleep made is no news to it, and an import is hearsay


class UnjudgedRecords:
    """The records above a pass's watermark. Read all of `records` before `save_watermark`."""

    def __init__(self, view: NightView, name: str, tiers: tuple[str, ...] = ()) -> None:
        """tiers: those that count; none, all."""
        self._view = view
        self._name = name
        self._tiers = tiers
        self.watermark = watermark_rows.load_watermark(view.connection, name)
        self._reached = self.watermark

    def records(self) -> Iterator[Record]:
        """The records that people vouch for, in the order in which they came or were reworded."""
        for record in watermark_rows.changed_since(self._view.connection, self.watermark):
            if self._tiers and record.tier not in self._tiers:
                continue
            self._reached = replace(self._reached, event=record.changed_event, record=record.id)
            if is_own_word(record):
                yield record

    def not_yet_asked(self) -> list[Record]:
        """The records that a model was not asked about, as many as a night asks about."""
        limit = self._view.policy.procedural.max_entries_asked
        return watermark_rows.not_yet_asked(self._view.connection, self.watermark, limit)

    def save_watermark(self, asked: int | None) -> Iterator[Change]:
        """Plan to save the watermark if it rose. asked: the newest record that need not be asked about any more."""
        mark = replace(self._reached, last_asked=self.watermark.last_asked if asked is None else asked)
        if mark != self.watermark:
            yield Change("judged", "what came up to here was looked through", (LogEvent(mark.event_data(self._name)),))


def is_own_word(record: Record) -> bool:
    """Whether a record is in the words of those who own its scope, and not quoted, imported or made by sleep.

    In a group everybody's words are its own; in the owner's memory a guest's are not.
    """
    if record.source in _ELSEWHERE or record.category == "lesson":
        return False
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope != OWNER_SCOPE)


def batches_by_scope(records: Sequence[Record], size: int) -> list[Batch]:
    """Split records into batches of one scope each; the owner's come first."""
    scopes: dict[str, list[Record]] = {}
    for record in records:
        scopes.setdefault(record.scope, []).append(record)
    order = sorted(scopes, key=lambda scope: (scope != OWNER_SCOPE, scope))
    return [tuple(scopes[scope][at : at + size]) for scope in order for at in range(0, len(scopes[scope]), size)]


def read_answers(
    view: NightView,
    records: Sequence[Record],
    batches: Sequence[Batch],
    ask: Callable[[Batch, NightView], ModelQuestion],
) -> tuple[int | None, list[tuple[Batch, dict[str, object]]]]:
    """The newest record that need not be asked about any more, and the answers by batch; unreadable ones are empty.

    A question without an answer is asked again in the next night, unless there is no model: then the rules decide.
    """
    asked = records[-1].id if records else None
    answers: list[tuple[Batch, dict[str, object]]] = []
    for batch in batches:
        answer = view.answer(ask(batch, view))
        if answer is not None:
            answers.append((batch, parse_object(answer) or {}))
        elif view.model_available and asked is not None:
            asked = min(asked, batch[0].id - 1)
    return asked, answers
