"""What the figures of a night say, and summaries of conversations."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenobot.cognitive.policy.sleep import ProposalPolicy
from kenobot.cognitive.sleep.improve.proposals import NightStatistics, advise, reflect
from kenobot.ports.provider import Request
from kenobot_testing.provider import ScriptedProvider
from tests.conformance.cases import Case, Checked, Outcome, compare
from tests.scene import Scene
from tests.scratch import scratch


def proposals(case: Case) -> Outcome:
    found = advise(_figures(case.input), ProposalPolicy())
    names = ("observation", "suggestion", "evidence", "priority")
    return compare(case, [{name: getattr(advice, name) for name in names} for advice in found])


def reflection(case: Case) -> Outcome:
    insights, found = reflect(_figures(case.input), ProposalPolicy())
    adjustments = [{"type": each.kind, "suggestion": each.suggestion} for each in found]
    return compare(case, {"insights": insights, "adjustments": adjustments})


def _figures(given: Mapping[str, Any]) -> NightStatistics:
    consolidation, errors, pruning = (given.get(name, {}) for name in ("consolidation", "errorAnalysis", "pruning"))
    return NightStatistics(
        episodes=consolidation.get("episodesProcessed", 0),
        facts=consolidation.get("factsAdded", 0),
        patterns=consolidation.get("patternsAdded", 0),
        errors=errors.get("errorsFound", 0),
        lessons=errors.get("lessonsExtracted", 0),
        expired_scratchpads=pruning.get("workingPruned", 0),
        patterns_pruned=pruning.get("patternsPruned", 0),
    )


def summaries(case: Case) -> Outcome:
    """A talk of these turns, in a window that shows none of them when it begins anew and sums up at four."""
    asked, summary = asyncio.run(_talk(case.input))
    expected = case.expected
    statements = {"something is kept": (summary is not None) == bool(expected.get("episode_created"))}
    if "chat_calls" in expected:
        statements["the model is asked as often"] = asked == expected["chat_calls"]
    if summary is not None:
        statements["it says what the model said"] = case.input["llm"]["chat"] in summary
    return Checked({"asked": asked, "summary": summary}, statements)


async def _talk(given: Mapping[str, Any]) -> tuple[int, str | None]:
    asked = 0

    def answer(request: Request) -> str:
        nonlocal asked
        if "You keep the thread of a conversation" not in request.system[0].text:
            return replies.pop(0)
        asked += 1
        said = str(given["llm"]["chat"])
        return said if said == "NONE" else json.dumps({"lines": [{"text": said}]})

    people = [turn["content"] for turn in given["turns"] if turn["role"] == "user"]
    replies: list[str] = [turn["content"] for turn in given["turns"] if turn["role"] == "assistant"]
    environ = {"PromptLimits.history_min": 0, "PromptLimits.history_max": 8}
    provider = ScriptedProvider([answer], repeat_last=True, rule_based=False)
    with scratch() as folder:
        async with Scene(Path(folder), provider=provider, environ=environ) as scene:
            for text in people:
                await scene.say(text)
            rows = await scene.rows("SELECT text FROM record WHERE form = 'summary' AND status = 'active'")
    return asked, str(rows[0][0]) if rows else None
