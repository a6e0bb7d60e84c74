"""A model explains memories, and forgets one only after the owner's yes."""

from pathlib import Path

from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, ToolCall, Usage
from kenobot.tools.memory_changes import MemoryForget, MemoryWhy
from tests.scene import Scene
from tests.unit.agent.turn.test_tools import requests, results

_TOOLS = (MemoryWhy(), MemoryForget())
_LIVE = "SELECT text FROM record WHERE form = 'note' AND status = 'active' ORDER BY id"


def _call(name: str, **arguments: Json) -> Reply:
    return Reply("", "tool_use", usage=Usage(10, 5), calls=(ToolCall("c1", name, arguments),))


_TOLD = "Noted. <memory>Ana likes green tea</memory><memory>Ana likes green apples</memory>"


async def test_a_memory_is_forgotten_after_a_yes_and_can_be_undone(tmp_path: Path) -> None:
    """The owner sees its words in the question; undo brings it back."""
    script = [_TOLD, _call("memory_forget", text="Ana likes green tea"), "Shall I?", "Gone."]
    async with Scene(tmp_path, script, tools=_TOOLS) as scene:
        await scene.say("note both")
        asked = await scene.say("tea is not of interest")
        assert '{"text": "Ana likes green tea"}' in asked
        assert len(await scene.rows(_LIVE)) == 2
        assert await scene.say("sí") == "Gone."
        assert await scene.rows(_LIVE) == [("Ana likes green apples",)]
        await scene.say("/undo")
        assert len(await scene.rows(_LIVE)) == 2


async def test_words_of_several_memories_forget_none(tmp_path: Path) -> None:
    """The model is shown which ones there are."""
    script = [_TOLD, _call("memory_forget", text="Ana likes green"), "Shall I?", "Which?"]
    async with Scene(tmp_path, script, tools=_TOOLS) as scene:
        for text in ("note both", "forget what Ana likes", "yes"):
            await scene.say(text)
        told = results(requests(scene)[-1])[-1]
        assert told.failed and "- Ana likes green tea" in told.text and "- Ana likes green apples" in told.text
        assert len(await scene.rows(_LIVE)) == 2


async def test_a_memory_is_explained(tmp_path: Path) -> None:
    """With its number, origin and age; what nobody told is said to be unknown."""
    script = [_TOLD, _call("memory_why", text="green tea"), "So.", _call("memory_why", text="Klingon opera"), "No."]
    async with Scene(tmp_path, script, tools=_TOOLS) as scene:
        for text in ("note both", "why tea?", "and opera?"):
            await scene.say(text)
        first, second = results(requests(scene)[2])[-1], results(requests(scene)[-1])[-1]
        assert "Ana likes green tea (memory " in first.text
        assert second.failed and "No memory has these words" in second.text
