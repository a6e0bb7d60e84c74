"""What is purged while a turn or background work is under way comes back nowhere: no row, memory or later prompt."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kenobot.cognitive.control.forget import plan_purge
from kenobot.cognitive.mirror.cleanup import execute_purge
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.provider import Delta, Reply, Request, ToolCall, Usage
from kenobot.ports.tool import ToolEffects
from kenobot.storage import erasure
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.tools.agenda import Remind
from kenobot.tools.background import Background, BackgroundSettings
from kenobot.tools.memory_search import MemorySearch
from kenobot_testing.tool import AnyTool
from tests.scene import Scene
from tests.unit.agent.turn.test_tools import Tool, calls, results
from tests.waiting import until

FACT = "The vault of the mill opens with Zanzibar"
SECRET = "Zanzibar"
_QUIET = ToolEffects(reads_private=False, brings_untrusted=False, way_out=False, changes_outside=True)

Answer = Callable[[Request], Reply | str]


class Slow:
    """Answers by a function of the request; before reply number `held` after `begin` it waits until it is let go."""

    name = "slow"
    rule_based = True

    def __init__(self, answer: Answer, held: int = 1) -> None:
        self.answer, self.held, self.begun = answer, held, False
        self.requests: list[Request] = []
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        if self.begun and len(self.requests) == self.held:
            self.reached.set()
            await self.let_go.wait()
        reply = self.answer(request) if self.begun else f"Noted. <memory>{FACT}</memory>"
        if isinstance(reply, str):
            reply = Reply(reply, "end_turn", "slow", Usage(1, 1))
        yield Delta(text=reply.text)
        for call in reply.calls:
            yield Delta(call=call)
        yield Delta(stop_reason=reply.stop_reason, usage=reply.usage, model=reply.model)

    def begin(self) -> None:
        """Count from the next request on."""
        self.requests.clear()
        self.begun = True


def shown(request: Request) -> str:
    """All that a model is shown."""
    return f"{request.system!r} {request.messages!r}"


async def tell(scene: Scene) -> None:
    """Have the fact remembered."""
    await scene.say("Note what I told you of the mill")
    assert await scene.rows("SELECT count(*) FROM record WHERE text LIKE '%Zanzibar%'") == [(1,)]


async def purge(scene: Scene) -> None:
    """Purge the fact as `kenobot memory purge` does."""
    [(number,)] = await scene.rows("SELECT id FROM record WHERE text LIKE '%Zanzibar%'")
    assert isinstance(number, int)
    now = scene.clock.now()

    def write(connection: Connection) -> None:
        doomed = plan_purge(connection, number, ALL_SCOPES)
        assert doomed is not None
        execute_purge(connection, doomed, ALL_SCOPES, AdmitContext(now, now.date().isoformat(), "owner", "cli"))

    await scene.app.database.write(write)


async def find_left(scene: Scene) -> list[str]:
    """List where the database says the secret, but for messages that were on their way."""
    found = await scene.app.database.read(lambda connection: erasure.find_residue(connection, [SECRET]))
    return [place for place in found if "out-" not in place]


def tell_secret(request: Request) -> str:
    """Answer, and note, by what the prompt shows."""
    if SECRET in shown(request):
        return f"You open it with {SECRET}, then. <memory>{SECRET} is what opens the mill's vault</memory>"
    return "I do not know."


async def test_a_turn_under_way_is_answered_anew_without_what_was_purged(tmp_path: Path) -> None:
    """Its prompt showed it, and so would its answer; no row has it, and no prompt after that."""
    model = Slow(tell_secret)
    async with Scene(tmp_path, provider=model) as scene:
        await tell(scene)
        model.begin()
        asked = asyncio.create_task(scene.say("How do I open the vault of the mill?"))
        await model.reached.wait()
        assert SECRET in shown(model.requests[0])
        await purge(scene)
        model.let_go.set()
        assert await asked == "I do not know."
        assert await find_left(scene) == []
        assert await scene.say("And the vault of the mill?") == "I do not know."
        assert [SECRET in shown(each) for each in model.requests] == [True, False, False]
        assert await scene.rows("SELECT state, attempts FROM inbox WHERE text LIKE 'How%'") == [("answered", 2)]
        assert await scene.rows("SELECT count(*) FROM model_call WHERE purpose = 'reply'") == [(4,)]


async def run_purged(
    folder: Path, answer: Answer, held: int, *tools: AnyTool, ask: str = "How do I open the vault of the mill?"
) -> tuple[Scene, Slow, str]:
    """Purge the fact while a model writes reply number `held`; return what came of it, the house being closed."""
    model = Slow(answer, held)
    async with Scene(folder, provider=model, tools=list(tools)) as scene:
        await tell(scene)
        model.begin()
        asked = asyncio.create_task(scene.say(ask))
        await model.reached.wait()
        await purge(scene)
        model.let_go.set()
        told = await asked
        assert await find_left(scene) == []
        assert await scene.rows("SELECT DISTINCT state FROM inbox") == [("answered",)]
        assert await scene.rows("SELECT count(*) FROM turn_step") == [(0,)]
        await scene.say("And the vault of the mill?")
        assert SECRET not in shown(model.requests[-1])
    return scene, model, told


def call(name: str, **arguments: str) -> Reply:
    return Reply("Let me see.", "tool_use", "slow", Usage(1, 1), (ToolCall("c1", name, dict(arguments)),))


@pytest.mark.parametrize("held", [1, 2])
async def test_a_piece_of_an_answer_is_written_anew(tmp_path: Path, held: int) -> None:
    """Whether it was cut, and stored, before the purge or after it."""

    def answer(request: Request) -> Reply | str:
        if request.messages[-1].role == "assistant":
            return " and that is all."
        if SECRET in shown(request):
            return Reply(f"You open it with {SECRET},", "max_tokens", "slow", Usage(1, 1))
        return "I do not know."

    _, _, told = await run_purged(tmp_path, answer, held)
    assert told == "I do not know."


async def test_what_a_tool_found_is_blanked_and_what_it_did_stays_done(tmp_path: Path) -> None:
    """The turn goes on behind its calls: what changed something is not done again."""
    tool = Tool(f"I wrote down: {FACT}", _QUIET)

    def answer(request: Request) -> Reply | str:
        calls = sum(isinstance(block, ToolCall) for message in request.messages for block in message.blocks)
        first = call("search_memory", query="vault mill")
        if SECRET not in shown(request):
            return "I do not know."
        return first if not calls else call("do", word=FACT) if calls == 1 else tell_secret(request)

    _, model, told = await run_purged(tmp_path, answer, 3, MemorySearch(), tool)
    assert told == "I do not know."
    assert len(tool.ran) == 1
    assert "[erased]" in shown(model.requests[3])


async def test_a_call_that_a_model_asks_for_after_the_purge_is_not_run(tmp_path: Path) -> None:
    """Such as a reminder of what was erased."""

    def answer(request: Request) -> Reply | str:
        return call("remind", text=FACT, when="tomorrow at 9:00") if SECRET in shown(request) else "I do not know."

    _, _, told = await run_purged(tmp_path, answer, 1, Remind())
    assert told == "I do not know."


async def test_a_tool_that_runs_while_something_is_purged_notes_nothing_of_it(tmp_path: Path) -> None:
    """The reminder that it is about to set, and what it says of itself, are refused."""
    scenes: list[Scene] = []

    class Slowly(Remind):
        async def run(self, arguments, turn):  # type: ignore[no-untyped-def]
            await purge(scenes[0])
            return await super().run(arguments, turn)

    def answer(request: Request) -> Reply | str:
        if SECRET in shown(request) and "c1" not in shown(request):
            return call("remind", text=FACT, when="tomorrow at 9:00")
        return tell_secret(request)

    model = Slow(answer, 0)
    async with Scene(tmp_path, provider=model, tools=[Slowly()]) as scene:
        scenes.append(scene)
        await tell(scene)
        model.begin()
        assert "I do not know." in await scene.say("How do I open the vault of the mill?")
        assert await find_left(scene) == []
        assert await scene.rows("SELECT 1 FROM job") == []


async def test_a_task_in_the_background_begins_anew(tmp_path: Path) -> None:
    """Its result has nothing of what was purged meanwhile."""
    tools = [Background(BackgroundSettings())]
    ask = "find out how to open the vault of the mill, in the background, please"
    _, _, told = await run_purged(tmp_path, tell_secret, 1, *tools, ask=ask)
    assert "Task 1 is done.\n\nI do not know." in told


async def test_a_message_that_is_stopped_after_a_purge_is_not_answered(tmp_path: Path) -> None:
    """Its claim is gone, and the next attempt finds that it is done."""
    model = Slow(tell_secret)
    async with Scene(tmp_path, provider=model) as scene:
        await tell(scene)
        model.begin()
        await scene.put("How do I open the vault of the mill?")
        await model.reached.wait()
        await purge(scene)
        await scene.put("stop")
        model.let_go.set()
        await scene.app.wait_drained()
        await until(lambda: scene.app.loop.idle)
        assert not any("know" in text or SECRET in text for text in scene.texts[1:])
        assert await find_left(scene) == []


@pytest.mark.parametrize(("answer", "ran"), [("yes", ["a"]), ("no", [])])
async def test_a_task_that_waits_for_a_yes_goes_on_from_there(tmp_path: Path, answer: str, ran: list[str]) -> None:
    """The model is not asked anew for what somebody is asked about; its next request has the call and its result."""
    tool = Tool("42", replace(_QUIET, asks_always=True))
    call = replace(calls("a"), model="slow")
    model = Slow(lambda request: call if len(results(request)) < 2 else "The end.", held=0)
    async with Scene(tmp_path, provider=model, tools=[tool, Background(BackgroundSettings())]) as scene:
        await tell(scene)
        model.begin()
        assert "May I run this?" in await scene.say("do that in the background")
        await purge(scene)
        assert (await scene.say(answer)).endswith("The end.")
        assert tool.ran == ran
        assert [len(results(each)) for each in model.requests] == [1, 2]
