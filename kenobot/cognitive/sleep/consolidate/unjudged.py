"""Read what a pass has not judged yet, however many nights were missed, and what a model says of it.

The watermark is an event of its own, planned last: a night that is cut short leaves it where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, LogEvent
from kenobot.cognitive.sleep.plan.model_answers import find_object, question_about
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence

_ELSEWHERE = frozenset({"sleep", "import"})  # what sleep made is no news to it, and an import is hearsay


class UnjudgedRecords:
    """The records above a pass's watermark. Read all of `records` and of `answers` before `save_watermark`.

    entries: the records that a model was not asked about, as many as a night asks about.
    """

    def __init__(
        self,
        view: NightView,
        name: str,
        choose: Callable[[NightView, Sequence[Record]], list[Record]],
        answer_tokens: int,
        tiers: tuple[str, ...] = (),
    ) -> None:
        """choose: those of `entries` that a model is asked about. tiers: those that count; none, all."""
        self._view = view
        self._name = name
        self._choose = choose
        self._answer_tokens = answer_tokens
        self._tiers = tiers
        self._watermark = pass_rows.load_watermark(view.connection, name)
        self._reached = self._watermark
        limit = view.policy.procedural.max_entries_asked
        self.entries = pass_rows.not_yet_asked(view.connection, self._watermark, limit)

    def records(self) -> Iterator[Record]:
        """Yield the records that people vouch for, in the order in which they came or were reworded."""
        for record in pass_rows.iterate_changed(self._view.connection, self._watermark):
            if self._tiers and record.tier not in self._tiers:
                continue
            self._reached = replace(self._reached, event=record.changed_event, record=record.id)
            if is_own_word(record):
                yield record

    def questions(self) -> list[ModelQuestion]:
        """Return the questions about the entries, each about some of one scope; the owner's come first."""
        return [question for question, _ in self._batches()]

    def answers(self) -> list[tuple[Sequence[Record], dict[str, object]]]:
        """Return the answers with the records they are about; unreadable ones are empty.

        A question without an answer is asked again in the next night, unless there is no model: then the rules decide.
        """
        asked = self.entries[-1].id if self.entries else self._watermark.last_asked
        answers: list[tuple[Sequence[Record], dict[str, object]]] = []
        for question, batch in self._batches():
            answer = self._view.answer(question)
            if answer is not None:
                answers.append((batch, find_object(answer) or {}))
            elif self._view.model_available and asked is not None:
                asked = min(asked, batch[0].id - 1)
        self._reached = replace(self._reached, last_asked=asked)
        return answers

    def save_watermark(self) -> Iterator[Change]:
        """Plan to save the watermark if it rose."""
        if self._reached != self._watermark:
            data = LogEvent(self._reached.event_data(self._name))
            yield Change("judged", Sentence("reasons.looked_through"), (data,))

    def _batches(self) -> Iterator[tuple[ModelQuestion, Sequence[Record]]]:
        policy = self._view.policy.procedural
        scopes: dict[str, list[Record]] = {}
        for record in self._choose(self._view, self.entries):
            scopes.setdefault(record.scope, []).append(record)
        for scope in sorted(scopes, key=lambda scope: (scope != OWNER_SCOPE, scope)):
            for start in range(0, len(scopes[scope]), policy.batch):
                batch = scopes[scope][start : start + policy.batch]
                yield question_about(batch, self._name, policy.entry_chars, self._answer_tokens), batch


def is_own_word(record: Record) -> bool:
    """Return whether a record is in the words of those who own its scope, and not quoted, imported or made by sleep.

    In a group everybody's words are its own; in the owner's memory a guest's are not.
    """
    if record.source in _ELSEWHERE or record.category == "lesson":
        return False
    return record.trust in ("owner", "model") or (record.trust == "guest" and record.scope != OWNER_SCOPE)
