"""Seed 002's "Complete Timeline", from 14 February to June: the same dates, the same files, the same survivors.

What the seed deletes goes to archive/ here, and what its salience drops is recalled all the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import pytest_asyncio

from kenobot_evals.demo import story
from kenobot_evals.demo.play import StepResult, play_act

FACT = "n8n webhooks: use query params (?token=xxx) for authentication instead of headers — headers cause 401 errors"
LESSON = "n8n webhooks prefer query params for auth, headers always fail with 401"
EPISODE = "Adrian spent hours debugging n8n webhook 401 — resolved with query params"
PAD = """- Current topic: n8n webhook authentication
- Status: resolved
- Key finding: query params > headers for n8n webhooks"""
PROFILE = """# User Profile
- Adrian prefers Spanish for personal conversation
- Timezone: America/Mexico_City
"""
CONSOLIDATED = f"""{PROFILE}
## Consolidated — 2026-02-15
- {LESSON}
"""
PATTERN = {
    "trigger": "n8n webhook 401 error",
    "response": "resolved with query params",
    "confidence": 0.6,
    "learnedFrom": "consolidation",
}
MEMORY, PATTERNS = "MEMORY.md", "procedural/patterns.json"
DAILY, WORKING = "2026-02-14.md", "working/telegram-123456789.md"
CHAT = f"chats/telegram-123456789/{DAILY}"
QUESTION = "Me da un 401 cuando hago un POST al webhook de n8n"


@dataclass(frozen=True)
class Lived:
    """The whole story in one wording. noted: the fact as the model tags it; fact: as it stands in the end."""

    strong: bool
    seen: Mapping[str, StepResult]

    @property
    def noted(self) -> str:
        return f"Learned: {LESSON}" if self.strong else FACT

    @property
    def fact(self) -> str:
        return LESSON if self.strong else FACT

    @property
    def core(self) -> str:
        """MEMORY.md from the first night on."""
        return CONSOLIDATED if self.strong else PROFILE

    def at(self, moment: str) -> StepResult:
        return self.seen[moment]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["seed", "strong"])
async def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """Every step of the story, by its moment; of the nights in which nothing happens only some are played."""
    told = story.load()
    [act] = [act for act in told.acts if act.name == request.param]
    seen = [each async for each in play_act(told, act, tmp_path_factory.mktemp(act.name), skip_quiet_nights=True)]
    assert [failure for each in seen for failure in each.failures] == []
    return Lived(act.name == "strong", {f"{each.step.at:%m-%d %H:%M}": each for each in seen})


def hot(tree: Mapping[str, str]) -> set[str]:
    """The files of the seed's own kinds that are in their place, and not in the archive."""
    return {path for path in (DAILY, CHAT, WORKING, MEMORY, PATTERNS) if path in tree}


def pattern(tree: Mapping[str, str]) -> dict[str, object]:
    [found] = json.loads(tree[PATTERNS])
    return dict(found)


def decided(seen: StepResult, name: str) -> list[str]:
    """What a pass of the nights before a step decided, about which texts."""
    decisions = [each for _, night in seen.sleep.with_changes for each in night]
    return [f"{deed.kind}: {deed.text}" for by, deed in decisions if by == name]


def test_on_14_february_the_message_is_on_disk_as_the_seed_shows(lived: Lived) -> None:
    """Phases 1 to 5: the day's log, the chat's and the scratchpad, to the byte; Adrian reads clean text."""
    then = lived.at("02-14 14:30")
    assert hot(then.tree) == {MEMORY, DAILY, CHAT, WORKING}
    assert then.tree[MEMORY] == PROFILE
    assert then.tree[DAILY] == f"## 14:30 — {lived.noted}\n\n"
    assert then.tree[CHAT] == f"## 14:30 — {EPISODE}\n\n"
    assert then.tree[WORKING] == PAD
    assert then.answer.startswith("Buena nota!")
    assert "<" not in then.answer


def test_on_15_february_at_4_it_sleeps(lived: Lived) -> None:
    """Phase 7: MEMORY.md to the byte, if the fact stands out; a pattern; no lesson; everything too young to go."""
    then = lived.at("02-15 04:00")
    assert then.sleep.nights == 1
    assert then.tree[MEMORY] == lived.core
    assert pattern(then.tree).items() >= {**PATTERN, "usageCount": 0}.items()
    assert decided(then, "promote") == ([f"promoted: {LESSON}"] if lived.strong else [])
    assert len(decided(then, "patterns")) == 1
    assert all(told.startswith("classified: ") for told in decided(then, "errors")), "trouble from outside taught it"
    assert hot(then.tree) == {MEMORY, DAILY, CHAT, WORKING, PATTERNS}


def test_on_15_february_at_10_it_is_read_again(lived: Lived) -> None:
    """Phase 6: fact, episode and scratchpad are in the prompt."""
    memory = lived.at("02-15 10:00").memory
    assert lived.fact in memory
    assert EPISODE in memory
    assert PAD in memory


def test_on_21_february_working_memory_dies(lived: Lived) -> None:
    """Phase 8: seven days stale; nothing else goes with it."""
    then = lived.at("02-21 20:00")
    assert hot(then.tree) == {MEMORY, DAILY, CHAT, PATTERNS}
    assert [told.partition(":")[0] for told in decided(then, "scratchpads")] == ["expired"]


def test_on_16_march_the_daily_log_dies(lived: Lived) -> None:
    """Phase 8: 30 days old, it goes to archive/ as it is; MEMORY.md and the unused pattern stay."""
    then = lived.at("03-16 08:00")
    assert hot(then.tree) == {MEMORY, PATTERNS}
    assert then.tree[MEMORY] == lived.core
    assert then.tree[f"archive/{DAILY}"] == f"## 14:30 — {lived.fact}\n\n"
    assert then.tree[f"archive/{CHAT}"] == f"## 14:30 — {EPISODE}\n\n"
    assert pattern(then.tree)["confidence"] == 0.6


def test_in_june_it_is_resurrected(lived: Lived) -> None:
    """Phase 9, by its own message: from the frozen beginning or by recall, and from patterns.json at .45."""
    then = lived.at("06-10 09:05")
    assert then.step.says == QUESTION
    assert hot(then.tree) == {MEMORY, PATTERNS}
    frame, _, found = then.memory.partition("### Remembered about this")
    assert lived.core in frame
    assert (LESSON in frame) == lived.strong
    assert (FACT in then.memory) == (not lived.strong)
    assert EPISODE in found
    assert PAD not in then.memory
    assert [(fit.coverage, fit.confidence, round(fit.score, 2)) for fit in then.pattern_matches] == [(0.75, 0.6, 0.45)]
    assert f"- {PATTERN['trigger']} → {PATTERN['response']}" in frame


def test_in_june_somebody_else_gets_nothing_of_it(lived: Lived) -> None:
    """The seed's friend who asks is not the owner: what the owner told is not in their prompt."""
    then = lived.at("06-10 09:00")
    assert then.step.says == QUESTION
    assert then.step.who is not None
    assert then.step.who.user == "555"
    assert then.pattern_matches == ()
    for text in ("query params", "Adrian", "n8n webhook 401 error"):
        assert text not in then.memory
