"""What the tests of extraction say, what a model reads in it, and what is remembered."""

import json
from collections.abc import Callable
from typing import Any

from kenobot.ports.provider import Reply, Request, Usage
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene

NEUTRAL = ["the sky is grey", "rain again", "still rain", "clouds", "and wind"]


class Minds(ScriptedProvider):
    """A model that answers `reply` to people, and what `read` says to who asks it to read turns."""

    def __init__(self, read: Callable[[str], str | Reply], reply: str = "All right.") -> None:
        super().__init__([reply], repeat_last=True, rule_based=False)
        self.asked: list[str] = []
        self._read = read

    def _next(self, request: Request) -> Reply:
        if "You keep the memory" not in request.system[0].text:
            return super()._next(request)
        self.asked.append(request.messages[-1].text)
        said = self._read(self.asked[-1])
        return said if isinstance(said, Reply) else Reply(said, "end_turn", usage=Usage(100, 20))


def facts(*items: dict[str, Any]) -> str:
    return json.dumps({"facts": [{"evidence": [1], **item} for item in items]})


def lyon(_: str) -> str:
    return facts({"text": "El usuario vive en Lyon", "attributes": {"residence": "Lyon"}, "confidence": 0.95})


async def live(scene: Scene) -> list[tuple[object, ...]]:
    return await scene.rows(
        "SELECT scope, text, trust FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"
    )


async def read(scene: Scene) -> int:
    """How many messages the cursors have passed."""
    found = await scene.rows(
        "SELECT coalesce(sum(CAST(value AS INTEGER)), 0) FROM key_value WHERE key LIKE 'extracted:%'"
    )
    number = found[0][0]
    assert isinstance(number, int)
    return number


async def tick(scene: Scene) -> None:
    await scene.app.background.extraction.tick()
    await scene.app.background.extraction.wait_idle()
