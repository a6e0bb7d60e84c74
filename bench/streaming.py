"""`python -m bench.streaming`: from what a provider says to what a chat sees of it, and what a draft costs.

A whole KenoBot in this process, with a provider that says a reply by words and a channel that takes drafts at once. The
time is from the first delta to the first draft; in a turn where private words meet others' words, from the delta after
which its first sentence may be shown. The cost is the processor's for one reply, with drafts and without.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from bench.turns import BenchApp, InstantChannel
from kenobot.ports.channel import Capabilities
from kenobot.ports.provider import Delta, Request, Usage

_WORDS_SECONDS = 0.004  # between two words: some two hundred tokens a second, a fast model
_SENTENCE = "Here is a sentence of the usual length for an answer. "


class TalkingProvider:
    """Says `sentences`, a word a time. said_at: when each word was, of the reply that is being said."""

    name = "talking"
    rule_based = True

    def __init__(self) -> None:
        self.sentences = 3
        self.said_at: list[float] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.said_at = []
        for word in (_SENTENCE * self.sentences).split(" "):
            self.said_at.append(time.perf_counter())
            yield Delta(f"{word} ")
            await asyncio.sleep(_WORDS_SECONDS)
        yield Delta("", "end_turn", Usage(1000, 20, 900, 0), "none")


class DraftChannel(InstantChannel):
    """Takes every draft at once, and notes when the first of a reply came."""

    def __init__(self, *, drafts: bool) -> None:
        super().__init__()
        self.capabilities = Capabilities(drafts=drafts, draft_seconds=0.05)
        self.shown_at: dict[str, float] = {}
        self.drafts = 0

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        self.drafts += 1
        self.shown_at.setdefault(draft, time.perf_counter())


@dataclass
class Figures:
    """delays: seconds to the first draft. drafts: shown in all. cpu: seconds of the processor a reply."""

    delays: list[float] = field(default_factory=list)
    drafts: int = 0
    cpu: float = 0.0


async def measure(folder: Path, replies: int, *, drafts: bool = True, guarded: bool = False) -> Figures:
    """Have replies said. guarded: private words meet others' words."""
    provider, channel, figures = TalkingProvider(), DraftChannel(drafts=drafts), Figures()
    async with BenchApp(folder, provider, channel) as bench:
        if guarded:
            (bench.home.memory / "MEMORY.md").write_text("- The safe opens with 7741\n", "utf-8")
            await bench.app.sync_external_changes()
        await bench.say("1", "Good morning")
        ready = _first_word(guarded)
        began = time.process_time()
        for number in range(replies):
            channel.shown_at.clear()
            await bench.say("1", f"What about number {number}?", forwarded=guarded)
            figures.delays += [at - provider.said_at[ready] for at in channel.shown_at.values()]
        figures.cpu = (time.process_time() - began) / replies
    figures.drafts = channel.drafts
    return figures


def _first_word(guarded: bool) -> int:
    """Return the number of the word after which something may be shown: the first, or one well behind a sentence."""
    if not guarded:
        return 0
    words, length = _SENTENCE.split(), len(_SENTENCE)
    for number in range(len(words) * 2):
        length -= len(words[number % len(words)]) + 1
        if length <= -20:
            return number
    raise AssertionError("the next sentence is long enough")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.streaming", description=__doc__)
    parser.add_argument("--replies", type=int, default=100, help="how many are said")
    replies = parser.parse_args(argv).replies
    print(f"{replies} replies each, load {os.getloadavg()[0]:.1f}")
    for name, drafts, guarded in (("drafts", True, False), ("guarded", True, True), ("none", False, False)):
        with tempfile.TemporaryDirectory() as folder:
            figures = asyncio.run(measure(Path(folder), replies, drafts=drafts, guarded=guarded))
        line = f"{name:8} CPU {1000 * figures.cpu:.1f} ms a reply"
        if figures.delays:
            cuts = quantiles(figures.delays, n=100)
            line += (
                f", first text p50 {1000 * cuts[49]:.1f} ms, p95 {1000 * cuts[94]:.1f} ms, p99 {1000 * cuts[98]:.1f} ms"
            )
            line += f", {figures.drafts / replies:.1f} drafts a reply"
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
