"""TurnGate: turns give way to messages that come in, and never wait for ever."""

import asyncio
import itertools

from kenobot.agent.turn_gate import TurnGate
from tests.waiting import until


class _Turns:
    """Turns that wait at a gate, and the order in which they begin."""

    def __init__(self) -> None:
        self.gate = TurnGate()
        self.begun: list[str] = []

    def queue(self, names: str) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._run(name)) for name in names]

    async def _run(self, name: str) -> None:
        await self.gate.wait()
        self.begun.append(name)


async def test_turns_begin_in_their_order_one_a_round() -> None:
    """The loop looks between two of them what came in."""
    turns = _Turns()
    turns.queue("abcd")
    seen = []
    while len(turns.begun) < 4:
        await asyncio.sleep(0)
        seen.append(len(turns.begun))
    assert turns.begun == list("abcd")
    assert all(after - before <= 1 for before, after in itertools.pairwise(seen))


async def test_a_turn_waits_for_what_is_being_stored() -> None:
    """The first begins beside it, the next one once all of it is stored."""
    turns = _Turns()
    for _ in range(2):
        turns.gate.begin_storing()
    [first, second] = turns.queue("ab")
    await first
    turns.gate.end_storing()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not second.done()
    turns.gate.end_storing()
    await until(second.done)
    assert turns.begun == ["a", "b"]


async def test_turns_begin_however_much_comes_in() -> None:
    """Storing that never ends holds none up for good, and does not change their order."""
    turns = _Turns()
    turns.gate.begin_storing()
    async with asyncio.timeout(60):
        await asyncio.gather(*turns.queue("abcde"))
    assert turns.begun == list("abcde")


async def test_a_turn_that_is_broken_off_at_the_gate_lets_the_next_one_begin() -> None:
    """It takes nobody's place."""
    turns = _Turns()
    turns.gate.begin_storing()
    first, second, third = turns.queue("abc")
    await first
    second.cancel()
    turns.gate.end_storing()
    async with asyncio.timeout(60):
        await third
    assert turns.begun == ["a", "c"]
