"""What a prompt costs as memory grows: how it is measured, and a run so small that it fits into a test."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bench.cost import memories
from bench.cost.__main__ import main
from bench.cost.checks import failures, report_of
from bench.cost.prompt_cost import CostMeter
from bench.cost.run import Percentiles, SizeResult
from bench.report import TokenCaps
from kenobot.agent.prompt.context_builder import TAG_INSTRUCTIONS
from kenobot.cli.pictures import plots
from kenobot.cognitive.policy import DEFAULT
from kenobot.core.settings.schema import ContextSettings
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.errors import ConfigError
from kenobot.ports.provider import Block, Message, Request
from kenobot_testing.provider import ScriptedProvider, collect_deltas

BUDGET = ContextSettings().budget_tokens
MEMORY = (
    ContextSettings().memory_tokens + DEFAULT.recall.budget + DEFAULT.procedural.max_tokens + DEFAULT.working_tokens
)
ROW = SizeResult(
    memories=1000,
    turns=60,
    hello=800,
    prompt=900.0,
    prompt_most=1000,
    memory=500.0,
    memory_most=600,
    log=100.0,
    cached=0.9,
    repeated=0.99,
    repeated_least=0.5,
    growth=60.0,
    build_cpu=Percentiles(10, 20),
    build=Percentiles(10, 20),
    turn_cpu=Percentiles(20, 40),
    turn=Percentiles(15, 30),
)
LIMITS = TokenCaps(24_000, 8_000)


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, object]]:
    """What `python -m bench.cost` prints of ten and fifty memories and five messages each."""
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr(sys.stdout, "write", said.append)
        code = main(["--sizes", "10,50", "--turns", "5", "--json"])
    found = json.loads("".join(said))
    yield {**found, "code": code}


def test_a_small_run_keeps_the_budget(told: dict[str, object]) -> None:
    """Each prompt and what memory takes of it stay within what the settings allow; exit code 0."""
    assert (told["code"], told["failures"]) == (0, [])
    rows = told["rows"]
    assert isinstance(rows, list)
    assert [(row["memories"], row["turns"]) for row in rows] == [(10, 5), (50, 5)]
    for row in rows:
        assert 0 < row["memory_most"] <= MEMORY
        assert row["memory"] <= row["memory_most"] < row["prompt_most"] <= BUDGET
        assert 0.3 < row["cached"] < 1
        for name in ("build_cpu", "build", "turn_cpu", "turn"):
            assert 0 < row[name]["p50"] <= row[name]["p95"]
    assert rows[0]["memory"] < rows[1]["memory"], "fifty memories take more room than ten as long as all of them fit"


def test_no_two_memories_have_the_same_words() -> None:
    """And the first ones are the same however many there are, with a question that names whom it is about."""
    texts = [memories.synthetic_memory(number).text for number in range(30_000)]
    assert len(set(texts)) == len(texts)
    assert memories.synthetic_memory(0).question == "Where does Ana Torres live?"


async def test_what_a_cache_would_serve_ends_at_a_mark() -> None:
    """Nothing of the first request; of the next what stands before the last mark up to which both are the same."""
    meter = CostMeter()
    provider = ScriptedProvider(meter.reply)
    system = (Block("identity " * 50, cache=True), Block(f"## Memory\n{TAG_INSTRUCTIONS}\n\nAna likes tea", cache=True))
    first = Message("user", (Block("hello", cache=True), Block("<kenobot-context>now</kenobot-context>")))
    await collect_deltas(provider, Request(system, (first,)))
    again = (Message("user", (Block("hello"),)), Message("assistant", (Block("Vale."),)))
    await collect_deltas(provider, Request(system, (*again, Message("user", (Block("bye", cache=True),)))))
    await collect_deltas(provider, Request((system[0], Block("another frame")), (Message("user", (Block("hello"),)),)))
    one, two, three = meter.sizes
    shared = sum(estimate_tokens(block.text) for block in system)
    assert one.cached == 0
    assert two.cached == shared + estimate_tokens("hello"), "the time behind the message is not sent again"
    assert three.cached == estimate_tokens(system[0].text), "a new frame begins behind the identity"
    assert one.prefix == estimate_tokens("Ana likes tea") and one.recalled > 0 and two.recalled == 0


async def test_the_counters_of_the_provider_say_the_same() -> None:
    """Tokens read in full and from the cache add up to the prompt."""
    meter = CostMeter()
    provider = ScriptedProvider(meter.reply)
    request = Request((Block("identity", cache=True),), (Message("user", (Block("hello", cache=True),)),))
    await collect_deltas(provider, request)
    last = (await collect_deltas(provider, request))[-1]
    assert last.usage is not None
    assert (
        last.usage.cache_read_tokens == meter.sizes[-1].cached == estimate_tokens("identity") + estimate_tokens("hello")
    )
    assert last.usage.input_tokens + last.usage.cache_read_tokens == meter.sizes[-1].prompt


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([replace(ROW, prompt_most=24_001)], "a prompt had 24001 tokens"),
        ([replace(ROW, memory_most=8_001)], "took 8001 tokens of a prompt"),
        ([ROW, replace(ROW, memories=9000, build_cpu=Percentiles(31, 40))], "a prompt took 31.0 ms of CPU with 9,000"),
        ([ROW, replace(ROW, memories=9000, turn_cpu=Percentiles(61, 80))], "a turn took 61.0 ms of CPU with 9,000"),
    ],
)
def test_what_is_not_kept_is_named(rows: list[SizeResult], what: str) -> None:
    """A budget that is exceeded, and a time that grows with memory; the table says so below."""
    [found] = failures(rows, LIMITS)
    assert what in found
    assert found in report_of(rows, [found]).as_markdown


def test_a_small_memory_may_be_faster() -> None:
    """Where all of it is shown anyway nothing is looked for: that is no measure of how it grows."""
    assert failures([replace(ROW, memories=10, build_cpu=Percentiles(1, 2)), ROW], LIMITS) == []


def test_a_failure_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And named; the table is printed all the same."""
    monkeypatch.setattr("bench.cost.run.run", lambda *_: [replace(ROW, prompt_most=99_999)])
    assert main(["--sizes", "10"]) == 1
    out, err = capsys.readouterr()
    assert "99,999" in out
    assert "1 things are not as they should be" in err


@pytest.mark.parametrize("wrong", [["--sizes", "10,x"], ["--sizes", "0"], ["--turns", "0"], ["--sizes", ""]])
def test_numbers_that_mean_nothing_are_refused(wrong: list[str]) -> None:
    """With exit code 2, before anything is measured."""
    assert main([*wrong]) == 2


def test_a_plot_without_a_library_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before minutes are spent on a run; it says what to install."""
    monkeypatch.setattr("bench.cost.run.run", lambda *_: pytest.fail("it was run"))

    def missing() -> None:
        raise ConfigError("A plot needs matplotlib")

    monkeypatch.setattr(plots, "require_matplotlib", missing)
    assert main(["--plot", "x.png"]) == 78
    assert "matplotlib" in capsys.readouterr().err
