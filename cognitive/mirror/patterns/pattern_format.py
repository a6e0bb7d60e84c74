"""Render and parse `procedural/patterns.json`. Pure.

One list for the whole home, each pattern an object {id, trigger, response, confidence, learnedFrom, usageCount}; one
that is not the owner's own says whose it is by its `scope`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kenobot.cognitive.mirror.records.front_matter import UnusableFileError
from kenobot.cognitive.procedural.pattern import Pattern, one_line
from kenobot.core import redaction
from kenobot.ports.identity import OWNER_SCOPE, is_session_id

PATH = "procedural/patterns.json"
_ID = re.compile(r"pattern-([0-9]{1,18})")
_SCOPE = re.compile(r"(?:chat|user):(.+)")
_LONGEST = 16_000  # characters of a trigger or a response
_BY_HAND = 0.95


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """A pattern as the file has it. number: the record that its id names; None for one that has none yet."""

    number: int | None
    trigger: str
    response: str
    confidence: float
    learned_from: str
    uses: int
    scope: str


def entry_of(pattern: Pattern) -> PatternEntry:
    record = pattern.record
    confidence = round(record.confidence, 4)
    return PatternEntry(
        record.id, pattern.trigger, pattern.response, confidence, pattern.learned_from, record.use_count, record.scope
    )


def join_entries(patterns: Iterable[str]) -> str:
    """Join patterns, each as `render_entry` writes it; "" for none, which is no file."""
    whole = ",\n".join(patterns)
    return f"[\n{whole}\n]\n" if whole else ""


def render_entry(entry: PatternEntry) -> str:
    """Render a pattern as `json.dumps` would, indented by two in a list.

    Piece by piece, because `json` indents many times slower than it writes.
    """
    lines = (f'    "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in _shown(entry).items())
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _shown(entry: PatternEntry) -> dict[str, str | float | int]:
    shown: dict[str, str | float | int] = {
        "id": f"pattern-{entry.number}",
        "trigger": entry.trigger,
        "response": entry.response,
        "confidence": entry.confidence,
        "learnedFrom": entry.learned_from,
        "usageCount": entry.uses,
    }
    return shown if entry.scope == OWNER_SCOPE else {**shown, "scope": entry.scope}


def parse(text: str) -> list[PatternEntry]:
    """Parse the patterns in a file, in its order, all or none. Raises UnusableFileError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableFileError(f"it is not whole JSON ({_short(error)})") from None
    if not isinstance(found, list):
        raise UnusableFileError("it must be a list of patterns")
    entries = [_entry(item, place) for place, item in enumerate(found, 1)]
    numbers = [entry.number for entry in entries if entry.number is not None]
    if len(set(numbers)) < len(numbers):
        raise UnusableFileError("two of its patterns have the same id")
    return entries


def validate_entry(item: Mapping[str, object]) -> tuple[str, str, float, int]:
    """Trigger, response, confidence and usage count of one pattern. Raises UnusableFileError for what cannot be one."""
    trigger, response = item.get("trigger"), item.get("response")
    if not (isinstance(trigger, str) and isinstance(response, str) and one_line(trigger) and one_line(response)):
        raise UnusableFileError("must have a trigger and a response")
    if max(len(trigger), len(response)) > _LONGEST:
        raise UnusableFileError(f"must not be longer than {_LONGEST} characters")
    confidence = item.get("confidence", _BY_HAND)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UnusableFileError("must have a confidence between 0 and 1")
    uses = item.get("usageCount", 0)
    if isinstance(uses, bool) or not isinstance(uses, int) or not 0 <= uses < 10**9:
        raise UnusableFileError("must have a usageCount that is a whole number")
    kind = redaction.find_secret(trigger) or redaction.find_secret(response)
    if kind is not None:
        raise UnusableFileError(f"holds what looks like {kind}")
    return one_line(trigger), one_line(response), float(confidence), uses


def _entry(item: object, place: int) -> PatternEntry:
    if not isinstance(item, dict):
        raise UnusableFileError(f"pattern {place} must be an object")
    try:
        trigger, response, confidence, uses = validate_entry(item)
    except UnusableFileError as error:
        raise UnusableFileError(f"pattern {place} {error}") from None
    learned, scope = item.get("learnedFrom", "edit"), item.get("scope", OWNER_SCOPE)
    if not isinstance(learned, str) or not _is_scope(scope):
        raise UnusableFileError(f"pattern {place} must say whose it is as the others do")
    known = _ID.fullmatch(str(item.get("id", "")))
    return PatternEntry(
        int(known[1]) if known else None, trigger, response, confidence, one_line(learned)[:100], uses, str(scope)
    )


def _is_scope(scope: object) -> bool:
    found = _SCOPE.fullmatch(scope) if isinstance(scope, str) else None
    return scope == OWNER_SCOPE or (found is not None and is_session_id(found[1]))


def _short(error: Exception) -> str:
    return str(error).partition(":")[0] + (f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "")
