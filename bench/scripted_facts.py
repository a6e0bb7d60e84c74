"""Scripted answers to extraction requests: the facts that a decent model would extract from the turns of a prompt."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from kenobot.ports.provider import Request

_READING = "## The conversation"
_REMEMBERED = re.compile(r"^\[(\d+)\](?: \([^\n]{0,200}?\))* > ([^\n]*)$", re.MULTILINE)
_TURN = re.compile(r"^### Turn (\d+)\b[^\n]*\n((?:>[^\n]*\n?)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ScriptedFact:
    """What a model makes of a step when it reads the turns for facts. contradicts, repeats: texts in what it knows."""

    text: str
    category: str = "fact"
    subject: str = "user"
    attributes: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.95
    importance: int = 5
    kind: str = "note"
    contradicts: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()


def is_extraction(request: Request) -> bool:
    """Whether turns are to be read for facts."""
    return _READING in request.messages[-1].text


def turns_in_prompt(text: str) -> list[tuple[int, str]]:
    """The turns that a prompt shows, by number, each with what was said."""
    return [
        (int(number), "\n".join(line.removeprefix(">").removeprefix(" ") for line in quoted.splitlines()))
        for number, quoted in _TURN.findall(text)
    ]


def extraction_reply(text: str, fact_for: Callable[[str], ScriptedFact | None]) -> str:
    """The facts of the turns shown, as JSON, with verdicts about the memories shown beside them.

    fact_for: what there is to note of what somebody said.
    """
    known = [(int(number), said) for number, said in _REMEMBERED.findall(text.partition(_READING)[0])]
    facts = [
        _fact(found, number, known) for number, said in turns_in_prompt(text) if (found := fact_for(said)) is not None
    ]
    return json.dumps({"facts": facts}, ensure_ascii=False)


def _fact(noted: ScriptedFact, turn: int, known: list[tuple[int, str]]) -> dict[str, object]:
    verdicts = []
    for number, said in known:
        if any(text in said for text in noted.contradicts):
            verdicts.append({"memory": number, "relation": "contradiction"})
        elif said == noted.text or any(text in said for text in noted.repeats):
            verdicts.append({"memory": number, "relation": "repeat"})
    return {
        "text": noted.text,
        "category": noted.category,
        "subject": noted.subject,
        "attributes": dict(noted.attributes),
        "confidence": noted.confidence,
        "importance": noted.importance,
        "kind": noted.kind,
        "evidence": [turn],
        "verdicts": verdicts,
    }
