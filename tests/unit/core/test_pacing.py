"""Turns come first: what rests, for how long, and what does not."""

import asyncio
import contextlib
import gc
import sys
import threading
import time

import pytest

from kenobot.core import pacing
from kenobot.core.pacing import Pacer, Rank, current_rank, responsive, run_at_rank, unbroken

_LONG = 60.0  # seconds: a test fails after them, none waits for them


class Stepper:
    """A background thread that takes steps until it is ended, and counts them."""

    def __init__(self, pacer: Pacer, *, unbroken: bool = False) -> None:
        self.steps = 0
        self._pacer = pacer
        self._unbroken = unbroken
        self._ended = False
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Stepper":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._thread.join()

    def _run(self) -> None:
        self._pacer.hold_back_thread()
        while not self._ended:
            if self._unbroken:
                with unbroken():
                    pacing.step()
            else:
                pacing.step()
            self.steps += 1
            time.sleep(0)

    def take(self, steps: int) -> None:
        """Wait until it took so many steps more."""
        until, end = self.steps + steps, time.monotonic() + _LONG
        while self.steps < until:
            assert time.monotonic() < end, "it rests"
            time.sleep(0)


def rests(free: threading.Event, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note the rests that are taken, and take none."""
    taken: list[float] = []
    monkeypatch.setattr(free, "wait", lambda seconds=None: taken.append(seconds))
    return taken


async def test_a_thread_takes_no_rest_while_nobody_talks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first turn it has all the time."""
    pacer = Pacer()
    taken = rests(pacer._free, monkeypatch)
    with Stepper(pacer) as stepper:
        stepper.take(1000)
    assert not taken


async def test_a_thread_rests_beside_a_turn_and_works_a_tenth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rest lasts nine times as long as the step after it may."""
    pacer = Pacer()
    taken = rests(pacer._free, monkeypatch)
    with pacer.turn(), Stepper(pacer) as stepper:
        stepper.take(1000)
    assert taken
    assert set(taken) == {pacing._REST_SECONDS}
    assert pytest.approx(9 * pacing._STEP_SECONDS) == pacing._REST_SECONDS


async def test_a_rest_ends_with_the_turn() -> None:
    """What rests goes on when the last turn has ended and no other follows."""
    pacer = Pacer()
    with pacer.turn(), pacer.turn():
        assert not pacer._free.is_set()
    assert not pacer._free.is_set(), "the next message may follow at once"
    async with asyncio.timeout(_LONG):
        await pacer._gap.wait()
    assert pacer._free.is_set()


async def test_a_turn_that_waits_for_a_model_or_for_background_work_holds_nothing_back() -> None:
    """Only while a turn computes is there something to hold back for."""
    pacer = Pacer()
    with pacer.turn():
        with pacer.mark_waiting():
            assert pacer._free.is_set()
        assert not pacer._free.is_set()
        with pacer.step_away():
            async with asyncio.timeout(_LONG):
                await pacer._gap.wait()
        assert not pacer._free.is_set()


async def test_what_holds_a_lock_of_the_turns_takes_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the turn would wait for the rest that is taken for it."""
    pacer = Pacer()
    taken = rests(pacer._free, monkeypatch)
    with pacer.turn(), Stepper(pacer, unbroken=True) as stepper:
        stepper.take(1000)
    assert not taken


async def test_a_gap_comes_also_while_turns_never_end() -> None:
    """Background work has its share, however busy the bot is."""
    pacer = Pacer()
    with pacer.turn():
        async with asyncio.timeout(_LONG):
            await pacer.await_gap()


async def test_it_is_quiet_once_no_turn_has_computed_for_a_while() -> None:
    """A pause between two messages is not it; before the first message it is quiet at once."""
    pacer, loop = Pacer(), asyncio.get_running_loop()
    async with asyncio.timeout(_LONG):
        await pacer.await_quiet(60)
        with pacer.turn():
            waiting = asyncio.create_task(pacer.await_quiet(0.03))
            await asyncio.sleep(0)
        ended = loop.time()
        with pacer.turn(), pacer.mark_waiting():
            assert not waiting.done()
        await waiting
    assert loop.time() >= ended + 0.03


async def test_a_rank_is_that_of_the_task_and_of_what_it_begins() -> None:
    """A task begun by background work is background work."""
    seen = []

    async def note() -> None:
        seen.append(current_rank())

    with run_at_rank(Rank.LATER):
        await asyncio.create_task(note())
    await note()
    assert seen == [Rank.LATER, Rank.TURN]


def test_garbage_is_collected_more_seldom_while_turns_may_wait_for_it_and_as_before_afterwards() -> None:
    """So are the moments after which a thread gives way."""
    collect, switch = gc.get_threshold(), sys.getswitchinterval()

    with responsive():
        assert gc.get_threshold()[0] > collect[0]
        assert gc.get_threshold()[1:] == collect[1:]
        assert sys.getswitchinterval() < switch

    assert gc.get_threshold() == collect
    assert sys.getswitchinterval() == switch


def test_the_interpreter_is_as_before_once_the_last_of_two_apps_has_ended() -> None:
    """The one that began first may end first."""
    collect, switch = gc.get_threshold(), sys.getswitchinterval()
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
    first.enter_context(responsive())
    second.enter_context(responsive())
    first.close()
    assert sys.getswitchinterval() < switch
    second.close()
    assert (gc.get_threshold(), sys.getswitchinterval()) == (collect, switch)
