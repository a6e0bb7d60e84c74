"""Tools over memory and the agenda, with their real doors: hostile arguments change nothing and are told in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.json_value import Json
from kenobot.ports.provider import Reply, ToolCall
from kenobot.tools.agenda import CancelReminder, ReadAgenda, Remind
from kenobot.tools.clock import Clock
from kenobot.tools.memory_changes import MemoryForget, MemoryWhy
from kenobot.tools.memory_search import MemorySearch
from kenobot.tools.read_skill import ReadSkill
from kenobot_testing.tool import HOSTILE_NUMBERS, HOSTILE_TEXTS, AnyTool
from tests.scene import Scene
from tests.unit.agent.turn.test_tools import requests, results

_TOOLS: Sequence["AnyTool"] = (
    Clock(),
    MemorySearch(),
    MemoryWhy(),
    MemoryForget(),
    ReadAgenda(),
    Remind(),
    CancelReminder(),
    ReadSkill(),
)
_GOOD: Mapping[str, Mapping[str, Json]] = {
    "clock": {"zone": "Asia/Tokyo"},
    "memory_search": {"query": "tea"},
    "memory_why": {"text": "green tea"},
    "memory_forget": {"text": "nothing of that"},
    "agenda": {"first": "2026-12-01", "last": "9999-12-31"},
    "remind": {"text": "tea", "when": "some day"},
    "cancel_reminder": {"number": 99},
    "read_skill": {"name": "tea", "file": "SKILL.md", "part": 1},
}
_RULE = '[[tools.rules]]\ntool = "*"\ndecision = "allow"\n'
_BROKE = ("The tool broke", "kept everything", "longer than")


def _calls(name: str) -> list[ToolCall]:
    """A call for each argument and each hostile value in its place."""
    good = dict(_GOOD[name])
    values = [(at, value) for at, given in good.items() for value in _values(given) if not _is_reminder(at, value)]
    return [ToolCall(f"{at}{number}", name, {**good, at: value}) for number, (at, value) in enumerate(values)]


def _values(given: Json) -> Sequence[Json]:
    return HOSTILE_TEXTS if isinstance(given, str) else HOSTILE_NUMBERS


def _is_reminder(at: str, value: Json) -> bool:
    """Whether a value is a time, which a reminder may have."""
    return at == "when" and value == "9999-12-31"


@pytest.mark.parametrize("name", _GOOD)
async def test_hostile_arguments_change_nothing(tmp_path: Path, name: str) -> None:
    """Each call ends in words of the tool's, and memory and agenda are as before."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "kenobot.toml").write_text(_RULE)
    calls = _calls(name)
    rounds = [Reply("", "tool_use", calls=tuple(calls[at : at + 16])) for at in range(0, len(calls), 16)]
    script = ["Noted. <memory>Ana likes green tea</memory>", *rounds, "Done."]
    kept: dict[str, Any] = {"tools": _TOOLS, "environ": {"ToolLimits.total_seconds": 600}}
    async with Scene(tmp_path, script, **kept) as scene:
        await scene.say("Ana likes green tea")
        assert await scene.say("go") == "Done."
        told = results(requests(scene)[-1])
        assert len(told) == len(calls)
        assert [each.text for each in told if each.text.startswith(_BROKE) or not each.text.strip()] == []
        assert await scene.rows("SELECT text, status FROM record WHERE form = 'note'") == [
            ("Ana likes green tea", "active")
        ]
        assert await scene.rows("SELECT text FROM job WHERE kind = 'reminder'") == []
