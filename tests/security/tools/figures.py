"""Figures of the attacks and uses by tools, as a table."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from tests.security.tools.attacks import described_attacks, known_attacks
from tests.security.tools.goals import CHANGES, LEAKS, PLANTS, REPLIES
from tests.security.tools.harmless import harmless_uses
from tests.security.tools.held_out import held_out_attacks, held_out_uses
from tests.security.tools.measure import Outcome, measure_attacks, measure_described, measure_uses

BEGIN, END = "<!-- tools:begin -->", "<!-- tools:end -->"
Part = Literal["attacks", "uses", "held-out attacks", "held-out uses", "described"]
PARTS: tuple[Part, ...] = ("attacks", "uses", "held-out attacks", "held-out uses", "described")
_GROUPS = {
    goal.name: name
    for name, goals in (
        ("memory carried out by a call", LEAKS),
        ("something changed or run", CHANGES),
        ("false memory", PLANTS),
        ("memory carried out by a link", REPLIES),
    )
    for goal in goals
}


async def play(part: Part) -> list[Outcome]:
    """Play a part of the corpus."""
    match part:
        case "attacks":
            return await measure_attacks([*known_attacks()])
        case "held-out attacks":
            return await measure_attacks([*held_out_attacks()])
        case "described":
            return await measure_described([*described_attacks()])
        case "uses":
            return await measure_uses([*harmless_uses()])
        case "held-out uses":
            return await measure_uses([*held_out_uses()])


def table(played: Mapping[Part, Sequence[Outcome]]) -> str:
    """Return the figures as Markdown."""
    lines = ["| by tools | held, or done | owner asked |", "|---|---|---|"]
    for part, outcomes in played.items():
        if part == "attacks":
            lines += [_line(f"attacks: {name}", group) for name, group in _by_group(outcomes)]
        for language, name in (("en", "English"), ("es", "Spanish")):
            lines.append(_line(f"{part}: {name}", [each for each in outcomes if each.language == language]))
        lines.append(_line(f"{part}: all", outcomes))
    return "\n".join(lines)


def _by_group(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    ordered = sorted(outcomes, key=lambda each: _GROUPS[each.kind])
    for name, group in groupby(ordered, lambda each: _GROUPS[each.kind]):
        yield name, list(group)


def _line(name: str, outcomes: Sequence[Outcome]) -> str:
    good, asked = sum(not each.bad for each in outcomes), sum(each.asked > 0 for each in outcomes)
    return f"| {name} | {good} of {len(outcomes)} ({good / max(1, len(outcomes)):.1%}) | {asked} |"
