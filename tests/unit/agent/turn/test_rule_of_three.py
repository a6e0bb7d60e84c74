"""The rule of the three with tools: what is on show × where × the owner's rules × the effects of a tool."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.turn.tool_refusals import ASKS_FIRST, HELD_BACK, RULE_ASKS
from kenobot.agent.turn.tool_rounds import _FOREIGN
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.gateway.access import Roster
from kenobot.ports.provider import Reply, ToolCall
from kenobot.ports.tool import Tool as AnyTool
from kenobot.ports.tool import ToolEffects
from kenobot.tools.mcp.declared import DeclaredTool
from kenobot.tools.mcp.tool import McpTool
from kenobot.tools.read_skill import ReadSkill
from tests.unit.agent.turn.test_tool_approvals import ButtonScene
from tests.unit.agent.turn.test_tools import Tool, requests, results

RULES = ("allow", "ask", "deny", "none")
_SETTINGS = "".join(f'[[tools.rules]]\ntool = "{each}_*"\ndecision = "{each}"\n' for each in RULES[:3])
_RAN, _REFUSED, _UNKNOWN = "ran", "refused", "unknown"
_TOLD = {
    "held": HELD_BACK,
    "first": ASKS_FIRST,
    "asked": RULE_ASKS,
    "denied": "Not run: the owner's rules do not allow",
    _REFUSED: "Not run",
    _UNKNOWN: "There is no tool called",
}


@dataclass(frozen=True)
class Place:
    """Where a message is written, by whom, and whether the owner can be asked there."""

    user: str
    chat: str
    private: bool
    buttons: bool = True

    @property
    def asks(self) -> bool:
        return self.user == "1" and (self.private or self.buttons)


PLACES: Mapping[str, Place] = {
    "the owner": Place("1", "1", private=True),
    "the owner in a group": Place("1", "-5", private=False),
    "the owner in a group without buttons": Place("1", "-5", private=False, buttons=False),
    "a guest": Place("7", "7", private=True),
    "a guest in a group": Place("7", "-5", private=False),
}


class _Server:
    """Carries out the calls of MCP tools."""

    async def call(self, tool: DeclaredTool, arguments: object, **_: object) -> str:
        return "done"


def _mcp_tool(name: str, effects: tuple[str, ...] | None, **hints: bool) -> "AnyTool[Any]":
    """A tool of a server with these hints, which the owner's settings trust where they name no effects."""
    own = {} if effects is None else {"tool_effects": {"x": effects}}
    settings = McpServerSettings.model_validate({"command": "x", "trust_hints": effects is None, **own})
    return McpTool(name, DeclaredTool("x", "Do it.", {"type": "object"}, **hints), _Server(), settings)  # type: ignore[arg-type]


def _tools(rule: str) -> list["AnyTool[Any]"]:
    """Tools of every combination of effects that the guard and the rules look at."""
    made: list[AnyTool[Any]] = []
    for way_out, changes, first, always in itertools.product((False, True), repeat=4):
        name = f"{rule}_{way_out:d}{changes:d}{first:d}{always:d}"
        made.append(Tool("done", ToolEffects(False, False, way_out, changes, first, always), name))
    return made


def _tools_of_others(rule: str) -> list["AnyTool[Any]"]:
    skill = ReadSkill()
    skill.name = f"{rule}_skill"
    return [
        skill,
        _mcp_tool(f"{rule}_mcp", None),
        _mcp_tool(f"{rule}_mcp_reads", None, reads_only=True),
        _mcp_tool(f"{rule}_mcp_own", ("changes_outside", "asks_first")),
    ]


def _closed_tools_of_others(rule: str) -> list["AnyTool[Any]"]:
    return [
        _mcp_tool(f"{rule}_mcp_closed", None, closed=True),
        _mcp_tool(f"{rule}_mcp_tame", None, reads_only=True, closed=True),
        _mcp_tool(f"{rule}_mcp_finds", ("brings_untrusted", "way_out")),
    ]


BUILDS = {"own": _tools, "of servers and skills": _tools_of_others, "of closed servers": _closed_tools_of_others}


def _expect(effects: ToolEffects, rule: str, place: Place, *, private: bool, untrusted: bool) -> str:
    """What should become of a call: the owner's no, the guard, the owner's wish to be asked, in that order."""
    if place.user != "1" and (effects.way_out or effects.changes_outside):
        return _UNKNOWN
    if rule == "deny":
        return "denied"
    if effects.way_out and private and untrusted:
        return "held" if place.asks else _REFUSED
    if effects.asks_first and untrusted:
        return "first" if place.asks else _REFUSED
    if rule == "ask" or (rule == "none" and effects.asks_always):
        return "asked" if place.asks else _REFUSED
    return _RAN


@pytest.mark.parametrize("kind", BUILDS)
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("untrusted", [False, True])
async def test_each_call_runs_asks_or_is_refused_as_the_three_and_the_rules_say(
    tmp_path: Path, untrusted: bool, private: bool, where: str, kind: str
) -> None:
    """All combinations in one table: 20 situations, 4 rules, 16 kinds of tools, and 7 of servers and skills."""
    place, build = PLACES[where], BUILDS[kind]
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "kenobot.toml").write_text(_SETTINGS)
    tools = {rule: build(rule) for rule in RULES}
    replies = [
        Reply("", "tool_use", calls=tuple(ToolCall(each.name, each.name, _arguments(each)) for each in made))
        for made in tools.values()
    ]
    if kind != "own":  # what one of them brings would be on show for the next round
        replies = [Reply("", "tool_use", calls=tuple(call for reply in replies for call in reply.calls))]
    script = [*(["Hello."] if private else []), *replies, "Done."]
    every = [tool for made in tools.values() for tool in made]
    roster = Roster.of(["1"], ["7"], ["-5"])
    async with ButtonScene(tmp_path, script, tools=every, roster=roster) as scene:
        scene.channel.capabilities = scene.channel.capabilities.__class__(buttons=place.buttons)
        to = {"chat": place.chat, "user": place.user, "private": place.private}
        if private:
            await scene.say("hello", **to)  # type: ignore[arg-type]
        await scene.say("do it", forwarded=untrusted, **to)  # type: ignore[arg-type]
        told = {result.id: result.text for result in results(requests(scene)[-1])}
    expected = {
        tool.name: _expect(tool.effects, rule, place, private=private, untrusted=untrusted)
        for rule, made in tools.items()
        for tool in made
    }
    assert {name: _name(text, expected[name]) for name, text in told.items()} == expected
    assert len(told) == len(every)
    ran = {tool.name for tool in every if isinstance(tool, Tool) and tool.ran}
    assert ran == {name for name, end in expected.items() if end == _RAN and kind == "own"}


def _arguments(tool: "AnyTool[Any]") -> dict[str, Any]:
    if isinstance(tool, ReadSkill):
        return {"name": "x"}
    return {"word": "a"} if isinstance(tool, Tool) else {}


def _name(text: str, expected: str) -> str:
    """Name what the model was told, by what should have been where several begin alike."""
    text = text.removeprefix(_FOREIGN)
    if text in ("done", "There are no skills here.") or "no skill" in text.lower():
        return _RAN
    if text in (HELD_BACK, ASKS_FIRST, RULE_ASKS):
        return next(name for name, words in _TOLD.items() if words == text)
    fits = [name for name, words in _TOLD.items() if text.startswith(words)]
    return expected if expected in fits else (fits or [text])[0]
