"""What the lifecycle bench calls right is right, and what it calls wrong is wrong."""

import asyncio
from datetime import timedelta

from kenobot.ports.clock import SystemClock
from kenobot_evals.recall import lifecycle
from kenobot_evals.recall.datasets import Conversation, Passage, Question
from kenobot_evals.recall.eval_home import EvalOptions
from tests.unit.evals.recall.test_run import BEGAN, END

NOTES = Conversation(
    "es",
    (
        Passage("n1", "The office is in Vienna", BEGAN, "note"),
        Passage("n2", "The office is in Linz now", END - timedelta(days=2), "note", replaces="n1"),
        Passage("n3", "Biscuit the cat needs insulin", BEGAN, "note"),
    ),
    (
        Question("n2:0", "Where is the office?", "update", ("n2",), END),
        Question("n3:0", "What does Biscuit need?", "fact", ("n3",), END),
        Question("n3:1", "Which medicine?", "fact", ("n3",), END),
        Question("none:0", "Who painted the fence?", "nothing", (), END),
        Question("none:1", "What plants has the office?", "nothing", (), END),
        Question("far:0", "What is the boiling point of mercury?", "unrelated", (), END),
    ),
)


def test_each_area_counts_what_it_is_named_for() -> None:
    """By words alone, one question finds nothing that is there, and one finds something where nothing is."""
    areas = asyncio.run(lifecycle.run([NOTES], EvalOptions("none"), SystemClock(), lambda *_: None))
    assert {area.area: (area.right, area.asked) for area in areas} == {
        "update": (1, 1),
        "contradiction": (1, 1),
        "forgetting": (2, 2),
        "scope": (3, 3),
        "abstention": (1, 2),
        "presence": (2, 3),
        "doubt": (1, 2),
        "trust": (2, 3),
        "unrelated": (1, 1),
        "unrelated, few notes": (1, 1),
        "absent, few notes": (0, 0),
        "found, few notes": (2, 3),
    }
    wrong = {area.area: area.wrong for area in areas}
    assert wrong["presence"] == ["n3:1 Which medicine?"]
    assert wrong["abstention"] == ["none:1 What plants has the office?"]
