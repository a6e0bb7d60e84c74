"""Sums up what a conversation no longer shows: by one call of a model within the day's tokens, or by rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from zoneinfo import ZoneInfo

from kenobot.agent.fact_candidates import trust_of
from kenobot.agent.model_router import ModelRouter, tokens_used
from kenobot.cognitive.compact import prompt, rule_summary
from kenobot.cognitive.compact.digest import Digest, SummaryLine
from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.remember.extract.buffer import ConversationTurn
from kenobot.cognitive.remember.extract.prompt import request_tokens
from kenobot.cognitive.store import token_budget
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.provenance import AttributedText
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, RemoteError
from kenobot.ports.identity import Trust, least_trusted
from kenobot.ports.provider import Reply
from kenobot.storage.database import Database

JOB = "compaction"


class SummaryRejected(KenobotError):
    """A model was asked, and what came is no summary: none at all, one that is cut, or one that is too short."""


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
    """The new lines. tokens: what they cost; reserved: what was set aside for it, on `day`."""

    lines: tuple[SummaryLine, ...]
    by: Literal["model", "rules"]
    day: str = ""
    reserved: int = 0
    tokens: int = 0


class Summarizer:
    """model: who is asked; None leaves all to the rules. daily_tokens: what may be used on a day; then rules do."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        model: ModelRouter | None,
        daily_tokens: int,
        policy: Policy = DEFAULT,
    ) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone
        self._model = model
        self._daily_tokens = daily_tokens
        self._policy = policy

    async def summarize(self, batch: SummaryBatch) -> Summary:
        """A summary of a batch. Its reservation is still to be settled, with the summary; else it is settled here.

        Raises NoSummary, or RemoteError when the model cannot be reached.
        """
        if self._model is None:
            return self.summarize_by_rules(batch)
        request = prompt.build_request(batch.previous, batch.turns, batch.token_limit, self._zone, self._policy.compact)
        day, tokens = local_day(self._clock.now(), self._zone), request_tokens(request)
        limit = self._daily_tokens
        if not await self._database.write(lambda c: token_budget.reserve_tokens(c, day, tokens, limit, JOB)):
            return self.summarize_by_rules(batch)
        try:
            reply = await self._model.ask(request)
        except RemoteError:
            await self._settle(day, tokens, 0)
            raise
        spent = tokens_used(request, reply)
        lines = self._read(reply, batch)
        if lines is None:
            await self._settle(day, tokens, spent)
            raise SummaryRejected("The model's answer is no summary.")
        return Summary(tuple(lines), "model", day, tokens, spent)

    def summarize_by_rules(self, batch: SummaryBatch) -> Summary:
        """What the rules keep; no call, no tokens."""
        found = rule_summary.summarize(batch.previous, batch.turns, batch.token_limit, self._zone, self._policy)
        known = set(batch.previous.lines)
        return Summary(tuple(line if line in known else _lowered(line, batch) for line in found), "rules")

    async def _settle(self, day: str, reserved: int, used: int) -> None:
        await self._database.write(lambda connection: token_budget.settle_tokens(connection, day, reserved, used, JOB))

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
