"""Recall on LoCoMo's development half, where it is at hand: its licence lets it be measured, and not shipped."""

import asyncio
import os

import pytest

from kenobot.ports.clock import SystemClock
from kenobot_evals.recall import datasets
from kenobot_evals.recall.eval_home import BUDGET, EvalOptions
from kenobot_evals.recall.run import run

_FILE = os.environ.get("KENOBOT_LOCOMO", "")


@pytest.mark.skipif(not _FILE, reason="KENOBOT_LOCOMO names no file of LoCoMo's conversations")
def test_recall_without_a_model_is_far_above_bm25() -> None:
    """On some questions of each conversation, within the tokens of one question."""
    conversations = datasets.select_part(datasets.load(_FILE), "", 150)
    report = asyncio.run(run(conversations, EvalOptions("none"), SystemClock(), lambda *_: None))
    ours, plain = (report.scores(method)["all"].recall[10] for method in ("recall", "bm25"))
    assert ours > plain + 0.1
    assert ours > 0.7
    assert report.costs["most tokens"] <= BUDGET
