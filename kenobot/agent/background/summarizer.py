"""Summarize the part of a conversation that is no longer shown: by one call of a model, or by rules."""

from collections.abc import Sequence
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
    """The previous summary and the turns after it. token_limit: tokens of the new summary."""

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
        """Parse the lines of an answer, within the token limit; None when it cannot stand for the batch."""
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
    """Turn a model's line into one of the summary, with the least trust of its sources."""
    turns = [batch.turns[at] for at in answered.turns]
    earlier = [batch.previous.lines[at] for at in answered.summary]
    if not turns and not earlier:  # without sources it may be made of anything
        turns, earlier = list(batch.turns), list(batch.previous.lines)
    inboxes = [turn.inbox_id for turn in turns if turn.inbox_id is not None]
    inboxes += [number for line in earlier for number in line.turns]
    trusts = [*(line.trust for line in earlier), _trust(answered.text, turns or batch.turns, batch)]
    return SummaryLine(answered.text, least_trusted(trusts, "owner"), tuple(dict.fromkeys(inboxes)))


def _lowered(line: SummaryLine, batch: SummaryBatch) -> SummaryLine:
    """Lower the trust of a line that the rules took from a turn to that of those whose words it repeats."""
    told = [turn for turn in batch.turns if turn.inbox_id in line.turns and turn.inbox_id is not None] or batch.turns
    return replace(line, trust=least_trusted([line.trust, _trust(line.text, told, batch)], "owner"))


def _trust(text: str, told: Sequence[ConversationTurn], batch: SummaryBatch) -> Trust:
    voices = [
        AttributedText(line.trust, line.text) for line in batch.previous.lines if line.trust not in ("owner", "model")
    ]
    return trust_of(text, told, batch.turns, voices)
