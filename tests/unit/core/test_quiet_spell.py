"""Work that waits for a quiet spell."""

import heapq
from collections.abc import Callable
from itertools import count

import pytest

from kenobot.core.pacing import Rank, run_at_rank
from kenobot.core.quiet_spell import QuietSpell


class _Loop:
    """An event loop's clock, moved by hand."""

    def __init__(self) -> None:
        self._now = 100.0
        self._order = count()
        self._timers: list[tuple[float, int, Callable[..., object], tuple[object, ...]]] = []
        self.reported: list[object] = []

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[..., object], *arguments: object) -> None:
        heapq.heappush(self._timers, (when, next(self._order), callback, arguments))

    def call_later(self, seconds: float, callback: Callable[..., object], *arguments: object) -> None:
        self.call_at(self._now + seconds, callback, *arguments)

    def call_exception_handler(self, context: dict[str, object]) -> None:
        self.reported.append(context["exception"])

    def advance(self, seconds: float) -> None:
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            self._now, _, callback, arguments = heapq.heappop(self._timers)
            callback(*arguments)
        self._now = until


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> _Loop:
    loop = _Loop()
    monkeypatch.setattr("asyncio.get_running_loop", lambda: loop)
    return loop


def test_a_burst_is_one_round_of_each_piece_of_work(loop: _Loop) -> None:
    """It begins a second after the last request."""
    done: list[str] = []
    spell, first, second = QuietSpell(1.0), lambda: done.append("first"), lambda: done.append("second")
    for _ in range(3):
        spell.begin_after(first)
        spell.begin_after(second)
        loop.advance(0.5)
    assert done == []
    loop.advance(0.5)
    assert done == ["first", "second"]
    loop.advance(60)
    assert done == ["first", "second"]


def test_requests_without_end_put_nothing_off_for_longer_than_five_seconds(loop: _Loop) -> None:
    """Work begins in between."""
    done: list[float] = []
    spell, work = QuietSpell(1.0), lambda: done.append(loop.time())
    for _ in range(120):
        spell.begin_after(work)
        loop.advance(0.1)
    assert done == pytest.approx([105.0, 110.0], abs=0.2)


def test_work_that_asks_again_has_a_spell_of_its_own(loop: _Loop) -> None:
    """What one piece of work sets off is the next round."""
    spell, done = QuietSpell(1.0), list[float]()

    def work() -> None:
        done.append(loop.time())
        if len(done) < 2:
            spell.begin_after(work)

    spell.begin_after(work)
    loop.advance(10)
    assert done == [101.0, 102.0]


def test_what_work_behind_the_turns_asks_for_puts_nothing_off(loop: _Loop) -> None:
    """It goes with what a turn has asked for."""
    done: list[float] = []
    spell, work = QuietSpell(1.0), lambda: done.append(loop.time())
    spell.begin_after(work)
    loop.advance(0.9)
    with run_at_rank(Rank.SOON):
        spell.begin_after(work)
    loop.advance(10)
    assert done == [101.0]


def test_without_a_length_work_begins_at_once() -> None:
    """For a process that ends when its work is done."""
    done: list[int] = []
    QuietSpell().begin_after(lambda: done.append(1))
    assert done == [1]


def test_work_that_cannot_begin_holds_up_no_other(loop: _Loop) -> None:
    """Its error is reported to the loop."""
    broken, begun = RuntimeError("no"), list[str]()
    spell = QuietSpell(1.0)

    def fail() -> None:
        raise broken

    spell.begin_after(fail)
    spell.begin_after(lambda: begun.append("other"))
    loop.advance(1.0)
    assert (begun, loop.reported) == (["other"], [broken])
