"""How sure memory is of what somebody read: by the best mark, and not by words that happen to be alike."""

import pytest

from kenobot.cognitive.recall.results.render import render_search as render
from tests.unit.cognitive.recall.house import Memory

ASKED = "What colour is the boiler?"


@pytest.mark.parametrize(("mark", "level"), [(0, "none"), (1, "none"), (2, "high"), (3, "high")])
async def test_the_level_of_a_question_is_that_of_the_best_mark(memory: Memory, mark: int, level: str) -> None:
    """About the same thing but no answer is no answer, and what comes near is shown with that warning."""
    boiler = await memory.learn("The boiler was repaired in May", days_ago=9)
    pack = await memory.recall(ASKED, marks={boiler: mark / 3})
    assert pack.level == level
    assert [memory.record.id for memory in pack.memories] == [boiler] * (mark > 0)
    assert render(pack).startswith("_What follows may only come near") == (mark == 1)


async def test_words_that_nobody_read_do_not_outweigh_who_read(memory: Memory) -> None:
    """The talk is quoted where no memory answers, and lifts the level only where nobody judged."""
    boiler = await memory.learn("The boiler was repaired in May", days_ago=9)
    await memory.say("I think the boiler is grey", inbox=7)
    judged, plain = await memory.recall(ASKED, marks={boiler: 1 / 3}), await memory.recall(ASKED, marks={})
    assert judged.excerpts
    assert (judged.level, plain.level != "none") == ("none", True)


async def test_what_asks_nothing_has_no_answer_that_could_be_missing(memory: Memory) -> None:
    """A remark that a memory is about is not told to lack an answer."""
    boiler = await memory.learn("The boiler was repaired in May", days_ago=9)
    pack = await memory.recall("The boiler is loud today.", marks={boiler: 1 / 3})
    assert (pack.level, pack.answer_probability) == ("low", None)
    assert render(pack).startswith("### Remembered")
