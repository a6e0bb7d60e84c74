"""The process ends at the latest when it must, whatever its code is at."""

import subprocess
import sys
import textwrap

import pytest


def run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "stuck",
    ["while True: pass", "threading.Thread(target=threading.Event().wait).start()", "sum(range(10**12))"],
)
def test_the_end_comes_whatever_the_process_is_at(stuck: str) -> None:
    """Also while a thread that is no daemon is waited for, and while C keeps the lock (CPython 3.11, faulthandler)."""
    done = run(
        f"""
        import threading
        from kenobot.core.hard_end import HardEnd

        HardEnd(0.1, 9).begin()
        {stuck}
        """
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr


def test_an_event_loop_that_computes_in_c_ends_the_process() -> None:
    """CPython 3.11's sum() looks at no signal and keeps the lock; the stacks say who it was (setitimer(2))."""
    done = run(
        """
        import asyncio
        from kenobot.core.hard_end import HardEnd

        async def add_up():
            watching = asyncio.create_task(HardEnd(9, 0.1).watch_loop())
            await asyncio.sleep(0)
            sum(range(10**12))

        asyncio.run(add_up())
        """
    )
    assert done.returncode == -26  # SIGVTALRM
    assert "add_up" in done.stderr


def test_an_event_loop_that_goes_on_may_compute_beside_it() -> None:
    """Threads of the process may take all the time there is."""
    done = run(
        """
        import asyncio, hashlib, time
        from kenobot.core import hard_end

        hard_end._BEAT_SECONDS = 0.01

        def compute():
            ends = time.process_time() + 0.5
            while time.process_time() < ends:
                hashlib.sha256(bytes(100_000))

        async def main():
            watching = asyncio.create_task(hard_end.HardEnd(9, 0.3).watch_loop())
            await asyncio.to_thread(compute)

        asyncio.run(main())
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
