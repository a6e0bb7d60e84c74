"""Build the request for a summary, and parse its answer strictly."""

from collections.abc import Mapping, Sequence
from importlib import resources
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.remember import CompactPolicy
from kenobot.cognitive.remember.extract.prompt import SPEAKER_LABELS, turn_lines
from kenobot.core.redaction import Redactor
from kenobot.language.json_answers import json_objects
from kenobot.language.summary.digest import Digest
from kenobot.language.summary.rule_summary import MAX_LINE_CHARS, MAX_LINES
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.provider import Block, Message, Request
from kenobot.ports.turns import ConversationTurn

_INSTRUCTIONS = resources.files(__package__).joinpath("instructions.txt").read_text("utf-8").removesuffix("\n")

_VOICES: Mapping[Trust, str] = {**SPEAKER_LABELS, "model": "the assistant, by itself"}
_LONGEST = 60_000  # characters of an answer
_BLOT = Redactor()


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A line as a model wrote it. turns, summary: positions of the turns and of the earlier lines it is made of."""

    text: str
    turns: tuple[int, ...]
    summary: tuple[int, ...]


def build_request(
    old: Digest, turns: Sequence[ConversationTurn], room: int, zone: ZoneInfo, policy: CompactPolicy
) -> Request:
    """Return the request for a summary that goes on from `old` with `turns`, within `room` tokens."""
    parts = ["## The summary so far", ""]
    parts += [f"[{number}] > {line.text}" for number, line in enumerate(old.lines, 1)] or ["None yet."]
    parts += ["", "## What was said after it"]
    for number, turn in enumerate(turns, 1):
        parts += ["", *turn_lines(number, turn, zone, policy.max_turn_tokens, policy.max_reply_tokens, _VOICES)]
    parts += ["", "Now answer with the JSON object."]
    message = Message("user", (Block("\n".join(parts)),))
    return Request((Block(_INSTRUCTIONS % room, cache=True),), (message,), max_tokens=policy.max_answer_tokens)


def parse_lines(answer: str, old: int, turns: int, policy: CompactPolicy) -> list[ParsedLine] | None:
    """Return the lines of a model's answer; None when it holds no summary. old, turns: how many there were of each."""
    value = next((found for found in json_objects(answer[:_LONGEST]) if "lines" in found), None)
    items = value.get("lines") if value is not None else None
    if not isinstance(items, list):
        return None
    found: list[ParsedLine] = []
    for item in items[:MAX_LINES]:
        text = item.get("text") if isinstance(item, dict) else None
        if not isinstance(text, str):
            continue
        line = " ".join(_BLOT(text).split()).removeprefix("- ")[:MAX_LINE_CHARS].rstrip()
        if any(map(str.isalnum, line)):
            found.append(ParsedLine(line, _positions(item.get("turns"), turns), _positions(item.get("summary"), old)))
    return found or None


def _positions(value: object, most: int) -> tuple[int, ...]:
    """Return numbers from 1 to `most`, counted from 0."""
    numbers = value if isinstance(value, list) else [value]
    whole = (each for each in numbers if isinstance(each, int) and not isinstance(each, bool))
    return tuple(dict.fromkeys(each - 1 for each in whole if 1 <= each <= most))
