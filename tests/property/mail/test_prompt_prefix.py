"""No prompt shows what is no longer so, whatever happened to memory between two turns, however little of it fits."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import change
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage.connection import Connection
from tests.scene import Scene
from tests.scratch import scratch
from tests.unit.cognitive.recall.house import insert

_SMALL = {"KENOBOT_CONTEXT__MEMORY_TOKENS": "300"}  # a frame shows some twenty of the memories
_FIRST = 60
_MARKER = re.compile(r"zq\d+v\d+")


class _Step(NamedTuple):
    """deed: to the memory that `pick` means. "ask" has it recalled, "chat" and "rest" call for nothing."""

    deed: Literal["learn", "correct", "forget", "restore", "archive", "touch many", "ask", "chat", "rest"]
    pick: int


_STEPS = st.lists(
    st.builds(
        _Step,
        st.sampled_from(
            ["learn", "correct", "correct", "forget", "restore", "archive", "touch many", "ask", "ask", "chat", "rest"]
        ),
        st.integers(0, 200),
    ),
    min_size=4,
    max_size=14,
)


class _Story:
    """Memories that each hold a marker with their number and how often they were corrected; which of them are so."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._ids: list[int] = []
        self._versions: list[int] = []
        self._live: list[bool] = []

    @property
    def holding(self) -> set[str]:
        """The markers that a prompt may show."""
        return {
            f"zq{number}v{version}"
            for number, (version, live) in enumerate(zip(self._versions, self._live, strict=True))
            if live
        }

    async def begin(self) -> None:
        for number in range(_FIRST):
            await self._add(timedelta(days=90 * (1 - number / _FIRST)))
        await self._scene.app.indexer.index_all()

    async def play(self, step: _Step) -> None:
        number = step.pick % len(self._ids)
        match step.deed:
            case "learn":
                await self._add(timedelta(0))
            case "correct":
                if self._live[number]:
                    self._versions[number] += 1
                    await self._change([number], text=self._text(number))
            case "forget" | "archive":
                self._live[number] = False
                await self._change([number], status="forgotten" if step.deed == "forget" else "archived")
            case "restore":
                self._live[number] = True
                await self._change([number], status="active")
            case "touch many":
                await self._change(range(number, min(len(self._ids), number + 150)), importance=0.01 * (step.pick % 90))
            case "ask":
                await self._scene.say(f"what about the topic{number}?")
            case "chat":
                await self._scene.say("I had a coffee just now")
            case "rest":
                self._scene.clock.advance(7200)  # type: ignore[attr-defined]
        await self._scene.app.indexer.index_all()

    def _text(self, number: int) -> str:
        return f"The topic{number} is painted zq{number}v{self._versions[number]}"

    async def _add(self, ago: timedelta) -> None:
        self._versions.append(0)
        self._live.append(True)
        text = self._text(len(self._versions) - 1)
        at = self._scene.clock.now() - ago
        self._ids.append(await self._scene.app.database.write(lambda c: insert(c, text, {}, at, quietly=bool(ago))))

    async def _change(self, numbers: "list[int] | range", **values: str | float) -> None:
        ids = [self._ids[number] for number in numbers]

        def work(connection: Connection) -> None:
            for record in records.by_ids(connection, ids, ("owner",)).values():
                change(connection, record, "mended", values, ChangeContext(self._scene.clock.now(), "owner"))

        await self._scene.app.database.write(work)


@pytest.mark.long
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=_STEPS)
def test_a_prompt_shows_only_what_is_so(steps: list[_Step]) -> None:
    """Corrected, forgotten and put away memories leave the frame, the notes and what earlier messages were shown."""

    async def play(folder: Path) -> None:
        async with Scene(folder, ["ok"], environ=_SMALL) as scene:
            story = _Story(scene)
            await story.begin()
            for step in (_Step("chat", 0), *steps, _Step("chat", 0)):
                before = len(scene.requests)
                await story.play(step)
                for prompt in scene.requests[before:]:
                    assert set(_MARKER.findall(prompt)) <= story.holding

    with scratch() as folder:
        asyncio.run(play(Path(folder)))


def test_the_story_sees_what_is_shown() -> None:
    """Memories reach the prompt by the frame and by being asked for: else the property above would hold of nothing."""

    async def play(folder: Path) -> None:
        async with Scene(folder, ["ok"], environ=_SMALL) as scene:
            story = _Story(scene)
            await story.begin()
            await story.play(_Step("chat", 0))
            await story.play(_Step("ask", 3))
            first, second = (set(_MARKER.findall(prompt)) for prompt in scene.requests)
        assert 5 < len(first) < _FIRST
        assert second - first == {"zq3v0"}

    with scratch() as folder:
        asyncio.run(play(Path(folder)))
