"""Plays every scenario there is, says what came of it, and fails when a promise broke.

`python -m tests.crash [--kills N] [--messages N] [--seed S] [--only NAME …] [--json FILE] [--write]`
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from tests.crash import (
    channel_kills,
    clocks,
    damage,
    disks,
    edit_kills,
    fsync_kills,
    hands_kills,
    io_errors,
    kills,
    limits,
    media_kills,
    mixed_kills,
    outputs,
    power,
    press_kills,
    reminder_kills,
    save_kills,
    sleep_kills,
    stops,
    table,
    tool_kills,
)
from tests.crash.table import Line
from tests.crash.world import Lab, lab

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "figures" / "crashes.md"
_HOUSE_SEED = 20260214

Scenario = Callable[[Lab], Awaitable[Sequence[Line]]]


def scenarios(kill_count: int, messages: int) -> dict[str, Scenario]:
    """The scenarios by name, in the order they are played."""

    async def random_kills(lab: Lab) -> Sequence[Line]:
        return [await kills.play(lab, kill_count, messages), await kills.a_deadly_message(lab)]

    async def kills_with_media(lab: Lab) -> Sequence[Line]:
        return [await media_kills.play(lab)]

    async def kills_with_presses(lab: Lab) -> Sequence[Line]:
        return [await press_kills.play(lab)]

    async def kills_with_reminders(lab: Lab) -> Sequence[Line]:
        return [await reminder_kills.play(lab)]

    async def kills_with_edits(lab: Lab) -> Sequence[Line]:
        return [await edit_kills.play(lab)]

    async def kills_with_tools(lab: Lab) -> Sequence[Line]:
        return [await tool_kills.play(lab), await tool_kills.play_tasks(lab), await hands_kills.play(lab)]

    async def kills_with_all(lab: Lab) -> Sequence[Line]:
        return [await mixed_kills.play(lab)]

    async def kills_at_syncs(lab: Lab) -> Sequence[Line]:
        return [await fsync_kills.play(lab)]

    async def kills_in_sleep(lab: Lab) -> Sequence[Line]:
        return [await sleep_kills.play(lab)]

    async def kills_between_files(lab: Lab) -> Sequence[Line]:
        return [await save_kills.play(lab)]

    async def power_cuts(lab: Lab) -> Sequence[Line]:
        return [await power.play(lab)]

    async def damaged_state(lab: Lab) -> Sequence[Line]:
        return [await damage.play(lab)]

    return {
        "kills": random_kills,
        "media": kills_with_media,
        "buttons": kills_with_presses,
        "reminders": kills_with_reminders,
        "edits": kills_with_edits,
        "tools": kills_with_tools,
        "mixed": kills_with_all,
        "channels": channel_kills.play,
        "fsync": kills_at_syncs,
        "sleep": kills_in_sleep,
        "saves": kills_between_files,
        "errors": io_errors.play,
        "power": power_cuts,
        "disks": disks.play,
        "limits": limits.play,
        "clocks": clocks.play,
        "stops": stops.play,
        "outputs": outputs.play,
        "damage": damaged_state,
    }


async def play(chosen: dict[str, Scenario], seed: int) -> list[Line]:
    """Play the scenarios one after another, telling on stderr how far they are."""
    lines: list[Line] = []
    for name, scenario in chosen.items():
        began = time.monotonic()

        def progress(text: str, name: str = name) -> None:
            if sys.stderr.isatty():
                print(f"\r\x1b[K{name}: {text}", end="", file=sys.stderr, flush=True)

        async with lab(seed, progress) as place:
            found = list(await scenario(place))
        seconds = time.monotonic() - began
        found[0].seconds = seconds
        progress("")
        verdict = "BROKEN" if any(line.broken for line in found) else "held"
        if all(line.missing for line in found):
            verdict = "not tried"
        print(f"{name}: {verdict}, {seconds:.0f} s", file=sys.stderr, flush=True)
        for what in (each for line in found for each in line.broken):
            print(f"BROKEN  {what}", file=sys.stderr, flush=True)
        lines += found
    return lines


def main() -> int:
    """Play, print the table, and return 1 when a promise broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="random kills (200)")
    parser.add_argument("--messages", type=int, default=10_000, help="messages among the random kills (10000)")
    parser.add_argument("--seed", type=int, default=_HOUSE_SEED, help="the same seed plays the same story")
    parser.add_argument("--only", nargs="+", choices=list(scenarios(0, 0)), metavar="NAME", help="only these scenarios")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the lines there, too")
    parser.add_argument("--write", action="store_true", help="put the table into docs/figures/crashes.md")
    options = parser.parse_args()
    every = scenarios(options.kills, options.messages)
    chosen = {name: every[name] for name in (options.only or every)}
    lines = asyncio.run(play(chosen, options.seed))
    print(table.for_terminal(lines))
    if options.json:
        options.json.write_text(table.for_programs(lines), "utf-8")
    if options.write:
        table.write(DOCUMENT, table.for_document(lines))
    return 1 if any(line.broken for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
