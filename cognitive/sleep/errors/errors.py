"""What went wrong lately, whose trouble it was, and what there is to be learned from it: once, and never from a lesson.

Each entry gets a mark of its class, which also says that it was looked at. A lesson stands in MEMORY.md of the scope
whose trouble it was, with a link to where it comes from.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

from kenobot.cognitive.beliefs.salience import signs
from kenobot.cognitive.sleep import upkeep_store
from kenobot.cognitive.sleep.errors import classify
from kenobot.cognitive.sleep.errors.classify import Judged
from kenobot.cognitive.sleep.plan.changes import Change, Edit, Learn, Part
from kenobot.cognitive.sleep.plan.passes import Pass, Question, View
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.memory import Candidate

MARK = "error:"
_REASONS = {
    "external": "it came from outside: nothing to be learned",
    "user": "the input could not be right: nothing to be learned",
    "internal": "our own trouble",
    "configuration": "a setting was missing or wrong",
}


def questions(view: View) -> Sequence[Question]:
    """One question for each batch in which something is new."""
    return [_question(view, batch) for batch in _batches(view) if not all(map(_is_marked, batch))]


def plan(view: View) -> Iterator[Change]:
    """Mark what went wrong with whose trouble it was, and learn from our own."""
    for batch in _batches(view):
        answer = view.answer(_question(view, batch))
        told = classify.read(answer, len(batch), view.policy.upkeep) if answer is not None else {}
        for place, record in enumerate(batch):
            if not _is_marked(record):
                yield _change(view, record, told.get(place) or classify.by_rules(record.text))


def _batches(view: View) -> Iterator[tuple[Record, ...]]:
    """What tells of trouble, oldest first, by scope. What was marked already stays in its place: a question that was
    answered before a crash is the same question after it."""
    since = min(view.since or view.now, view.now) - timedelta(days=view.policy.upkeep.errors)
    found = [
        record for record in upkeep_store.told_since(view.connection, since, view.now) if "error" in signs(record.text)
    ]
    for scope in sorted({record.scope for record in found}):
        own, size = [record for record in found if record.scope == scope], view.policy.upkeep.error_batch
        yield from (tuple(own[start : start + size]) for start in range(0, len(own), size))


def _question(view: View, batch: Sequence[Record]) -> Question:
    return classify.question([record.text for record in batch], view.policy.upkeep)


def _change(view: View, record: Record, judged: Judged) -> Change:
    kind, policy = judged.kind, view.policy.upkeep
    tags = json.dumps([*_tags(record), f"{MARK}{kind or 'none'}"], ensure_ascii=False)
    parts: tuple[Part, ...] = (
        Edit(record.id, {"tags": tags}, {"tags": record.tags, "text": record.text}, shown=False),
    )
    text = None
    if kind is not None:
        text = classify.lesson(record.text, kind, local_day(view.now, view.zone), policy, judged.lesson)
    if text is None:
        reason = _REASONS[kind] if kind is not None else "it tells of no trouble of ours"
        return Change("classified", reason, parts, record.id)
    again = classify.recoverable(record.text)
    candidate = Candidate(
        "note",
        record.scope,
        text,
        category="lesson",
        source="sleep",
        trust="model",
        tier="core",
        importance=policy.lesson if again else policy.grave_lesson,
        evidence=record.witnesses,
        action="store_note",
    )
    return Change(
        "learned", f"{_REASONS[kind or 'internal']}: a lesson", (*parts, Learn(candidate, (record.id,))), record.id
    )


def _is_marked(record: Record) -> bool:
    return any(tag.startswith(MARK) for tag in _tags(record))


def _tags(record: Record) -> list[str]:
    found = json.loads(record.tags)
    return [str(tag) for tag in found] if isinstance(found, list) else []


PASS = Pass("errors", "errors", "tells whose trouble went wrong, and draws lessons from our own", plan, questions)
