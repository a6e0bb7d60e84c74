"""Build the request that reranks memories, and parse its answer strictly."""

from collections.abc import Sequence
from importlib import resources

from kenobot.language.json_answers import json_objects
from kenobot.language.quoting import quote_lines
from kenobot.ports.provider import Block, Message, Request

_INSTRUCTIONS = resources.files(__package__).joinpath("rerank_instructions.txt").read_text("utf-8").removesuffix("\n")

MAX_NOTES = 12
"""Notes that are marked: as many as would be shown."""

MAX_MARK = 3
"""The best mark a note may get."""

_LONGEST_QUESTION = 2000  # characters
_LONGEST_NOTE = 400
_LONGEST_ANSWER = 4000
_ANSWER_TOKENS = 400


def build_request(question: str, notes: Sequence[str]) -> Request:
    """Build the request to judge `notes` by a question."""
    parts = ["## The message", *quote_lines(question[:_LONGEST_QUESTION]), "", "## The notes"]
    for number, note in enumerate(notes, 1):
        parts.append(f"[{number}] > {' '.join(note.split())[:_LONGEST_NOTE]}")
    parts += ["", "Now answer with the JSON object."]
    message = Message("user", (Block("\n".join(parts)),))
    return Request((Block(_INSTRUCTIONS, cache=True),), (message,), max_tokens=_ANSWER_TOKENS)


def parse_marks(answer: str, count: int) -> list[float] | None:
    """Parse the marks of an answer, 0 to 1, one for each of `count` notes; None when one is missing or is no mark."""
    for marks in json_objects(answer[:_LONGEST_ANSWER]):
        given = [marks.get(str(number)) for number in range(1, count + 1)]
        valid = [
            mark for mark in given if isinstance(mark, int) and not isinstance(mark, bool) and 0 <= mark <= MAX_MARK
        ]
        if len(valid) == count:
            return [mark / MAX_MARK for mark in valid]
    return None
