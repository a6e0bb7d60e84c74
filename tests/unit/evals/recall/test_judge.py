"""A bench may have the model read what was found, as a turn would, and says what that gave and cost."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from kenobot.cli import main
from kenobot.core import plugins
from kenobot.core.retry import CircuitBreaker
from kenobot.ledger.ledger import Ledger, ModelCall
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import Rejected, Unavailable
from kenobot.ports.plugin import Plugin
from kenobot.ports.provider import Reply, Request
from kenobot.providers.anthropic import AnthropicSettings
from kenobot_evals.recall import datasets, lifecycle
from kenobot_evals.recall.counting_reranker import CountingReranker
from kenobot_evals.recall.datasets import Conversation, sample
from kenobot_evals.recall.eval_home import EvalOptions
from kenobot_evals.recall.run import RecallReport, run
from kenobot_testing.provider import ScriptedProvider, ScriptedReply
from tests.unit.evals.recall.test_lifecycle import NOTES

ON = ("--reranker", "model", "--embedder", "none")


def _reads(request: Request) -> str:
    """Marks as who understands: a note helps when it says what it needs, or where it is now, and that is asked."""
    question, _, notes = request.messages[0].text.partition("## The notes")
    asked = re.search(r"needs?|Where", question)
    marks = {
        number: 3 if asked and ("insulin" in text or "Linz" in text) else 1
        for number, text in re.findall(r"^\[(\d+)\] > (.*)$", notes, re.MULTILINE)
    }
    return json.dumps(marks)


class _Unlimited(BudgetedModel):
    """Keeps no account: here the model is a function."""

    def __init__(self, router: ModelRouter) -> None:
        super().__init__(router, cast("Ledger", None), "bench")

    async def ask(self, request: Request, day: str = "", **_: object) -> tuple[Reply, ModelCall]:
        reply = await self.router.ask(request)
        return reply, ModelCall(model=reply.model, usage=reply.usage, settled=True)

    async def settle(self, call: ModelCall) -> None:
        pass


def _judge(*script: ScriptedReply) -> tuple[CountingReranker, ScriptedProvider]:
    clock = SystemClock()
    provider = ScriptedProvider(script, repeat_last=True, rule_based=False)
    router = ModelRouter([ProviderRoute(provider, CircuitBreaker(clock, 5, 60))], 60, clock)
    return CountingReranker(_Unlimited(router), "scripted"), provider


def _lifecycle(judge: CountingReranker | None) -> dict[str, tuple[int, int]]:
    areas = asyncio.run(lifecycle.run([NOTES], EvalOptions("none"), SystemClock(), lambda *_: None, judge))
    return {area.area: (area.right, area.asked) for area in areas}


def _recall(conversation: Conversation, judge: CountingReranker) -> RecallReport:
    return asyncio.run(run([conversation], EvalOptions("none"), SystemClock(), lambda *_: None, judge))


def test_who_reads_tells_a_near_miss_from_an_answer() -> None:
    """A note that names the office and not its plants is no answer any more; what answers is still there."""
    judge, provider = _judge(_reads)
    without, with_it = _lifecycle(None), _lifecycle(judge)
    assert (without["abstention"], with_it["abstention"]) == ((1, 2), (2, 2))
    assert (without["presence"], with_it["presence"]) == ((2, 3), (2, 3))
    assert with_it["scope"] == (3, 3) and with_it["forgetting"] == (2, 2)
    assert judge.questions == len(provider.requests) == 3, "one call for each question that anything was found for"
    assert (judge.unranked, judge.tokens) == (0, 6)


def test_a_question_that_was_not_judged_keeps_its_ranking_and_is_counted() -> None:
    """An answer that cannot be read, and an outage later on; figures of time and tokens are of those that came."""
    judge, _ = _judge("I would rather not", Unavailable("gone"))
    plain, read = _recall(NOTES, _judge("no")[0]), _recall(NOTES, judge)
    assert [row.explained_ranking for row in read.rows] == [row.explained_ranking for row in plain.rows]
    assert (judge.questions, judge.unranked, judge.tokens, len(judge.seconds)) == (3, 3, 2, 1)
    assert read.as_json()["reranker"] == judge.figures


def test_what_helps_nothing_is_not_found() -> None:
    """The ranking that is measured is the one after reading, by its marks."""
    garden = replace(NOTES.passages[0], key="n4", text="The office in Linz has a garden")
    notes = replace(NOTES, passages=(*NOTES.passages, garden))

    def found(marks: str) -> list[str]:
        return [name for name, _ in _recall(notes, _judge(marks)[0]).rows[0].explained_ranking]

    first, second = found("no")
    assert {first, second} == {"n2", "n4"}
    assert found('{"1": 0, "2": 3}')[0] == second
    assert found('{"1": 3, "2": 0}')[0] == first
    assert found('{"1": 0, "2": 0}') == []


@pytest.mark.parametrize("error", [Rejected("no such key"), Unavailable("nobody there")])
def test_a_model_that_cannot_be_asked_ends_the_run(error: Exception) -> None:
    """By its own sentence, instead of figures of nobody's judgement."""
    with pytest.raises(type(error), match=str(error)):
        _recall(NOTES, _judge(error)[0])


def test_a_sample_is_the_same_every_time() -> None:
    """So many with an answer and so many without, wherever they stand; a smaller one lies within a larger."""
    own = datasets.load("own")

    def ids(size: int) -> list[tuple[str, bool]]:
        return [(q.id, bool(q.gold)) for each in sample(own, size) for q in each.questions]

    twenty = ids(20)
    assert twenty == ids(20) and set(ids(5)) < set(twenty)
    assert [answered for _, answered in twenty].count(True) == [answered for _, answered in twenty].count(False) == 20
    assert sum(len(each.questions) for each in sample(own, 10_000)) == sum(len(each.questions) for each in own)


@pytest.mark.parametrize("what", ["recall", "lifecycle"])
def test_without_a_model_the_command_says_what_to_do(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The offline provider reads nothing."""
    assert main(["--home", str(tmp_path), "bench", what, *ON]) == 78
    assert "`kenobot setup`" in capsys.readouterr().err


def test_the_commands_ask_the_provider_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who reads is named, with what it cost, in the table and in JSON."""
    provider = ScriptedProvider([_reads], repeat_last=True, rule_based=False)
    real, fake = plugins.load, Plugin(settings=AnthropicSettings, build=lambda *_: provider)
    monkeypatch.setattr(plugins, "load", lambda group, name: fake if name == "anthropic" else real(group, name))
    monkeypatch.setattr(datasets, "load", lambda _: [NOTES])
    (tmp_path / "kenobot.toml").write_text('[provider]\nname = "anthropic"\n')
    home = ("--home", str(tmp_path), "bench")
    assert main([*home, "lifecycle", *ON, "--sample", "1"]) == 0
    assert re.search(r"\| presence \| 1 \|[^§]*Read by scripted: \d questions, 0 of them not", capsys.readouterr().out)
    assert main([*home, "recall", *ON]) == 0
    assert "Read by scripted: 3 questions, 0 of them not judged; 2 tokens and" in capsys.readouterr().out
    assert main([*home, "lifecycle", *ON, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["reranker"]["tokens"] == 6
    assert told["reranker"]["marks"] == {"0": 0, "1": 1, "2": 0, "3": 2}
    assert told["abstention"]["right"] == 2
