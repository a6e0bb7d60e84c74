"""Rules and onboarding."""

import json
import re
from collections.abc import Mapping
from typing import Any

from kenobot.identity import rules
from kenobot.identity.onboarding import BootstrapState, Guidance, WritingProfile, advance
from tests.conformance.cases import Case, Checked, Outcome, compare

_ACTIONS = {
    "observing": "continue",
    "checkpoint": "show_checkpoint",
    "boundaries": "show_boundaries",
    "complete": "complete",
}
_MESSAGES = {"checkpoint": "checkpointMessage", "boundaries": "boundariesMessage"}


def rules_format(case: Case) -> Outcome:
    shown = rules.render(rules.parse(json.dumps(case.input)))
    if "renders to nothing" in case.quirk:
        instructions = [rule["instruction"] for rule in case.input["rules"]]
        return Checked(
            shown,
            {
                "it stands among the guidelines": shown.startswith("## Behavioral Guidelines\n"),
                "every rule is shown": all(f"- {instruction}" in shown for instruction in instructions),
            },
        )
    return compare(case, shown)


def rules_violations(case: Case) -> Outcome:
    reply = case.input["response"]
    known = rules.Rules(forbidden=tuple(rules.ForbiddenPattern(pattern=pattern) for pattern in case.input["forbidden"]))
    found = rules.violations(known, reply)
    if "substring match" in case.quirk:
        words = [pattern for pattern in case.expected if re.search(rf"\b{re.escape(pattern)}\b", reply, re.IGNORECASE)]
        return Checked(found, {"only whole words are found, and all of them": found == words})
    return compare(case, found)


def bootstrap_sequence(case: Case) -> Outcome:
    """Every message of a new chat, one after the other. No inferred profile: nothing is known about the person."""
    profile = _profile(case.input["inferredProfile"] or {})
    state = BootstrapState()
    steps: list[dict[str, Any]] = []
    for text in case.input["messages"]:
        before = state
        state, guidance = advance(state, text, profile)
        steps.append(_step(before, state, guidance))
    if not case.input["inferredProfile"] and any("checkpointMessage" in step for step in steps):
        told = [step["checkpointMessage"] for step in steps if "checkpointMessage" in step]
        phases = [step["phase"] for step in steps] == [step["phase"] for step in case.expected]
        return Checked(
            steps, {"it goes as recorded": phases, "nothing is claimed": not any("✅" in each for each in told)}
        )
    return compare(case, steps)


def _profile(inferred: Mapping[str, Any]) -> WritingProfile:
    tech = inferred.get("techContext")
    return WritingProfile(
        language=inferred.get("language"),
        tone=inferred.get("tone"),
        verbosity=inferred.get("verbosity"),
        emoji=inferred.get("emojiUsage"),
        tech=None if tech == "unknown" else tech,
    )


def _step(before: BootstrapState, state: BootstrapState, guidance: Guidance) -> dict[str, Any]:
    step: dict[str, Any] = {"phase": state.phase, "action": _ACTIONS[guidance.phase]}
    if guidance.message is not None:
        step[_MESSAGES[guidance.phase]] = guidance.message
    if state.boundaries != before.boundaries:
        step["boundaries"] = state.boundaries
    return step
