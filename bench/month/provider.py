"""A model that has read the script: it answers, tags and extracts what a decent one would.

Nothing in it knows how memory works. It is shown prompts like any model, and reads what is remembered out of them.
"""

from bench.month.script import MonthScript
from bench.scripted_facts import ScriptedFact, extraction_reply, is_extraction
from kenobot.agent.prompt.runtime_block import BLOCK_OPEN
from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Request


class MonthModel:
    """Answers the requests of a scripted provider. down: it cannot be reached. requests: by the message they answer."""

    def __init__(self, script: MonthScript) -> None:
        self._steps = {step.says: step for step in script.steps if step.says and step.who is not None}
        self.down = False
        self.requests: dict[str, Request] = {}
        self.extractions = 0

    def reply(self, request: Request) -> str:
        """Answer a turn, or extract facts. Raises Unavailable while it is down."""
        if self.down:
            raise Unavailable("nobody is there")
        if is_extraction(request):
            self.extractions += 1
            return extraction_reply(request.messages[-1].text, self._fact_for)
        return self._answer(request)

    def _answer(self, request: Request) -> str:
        blocks = (block.text for block in request.messages[-1].text_blocks)
        text = "\n".join(block for block in blocks if not block.startswith(BLOCK_OPEN))
        messages = [says for says in self._steps if says in text]
        if not messages:
            return "Vale."
        says = max(messages, key=len)
        self.requests[says] = request
        step = self._steps[says]
        tags = [("memory", step.remember), ("chat-memory", step.chat_memory), ("user-update", step.update)]
        return "\n".join([step.reply or "Vale.", *(f"<{tag}>{text}</{tag}>" for tag, text in tags if text)])

    def _fact_for(self, message: str) -> ScriptedFact | None:
        step = self._steps.get(message) or self._steps.get(message.partition(": ")[2])
        return step.noted if step is not None else None
