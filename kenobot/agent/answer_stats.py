"""Sum up the times of answers by phase, the outcomes of messages, and the cost of models."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.language.calendar import local_day
from kenobot.ledger.prices import PICODOLLARS
from kenobot.ports.frozen import dataclass
from kenobot.storage import model_calls, turn_stats
from kenobot.storage.connection import Connection
from kenobot.storage.model_calls import Spending
from kenobot.storage.turn_stats import GroupStats, MessageCounts, StatsGroup


@dataclass(frozen=True, slots=True)
class AnswerStats:
    """The answers of some days by group. total: of all; empty without any answer. spent: by models, in whole days."""

    days: int
    by: StatsGroup
    groups: Sequence[GroupStats]
    total: Sequence[GroupStats]
    messages: MessageCounts
    spent: Spending

    @property
    def is_empty(self) -> bool:
        """Return whether no message came in."""
        return not self.total and not self.messages.received


def read_stats(connection: Connection, now: datetime, zone: ZoneInfo, days: int, by: StatsGroup) -> AnswerStats:
    """Read the figures of the last days."""
    since = now - timedelta(days=days)
    turns, first = turn_stats.read_turns(connection, since), local_day(now - timedelta(days=days - 1), zone)
    return AnswerStats(
        days,
        by,
        turn_stats.group_turns(turns, by, zone),
        turn_stats.group_turns(turns, "all", zone),
        turn_stats.count_messages(connection, since),
        model_calls.sum_spent_between(connection, first, local_day(now, zone)),
    )


def as_json(stats: AnswerStats) -> dict[str, Any]:
    """Return all figures for programs; times in milliseconds."""
    return {
        "days": stats.days,
        "by": stats.by,
        "all": _group_json(stats.total[0]) if stats.total else None,
        "groups": [_group_json(group) for group in stats.groups],
        "messages": {
            **asdict(stats.messages),
            "failure_rate": round(stats.messages.failure_rate, 4),
            "days": min(stats.days, turn_stats.MESSAGES_KEPT_DAYS),
        },
        "models": {
            "calls": stats.spent.calls,
            "tokens": stats.spent.tokens,
            "usd": stats.spent.cost / PICODOLLARS,
        },
    }


def _group_json(group: GroupStats) -> dict[str, Any]:
    return {
        "name": group.name,
        "turns": group.turns,
        "retries": group.retries,
        "tokens_in": group.tokens_in,
        "tokens_out": group.tokens_out,
        "times": group.times._asdict(),
        "phases": {name: times._asdict() for name, times in group.phases.items()},
    }
