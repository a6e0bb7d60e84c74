"""What the prompt of a chat is given is measured at the product's own depth, with notes and talk in one home."""

import asyncio
import json

import pytest

from kenobot.cli import main
from kenobot.ports.clock import SystemClock
from kenobot_evals.recall import chat
from kenobot_evals.recall.eval_home import EvalOptions
from tests.unit.evals.recall.test_run import NOTES, TALK

_SETS = (("notes", (NOTES,)), ("talk", (TALK,)))


def test_sets_share_homes_and_each_question_is_asked_once() -> None:
    """A set with fewer conversations is in several homes, under keys that name it."""
    homes, owners = chat.in_one_home((("notes", (NOTES,)), ("talk", (TALK, TALK))))
    assert [home.name for home in homes] == ["notes + talk", "notes + talk"]
    assert all(len(home.passages) == len(NOTES.passages) + len(TALK.passages) for home in homes)
    assert len(homes[0].questions) == len(NOTES.questions) + len(TALK.questions)
    assert {owners[each.id] for each in homes[1].questions} == {"talk"}
    assert "notes n1" in {each.replaces for each in homes[0].passages}


def test_each_set_is_asked_alone_and_together() -> None:
    """What answers is counted by lines, and what has no answer by what memory says of it."""
    scores = asyncio.run(chat.run(_SETS, EvalOptions("none"), SystemClock(), lambda *_: None))
    figures = {(score.dataset, score.home): score.figures for score in scores}
    assert set(figures) == {(name, home) for name in ("notes", "talk") for home in ("alone", "together")}
    for home in ("alone", "together"):
        assert figures["talk", home]["questions"] == 2
        assert figures["talk", home]["first 3"] == figures["talk", home]["shown"] == 1
        assert figures["talk", home]["unknown"] == 1
    assert figures["notes", "alone"]["shown"] == 0.5


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With one set there is nothing to share a home with."""
    command = ["bench", "chat", "--datasets", "talks", "--embedder", "none", "--limit", "4"]
    assert main(command) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].startswith("| asked of | in a home | questions | first 3 |")
    assert len(table) == 3
    assert main([*command, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["dataset"], row["home"], row["questions"]) == ("talks", "alone", 4)
