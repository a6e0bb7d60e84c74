"""Reads a batch of turns for facts: by one call of a model within the day's tokens, or by rules where there is none."""

from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.agent.model_router import Model, used
from kenobot.cognitive.policy.extract import ExtractPolicy
from kenobot.cognitive.remember.extract import heuristic, prompt
from kenobot.cognitive.remember.extract.prompt import Batch
from kenobot.cognitive.remember.extract.schema import Fact, parse
from kenobot.cognitive.store import token_budget
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.provenance import unquoted
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, PromptTooLong, Rejected, RemoteError, TruncatedReply
from kenobot.ports.provider import Reply, Request
from kenobot.storage.database import Database


class Unreadable(KenobotError):
    """A model cannot read these turns, or what it says about them cannot be read: fewer at a time may do."""


class OutOfTokens(KenobotError):
    """What may be used today is used up."""


@dataclass(frozen=True, slots=True)
class Found:
    """The facts of a batch. tokens: what finding them used; reserved: what was set aside for it, on `day`."""

    facts: tuple[Fact, ...]
    by: Literal["model", "rules"]
    day: str = ""
    reserved: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Allowance:
    """daily_tokens: what may be used on a calendar day of the owner's."""

    policy: ExtractPolicy
    daily_tokens: int


class Reader:
    """`model`: who is asked; None leaves all to the rules."""

    def __init__(
        self, database: Database, clock: Clock, zone: ZoneInfo, model: Model | None, allowance: Allowance
    ) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone
        self._model = model
        self._allowance = allowance

    @property
    def asks(self) -> bool:
        """Whether a model is asked at all."""
        return self._model is not None

    async def read(self, batch: Batch) -> Found:
        """The facts of a batch. Its reservation is still to be settled, with the facts; else it is settled here.

        Raises Unreadable, OutOfTokens, or RemoteError when the model cannot be reached.
        """
        if self._model is None:
            return self.by_rules(batch)
        request = prompt.build(batch, self._zone, self._allowance.policy)
        day, tokens = local_day(self._clock.now(), self._zone), prompt.cost(request)
        if tokens > self._allowance.daily_tokens:
            raise Unreadable("The turns are longer than what may be read in a day.")
        if not await self._database.write(lambda c: token_budget.reserve(c, day, tokens, self._allowance.daily_tokens)):
            raise OutOfTokens("What may be used today for memory is used up.")
        reply = await self._ask(self._model, request, day, tokens)
        spent = used(request, reply)
        facts = parse(reply.text)
        if facts is None or (reply.cut and len(batch.turns) > 1):
            await self._settle(day, tokens, spent)
            raise Unreadable("The answer is cut." if facts else "The answer holds no list of facts.")
        return Found(facts, "model", day, tokens, spent)

    def by_rules(self, batch: Batch) -> Found:
        """What the rules find; no call, no tokens. Of what somebody else wrote they understand nothing."""
        facts: list[Fact] = []
        for number, turn in enumerate(batch.turns, 1):
            if not turn.hidden and turn.trust in ("owner", "guest"):
                said = turn.at.astimezone(self._zone).date()
                facts += heuristic.facts(unquoted(turn.text), said, evidence=number)
        return Found(tuple(facts), "rules")

    async def _ask(self, model: Model, request: Request, day: str, tokens: int) -> Reply:
        """The reply; when there is none, what was set aside is given back, unless it may have been used after all."""
        try:
            return await model.ask(request)
        except TruncatedReply:
            raise
        except Rejected as error:
            await self._settle(day, tokens, 0)
            if isinstance(error, PromptTooLong) or await model.answers():
                raise Unreadable(f"The model does not take these turns: {error}") from error
            raise
        except RemoteError:
            await self._settle(day, tokens, 0)
            raise

    async def _settle(self, day: str, reserved: int, used: int) -> None:
        await self._database.write(lambda connection: token_budget.settle(connection, day, reserved, used))
