"""Steps of a turn under way outlive a restart, and go when the turn ends."""

from kenobot.ports.provider import Reply, ToolCall, ToolResult, Usage
from kenobot.storage import turn_steps
from kenobot.storage.database import Database
from kenobot.storage.turn_steps import TurnStep
from kenobot_testing.clock import START
from tests.samples import rows

_CALL = ToolCall("c1", "lookup", {"word": "té", "deep": [1, None, {"a": True}]})
_REPLY = Reply("Hola 👋\0 <memory>x</memory>", "end_turn", "a model", Usage(1, 2, 3, 4))
_ASKS = Reply("", "tool_use", "a model", Usage(10, 20, 30, 40), (_CALL,))


async def _append(database: Database, *steps: TurnStep, message: int = 1) -> None:
    for number, step in enumerate(steps):
        await database.write(lambda c, n=number, s=step: turn_steps.append_step(c, message, n, s, START))  # type: ignore[misc]


async def test_steps_come_back_as_they_went_in(database: Database) -> None:
    """Replies with tags, calls and cost, a call before it is made, and what it returned, in order."""
    steps: list[TurnStep] = [_ASKS, _CALL, ToolResult("c1", "infusión", failed=True), _REPLY]
    assert await database.read(lambda c: turn_steps.load_steps(c, 1)) == {}
    await _append(database, *steps)
    assert await database.read(lambda c: turn_steps.load_steps(c, 1)) == dict(enumerate(steps))


async def test_the_first_step_of_a_number_counts(database: Database) -> None:
    """A second reply is not kept: effects of the first might have been had already."""
    await _append(database, _REPLY)
    await _append(database, Reply("another", "end_turn"))
    assert await database.read(lambda c: turn_steps.load_steps(c, 1)) == {0: _REPLY}


async def test_a_step_belongs_to_its_message(database: Database) -> None:
    """No message gets the answer to another one."""
    await _append(database, _REPLY)
    assert await database.read(lambda c: turn_steps.load_steps(c, 2)) == {}


async def test_a_finished_turn_keeps_its_cost_and_not_its_words(database: Database) -> None:
    """Tokens of all its replies, the last model and stop reason, grade and times; the reply stands in the history."""
    await _append(database, _ASKS, _CALL, ToolResult("c1", "x"), _REPLY)
    await _append(database, _REPLY, message=2)
    await database.write(lambda c: turn_steps.finish_turn(c, 1, "fake-1", "trace", START, "good"))
    [row] = await rows(
        database,
        "SELECT inbox_id, session, trace, stop_reason, model, input_tokens, output_tokens, cache_read_tokens, "
        "cache_write_tokens, replied_at, committed_at, grade FROM turn",
    )
    at = START.isoformat()
    assert row == (1, "fake-1", "trace", "end_turn", "a model", 11, 22, 33, 44, at, at, "good")
    assert await rows(database, "SELECT inbox_id FROM turn_step") == [(2,)]


async def test_a_last_reply_without_a_step_counts_once(database: Database) -> None:
    """Its cost is added to that of the steps before it; where it has a step already, to none."""
    counted = "SELECT input_tokens, stop_reason FROM turn ORDER BY inbox_id"
    for message, steps in ((1, (_ASKS,)), (2, (_ASKS, _REPLY))):
        await _append(database, *steps, message=message)
        fresh = turn_steps.FreshReply(1, _REPLY, START)
        await database.write(
            lambda c, m=message, f=fresh: turn_steps.finish_turn(c, m, "fake-1", "trace", START, "", f)  # type: ignore[misc]
        )
    both = _ASKS.usage.input_tokens + _REPLY.usage.input_tokens
    assert await rows(database, counted) == [(both, "end_turn")] * 2
    assert await rows(database, "SELECT 1 FROM turn_step") == []


async def test_a_turn_that_failed_leaves_no_steps(database: Database) -> None:
    """Nothing of it is taken up again."""
    await _append(database, _REPLY)
    await database.write(lambda c: turn_steps.drop_steps(c, 1))
    assert await database.read(lambda c: turn_steps.load_steps(c, 1)) == {}
