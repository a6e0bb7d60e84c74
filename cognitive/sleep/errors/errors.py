"""What went wrong lately, whose trouble it was, and what there is to be learned from it: once, and never from a lesson.

Each entry gets a mark of its class, which also says that it was looked at. A lesson stands in MEMORY.md of the scope
whose trouble it was, with a link to where it comes from.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

from kenobot.cognitive.beliefs.value import salience_signs
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.errors import classify
from kenobot.cognitive.sleep.errors.classify import ErrorVerdict
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, ChangePart, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.ports.memory import Candidate

ERROR_TAG_PREFIX = "error:"
_REASONS = {
    "external": "it came from outside: nothing to be learned",
    "user": "the input could not be right: nothing to be learned",
    "internal": "our own trouble",
    "configuration": "a setting was missing or wrong",
}


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """One question for each batch in which something is new."""
    return [_question(view, batch) for batch in _batches(view) if not all(map(_is_marked, batch))]


def plan(view: NightView) -> Iterator[Change]:
    """Mark what went wrong with whose trouble it was, and learn from our own."""
    for batch in _batches(view):
        answer = view.answer(_question(view, batch))
        told = classify.parse_verdicts(answer, len(batch), view.policy.pruning) if answer is not None else {}
        for place, record in enumerate(batch):
            if not _is_marked(record):
                yield _change(view, record, told.get(place) or classify.verdict_by_rules(record.text))


def _batches(view: NightView) -> Iterator[tuple[Record, ...]]:
    """What tells of trouble, oldest first, by scope. What was marked already stays in its place: a question that was
    answered before a crash is the same question after it."""
    since = min(view.since or view.now, view.now) - timedelta(days=view.policy.pruning.error_days)
    found = [
        record
        for record in upkeep_rows.own_facts_since(view.connection, since, view.now)
        if "error" in salience_signs(record.text)
    ]
    for scope in sorted({record.scope for record in found}):
        own, size = [record for record in found if record.scope == scope], view.policy.pruning.error_batch
        yield from (tuple(own[start : start + size]) for start in range(0, len(own), size))


def _question(view: NightView, batch: Sequence[Record]) -> ModelQuestion:
    return classify.classification_question([record.text for record in batch], view.policy.pruning)


def _change(view: NightView, record: Record, judged: ErrorVerdict) -> Change:
    kind, policy = judged.kind, view.policy.pruning
    tags = json.dumps([*_tags(record), f"{ERROR_TAG_PREFIX}{kind or 'none'}"], ensure_ascii=False)
    parts: tuple[ChangePart, ...] = (
        UpdateRecord(record.id, {"tags": tags}, {"tags": record.tags, "text": record.text}, shown=False),
    )
    text = None
    if kind is not None:
        text = classify.lesson_text(record.text, kind, local_day(view.now, view.zone), policy, judged.lesson)
    if text is None:
        reason = _REASONS[kind] if kind is not None else "it tells of no trouble of ours"
        return Change("classified", reason, parts, record.id)
    again = classify.is_recoverable(record.text)
    candidate = Candidate(
        "note",
        record.scope,
        text,
        category="lesson",
        source="sleep",
        trust="model",
        tier="core",
        importance=policy.lesson_importance if again else policy.grave_lesson_importance,
        evidence=record.source_message_ids,
        action="store_note",
    )
    return Change(
        "learned",
        f"{_REASONS[kind or 'internal']}: a lesson",
        (*parts, AdmitRecord(candidate, (record.id,))),
        record.id,
    )


def _is_marked(record: Record) -> bool:
    return any(tag.startswith(ERROR_TAG_PREFIX) for tag in _tags(record))


def _tags(record: Record) -> list[str]:
    found = json.loads(record.tags)
    return [str(tag) for tag in found] if isinstance(found, list) else []


PASS = Pass("errors", "errors", "tells whose trouble went wrong, and draws lessons from our own", plan, questions)
