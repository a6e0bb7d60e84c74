"""Counts what turns make a bot do that was started to be counted."""

import statistics
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

_IDLE_WINDOWS = 5
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
    """Counts turns of a bot. functions: how many of the busiest are listed.

    Of single turns the median counts, less that of as long a rest: what the clock sets off falls into some of them. Of
    turns in a row it is the mean, less what the bot does at rest in that time.
    """

    def __init__(self, bot: Running, functions: int) -> None:
        self._bot = bot
        self._functions = functions
        self._counts: dict[str, Mapping[str, float]] = {}
        self._busiest: dict[str, Mapping[str, float]] = {}
        self._idle = self._medians([self._difference(self._look(), self._rest()) for _ in range(_IDLE_WINDOWS)])

    def count(self, single: int, row: int, remembered: int, parallel: int) -> Counted:
        """Count so many turns of each kind."""
        self._count_single("single", single)
        self._count_single("single_memory", single)
        self._count_row("row", row)
        self._count_row("row_memory", remembered)
        self._count_row("chats", parallel, CHATS)
        return Counted(self._counts, self._busiest)

    def _count_single(self, kind: str, turns: int) -> None:
        first, found = self._look(), list[Mapping[str, float]]()
        for _ in range(turns):
            before, remember = self._look(), kind.endswith("memory")
            self._bot.ask(1, remember=remember, as_people=True, rest_seconds=SINGLE_SECONDS, watch=False)
            found.append(self._difference(before, self._look()))
        each = self._medians(found)
        self._counts[kind] = {key: each[key] - self._idle[key] for key in COUNTS}
        self._note_busiest(kind, first, turns)

    def _count_row(self, kind: str, turns: int, chats: int = 1) -> None:
        before, began = self._look(), time.perf_counter()
        self._bot.ask(turns, chats, remember=kind.endswith("memory"), watch=False)
        self._bot.wait_until_quiet(_WAIT_SECONDS, looks=round(SINGLE_SECONDS / 0.1))
        found, rests = self._difference(before, self._look()), (time.perf_counter() - began) / SINGLE_SECONDS
        self._counts[kind] = {key: (found[key] - rests * self._idle[key]) / turns for key in COUNTS}
        self._note_busiest(kind, before, turns)

    def _look(self) -> Told:
        return self._bot.ask(watch=False, details=bool(self._functions))

    def _rest(self) -> Told:
        time.sleep(SINGLE_SECONDS)
        return self._look()

    def _note_busiest(self, kind: str, before: Told, turns: int) -> None:
        done = Counter(self._look()["details"]) - Counter(before["details"])
        self._busiest[kind] = {name: calls / turns for name, calls in done.most_common(self._functions)}

    def _difference(self, before: Told, after: Told) -> Mapping[str, float]:
        return {key: after["counts"].get(key, 0) - before["counts"].get(key, 0) for key in COUNTS}

    def _medians(self, found: list[Mapping[str, float]]) -> Mapping[str, float]:
        return {key: statistics.median(each[key] for each in found) for key in COUNTS}
