"""A model for years of talk: it tags and notes what it is handed, and sums up; sleep does not ask it."""

import json
import re
from dataclasses import dataclass

from bench.scripted_facts import ScriptedFact, extraction_reply, is_extraction, turns_in_prompt
from bench.years.talk import ScriptedMessage
from kenobot.agent.prompt.context_builder import TAG_INSTRUCTIONS
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.provider import Request
from kenobot_testing.prompt_parts import memory_frame, runtime_blocks

_SUMMED = re.compile(r"^\[(\d+)\] > (.*)$", re.MULTILINE)
_LINES = 20  # of an earlier summary that are kept


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Tokens of a prompt: all of it, and what memory adds to it: what every message is shown, and this one besides."""

    whole: int
    memory: int


class YearsModel:
    """Answers the requests of a scripted provider. sizes: of the prompts of turns."""

    def __init__(self) -> None:
        self.sizes: list[PromptTokens] = []
        self._said: ScriptedMessage | None = None
        self._noted: dict[str, ScriptedFact] = {}
        self._gist: dict[str, str] = {}

    def expect(self, said: ScriptedMessage) -> None:
        """This is said next."""
        self._said = said
        if said.scripted_fact is not None:
            self._noted[said.text] = said.scripted_fact
        if said.remember or said.chat_memory:
            self._gist[said.text] = said.remember or said.chat_memory

    def reply(self, request: Request) -> str:
        """Answer a turn, extract facts, or summarise."""
        if is_extraction(request):
            return extraction_reply(request.messages[-1].text, self._noted.get)
        if any(TAG_INSTRUCTIONS in block.text for block in request.system):
            return self._answer(request)
        return self._sum_up(request.messages[-1].text)

    def _answer(self, request: Request) -> str:
        texts = [block.text for block in request.system] + [message.text for message in request.messages]
        memory = "\n".join([memory_frame(request), *runtime_blocks(request.messages[-1:])])
        self.sizes.append(PromptTokens(sum(map(estimate_tokens, texts)), estimate_tokens(memory)))
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
        lines += [
            {"text": self._gist[said], "turns": [number]}
            for number, said in turns_in_prompt(text)
            if said in self._gist
        ]
        return json.dumps({"lines": lines or [{"text": "Small talk", "turns": [1]}]}, ensure_ascii=False)
