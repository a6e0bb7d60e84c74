"""Summarize the part of a conversation that is no longer shown: by one call of a model, or by rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.agent.budgeted_model import NO_TOKENS, BudgetedModel, TokenUse
from kenobot.agent.fact_candidates import trust_of
from kenobot.cognitive.compact import prompt, rule_summary
from kenobot.cognitive.compact.digest import Digest, SummaryLine
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.extract.buffer import ConversationTurn
from kenobot.cognitive.text.provenance import AttributedText
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.errors import KenobotError
from kenobot.ports.identity import Trust, least_trusted
from kenobot.ports.provider import Reply


class SummaryRejected(KenobotError):
    """A model's answer is no summary: none at all, one that is cut, or one that is too short."""


@dataclass(frozen=True, slots=True)
class SummaryBatch:
    """What is to be summed up: the summary so far, and the turns after it.

    token_limit: tokens that the new one may take.
    """

    previous: Digest
    turns: tuple[ConversationTurn, ...]
    token_limit: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The new lines. use: the tokens they cost, still to be settled."""

    lines: tuple[SummaryLine, ...]
    by: Literal["model", "rules"]
    use: TokenUse = NO_TOKENS


class Summarizer:
    """model: None leaves all to the rules; so does an exhausted budget."""

    def __init__(self, model: BudgetedModel | None, zone: ZoneInfo, policy: Policy = DEFAULT) -> None:
        self._model = model
        self._zone = zone
        self._policy = policy

    async def summarize(self, batch: SummaryBatch) -> Summary:
        """Summarize a batch. Raises SummaryRejected, or RemoteError when the model cannot be reached."""
        if self._model is None:
            return self.summarize_by_rules(batch)
        request = prompt.build_request(batch.previous, batch.turns, batch.token_limit, self._zone, self._policy.compact)
        answer = await self._model.ask(request)
        if answer is None:
            return self.summarize_by_rules(batch)
        reply, use = answer
        lines = self._read(reply, batch)
        if lines is None:
            await self._model.budget.settle(use, use.tokens)
            raise SummaryRejected("The model's answer is no summary.")
        return Summary(tuple(lines), "model", use)

    def summarize_by_rules(self, batch: SummaryBatch) -> Summary:
        """Summarize by rules: no call, no tokens."""
        found = rule_summary.summarize(batch.previous, batch.turns, batch.token_limit, self._zone, self._policy)
        known = set(batch.previous.lines)
        return Summary(tuple(line if line in known else _lowered(line, batch) for line in found), "rules")

    def _read(self, reply: Reply, batch: SummaryBatch) -> list[SummaryLine] | None:
        """The lines of an answer, within the room; None when it is not worth the place of what it stands for."""
        policy = self._policy.compact
        if reply.truncated:
            return None
        answered = prompt.parse_lines(reply.text, len(batch.previous.lines), len(batch.turns), policy)
        if answered is None:
            return None
        lines = [_told(each, batch) for each in answered]
        length = sum(len(line.text) for line in lines)
        before = sum(len(line.text) for line in batch.previous.lines)
        if length < policy.min_chars or length < policy.min_length_share * before:
            return None
        while lines and sum(estimate_tokens(line.text) + 3 for line in lines) > batch.token_limit:
            worthless = min(
                range(len(lines)), key=lambda at: (rule_summary.sentence_value(lines[at].text, self._policy), at)
            )
            del lines[worthless]
        return lines or None


def _told(answered: prompt.ParsedLine, batch: SummaryBatch) -> SummaryLine:
    """A model's line as a line of the summary: as little trusted as the least of what it says it is made of."""
    turns = [batch.turns[at] for at in answered.turns]
    earlier = [batch.previous.lines[at] for at in answered.summary]
    if not turns and not earlier:  # it does not say: then it may be made of anything
        turns, earlier = list(batch.turns), list(batch.previous.lines)
    inboxes = [turn.inbox_id for turn in turns if turn.inbox_id is not None] + [
        n for line in earlier for n in line.turns
    ]
    line = SummaryLine(answered.text, _least(line.trust for line in earlier), tuple(dict.fromkeys(inboxes)))
    return replace(line, trust=_least([line.trust, _trust(answered.text, turns or batch.turns, batch)]))


def _lowered(line: SummaryLine, batch: SummaryBatch) -> SummaryLine:
    """A line that the rules took from a turn, as far trusted as those whose words it repeats."""
    told = [turn for turn in batch.turns if turn.inbox_id in line.turns and turn.inbox_id is not None] or batch.turns
    return replace(line, trust=_least([line.trust, _trust(line.text, told, batch)]))


def _trust(text: str, told: Sequence[ConversationTurn], batch: SummaryBatch) -> Trust:
    voices = [
        AttributedText(line.trust, line.text) for line in batch.previous.lines if line.trust not in ("owner", "model")
    ]
    return trust_of(text, told, batch.turns, voices)


def _least(trusts: Iterable[Trust]) -> Trust:
    return least_trusted(trusts, "owner")
