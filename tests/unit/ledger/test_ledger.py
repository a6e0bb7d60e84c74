"""Calls are reserved before they are made and settled afterwards, within the limits of a budget."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC

import pytest

from kenobot.core.bus import Bus
from kenobot.core.retry import CircuitBreaker
from kenobot.ledger.ledger import CallOrigin, Ledger, ModelCall
from kenobot.ledger.limits import Limit, Period, Unit
from kenobot.ledger.model_router import ModelRouter, ProviderRoute
from kenobot.ledger.models import BudgetedModel, ReplyModel, TurnCalls
from kenobot.ledger.prices import PICODOLLARS, Price, PriceList
from kenobot.ports.errors import AnswerLost, OverBudget, RateLimited, RemoteError, TruncatedReply, Unavailable
from kenobot.ports.provider import Block, Delta, Message, Provider, Reply, Request, Usage
from kenobot.ports.signals import BUDGET_NEAR, Envelope
from kenobot.providers.anthropic import AnthropicProvider
from kenobot.providers.command_line import CommandLineProvider
from kenobot.providers.openai_compatible import OpenAIProvider
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.model_calls import Spending
from kenobot_testing.clock import ManualClock
from kenobot_testing.provider import ScriptedProvider
from tests.samples import rows
from tests.waiting import until

DAY = "2026-02-14"
REQUEST = Request((), (Message("user", (Block("hello"),)),), max_tokens=100)
DEAR, CHEAP = Price.of_dollars(input=10, output=10), Price.of_dollars(input=1, output=1)
CENT = PICODOLLARS // 100
REPLY = Reply("hi", "end_turn", "claude-1", Usage(400, 100))  # half a cent of the dear one


class House:
    """A ledger with limits, and providers named dear, cheap and so on, in this order."""

    def __init__(self, database: Database, clock: ManualClock, limits: Sequence[Limit] = ()) -> None:
        self.database, self.clock = database, clock
        self.bus = Bus(clock)
        self.told: list[Envelope] = []
        self.bus.wake_on(BUDGET_NEAR, self.told.append)
        prices = PriceList({"dear": DEAR, "cheap": CHEAP, "free": Price()})
        self.ledger = Ledger(database, clock, UTC, prices, limits, self.bus)  # type: ignore[arg-type]

    def router(self, *providers: Provider) -> ModelRouter:
        routes = [ProviderRoute(each, CircuitBreaker(self.clock, 5, 60)) for each in providers]
        return ModelRouter(routes, 60, self.clock)

    def model(self, *providers: Provider) -> ReplyModel:
        return ReplyModel(self.router(*providers), self.ledger)

    def job(self, provider: Provider, *limits: Limit) -> BudgetedModel:
        self.ledger._jobs = limits
        return BudgetedModel(self.router(provider), self.ledger, "extraction")

    async def turn(self, model: ReplyModel, level: int = 0) -> Reply:
        """Ask, and end the turn."""
        calls = model.calls_of("telegram:1", 3)
        try:
            return await model.ask(REQUEST, calls, level)
        finally:
            await self.end(calls)

    async def end(self, calls: TurnCalls) -> None:
        await self.database.write(calls.write)
        await calls.release()

    async def spent(self) -> Spending:
        return await self.database.read(lambda c: model_calls.sum_spent_between(c, "2026-01-01", "2026-12-31"))


@pytest.fixture
def house(database: Database, clock: ManualClock) -> House:
    return House(database, clock)


def named(name: str, *script: object) -> ScriptedProvider:
    return ScriptedProvider(script or [REPLY], repeat_last=True, rule_based=False, name=name)  # type: ignore[arg-type]


def limited(amount: float, period: Period = "day", unit: Unit = "usd", purpose: str = "") -> Limit:
    return Limit(period, unit, round(amount * PICODOLLARS) if unit == "usd" else int(amount), purpose, announced=True)


# ── one call ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_reply_is_a_row_from_the_transaction_that_ends_its_turn(house: House) -> None:
    """With its chat, message, model and cost; before, nothing is written."""
    model = house.model(named("dear"))
    calls = model.calls_of("telegram:1", 3)
    await model.ask(REQUEST, calls)
    assert await house.spent() == Spending()
    await house.end(calls)
    columns = "day, purpose, provider, model, session, inbox_id, settled, input_tokens, output_tokens, cost"
    assert await rows(house.database, f"SELECT {columns} FROM model_call") == [
        (DAY, "reply", "dear", "claude-1", "telegram:1", 3, 1, 400, 100, CENT // 2)
    ]


async def test_a_job_is_a_row_before_it_is_asked(house: House) -> None:
    """So that a crash leaves it counted as used; what it used takes the place of that with its result."""
    seen: list[Spending] = []

    class Looks:
        name = "dear"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            seen.append(await house.spent())
            yield Delta("hi", "end_turn", Usage(400, 100))

    answer = await house.job(Looks()).ask(REQUEST)
    assert [(each.calls, each.unsettled) for each in seen] == [(1, 1)]
    assert seen[0].output_tokens == REQUEST.max_tokens
    assert (await house.spent()) == seen[0]
    assert answer is not None
    await house.database.write(answer[1].settle)
    assert (await house.spent()) == Spending(1, 0, 400, 100, 0, 0, CENT // 2, 0)


@pytest.mark.parametrize(
    ("error", "used"),
    [
        (Unavailable("down"), 0),
        (RateLimited("slow"), 0),
        (AnswerLost("slow"), 1),
        (TruncatedReply("cut"), 1),
        (ValueError("odd"), 1),
    ],
)
async def test_a_call_that_failed_counts_if_it_may_be_billed(house: House, error: Exception, used: int) -> None:
    """One that no server took costs nothing; one that was cut off counts as it was reserved."""
    for ask in (house.turn(house.model(named("dear", error))), house.job(named("dear", error)).ask(REQUEST)):
        with pytest.raises(type(error)):
            await ask
    spent = await house.spent()
    assert (spent.calls, spent.unsettled) == (2 * used, 2 * used)


async def test_a_call_that_broke_off_after_it_had_begun_counts(house: House) -> None:
    """The server was paid for what it had said."""

    class Breaks:
        name = "dear"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            yield Delta("half a ")
            raise Unavailable("gone")

    with pytest.raises(Unavailable):
        await house.turn(house.model(Breaks()))
    assert (await house.spent()).unsettled == 1


async def test_a_cancelled_call_counts_as_reserved(house: House) -> None:
    """What is left of a turn that was cancelled is written all the same."""
    begun = asyncio.Event()

    class Silent:
        name = "dear"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            begun.set()
            await asyncio.Event().wait()
            yield Delta("never")

    model = house.model(Silent())
    calls = model.calls_of("telegram:1", 3)
    asking = asyncio.create_task(model.ask(REQUEST, calls))
    await begun.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    calls.leave()
    assert (await house.database.write(lambda c: model_calls.sum_spent_between(c, DAY, DAY))).unsettled == 1


async def test_a_transaction_that_was_not_waited_for_is_not_written_twice(house: House) -> None:
    """A turn may be cancelled while its last transaction is on its way."""
    model = house.model(named("dear"))
    calls = model.calls_of("telegram:1", 3)
    await model.ask(REQUEST, calls)
    await house.database.write(calls.write)
    calls.leave()
    await house.database.write(lambda _: None)
    assert (await house.spent()).calls == 1


async def test_a_turn_leaves_nothing_held(house: House) -> None:
    """However it ends: written, failed, or left."""
    house.ledger = House(house.database, house.clock, [limited(1)]).ledger
    await house.turn(house.model(named("dear")))
    with pytest.raises(RemoteError):
        await house.turn(house.model(named("dear", Unavailable("down"))))
    model = house.model(named("dear"))
    calls = model.calls_of("telegram:1", 4)
    await model.ask(REQUEST, calls)
    calls.leave()
    assert not house.ledger._held
    assert not house.ledger._under_way


async def test_rules_that_count_nothing_leave_no_row(house: House) -> None:
    """A provider that does not say what it used is estimated, unless it goes by rules."""
    silent = Reply("a reply of some words", "end_turn")
    await house.turn(house.model(named("dear", silent)))
    assert (await house.spent()).output_tokens > 3
    await house.turn(house.model(ScriptedProvider([silent], name="free")))
    assert (await house.spent()).calls == 1


async def test_a_probe_is_counted_as_one(house: House) -> None:
    """The question whether a model is there costs a few tokens, in a turn or behind it."""
    model = house.model(named("dear", Unavailable("down")), named("cheap"))
    calls = model.calls_of("telegram:1", 3)
    assert await model.probe(calls)
    await house.end(calls)
    assert await house.job(named("dear")).probe()
    assert not await house.job(named("dear", Unavailable("down"))).probe()
    spent = await house.database.read(lambda c: model_calls.spending_by(c, "purpose", DAY, DAY))
    assert [(name, each.calls, each.unsettled) for name, each in spent] == [("probe", 2, 0)]


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("limit", [limited(0.01), limited(0.01, "month"), limited(0.01, purpose="extraction")])
async def test_a_job_stops_where_a_call_may_not_fit(database: Database, clock: ManualClock, limit: Limit) -> None:
    """No call is made whose reservation goes beyond a limit of its day, month or purpose; others go on."""
    house, provider = House(database, clock, [limit]), named("dear")
    job = house.job(provider)
    for _ in range(5):
        if (answer := await job.ask(REQUEST)) is not None:
            await job.settle(answer[1])
    assert (await house.spent()).cost <= CENT
    assert 1 <= len(provider.requests) < 5
    clock.advance(24 * 3600 if limit.period == "day" else 31 * 24 * 3600)
    assert await job.ask(REQUEST) is not None
    assert await house.job(named("dear"), limited(100, unit="tokens")).ask(REQUEST) is None


async def test_a_budget_that_is_used_up_ends_replies_by_it(database: Database, clock: ManualClock) -> None:
    """The reply that uses it up is made; then the free provider goes on, the cheaper one for as much again."""
    house = House(database, clock, [limited(0.01)])
    model = house.model(named("dear"), named("cheap"), named("free"), named("unpriced"))
    for _ in range(2):
        await house.turn(model)
    for level in (0, 3):
        with pytest.raises(OverBudget):
            await house.turn(model, level)
    cheap = 0
    with pytest.raises(OverBudget):
        while cheap < 100:
            await house.turn(model, 1)
            cheap += 1
    assert cheap == 20
    assert (await house.turn(model, 2)).text == "hi"
    clock.advance(24 * 3600)
    assert (await house.turn(model)).text == "hi"


async def test_replies_at_once_go_beyond_a_budget_by_one(database: Database, clock: ManualClock) -> None:
    """What is reserved for those under way holds: the others wait, and are told when nothing is left."""
    house = House(database, clock, [limited(0.001)])
    go, running = asyncio.Event(), 0

    class Slow:
        name = "dear"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            nonlocal running
            running += 1
            await go.wait()
            yield Delta("hi", "end_turn", Usage(0, 100))

    model = house.model(Slow())
    turns = [asyncio.create_task(house.turn(model)) for _ in range(5)]
    await until(lambda: bool(running))
    await house.database.read(lambda _: None)
    go.set()
    ends = await asyncio.gather(*turns, return_exceptions=True)
    assert [type(end) for end in ends].count(OverBudget) == 4
    assert (await house.spent()).cost == CENT // 10


async def test_a_reply_that_came_and_went_while_a_budget_was_read_counts(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that read before it was written looks again, and is told that nothing is left."""
    house = House(database, clock, [limited(0.001)])
    model, read = house.model(named("dear")), database.read
    between = iter([lambda: house.turn(model)])

    async def late(work: Callable[[Connection], object]) -> object:
        found = await read(work)
        if (turn := next(between, None)) is not None:
            await turn()
        return found

    monkeypatch.setattr(database, "read", late)
    with pytest.raises(OverBudget):
        await house.turn(model)


async def test_others_go_on_when_what_was_reserved_is_not_used(database: Database, clock: ManualClock) -> None:
    """A reservation is the longest answer; most are shorter, and nobody is refused for what was not spent."""
    house = House(database, clock, [limited(0.0012)])
    short = Reply("hi", "end_turn", "", Usage(10, 10))
    model = house.model(named("dear", short))
    replies = await asyncio.gather(*(house.turn(model) for _ in range(5)))
    assert len(replies) == 5


async def test_tokens_limit_what_has_no_price(database: Database, clock: ManualClock) -> None:
    """Dollars say nothing about a model whose price is not known; tokens do."""
    house = House(database, clock, [limited(0.000001), limited(1000, unit="tokens")])
    model = house.model(named("unpriced"))
    for _ in range(2):
        await house.turn(model)
    with pytest.raises(OverBudget):
        await house.turn(model)
    assert (await house.spent()).unpriced_tokens == 1000


async def test_the_owner_is_told_once_a_period_of_each_step(database: Database, clock: ManualClock) -> None:
    """At 80 % and at 100 %, also across a restart; the next day anew."""
    house = House(database, clock, [limited(0.01)])
    half = Reply("hi", "end_turn", "", Usage(80, 0))
    for _ in range(14):
        try:
            await house.turn(house.model(named("dear", half)))
        except OverBudget:
            break
    assert [each.payload["percent"] for each in house.told] == [80, 100]
    again = House(database, clock, [limited(0.01)])
    await again.ledger.announce()
    assert again.told == []
    clock.advance(24 * 3600)
    await again.turn(again.model(named("dear", REPLY)))
    await again.turn(again.model(named("dear", REPLY)))
    assert [(each.payload["percent"], each.payload["when"]) for each in again.told] == [(100, "2026-02-15")]


async def test_the_owner_is_not_told_of_what_is_only_reserved(database: Database, clock: ManualClock) -> None:
    """The longest answer would nearly use the budget up; the one that comes does not."""
    house = House(database, clock, [limited(0.0012)])

    class Short:
        name = "dear"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            await house.ledger.announce()
            yield Delta("hi", "end_turn", Usage(5, 5))

    answer = await house.job(Short()).ask(REQUEST)
    assert answer is not None
    await house.database.write(answer[1].settle)
    await house.ledger.announce()
    assert house.told == []
    with pytest.raises(ValueError, match="odd"):  # what may have been used stays reserved, and is told
        await house.job(named("dear", ValueError("odd"))).ask(REQUEST)
    await house.ledger.announce()
    assert [each.payload["percent"] for each in house.told] == [80]
    assert not house.ledger._asked


async def test_the_owner_is_told_again_of_a_budget_that_was_raised(database: Database, clock: ManualClock) -> None:
    """The new one comes to an end of its own on the same day."""
    for dollars in (0.005, 0.01):
        house = House(database, clock, [limited(dollars)])
        await house.turn(house.model(named("dear")))
        assert [each.payload["percent"] for each in house.told] == [100]


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        (Reply("hi", "end_turn", "claude-1", Usage(10**30, 5)), 10_000_005),
        (Reply("hi", "end_turn", "claude-1", Usage(5, -(10**6))), 5),
        (Reply("hi", "end_turn", "claude\ud800", Usage(5, 5)), 10),
        (Reply("hi", "end_turn", "claude" * 10**4, Usage(5, 5)), 10),
        (Reply("hi", "end_turn", 5, Usage(5, 5)), 10),  # type: ignore[arg-type]
    ],
)
async def test_a_server_may_say_anything_of_what_it_used(house: House, reply: Reply, tokens: int) -> None:
    """Figures that no database holds, that give money back, or names that are none: the turn ends all the same."""
    await house.turn(house.model(named("dear", reply)))
    assert (await house.spent()).tokens == tokens
    ((name,),) = await rows(house.database, "SELECT model FROM model_call")
    assert len(str(name)) <= 200


def test_a_call_that_never_was_writes_nothing() -> None:
    """A result without a call settles nothing."""
    assert ModelCall().tokens == 0
    assert ModelCall(CallOrigin("reply")).is_free


async def test_a_call_has_its_price_before_it_is_made(house: House) -> None:
    """The provider names its model, as those that are shipped do, so that what is reserved is money, too."""

    class Haiku(ScriptedProvider):
        model = "claude-haiku-4-5"

    call = await house.ledger.open(CallOrigin("reply"), Haiku(rule_based=False, name="anthropic"), REQUEST)
    assert (call.model, call.cost) == ("claude-haiku-4-5", call.usage.input_tokens * 10**6 + 100 * 5 * 10**6)
    for shipped in (AnthropicProvider, OpenAIProvider, CommandLineProvider):
        assert isinstance(shipped.model, property)
