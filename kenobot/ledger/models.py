"""The models behind the ledger, the one way to a provider: no call is made that is not reserved first."""

from collections.abc import Awaitable, Callable
from dataclasses import field

from kenobot.core.retry import CircuitBreaker
from kenobot.ledger.ledger import CallOrigin, Ledger, ModelCall
from kenobot.ledger.model_router import PROBE, ModelRouter
from kenobot.ports.errors import AnswerLost, RemoteError, TruncatedReply
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Reply, Request, calls_tools, is_rule_based, sees_pictures
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection

TextListener = Callable[[str], None]

_PROBE = "probe"


@dataclass(slots=True)
class TurnCalls:
    """The calls of a turn that have no row yet. tickets: what the ledger holds for them. made: all that it made."""

    ledger: Ledger
    session: str = ""
    message: int = 0
    calls: list[ModelCall] = field(default_factory=list)  # bounded: the calls of one turn; turn
    tickets: list[int] = field(default_factory=list)  # bounded: the same; turn
    made: list[ModelCall] = field(default_factory=list)  # bounded: the same; turn

    def take(self, ticket: int, call: ModelCall | None) -> None:
        """Take in a call that was made; None: it used nothing."""
        if call is not None:
            self.calls.append(call)
            self.made.append(call)
            self.tickets.append(ticket)
        self.ledger.hold(ticket, call)

    def write(self, connection: Connection) -> None:
        """Write them, in a transaction of the turn."""
        for call in tuple(self.calls):
            call.settle(connection)

    def write_instead(self, connection: Connection) -> None:
        """Write them in the place of a transaction that failed: the next one of the turn does not do it again."""
        self.write(connection)
        self.calls = []

    async def release(self) -> None:
        """Let go of them, once that transaction is on disk, and tell the owner of a budget that they used up."""
        if self.tickets:
            self._let_go()
            await self.ledger.announce()

    def leave(self) -> None:
        """Write what no transaction of the turn took, without waiting for it."""
        if self.calls:
            left = tuple(self.calls)

            def write(connection: Connection) -> None:
                for call in left:
                    if not model_calls.is_stored(connection, call.row):  # by a transaction that was not waited for
                        call.settle(connection)

            self.ledger.database.write_nowait(write)
        self._let_go()

    def _let_go(self) -> None:
        for ticket in self.tickets:
            self.ledger.hold(ticket, None)
        self.tickets, self.calls = [], []


class ReplyModel:
    """The providers of conversations. What a call used becomes a row in the transaction that ends its turn."""

    def __init__(self, router: ModelRouter, ledger: Ledger) -> None:
        self._router = router
        self.ledger = ledger

    @property
    def provider_count(self) -> int:
        """The number of providers."""
        return self._router.provider_count

    @property
    def circuits(self) -> tuple[tuple[str, CircuitBreaker], ...]:
        """Return the name of each provider and the breaker in front of it."""
        return self._router.circuits

    def reports_memory(self, level: int) -> bool:
        """Return whether provider number `level` answers from a report of memory."""
        return self._router.reports_memory(level)

    def sees_pictures(self, level: int) -> bool:
        """Return whether provider number `level` may show pictures to its model."""
        return sees_pictures(self._router.provider(level))

    def calls_tools(self, level: int) -> bool:
        """Return whether provider number `level` may offer tools to its model."""
        return calls_tools(self._router.provider(level))

    def calls_of(self, session: str, message: int) -> TurnCalls:
        """Begin the account of a turn."""
        return TurnCalls(self.ledger, session, message)

    async def wait_until_available(self, longest: float) -> None:
        """Return after `longest` seconds, as soon as any call succeeds, or when one may be tried again."""
        await self._router.wait_until_available(longest)

    async def ask(
        self,
        request: Request,
        calls: TurnCalls,
        level: int = 0,
        *,
        purpose: str = "reply",
        said: int = 0,
        insist: bool = False,
        on_text: TextListener | None = None,
    ) -> Reply:
        """Return the reply of provider number `level`; its call is among the `calls` of the turn.

        Raises OverBudget, and as `ModelRouter.ask`.
        """
        origin, provider = CallOrigin(purpose, calls.session, calls.message), self._router.provider(level)
        call = await self.ledger.open(origin, provider, request)
        preferred = call if level == 0 else await self.ledger.open(origin, self._router.provider(0), request)
        ticket = await self.ledger.admit(call, preferred)
        heard = _Heard(on_text)
        try:
            reply = await self._router.ask(request, level, said=said, insist=insist, on_text=heard)
        except BaseException as error:
            calls.take(ticket, call if heard.may_have_cost(error) else None)
            raise
        calls.take(ticket, self.ledger.settle(call, provider, request, reply))
        return reply

    async def probe(self, calls: TurnCalls) -> bool:
        """Return whether any provider answers a harmless question: then the message fails, not the model.

        Breakers are ignored: the message may have opened them, and an answer closes them again. A pause that a provider
        asked for is kept.
        """
        return await _probe(
            self.provider_count, lambda level: self.ask(PROBE, calls, level, purpose=_PROBE, insist=True)
        )

    async def count_lost(self, request: Request, calls: TurnCalls) -> None:
        """Count as used what a turn that was cut short by a crash had reserved for this message."""
        origin = CallOrigin("reply", calls.session, calls.message)
        provider = self._router.provider(0)
        lost = await self.ledger.open(origin, provider, request)
        if not is_rule_based(provider):
            await self.ledger.database.write(lost.settle)


@dataclass(frozen=True, slots=True)
class BudgetedModel:
    """The model of a job behind the walls of conversation."""

    router: ModelRouter
    ledger: Ledger
    purpose: str

    async def ask(
        self,
        request: Request,
        day: str = "",
        *,
        session: str = "",
        purpose: str = "",
        level: int = 0,
        on_text: TextListener | None = None,
    ) -> tuple[Reply, ModelCall] | None:
        """Return the reply with its call, still to be settled; None when a budget is exhausted.

        Raises as `ModelRouter.ask`, once the reservation is released; what may have been used stays reserved.
        """
        provider = self.router.provider(level)
        origin = CallOrigin(purpose or self.purpose, session)
        opened = await self.ledger.open(origin, provider, request, day)
        call = await self.ledger.reserve(opened)
        if call is None:
            return None
        heard = _Heard(on_text)
        try:
            reply = await self.router.ask(request, level, insist=bool(purpose), on_text=heard)
        except RemoteError as error:
            if not heard.may_have_cost(error):
                await self.ledger.release(call)
            raise
        finally:
            self.ledger.end_asking(call)
        return reply, self.ledger.settle(call, provider, request, reply)

    async def settle(self, call: ModelCall) -> None:
        """Settle a call whose result is not kept."""
        await self.ledger.database.write(call.settle)

    async def probe(self) -> bool:
        """Return whether any provider answers a harmless question; see `ReplyModel.probe`."""

        async def ask(level: int) -> None:
            answer = await self.ask(PROBE, purpose=_PROBE, level=level)
            if answer is not None:
                await self.settle(answer[1])

        return await _probe(self.router.provider_count, ask)


class _Heard:
    """Passes the text of a reply on, and notes that there was some."""

    def __init__(self, on_text: TextListener | None = None) -> None:
        self._on_text = on_text
        self._begun = False

    def __call__(self, text: str) -> None:
        self._begun = True
        if self._on_text is not None:
            self._on_text(text)

    def may_have_cost(self, error: BaseException) -> bool:
        """Return whether a call that failed may be billed: it had begun to answer, ran out of time or was cut short."""
        return self._begun or not isinstance(error, RemoteError) or isinstance(error, TruncatedReply | AnswerLost)


async def _probe(providers: int, ask: Callable[[int], Awaitable[object]]) -> bool:
    for level in range(providers):
        try:
            await ask(level)
        except RemoteError:
            continue
        return True
    return False
