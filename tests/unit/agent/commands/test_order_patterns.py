"""What reads orders about reminders is compiled for the first message that may be one."""

import asyncio
import subprocess
import sys

from kenobot.agent.commands.order_patterns import prepare_to_read

_ASKS = """
import asyncio, sys
from kenobot.agent.commands.order_patterns import prepare_to_read
if (reading := prepare_to_read(sys.argv[1])) is not None:
    asyncio.run(reading)
pieces = sys.modules.get("kenobot.language.when.pieces")
print(sum("search" in vars(pattern) for pattern, *_ in pieces._DURATIONS) if pieces else "not loaded")
"""


def _compile_for(text: str) -> str:
    """Return how many patterns of lengths of time a new process has compiled for a message."""
    return subprocess.run(
        [sys.executable, "-c", _ASKS, text], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_message_about_something_else_compiles_nothing() -> None:
    """Neither the modules nor the patterns of reminders are loaded for talk."""
    assert _compile_for("The garden is full of tomatoes.") == "not loaded"


def test_an_order_is_read_once_before_the_event_loop_reads_it() -> None:
    """In plain words and as a command: what takes longest, lengths of time, is compiled then."""
    for text in ("Remind me in 20 minutes to eat.", "/remind in 20 minutes eat"):
        assert int(_compile_for(text)) > 10, text


async def test_other_work_goes_on_meanwhile() -> None:
    """An order is read in a thread: the event loop turns while that goes on."""
    rounds = 0
    order = prepare_to_read("Recuérdame dentro de 20 minutos comer.")
    assert order is not None
    reading = asyncio.create_task(order)
    while not reading.done():
        rounds += 1
        await asyncio.sleep(0)
    assert rounds > 1
