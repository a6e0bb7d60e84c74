"""Classify recent errors, and admit a lesson from each of our own: once, and never from a lesson.

Four classes: external (networks, servers, other people's limits), configuration (a setting that is missing or wrong),
user (input that could not be right), and internal: everything else. A tag holds the class of an error, and that it was
looked at. A lesson stands in MEMORY.md of its scope, linked to the error.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Literal, get_args

from kenobot.cognitive.policy.sleep import PruningPolicy
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change, UpdateRecord, expect
from kenobot.cognitive.sleep.plan.model_answers import find_object, one_line
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.sleep.plan.texts import system_prompt, texts
from kenobot.core import lazy
from kenobot.language.calendar import local_day
from kenobot.language.lexicon import alternatives
from kenobot.language.salience import salience_signs
from kenobot.language.solutions import lacks_subject
from kenobot.language.words import detect_language, fold, words
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence

ErrorClass = Literal["internal", "configuration", "external", "user"]

ERROR_TAG_PREFIX = "error:"
OWN_ERRORS: frozenset[ErrorClass] = frozenset({"internal", "configuration"})
"""The classes that lessons are drawn from."""

_STATUS = r"(?<![\d.])(?:401|403|407|408|429|50[0-4])(?![\d.])"  # of HTTP
_SIGNS: tuple[tuple[ErrorClass, re.Pattern[str]], ...] = (  # the first that fits decides
    ("external", lazy.regex(rf"\b(?:{alternatives('error_external')})\b|{_STATUS}")),
    ("configuration", lazy.regex(rf"\b(?:{alternatives('error_configuration')})\b")),
    ("user", lazy.regex(rf"\b(?:{alternatives('error_user')})\b")),
)
_TECHNICAL = lazy.regex(rf"\b(?:{alternatives('error_technical')})\b|\b\w+(?:error|exception)\b")
_GRAVE = lazy.regex(rf"\b(?:{alternatives('error_grave')})\b")
_PASSING = lazy.regex(rf"\b(?:{alternatives('error_passing')})\b")
_HEADER = lazy.regex(r"\A#*\s*\d{1,2}:\d{2}\s*[—–-]\s*")
_REASONS = {
    None: "reasons.no_trouble",
    "external": "reasons.from_outside",
    "user": "reasons.wrong_input",
    "internal": "reasons.own_trouble",
    "configuration": "reasons.wrong_setting",
}


@dataclass(frozen=True, slots=True)
class ErrorVerdict:
    """The class of an entry, None when it tells of no error, and a model's lesson from it, or ""."""

    kind: ErrorClass | None
    lesson: str = ""


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask about each batch with a new error."""
    return [_question(view, batch) for batch in _batches(view) if not all(map(_is_marked, batch))]


def plan(view: NightView) -> Iterator[Change]:
    """Tag errors with their class, and learn from our own."""
    for batch in _batches(view):
        answer = view.answer(_question(view, batch))
        verdicts = parse_verdicts(answer, len(batch), view.policy.pruning) if answer is not None else {}
        for place, record in enumerate(batch):
            if not _is_marked(record):
                yield _change(view, record, verdicts.get(place) or _verdict_by_rules(record.text))


def _batches(view: NightView) -> Iterator[tuple[Record, ...]]:
    """Yield the recent errors, oldest first, by scope; tagged ones too, as a batch must stay the same after a crash."""
    policy = view.policy.pruning
    since = min(view.since or view.now, view.now) - timedelta(days=policy.error_days)
    recent = pass_rows.own_facts_since(view.connection, since, view.now)
    errors = sorted((r for r in recent if "error" in salience_signs(r.text)), key=lambda record: record.scope)
    for _, group in groupby(errors, key=lambda record: record.scope):
        own = tuple(group)
        yield from (own[start : start + policy.error_batch] for start in range(0, len(own), policy.error_batch))


def _change(view: NightView, record: Record, verdict: ErrorVerdict) -> Change:
    kind, policy = verdict.kind, view.policy.pruning
    tags = json.dumps([*_tags(record), f"{ERROR_TAG_PREFIX}{kind or 'none'}"], ensure_ascii=False)
    tagged = UpdateRecord(record.id, {"tags": tags}, expect(record, "tags", "text"), shown=False)
    text = lesson_text(record.text, kind, local_day(view.now, view.zone), policy, verdict.lesson)
    if text is None:
        return Change("classified", Sentence(_REASONS[kind]), (tagged,), record.id)
    candidate = Candidate(
        "note",
        record.scope,
        text,
        category="lesson",
        source="sleep",
        trust="model",
        tier="core",
        importance=policy.lesson_importance if is_recoverable(record.text) else policy.grave_lesson_importance,
        evidence=record.source_message_ids,
        action="store_note",
    )
    reason = Sentence("reasons.lesson", why=Sentence(_REASONS[kind]))
    return Change("learned", reason, (tagged, AdmitRecord(candidate, (record.id,))), record.id)


def _is_marked(record: Record) -> bool:
    return any(tag.startswith(ERROR_TAG_PREFIX) for tag in _tags(record))


def _tags(record: Record) -> list[str]:
    tags = json.loads(record.tags)
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def classify(text: str) -> ErrorClass:
    """Classify an error by its words."""
    plain = fold(text)
    return next((kind for kind, signs in _SIGNS if signs.search(plain)), "internal")


def is_recoverable(text: str) -> bool:
    """Return whether a retry may help: always, unless the text calls it fatal."""
    plain = fold(text)
    return _PASSING.search(plain) is not None or _GRAVE.search(plain) is None


def _verdict_by_rules(text: str) -> ErrorVerdict:
    """Classify an entry without a model. A failure is internal only where it sounds technical."""
    kind = classify(text)
    return ErrorVerdict(None if kind == "internal" and not _TECHNICAL.search(fold(text)) else kind)


def lesson_text(text: str, kind: ErrorClass | None, day: str, policy: PruningPolicy, wording: str = "") -> str | None:
    """Word the lesson of an entry, learned on a day; None when there is none.

    wording: a model's; "" for the entry's own first line that tells of an error.
    """
    if kind not in OWN_ERRORS:
        return None
    lesson = one_line(wording or _error_line(text))
    if len(words(lesson)) < policy.min_error_words or lacks_subject(lesson):
        return None
    language = "es" if detect_language(lesson) == "es" else "en"
    cut = lesson if len(lesson) <= policy.error_chars else f"{lesson[: policy.error_chars].rstrip()}…"
    return texts(f"lesson_{kind}", language, lesson=cut, day=day)[0]


def _error_line(text: str) -> str:
    """Return the first line of an entry that tells of an error, without the entry's time; "" when none does."""
    lines = (_HEADER.sub("", line.strip()) for line in text.splitlines())
    told = (line for line in lines if "error" in salience_signs(line) or _TECHNICAL.search(fold(line)))
    return next((line for line in told if not line.startswith("#")), "")


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _question(view: NightView, batch: Sequence[Record]) -> ModelQuestion:
    longest = view.policy.pruning.error_chars
    lines = [f"[{number}] > {one_line(record.text, longest)}" for number, record in enumerate(batch, 1)]
    text = "\n".join(["Sort these entries.", "", *lines])
    return ModelQuestion(system_prompt("errors"), text, 60 + 80 * len(batch))


def parse_verdicts(answer: str, count: int, policy: PruningPolicy) -> dict[int, ErrorVerdict]:
    """Read the verdicts on entries 0 to `count` - 1, by place. What is not exactly as asked is left out."""
    read = find_object(answer)
    entries = read.get("entries") if read is not None else None
    verdicts: dict[int, ErrorVerdict] = {}
    for entry in entries if isinstance(entries, list) else ():
        match entry:
            case {"entry": int(number), "class": str(name)} if 1 <= number <= count and number - 1 not in verdicts:
                kind = next((known for known in get_args(ErrorClass) if known == name), None)
                if kind is not None or name == "none":
                    lesson = entry.get("lesson") if kind is not None else None
                    sentence = one_line(lesson) if isinstance(lesson, str) else ""
                    fits = len(sentence) <= policy.error_chars
                    verdicts[number - 1] = ErrorVerdict(kind, sentence if fits else "")
    return verdicts


PASS = Pass("errors", "errors", "tells whose trouble went wrong, and draws lessons from our own", plan, questions)
