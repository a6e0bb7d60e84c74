"""Classify recent errors, and admit a lesson from each of our own: once, and never from a lesson.

A tag holds the class of an error, and that it was looked at. A lesson stands in MEMORY.md of its scope, linked to the
error.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby

from kenobot.cognitive.beliefs.value import salience_signs
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.errors import classify
from kenobot.cognitive.sleep.errors.classify import ErrorVerdict
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, UpdateRecord
from kenobot.cognitive.sleep.plan.edits import unchanged
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
    """Ask about each batch with a new error."""
    return [_question(view, batch) for batch in _batches(view) if not all(map(_is_marked, batch))]


def plan(view: NightView) -> Iterator[Change]:
    """Tag errors with their class, and learn from our own."""
    for batch in _batches(view):
        answer = view.answer(_question(view, batch))
        verdicts = classify.parse_verdicts(answer, len(batch), view.policy.pruning) if answer is not None else {}
        for place, record in enumerate(batch):
            if not _is_marked(record):
                yield _change(view, record, verdicts.get(place) or classify.verdict_by_rules(record.text))


def _batches(view: NightView) -> Iterator[tuple[Record, ...]]:
    """The recent errors, oldest first, by scope; tagged ones too, as a batch must stay the same after a crash."""
    policy = view.policy.pruning
    since = min(view.since or view.now, view.now) - timedelta(days=policy.error_days)
    recent = pass_rows.own_facts_since(view.connection, since, view.now)
    errors = sorted((r for r in recent if "error" in salience_signs(r.text)), key=lambda record: record.scope)
    for _, group in groupby(errors, key=lambda record: record.scope):
        own = tuple(group)
        yield from (own[start : start + policy.error_batch] for start in range(0, len(own), policy.error_batch))


def _question(view: NightView, batch: Sequence[Record]) -> ModelQuestion:
    return classify.classification_question([record.text for record in batch], view.policy.pruning)


def _change(view: NightView, record: Record, verdict: ErrorVerdict) -> Change:
    kind, policy = verdict.kind, view.policy.pruning
    tags = json.dumps([*_tags(record), f"{ERROR_TAG_PREFIX}{kind or 'none'}"], ensure_ascii=False)
    tagged = UpdateRecord(record.id, {"tags": tags}, unchanged(record, "tags", "text"), shown=False)
    day = local_day(view.now, view.zone)
    text = classify.lesson_text(record.text, kind, day, policy, verdict.lesson) if kind is not None else None
    if kind is None or text is None:
        reason = _REASONS[kind] if kind is not None else "it tells of no trouble of ours"
        return Change("classified", reason, (tagged,), record.id)
    recoverable = classify.is_recoverable(record.text)
    candidate = Candidate(
        "note",
        record.scope,
        text,
        category="lesson",
        source="sleep",
        trust="model",
        tier="core",
        importance=policy.lesson_importance if recoverable else policy.grave_lesson_importance,
        evidence=record.source_message_ids,
        action="store_note",
    )
    return Change("learned", f"{_REASONS[kind]}: a lesson", (tagged, AdmitRecord(candidate, (record.id,))), record.id)


def _is_marked(record: Record) -> bool:
    return any(tag.startswith(ERROR_TAG_PREFIX) for tag in _tags(record))


def _tags(record: Record) -> list[str]:
    tags = json.loads(record.tags)
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


PASS = Pass("errors", "errors", "tells whose trouble went wrong, and draws lessons from our own", plan, questions)
