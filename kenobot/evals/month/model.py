"""A model that has read the script: it answers, tags and notes what a decent one would, and keeps every request.

Nothing in it knows how memory works. It is shown prompts like any model, and reads what is remembered out of them.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable

from kenobot.agent.prompt.runtime_block import BLOCK_OPEN
from kenobot.evals.month.script import MonthScript, ScriptedFact
from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Delta, Request, Usage

_READING = "## The conversation"
_REMEMBERED = re.compile(r"^\[(\d+)\](?: \([^\n]{0,200}?\))* > ([^\n]*)$", re.MULTILINE)
_TURN = re.compile(r"^### Turn (\d+)\b[^\n]*\n((?:>[^\n]*\n?)*)", re.MULTILINE)


class MonthProvider:
    """Plays the model's part. down: it cannot be reached. requests: what it was shown, by what was said last."""

    name = "scripted"

    def __init__(self, script: MonthScript) -> None:
        self._steps = {step.says: step for step in script.steps if step.says and step.who is not None}
        self.down = False
        self.requests: dict[str, Request] = {}
        self.extractions = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the reply. Raises Unavailable while it is down."""
        if self.down:
            raise Unavailable("nobody is there")
        asked = request.messages[-1]
        if is_extraction(request):
            self.extractions += 1
            reply = extraction_reply(asked.text, self._noted)
        else:
            reply = self._answer(request, [block.text for block in asked.blocks])
        yield Delta(text=reply)
        yield Delta(stop_reason="end_turn", usage=Usage(input_tokens=1, output_tokens=1), model=self.name)

    def _answer(self, request: Request, blocks: Iterable[str]) -> str:
        held = "\n".join(block for block in blocks if not block.startswith(BLOCK_OPEN))
        found = [says for says in self._steps if says in held]
        if not found:
            return "Vale."
        says = max(found, key=len)
        self.requests[says] = request
        step = self._steps[says]
        tags = [("memory", step.remember), ("chat-memory", step.chat_memory), ("user-update", step.update)]
        return "\n".join([step.reply or "Vale.", *(f"<{tag}>{text}</{tag}>" for tag, text in tags if text)])

    def _noted(self, said: str) -> ScriptedFact | None:
        step = self._steps.get(said) or self._steps.get(said.partition(": ")[2])
        return step.noted if step is not None else None


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
