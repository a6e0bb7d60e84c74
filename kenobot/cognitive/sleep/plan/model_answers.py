"""Ask a model about records, and read the JSON in its answers."""

import json
from collections.abc import Iterable, Sequence

from kenobot.cognitive.sleep.plan.passes import ModelQuestion
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.language.json_answers import json_objects
from kenobot.ports.records import Record

_LONGEST = 100_000  # characters of an answer


def question_about(records: Iterable[Record], prompt: str, longest: int, answer_tokens: int) -> ModelQuestion:
    """Ask about records, quoted with their numbers, one JSON object a line. longest: characters of each."""
    quoted = [{"entry": record.id, "day": record.day, "text": record.text[:longest]} for record in records]
    text = "\n".join(json.dumps(each, ensure_ascii=False) for each in quoted)
    return ModelQuestion(system_prompt(prompt), text, answer_tokens)


def one_line(text: str, longest: int | None = None) -> str:
    """Join the words of a text with single spaces, cut to `longest` characters."""
    return " ".join(text.split())[:longest]


def find_object(answer: str) -> dict[str, object] | None:
    """Find the first JSON object in an answer; None when there is none."""
    return next(json_objects(answer[:_LONGEST]), None)


def parse_record_ids(value: object, among: Sequence[Record]) -> frozenset[int] | None:
    """Read a list of record numbers; None when it is none, or names a record that is not `among` those shown."""
    if not isinstance(value, list) or not all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        return None
    ids = frozenset(value)
    return ids if ids <= {record.id for record in among} else None
