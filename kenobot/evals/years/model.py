"""A model for years of talk: it tags and notes what it is handed, and sums up; sleep does not ask it."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from kenobot.agent.prompt.context_builder import TAGS
from kenobot.core.token_estimate import estimate
from kenobot.evals.month.judge import memory_in
from kenobot.evals.month.model import is_reading, read, turns
from kenobot.evals.month.script import Noted
from kenobot.evals.years.talk import Said
from kenobot.ports.provider import Delta, Request, Usage

_SUMMED = re.compile(r"^\[(\d+)\] > (.*)$", re.MULTILINE)
_LINES = 20  # of an earlier summary that are kept


@dataclass(frozen=True, slots=True)
class Size:
    """Tokens of a prompt: all of it, and what memory adds to it: what every message is shown, and this one besides."""

    whole: int
    memory: int


class Companion:
    """Plays the model's part. sizes: of the prompts of turns, since somebody took them. readings: batches read."""

    name = "companion"

    def __init__(self) -> None:
        self.sizes: list[Size] = []
        self.readings = 0
        self._said: Said | None = None
        self._noted: dict[str, Noted] = {}
        self._gist: dict[str, str] = {}

    def expect(self, said: Said) -> None:
        """This is said next."""
        self._said = said
        if said.noted is not None:
            self._noted[said.text] = said.noted
        if said.remember or said.chat_memory:
            self._gist[said.text] = said.remember or said.chat_memory

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """See `kenobot.ports.provider.Provider`."""
        if is_reading(request):
            self.readings += 1
            reply = read(request.messages[-1].text, self._noted.get)
        elif any(TAGS in block.text for block in request.system):
            reply = self._answer(request)
        else:
            reply = self._sum_up(request.messages[-1].text)
        yield Delta(text=reply)
        yield Delta(stop_reason="end_turn", usage=Usage(input_tokens=1, output_tokens=1), model=self.name)

    def _answer(self, request: Request) -> str:
        texts = [block.text for block in request.system] + [message.text for message in request.messages]
        now = Request(request.system, request.messages[-1:])  # what came with earlier messages is part of the talk
        memory = memory_in(now).partition(TAGS)[2]
        self.sizes.append(Size(sum(map(estimate, texts)), estimate(memory)))
        said = self._said
        if said is None:
            return "Vale."
        tags = (("memory", said.remember), ("chat-memory", said.chat_memory), ("working-memory", said.working))
        return "\n".join(["Vale.", *(f"<{tag}>{text}</{tag}>" for tag, text in tags if text)])

    def _sum_up(self, text: str) -> str:
        """The last lines of the summary so far, and what mattered of the turns after it."""
        lines: list[dict[str, object]] = [
            {"text": line, "summary": [int(number)]} for number, line in _SUMMED.findall(text)[-_LINES:]
        ]
        lines += [{"text": self._gist[said], "turns": [number]} for number, said in turns(text) if said in self._gist]
        return json.dumps({"lines": lines or [{"text": "Small talk", "turns": [1]}]}, ensure_ascii=False)
