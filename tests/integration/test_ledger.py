"""A day of a bot with a model adds up in the ledger, and a budget that is used up ends as it is said to end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kenobot.app.watch.report import build_status
from kenobot.cli import main
from kenobot.ports.errors import Unavailable
from kenobot.ports.provider import Delta, Request, Usage
from kenobot.storage import model_calls
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

PRICES = """
[budget.prices]
main = { input = 10, output = 50, cache_read = 1, cache_write = 12.5 }
cheap = { input = 1, output = 5 }
"""
KINDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class Service:
    """A provider that tells its usage and adds it up: what its bill would say."""

    rule_based = False

    def __init__(self, name: str = "main", answer: Callable[[str], str] = lambda _: "Fine.") -> None:
        self.name = name
        self.answer = answer
        self.down = False
        self.billed = [0, 0, 0, 0]
        self.calls = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if self.down:
            raise Unavailable("down")
        self.calls += 1
        asked = "\n".join([*(block.text for block in request.system), *(each.text for each in request.messages)])
        text = self.answer(asked)
        usage = Usage(len(asked) // 4, len(text) // 4 + 1, 17, 3)
        figures = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        self.billed = [a + b for a, b in zip(self.billed, figures, strict=True)]
        yield Delta(text, "end_turn", usage, f"{self.name}-1")


def reading(asked: str) -> str:
    """Finds no facts where it is asked for some, and says a word else."""
    return "[]" if "JSON" in asked else "Fine."


async def summed(scene: Scene, where: str = "1") -> list[int]:
    sums = ", ".join(f"coalesce(sum({kind}), 0)" for kind in KINDS)
    (row,) = await scene.rows(f"SELECT {sums} FROM model_day WHERE {where}")
    return [int(str(figure)) for figure in row]


async def purposes(scene: Scene) -> dict[str, int]:
    found = await scene.rows("SELECT purpose, sum(calls) FROM model_day GROUP BY purpose")
    return {str(name): int(str(calls)) for name, calls in found}


def configure(folder: Path, text: str) -> None:
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / "kenobot.toml").write_text(text, "utf-8")


async def test_a_day_with_extraction_sleep_and_a_fallback_adds_up_to_the_token(tmp_path: Path) -> None:
    """What the ledger has of each provider is its bill: by kind of token, and in money to the picodollar."""
    configure(tmp_path, PRICES)
    service, second = Service(answer=reading), Service("cheap")
    clock = EagerClock()
    async with Scene(tmp_path, provider=service, fallbacks=[second], extraction=True, clock=clock) as scene:
        for text in ("I prefer tea", "My sister Ana lives in Oslo", "I moved to Lyon in May"):
            await scene.say(text)
        service.down = True
        await scene.say("Are you there?")
        service.down = False
        await scene.app.background.sleep_worker.sleep("hourly")
        await scene.say("Good night")
        assert await summed(scene, "provider = 'main'") == service.billed
        assert await summed(scene, "provider = 'cheap'") == second.billed
        assert second.calls == 1
        counted = await purposes(scene)
        assert counted["reply"] == 5
        assert counted["extraction"] >= 1
        assert sum(counted.values()) == service.calls + second.calls
        prices = {"main": (10, 50, 1, 12.5), "cheap": (1, 5, 1, 1)}
        cost = sum(
            round(dollars * 10**6) * tokens
            for each in (service, second)
            for dollars, tokens in zip(prices[each.name], each.billed, strict=True)
        )
        sums = await scene.rows("SELECT sum(cost), sum(unsettled), sum(unpriced_tokens) FROM model_day")
        assert sums == [(cost, 0, 0)]
        chats = await scene.rows("SELECT DISTINCT session FROM model_call WHERE purpose = 'reply'")
        assert chats == [("telegram-1",)]


async def test_a_quiet_day_spends_nothing(tmp_path: Path) -> None:
    """Two nights without a word: no model is asked for anything."""
    clock, service = EagerClock(), Service(answer=reading)
    async with Scene(tmp_path, provider=service, extraction=True, clock=clock) as scene:
        await scene.say("I prefer tea")
        await scene.app.background.sleep_worker.sleep("hourly")
        asked = service.calls
        for _ in range(2):
            clock.advance(24 * 3600)
            await scene.app.background.extraction.tick()
            await scene.app.background.compaction.tick()
            await scene.app.background.sleep_worker.sleep("hourly")
            await scene.app._keep_house()
            await scene.app.wait_drained()
            await scene.app.background.extraction.wait_idle()
            await scene.app.background.compaction.wait_idle()
        assert service.calls == asked
        day = clock.now().date().isoformat()
        assert await scene.rows(f"SELECT count(*) FROM model_call WHERE day = '{day}'") == [(0,)]


async def test_a_budget_of_one_cent_ends_as_it_is_said_to(tmp_path: Path) -> None:
    """The owner is told near its end and at it; background work stops; replies go on with the cheaper one, then not."""
    configure(tmp_path, f"[budget]\ndaily_usd = 0.01\n{PRICES}")
    service, second = Service(answer=reading), Service("cheap")
    clock = EagerClock()
    async with Scene(tmp_path, provider=service, fallbacks=[second], extraction=True, clock=clock) as scene:
        told: list[str] = []
        for _ in range(20):
            if not second.calls:
                await scene.say("I prefer tea, and this is told at some length")
        replies = service.calls
        read = (await purposes(scene)).get("extraction", 0)
        told = [text for text in scene.texts if "budget for models" in text]
        assert any("used up: $0.0" in text for text in told)
        assert len(told) <= 2
        answer = ""
        for _ in range(40):
            if "budget for models is used up" not in answer:
                answer = await scene.say("And I like coffee as well")
        assert "I could not answer" in answer
        assert service.calls == replies, "background work stopped, and so did the dear provider"
        assert (await purposes(scene)).get("extraction", 0) == read
        (cost,) = (await scene.rows("SELECT sum(cost) FROM model_day"))[0]
        assert 0.01 * 10**12 <= int(str(cost)) <= 0.03 * 10**12
        assert "Budget of 2026-02-14" in await scene.say("/cost")
        clock.advance(24 * 3600)
        assert (await scene.say("Good morning")).startswith("Fine.")
        assert service.calls > replies


async def test_a_provider_that_costs_nothing_answers_when_the_budget_is_used_up(tmp_path: Path) -> None:
    """However long that lasts; the reply and both kinds of status say that it is the budget."""
    configure(tmp_path, f"[budget]\nmonthly_usd = 0.000001\n{PRICES}free = {{ input = 0 }}\n")
    service, second = Service(), Service("free", lambda _: "From here.")
    async with Scene(tmp_path, provider=service, fallbacks=[second]) as scene:
        answers = [await scene.say(f"hello {number}") for number in range(5)]
        told, status = await scene.say("/status"), await build_status(scene.app, ())
        guests = await scene.say("/status", chat="2")
    assert [answer.splitlines()[0] for answer in answers] == ["Fine.", *["From here."] * 4]
    assert ["The budget is used up" in answer for answer in answers] == [False, *[True] * 4]
    [row] = status.used_up
    assert f"The budget for models of {row.when} is used up: {row.spent} of {row.budget}." in told
    assert "budget" not in guests


async def test_a_crash_leaves_the_call_counted_as_used(tmp_path: Path) -> None:
    """A turn that a crash cut short is tried again: its first call counts as it was reserved."""
    service = Service()
    async with Scene(tmp_path, provider=service) as scene:
        await scene.say("hello")
        left = replace(scene.inbounds[0], external_id="100")
        await scene.app.inbox.store(left, "trace", claimed=True)
        assert await scene.app.database.read(model_calls.count_under_way) == 1
    async with Scene(tmp_path, provider=service) as scene:
        await scene.app.wait_drained()
        calls = await scene.rows("SELECT settled, purpose FROM model_call ORDER BY id")
        assert calls == [(1, "reply"), (0, "reply"), (1, "reply")]


async def test_only_the_owner_is_told_what_it_costs(tmp_path: Path) -> None:
    """`/cost` of anybody else goes to the model; before anything was spent there is nothing to tell."""
    async with Scene(tmp_path, provider=Service("main")) as scene:
        assert "nothing was spent" in await scene.say("/cost")
        await scene.app.database.write(
            lambda connection: connection.execute(
                "INSERT INTO model_day SELECT '2026-02-14', 'sleep', '', '', '', 0, 0, 12, 0, 0, 0, 0, 12"
            ).close()
        )
        assert "- sleep: $0.00, 0 calls, 12 tokens" in await scene.say("/cost"), "what an older release counted"
        assert await scene.say("/cost", chat="2") == "Fine."
        told = await scene.say("/cost")
        assert "Today: $0" in told
        assert "- replies: " in told
        assert "without a known price" in told
        assert "Hoy: " in await scene.say("/gasto")


def test_the_command_line_tells_what_was_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By purpose, model, day and chat; as figures, as bars, and for scripts."""

    async def talk() -> None:
        configure(tmp_path, f"[budget]\ndaily_usd = 1\n{PRICES}")
        async with Scene(tmp_path, provider=Service()) as scene:
            await scene.say("hello")
            await scene.say("hello", chat="2")

    asyncio.run(talk())
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str) -> str:
        code = main(["--home", str(tmp_path / "home"), "cost", *words], EagerClock())
        found = capsys.readouterr()
        assert code == 0, found.err
        return found.out

    shown = run()
    assert shown.splitlines()[0].split()[:2] == ["purpose", "calls"]
    assert "budget of 2026-02-14: " in shown
    rows = [json.loads(line) for line in run("--by", "chat", "--json").splitlines()]
    assert {row["chat"] for row in rows} == {"telegram-1", "telegram-2"}
    assert all(row["calls"] == 1 and row["usd"] > 0 and row["picodollars"] > 0 for row in rows)
    assert json.loads(run("--by", "model", "--json"))["model"] == "main:main-1"
    bars = run("--by", "day", "--plot", "--since", "2026-02-01")
    assert bars.startswith("2026-02-14  $0.")
    assert "█" in bars
    assert main(["--home", str(tmp_path / "home"), "cost", "--since", "2026-02-15"], EagerClock()) == 2
