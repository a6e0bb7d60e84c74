"""Reads a batch of turns for facts: by one call of a model within the day's tokens, or by rules where there is none."""

from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.agent.model_router import ModelRouter, tokens_used
from kenobot.cognitive.policy.extract import ExtractPolicy
from kenobot.cognitive.remember.extract import heuristic, prompt
from kenobot.cognitive.remember.extract.parse_facts import ExtractedFact, parse_facts
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.store import token_budget
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.provenance import without_quotes
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, PromptTooLong, Rejected, RemoteError, TruncatedReply
from kenobot.ports.provider import Reply, Request
from kenobot.storage.database import Database


class ExtractionFailed(KenobotError):
    """A model cannot read these turns, or what it says about them cannot be read: fewer at a time may do."""


class BudgetExhausted(KenobotError):
    """What may be used today is used up."""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The facts of a batch. tokens: what finding them used; reserved: what was set aside for it, on `day`."""

    facts: tuple[ExtractedFact, ...]
    by: Literal["model", "rules"]
    day: str = ""
    reserved: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class TokenAllowance:
    """daily_tokens: what may be used on a calendar day of the owner's."""

    policy: ExtractPolicy
    daily_tokens: int


class FactExtractor:
    """`model`: who is asked; None leaves all to the rules."""

    def __init__(
        self, database: Database, clock: Clock, zone: ZoneInfo, model: ModelRouter | None, allowance: TokenAllowance
    ) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone
        self._model = model
        self._allowance = allowance

    @property
    def uses_model(self) -> bool:
        """Whether a model is asked at all."""
        return self._model is not None

    async def extract(self, batch: ExtractionBatch) -> ExtractionResult:
        """The facts of a batch. Its reservation is still to be settled, with the facts; else it is settled here.

        Raises Unreadable, OutOfTokens, or RemoteError when the model cannot be reached.
        """
        if self._model is None:
            return self.extract_by_rules(batch)
        request = prompt.build_request(batch, self._zone, self._allowance.policy)
        day, tokens = local_day(self._clock.now(), self._zone), prompt.request_tokens(request)
        if tokens > self._allowance.daily_tokens:
            raise ExtractionFailed("The turns are longer than what may be read in a day.")
        if not await self._database.write(
            lambda c: token_budget.reserve_tokens(c, day, tokens, self._allowance.daily_tokens)
        ):
            raise BudgetExhausted("What may be used today for memory is used up.")
        reply = await self._ask(self._model, request, day, tokens)
        spent = tokens_used(request, reply)
        facts = parse_facts(reply.text)
        if facts is None or (reply.truncated and len(batch.turns) > 1):
            await self._settle(day, tokens, spent)
            raise ExtractionFailed("The answer is cut." if facts else "The answer holds no list of facts.")
        return ExtractionResult(facts, "model", day, tokens, spent)

    def extract_by_rules(self, batch: ExtractionBatch) -> ExtractionResult:
        """What the rules find; no call, no tokens. Of what somebody else wrote they understand nothing."""
        facts: list[ExtractedFact] = []
        for number, turn in enumerate(batch.turns, 1):
            if not turn.hidden and turn.trust in ("owner", "guest"):
                said = turn.at.astimezone(self._zone).date()
                facts += heuristic.extract_facts(without_quotes(turn.text), said, evidence=number)
        return ExtractionResult(tuple(facts), "rules")

    async def _ask(self, model: ModelRouter, request: Request, day: str, tokens: int) -> Reply:
        """The reply; when there is none, what was set aside is given back, unless it may have been used after all."""
        try:
            return await model.ask(request)
        except TruncatedReply:
            raise
        except Rejected as error:
            await self._settle(day, tokens, 0)
            if isinstance(error, PromptTooLong) or await model.probe():
                raise ExtractionFailed(f"The model does not take these turns: {error}") from error
            raise
        except RemoteError:
            await self._settle(day, tokens, 0)
            raise

    async def _settle(self, day: str, reserved: int, used: int) -> None:
        await self._database.write(lambda connection: token_budget.settle_tokens(connection, day, reserved, used))
