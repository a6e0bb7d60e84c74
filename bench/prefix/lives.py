"""Live through the month and through years at each size of the latest notes, and see what prompts answer with."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from bench.month import run as month
from bench.month import script
from bench.years import run as years
from bench.years.talk import FactProbe, TalkGenerator
from kenobot.agent.prompt.context_builder import ContextBuilder
from kenobot.agent.prompt.prompt_context import PromptLimits, PromptRequest
from kenobot.gateway.access import Access
from kenobot.identity.identity_files import Identity
from kenobot.ports.messages import Inbound
from kenobot.storage.inbox_rows import PendingMessage
from kenobot_testing.simulation import Simulation
from tests.constants import constants_changed

_LINE, _OWNER, _FRESH = "telegram", "1", "9"  # a chat in which nothing was said
_LATER = timedelta(days=1)


def month_failures(sizes: Sequence[int], *, fast: bool, tell: Callable[[str], None]) -> list[int]:
    """Things that are not as they should be in a month at each size: questions without an answer, and leaks."""
    story = script.load()
    failures: dict[int, int] = {}
    for size in sizes:
        least = min(size, story.memory_tokens)  # beyond it there is no room
        if least not in failures:
            tell(f"a month with {least} tokens of notes")
            with constants_changed({"PromptLimits.recent_tokens": least}):
                failures[least] = len(month.run_month(story, fast=fast).failures)
    return [failures[min(size, story.memory_tokens)] for size in sizes]


async def years_found(
    sizes: Sequence[int], limits: PromptLimits, days: int, per_day: int, tell: Callable[[str], None]
) -> list[float]:
    """Shares of what was told over so many days that prompts show when it is asked for in another chat."""
    shares: list[float] = []
    talk = TalkGenerator(per_day, seed=7)

    async def ask(house: Simulation) -> None:
        facts = [*talk.first_day_facts, *talk.later_facts, *talk.current_facts.values()]
        house.advance_to(house.clock.now() + _LATER)
        shares.extend([await _share(house, facts, _sized(limits, talk, size)) for size in sizes])

    with tempfile.TemporaryDirectory(prefix="kenobot-prefix-") as folder:
        await years.live(Path(folder), talk, days, lambda week: tell(f"years: day {week.day}"), ask)
    return shares


def _sized(limits: PromptLimits, talk: TalkGenerator, size: int) -> PromptLimits:
    return replace(limits, memory_tokens=talk.memory_tokens, recent_tokens=size)


async def _share(house: Simulation, facts: Sequence[FactProbe], limits: PromptLimits) -> float:
    builder = ContextBuilder(Identity(house.home.identity), house.zone, limits, house.app.index)
    access = Access({_LINE: house.roster})
    found = 0
    for number, fact in enumerate(facts):
        inbound = Inbound(_LINE, f"p{number}", _FRESH, _OWNER, fact.question, house.clock.now())
        request = PromptRequest(
            PendingMessage(number + 1, inbound, "bench"), access.principal(inbound), inbound.sent_at
        )
        prompt = await house.app.database.read(partial(builder.build, request=request))
        found += fact.text in "\n".join(prompt.plan.memory_on_show)
    return found / len(facts)
