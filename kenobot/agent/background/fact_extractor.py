"""Extract facts from a batch of turns: by one call of a model within the day's tokens, or by rules."""

from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.agent.budgeted_model import NO_TOKENS, BudgetedModel, TokenUse
from kenobot.cognitive.policy.remember import ExtractPolicy
from kenobot.cognitive.remember.extract import heuristic, prompt
from kenobot.cognitive.remember.extract.parse_facts import ExtractedFact, parse_facts
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.cognitive.text.provenance import without_quotes
from kenobot.ports.errors import KenobotError, PromptTooLong, Rejected


class ExtractionFailed(KenobotError):
    """A model rejects these turns, or its answer cannot be parsed: fewer at a time may do."""


class BudgetExhausted(KenobotError):
    """The tokens of the day are used up."""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The facts of a batch. use: the tokens they cost, still to be settled."""

    facts: tuple[ExtractedFact, ...]
    by: Literal["model", "rules"]
    use: TokenUse = NO_TOKENS


class FactExtractor:
    """model: None leaves all to the rules."""

    def __init__(self, model: BudgetedModel | None, zone: ZoneInfo, policy: ExtractPolicy) -> None:
        self._model = model
        self._zone = zone
        self._policy = policy

    @property
    def uses_model(self) -> bool:
        """Whether a model is asked at all."""
        return self._model is not None

    async def extract(self, batch: ExtractionBatch) -> ExtractionResult:
        """Extract the facts of a batch.

        Raises ExtractionFailed, BudgetExhausted, or RemoteError when the model cannot be reached.
        """
        if self._model is None:
            return self.extract_by_rules(batch)
        budget, request = self._model.budget, prompt.build_request(batch, self._zone, self._policy)
        if prompt.request_tokens(request) > budget.daily_tokens:
            raise ExtractionFailed("The turns are longer than what may be read in a day.")
        try:
            answer = await self._model.ask(request)
        except Rejected as error:
            if isinstance(error, PromptTooLong) or await self._model.router.probe():
                raise ExtractionFailed(f"The model does not take these turns: {error}") from error
            raise
        if answer is None:
            raise BudgetExhausted("What may be used today for memory is used up.")
        reply, use = answer
        facts = parse_facts(reply.text)
        if facts is None or (reply.truncated and len(batch.turns) > 1):
            await budget.settle(use, use.tokens)
            raise ExtractionFailed("The answer is cut." if facts else "The answer holds no list of facts.")
        return ExtractionResult(facts, "model", use)

    def extract_by_rules(self, batch: ExtractionBatch) -> ExtractionResult:
        """Extract what the rules understand; of what somebody else wrote they understand nothing."""
        facts: list[ExtractedFact] = []
        for number, turn in enumerate(batch.turns, 1):
            if not turn.hidden and turn.trust in ("owner", "guest"):
                day = turn.at.astimezone(self._zone).date()
                facts += heuristic.extract_facts(without_quotes(turn.text), day, evidence=number)
        return ExtractionResult(tuple(facts), "rules")
