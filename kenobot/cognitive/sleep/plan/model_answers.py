"""Ask a model about records, and read the JSON in its answers."""

import json
import re
from collections.abc import Iterable, Sequence

from kenobot.cognitive.sleep.plan.passes import ModelQuestion
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.core import lazy
from kenobot.ports.records import Record

_FENCED = lazy.regex(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.DOTALL)
_OBJECT = lazy.regex(r"\{.*\}", re.DOTALL)
_LONGEST = 100_000  # characters of an answer


def question_about(records: Iterable[Record], prompt: str, longest: int, answer_tokens: int) -> ModelQuestion:
    """Ask about records, quoted with their numbers, one JSON object a line. longest: characters of each."""
    quoted = [{"entry": record.id, "day": record.day, "text": record.text[:longest]} for record in records]
    text = "\n".join(json.dumps(each, ensure_ascii=False) for each in quoted)
    return ModelQuestion(system_prompt(prompt), text, answer_tokens)


def one_line(text: str, longest: int | None = None) -> str:
    """Join the words of a text with single spaces, cut to `longest` characters."""
    return " ".join(text.split())[:longest]


def parse_object(answer: str) -> dict[str, object] | None:
    """Read the one JSON object that an answer must be; None when it is anything else."""
    text = answer.strip()[:_LONGEST]
    fenced = _FENCED.match(text)
    return _load(fenced[1] if fenced else text)


def find_object(answer: str) -> dict[str, object] | None:
    """Read the JSON object in an answer, from its first brace to its last; None when that is none."""
    braces = _OBJECT.search(answer)
    return _load(braces[0]) if braces else None


def parse_record_ids(value: object, among: Sequence[Record]) -> frozenset[int] | None:
    """Read a list of record numbers; None when it is none, or names a record that is not `among` those shown."""
    if not isinstance(value, list) or not all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        return None
    ids = frozenset(value)
    return ids if ids <= {record.id for record in among} else None


def _load(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
