"""How the cost of reading a text grows with its length, in this thread's processor time, whatever the machine does."""

import time
from collections.abc import Callable

_GRANTED = 0.05  # seconds that any text may take
_ATTEMPTS = 3


def assert_linear(read: Callable[[str], object], text: str, factor: float = 30) -> None:
    """Ten times the text takes at most `factor` times as long."""
    costs = []
    for _ in range(_ATTEMPTS):
        costs.append((_cost(read, text[: len(text) // 10]), _cost(read, text)))
        part, whole = costs[-1]
        if whole < _GRANTED + factor * part:
            return
    raise AssertionError(f"a tenth of the text and all of it took, in seconds: {costs}")


def assert_bounded(read: Callable[[str], object], text: str) -> None:
    """Ten times the text takes about as long: only a bounded part of it is read."""
    assert_linear(read, text, factor=3)


def _cost(read: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    read(text)
    return time.thread_time() - began
