"""Reserve what a call of a model may use, admit it within the limits, and settle it with what it did use.

A call of background work is a row before it is made; its figures are settled in the transaction that keeps its result.
A reply's call is a row from the transaction that ends its turn: until then the claim of its message stands for it, and
memory holds what is reserved. What a crash leaves unsettled counts as used.
"""

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.core.bus import Bus
from kenobot.core.token_estimate import estimate_tokens, request_tokens
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import Limit, amount_text
from kenobot.ledger.prices import PriceList
from kenobot.ports.clock import Clock
from kenobot.ports.errors import OverBudget, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import NamesModel, Provider, Reply, Request, Usage, is_rule_based
from kenobot.ports.signals import BUDGET_NEAR
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.model_calls import CallRow
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

_TOLD = "budget:told"  # key of the table `key_value`: the share of each limit that the owner was told of
_SHARES = (100, 80)  # percent of a limit at which the owner is told
_BEYOND = 2  # times its limit that a budget lasts for cheaper providers
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class CallOrigin:
    """Purpose of a call. session, message: the chat and the inbox row that it answers, where it answers one."""

    purpose: str
    session: str = ""
    message: int = 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model. usage: what is reserved, and once `settled`, what was used.

    cost: picodollars; None where the price is not known. number: of its row; 0 as long as there is none. seconds: of
    speech.
    """

    origin: CallOrigin = field(default_factory=lambda: CallOrigin(""))
    at: datetime = _EPOCH
    day: str = ""
    provider: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: int | None = 0
    settled: bool = False
    number: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Return the tokens of all kinds."""
        return self.usage.tokens

    @property
    def is_free(self) -> bool:
        """Return whether it is known to cost nothing."""
        return self.cost == 0

    def settle(self, connection: Connection) -> None:
        """Write its figures, in the transaction that keeps its result; nothing of a call that never was."""
        if self.number:
            model_calls.replace_call(connection, self.number, self.row)
        elif self.tokens:
            model_calls.add_call(connection, self.row)

    @property
    def row(self) -> CallRow:
        """Return its row in the database."""
        usage, of = self.usage, self.origin
        return CallRow(
            *(self.at.isoformat(), self.day, of.purpose, self.provider, self.model, of.session, of.message),
            *(self.settled, usage.input_tokens, usage.output_tokens),
            *(usage.cache_read_tokens, usage.cache_write_tokens, self.cost),
        )


NO_CALL = ModelCall()


class Ledger:
    """limits: of the settings, which are announced. bus: tells of budgets that come near their end.

    jobs: limits of jobs that the settings do not name.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        prices: PriceList | None = None,
        limits: Sequence[Limit] = (),
        bus: Bus | None = None,
        jobs: Sequence[Limit] = (),
    ) -> None:
        self.database = database
        self._clock = clock
        self._zone = zone
        self._prices = prices or PriceList()
        self.limits = tuple(limits)
        self._jobs = tuple(jobs)
        self._bus = bus
        # bounded: the calls of the turns under way; test_a_turn_leaves_nothing_held
        self._held: dict[int, ModelCall] = {}
        self._under_way: set[int] = set()  # bounded: those of them that are being made; turn
        # bounded: the jobs that ask a model now; test_the_owner_is_not_told_of_what_is_only_reserved
        self._asked: dict[int, ModelCall] = {}  # calls of jobs without an answer yet, by number
        self._tickets = 0
        self._let_go = 0  # tickets, ever
        self._news = asyncio.Event()
        self._announced: Mapping[str, int] = {}  # bounded: the limits of a month; turn

    # ── one call ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def open(self, origin: CallOrigin, provider: Provider, request: Request, day: str = "") -> ModelCall:
        """Return a call as it is to be reserved: its prompt, and its longest answer. day: on which it counts."""
        usage = Usage(request_tokens(request) - request.max_tokens, request.max_tokens)
        if is_rule_based(provider):
            at = self._clock.now()
            return ModelCall(origin, at, day or local_day(at, self._zone), provider.name, usage=usage)
        model = provider.model if isinstance(provider, NamesModel) else ""
        return await self.open_for(origin, provider.name, model, usage, day)

    async def open_for(
        self, origin: CallOrigin, provider: str, model: str, usage: Usage, day: str = "", *, seconds: float = 0.0
    ) -> ModelCall:
        """Return a call that may use so much. seconds: of speech."""
        await self._prices.load()
        at, price = self._clock.now(), self._prices.find(provider, model)
        cost = None if price is None else price.cost(usage, seconds)
        day = day or local_day(at, self._zone)
        return ModelCall(origin, at, day, provider, model, usage, cost, seconds=seconds)

    def settle(self, call: ModelCall, provider: Provider, request: Request, reply: Reply) -> ModelCall:
        """Return a call with what its provider says that it used, or about as much where it does not say.

        Rules cost nothing, and used nothing where they do not say so.
        """
        counted = reply.usage
        if is_rule_based(provider):
            return replace(call, usage=counted, model=reply.model, settled=True)
        if not counted.tokens:
            counted = Usage(request_tokens(request) - request.max_tokens, estimate_tokens(reply.text))
        return self.settle_usage(call, counted, reply.model)

    def settle_usage(
        self, call: ModelCall, usage: Usage, model: str = "", *, seconds: float | None = None
    ) -> ModelCall:
        """Return a call with what it used. model: as the provider calls it; its price goes by either name.

        seconds: of speech; None: as reserved.
        """
        call = call if seconds is None else replace(call, seconds=seconds)
        price = self._prices.find(call.provider, model or call.model) or self._prices.find(call.provider, call.model)
        cost = None if price is None else price.cost(usage, call.seconds)
        return replace(call, usage=usage, model=model or call.model, cost=cost, settled=True)

    async def require_room(self, call: ModelCall) -> None:
        """Raise OverBudget where a limit leaves no room for a call."""
        limits = self._limits_of(call.origin.purpose)
        if not limits or call.is_free:
            return
        spent = await self.database.read(partial(self._all_spent, limits=limits, day=call.day))
        held = list(self._held.values())
        if any(spent[each] + self._measure(each, call.day, held) + _part(each, call) > each.amount for each in limits):
            raise OverBudget("models.budget_used")

    # ── background work ──────────────────────────────────────────────────────────────────────────────────────────

    def daily_tokens(self, purpose: str) -> int:
        """Return how many tokens a purpose may use in a day, by the limits of its own."""
        own = (
            each
            for each in self._limits_of(purpose)
            if (each.period, each.unit, each.purpose) == ("day", "tokens", purpose)
        )
        return min((limit.amount for limit in own), default=sys.maxsize)

    async def reserve(self, call: ModelCall) -> ModelCall | None:
        """Write a call as reserved; None, and nothing is written, where a limit leaves no room for it."""
        limits = self._limits_of(call.origin.purpose)
        held = {limit: self._measure(limit, call.day, list(self._held.values())) for limit in limits}

        def write(connection: Connection) -> int:
            for limit in limits:
                used = limit.sum_spent(connection, call.day) + held[limit]
                if used + _part(limit, call) > limit.amount:
                    return 0
            return model_calls.add_call(connection, call.row)

        await self.announce()
        number = await self.database.write(write)
        if not number:
            return None
        self._asked[number] = call
        return replace(call, number=number)

    def end_asking(self, call: ModelCall) -> None:
        """Take a reserved call for used from now on, when the owner is told: it is answered, or may have been."""
        self._asked.pop(call.number, None)

    async def release(self, call: ModelCall) -> None:
        """Take back the reservation of a call that used nothing."""
        await self.database.write(partial(model_calls.replace_call, number=call.number, row=None))

    # ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def admit(self, call: ModelCall, preferred: ModelCall) -> int:
        """Hold a reply's call as reserved; returns its ticket. preferred: the same call of the first provider.

        Only the reply that uses a budget up may go beyond it: while calls under way may do so, others wait for them.
        After that a free provider goes on, and a cheaper one for as much again. Raises OverBudget.
        """
        limits = self._limits_of(call.origin.purpose)
        looked_again = False
        while limits:
            self._news.clear()
            before, let_go = dict(self._held), self._let_go
            spent = await self.database.read(partial(self._all_spent, limits=limits, day=call.day))
            # What was let go of meanwhile was written, but maybe behind this reading.
            left = before.keys() - self._held.keys()
            done = [each for ticket, each in (before | self._held).items() if ticket not in self._under_way]
            under_way = [self._held[ticket] for ticket in self._under_way]
            used = {limit: spent[limit] + self._measure(limit, call.day, done) for limit in limits}
            over = [limit for limit in limits if used[limit] >= limit.amount]
            if over and (left or not looked_again) and any(spent[limit] < limit.amount for limit in over):
                looked_again = True  # a call that has just been written may be counted twice
                continue
            if not over and self._let_go != let_go:
                continue  # one that came and went during the reading may be in neither
            if over:
                if not all(_may_go_on(limit, used[limit], call, preferred) for limit in over):
                    raise OverBudget("models.budget_used")
                break
            if all(used[each] + self._measure(each, call.day, under_way) < each.amount for each in limits):
                break
            await self._news.wait()
        self._tickets += 1
        self._held[self._tickets] = call
        self._under_way.add(self._tickets)
        return self._tickets

    def hold(self, ticket: int, call: ModelCall | None) -> None:
        """Hold what a call used once it has been made; None: nothing, or it is written."""
        self._under_way.discard(ticket)
        if call is None:
            self._held.pop(ticket, None)
            self._let_go += 1
        else:
            self._held[ticket] = call
        self._news.set()

    # ── the owner ────────────────────────────────────────────────────────────────────────────────────────────────

    async def announce(self) -> None:
        """Tell the owner, once a period, of each limit that is nearly and then wholly used up. Never raises."""
        limits = [limit for limit in self.limits if limit.announced]
        if not limits or self._bus is None:
            return
        day = local_day(self._clock.now(), self._zone)
        try:
            spent = await self.database.read(partial(self._all_spent, limits=limits, day=day))
            for limit in limits:
                spent[limit] -= self._measure(limit, day, list(self._asked.values()))  # most answers are far shorter
                share = next((each for each in _SHARES if 100 * spent[limit] >= each * limit.amount), 0)
                subject = _subject(limit, day)
                if share <= self._announced.get(subject, 0):
                    continue
                if await self.database.write(partial(self._note, subject=subject, share=share)):
                    await self._tell(limit, share, spent[limit], day)
        except StoreError as error:
            _log.warning("how far the budget is used cannot be told: %s", error)

    def _note(self, connection: Connection, subject: str, share: int) -> bool:
        """Store that the owner is told; False when that was done before. Periods that are over are dropped."""
        told: dict[str, int] = read_json(connection, _TOLD, {})
        self._announced = told
        if told.get(subject, 0) >= share:
            return False
        days = {subject.partition(" ")[0], subject.partition(" ")[0][:7]}
        self._announced = {**{key: at for key, at in told.items() if key.partition(" ")[0][:7] in days}, subject: share}
        write_json(connection, _TOLD, self._announced)
        return True

    async def _tell(self, limit: Limit, share: int, spent: int, day: str) -> None:
        assert self._bus is not None
        amounts = {"spent": amount_text(limit.unit, spent), "budget": amount_text(limit.unit, limit.amount)}
        of = {"when": limit.name(day), "purpose": limit.purpose}
        await self._bus.emit(BUDGET_NEAR, "ledger", "", **of, percent=share, **amounts)

    # ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _limits_of(self, purpose: str) -> list[Limit]:
        return [limit for limit in (*self.limits, *self._jobs) if limit.concerns(purpose)]

    def _all_spent(self, connection: Connection, limits: Sequence[Limit], day: str) -> dict[Limit, int]:
        return {limit: limit.sum_spent(connection, day) for limit in limits}

    def _measure(self, limit: Limit, day: str, calls: Sequence[ModelCall]) -> int:
        """Sum what these calls, of which no row tells yet, use of a limit."""
        first, last = limit.days(day)
        return sum(_part(limit, each) for each in calls if first <= each.day <= last)


def _part(limit: Limit, call: ModelCall) -> int:
    """Return what a call uses of a limit."""
    if not limit.concerns(call.origin.purpose):
        return 0
    return call.tokens if limit.unit == "tokens" else call.cost or 0


def _may_go_on(limit: Limit, used: int, call: ModelCall, preferred: ModelCall) -> bool:
    """Return whether a reply may be made although a limit is used up."""
    if call.is_free:
        return True
    if call.cost is None or preferred.cost is None:
        # Without a known price only the tokens of the preferred model can be limited.
        return limit.unit == "usd" and call.provider == preferred.provider and call.model == preferred.model
    return call.cost < preferred.cost and used < _BEYOND * limit.amount


def _subject(limit: Limit, day: str) -> str:
    """Name a limit and its period. One that is raised is another limit: the owner is told of it anew."""
    return f"{limit.name(day)} {limit.amount} {limit.unit} {limit.purpose}".rstrip()
