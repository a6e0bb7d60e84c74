"""Counts what turns make a bot do that was started to be counted."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bench.quick.process import CHATS, Running
from bench.quick.scene import Told

COUNTS: Mapping[str, str] = {
    "calls": "calls of Python and C",
    "loop_calls": "of them in the event loop",
    "writer_calls": "in the writer",
    "readers_calls": "in the readers",
    "background_calls": "in the background's reader",
    "other_calls": "in other threads",
    "statements": "SQL statements",
    "writer_statements": "of them the writer's",
    "commits": "commits",
    "reads": "read jobs",
    "callbacks": "callbacks of the event loop",
    "files": "files and folders opened, looked at, written, moved",
}
"""What is counted, a turn."""

KINDS: Mapping[str, str] = {
    "single": "a message, then quiet",
    "single_memory": "a `<memory>`, then quiet",
    "row": "in a row",
    "row_memory": "in a row, with a `<memory>`",
    "chats": "50 chats",
}
SINGLE_SECONDS = 2.5
"""Seconds of quiet after a single turn, in which all that it sets off is over."""

_IDLE_SECONDS = 15.0
_WAIT_SECONDS = 40.0

Counts = Mapping[str, Mapping[str, float]]
"""By kind of turn and by what is counted."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a turn came to. busiest: by kind, jobs, tasks, functions and SQL with their calls."""

    counts: Counts
    busiest: Counts


def warm(bot: Running) -> None:
    """Have patterns compiled and caches filled that single turns use."""
    bot.ask(44, as_people=True, watch=False)
    bot.ask(10, as_people=True, remember=True, watch=False)
    bot.ask(2, as_people=True, rest_seconds=SINGLE_SECONDS, watch=False)
    bot.ask(2, as_people=True, remember=True, rest_seconds=SINGLE_SECONDS, watch=False)
    bot.wait_until_quiet(_WAIT_SECONDS, looks=round(SINGLE_SECONDS / 0.1))


class TurnCounter:
    """Counts turns of a bot: the mean of each kind, less what the bot does at rest in that time.

    functions: how many of the busiest are listed.
    """

    def __init__(self, bot: Running, functions: int) -> None:
        self._bot = bot
        self._functions = functions
        self._counts: dict[str, Mapping[str, float]] = {}
        self._busiest: dict[str, Mapping[str, float]] = {}
        before, began = self._look(), time.perf_counter()
        time.sleep(_IDLE_SECONDS)
        after, seconds = self._look(), time.perf_counter() - began
        self._idle = {key: value / seconds for key, value in _difference(before, after).items()}

    def count(self, single: int, row: int, remembered: int, parallel: int) -> Counted:
        """Count so many turns of each kind."""
        self._play("single", single, rest_seconds=SINGLE_SECONDS)
        self._play("single_memory", single, rest_seconds=SINGLE_SECONDS)
        self._play("row", row)
        self._play("row_memory", remembered)
        self._play("chats", parallel, CHATS)
        return Counted(self._counts, self._busiest)

    def _play(self, kind: str, turns: int, chats: int = 1, rest_seconds: float = 0.0) -> None:
        before, began, remember = self._look(), time.perf_counter(), kind.endswith("memory")
        single = bool(rest_seconds)
        self._bot.ask(turns, chats, remember=remember, as_people=single, rest_seconds=rest_seconds, watch=False)
        if not single:
            self._bot.wait_until_quiet(_WAIT_SECONDS, looks=round(SINGLE_SECONDS / 0.1))
        after, seconds = self._look(), time.perf_counter() - began
        self._counts[kind] = {
            key: (value - seconds * self._idle[key]) / turns for key, value in _difference(before, after).items()
        }
        done = Counter(after["details"]) - Counter(before["details"])
        self._busiest[kind] = {name: calls / turns for name, calls in done.most_common(self._functions)}

    def _look(self) -> Told:
        return self._bot.ask(watch=False, details=bool(self._functions))


def _difference(before: Told, after: Told) -> dict[str, int]:
    return {key: after["counts"].get(key, 0) - before["counts"].get(key, 0) for key in COUNTS}
