"""A model may be asked for further queries: what several turns answer is found, and nothing waits for a failing one."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Delta, Request
from tests.scene import Scene
from tests.unit.cognitive.recall.house import crowd, insert

FACTS = ("Lena plays tennis on Mondays", "Lena goes swimming with Ana", "Lena joined a rowing team")
NOISE = tuple(f"Lena does sports of kind {number} at school" for number in range(40))
ON: dict[str, object] = {
    "KENOBOT_EXPERTS__QUERIES": "several",
    "KENOBOT_CONTEXT__MEMORY_TOKENS": "300",
}
ANSWER = '{"queries": ["Lena plays tennis", "Lena goes swimming", "Lena rowing team"]}'
ASKED = "What sports does Lena do?"


class Searcher:
    """Answers turns with "ok", and questions about further queries with `answer`."""

    name = "searcher"
    rule_based = False

    def __init__(
        self, answer: str = '{"queries": ["Lena plays tennis", "Lena goes swimming", "Lena rowing team"]}'
    ) -> None:
        self.turns: list[str] = []
        self.asked: list[str] = []
        self.answer = answer
        self.down = False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        prompt = "\n".join([*(block.text for block in request.system), *(m.text for m in request.messages)])
        text = "ok"
        if "## The question" in prompt:
            self.asked.append(prompt)
            if self.down:
                raise Unavailable("gone")
            text = self.answer
        else:
            self.turns.append(prompt)
        yield Delta(text)
        yield Delta(stop_reason="end_turn")


async def _told(scene: Scene) -> None:
    told = scene.clock.now() - timedelta(days=90)
    for fact in (*FACTS, *NOISE):
        await scene.app.database.write(lambda c, fact=fact: insert(c, fact, {}, told))  # type: ignore[misc]
    await scene.app.database.write(lambda c: crowd(c, scene.clock.now(), 60))


async def _shown(folder: Path, searcher: Searcher, environ: dict[str, object], said: str = ASKED) -> list[str]:
    """The facts that the prompt of a message shows, weeks after they were told."""
    async with Scene(folder, provider=searcher, environ=environ) as scene:
        await _told(scene)
        await scene.say(said)
        return [fact for fact in FACTS if fact in searcher.turns[-1]]


async def test_what_several_turns_answer_is_found(tmp_path: Path) -> None:
    """Among many that are worded like the question, each of those that a query names comes first."""
    searcher = Searcher()
    assert await _shown(tmp_path / "on", searcher, ON) == [*FACTS]
    assert len(searcher.asked) == 1
    off = Searcher()
    assert await _shown(tmp_path / "off", off, {**ON, "KENOBOT_EXPERTS__QUERIES": "none"}) != [*FACTS]
    assert off.asked == []


@pytest.mark.parametrize("said", ["Where does Lena live?", "Lena plays tennis", "ok"])
async def test_other_messages_are_not_asked_about(tmp_path: Path, said: str) -> None:
    """One search has to do, as without the setting."""
    searcher = Searcher()
    await _shown(tmp_path, searcher, ON, said)
    assert searcher.asked == []


@pytest.mark.parametrize("answer", ["I would rather not", '{"queries": []}', '{"queries": "tennis"}'])
async def test_without_queries_recall_stands_as_it_was(tmp_path: Path, answer: str) -> None:
    """An answer that names none, or cannot be read, costs nothing but the try."""
    without = await _shown(tmp_path / "off", Searcher(), {**ON, "KENOBOT_EXPERTS__QUERIES": "none"})
    searcher = Searcher(answer)
    assert await _shown(tmp_path / "on", searcher, ON) == without
    assert len(searcher.asked) == 1


async def test_a_failing_expert_is_left_alone(tmp_path: Path) -> None:
    """Three failures, and no further message waits for it, nor any after a restart; then it is tried again."""
    searcher = Searcher()
    searcher.down = True
    async with Scene(tmp_path, provider=searcher, environ=ON) as scene:
        await _told(scene)
        for number in range(5):
            await scene.say(f"What sports does Lena do on day {number}?")
        assert len(searcher.asked) == 3
    searcher.down = False
    async with Scene(tmp_path, provider=searcher, environ=ON, clock=scene.clock) as again:
        await again.say(ASKED)
        assert len(searcher.asked) == 3
        again.clock.advance(301)  # type: ignore[attr-defined]
        await again.say(ASKED)
        assert len(searcher.asked) == 4


async def test_all_questions_are_asked_about_where_that_is_wanted(tmp_path: Path) -> None:
    """Also those that one turn answers, told in other words; no other message."""
    searcher, every = Searcher('{"queries": ["Lena plays tennis"]}'), {**ON, "KENOBOT_EXPERTS__QUERIES": "all"}
    assert FACTS[0] in await _shown(tmp_path / "asked", searcher, every, "Which court is booked by her?")
    assert len(searcher.asked) == 1
    await _shown(tmp_path / "told", searcher, every, "Lena plays tennis")
    assert len(searcher.asked) == 1


async def test_no_tokens_no_queries(tmp_path: Path) -> None:
    """When those of the day are used up one search has to do."""
    searcher = Searcher()
    await _shown(tmp_path, searcher, {**ON, "KENOBOT_BUDGET__PURPOSES__QUERIES__DAILY_TOKENS": "1"})
    assert searcher.asked == []
