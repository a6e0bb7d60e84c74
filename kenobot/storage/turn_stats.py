"""Read how long answers took and what came of messages, from the rows of turns and of the inbox."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from kenobot.core.percentiles import Distribution, distribution
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection

StatsGroup = Literal["all", "channel", "model", "day", "hour"]

DELIVERY = "delivery"
PHASES = (
    "waiting",
    "reading",
    "recall",
    "prompt",
    "first word",
    "model",
    "tools",
    "pauses",
    "postprocessors",
    "storing",
    DELIVERY,
)
"""What the time of an answer goes into, in its order; "first word" is a part of "model"."""

MESSAGES_KEPT_DAYS, TURNS_KEPT_DAYS = 7, 30
_LATELY = 2000  # turns from the newest on
_LONGEST_WINDOW = 1_000_000  # turns that are read at most
_SELECT = (
    "SELECT json_array(session, channel, model), json_array(received_at, committed_at, sent_at), phases, retries, "
    "input_tokens + cache_read_tokens + cache_write_tokens, output_tokens FROM turn"
)
_ENDS = ("answered", "failed", "expired", "dead", "dropped")


class TurnRow(NamedTuple):
    """A finished turn. millis: from when its message came in until the platform took the answer; None before that.

    phases: milliseconds by name. tokens: read and written.
    """

    session: str
    channel: str
    model: str
    at: datetime
    millis: int | None
    phases: Mapping[str, int]
    retries: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class GroupStats:
    """The answers of a group. times: of whole answers. phases: of each phase, where there is any."""

    name: str
    turns: int
    times: Distribution
    phases: Mapping[str, Distribution]
    retries: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """Messages that came in, by what became of them; waiting: those without an end yet."""

    received: int
    waiting: int
    ends: Mapping[str, int]

    @property
    def failure_rate(self) -> float:
        """Return the share, 0 to 1, of the messages with an end that got no answer though they were to have one."""
        failed = sum(self.ends.get(name, 0) for name in ("failed", "expired", "dead"))
        ended = failed + self.ends.get("answered", 0)
        return failed / ended if ended else 0.0


def read_turns(connection: Connection, since: datetime) -> list[TurnRow]:
    """Return the turns that were answered since a time, the oldest first; of earlier versions' turns, none."""
    rows = connection.execute(
        f"{_SELECT} WHERE replied_at >= ? AND received_at != '' ORDER BY replied_at LIMIT ?",
        (since.isoformat(), _LONGEST_WINDOW),
    )
    return [_turn(*row) for row in rows]


def last_turn(connection: Connection, session: str = "") -> TurnRow | None:
    """Return the newest turn, of a chat or of all."""
    row = connection.execute(
        f"{_SELECT} WHERE received_at != '' AND (? = '' OR session = ?) ORDER BY id DESC LIMIT 1",
        (session, session),
    ).fetchone()
    return None if row is None else _turn(*row)


class TurnUse(NamedTuple):
    """Model, tokens and time of one turn. phases: milliseconds by name. grade: of the answer, where it got one."""

    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    grade: str
    phases: Mapping[str, int]

    @property
    def prompt_tokens(self) -> int:
        """Return the tokens of its prompts, those from the cache among them."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


def read_use(connection: Connection, inbox: int) -> TurnUse | None:
    """Return what the turn of an inbox row used; None where no model answered, or it is no longer kept."""
    row = connection.execute(
        "SELECT model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, grade, phases FROM turn "
        "WHERE inbox_id = ?",
        (inbox,),
    ).fetchone()
    if row is None:
        return None
    *figures, phases = row
    return TurnUse._make((*figures, json.loads(phases)))


def last_answers(connection: Connection, most: int) -> dict[str, str]:
    """Return when the chats that were answered last were, the last one first."""
    rows = connection.execute(
        "SELECT session, max(committed_at) AS at FROM turn WHERE id > (SELECT max(id) FROM turn) - ? "
        "GROUP BY session ORDER BY at DESC LIMIT ?",
        (_LATELY, most),
    )
    return dict(rows.fetchall())


def count_messages(connection: Connection, since: datetime) -> MessageCounts:
    """Count the messages that came in since a time."""
    rows = connection.execute(
        "SELECT state, count(*) FROM inbox WHERE received_at >= ? GROUP BY state", (since.isoformat(),)
    )
    counts: dict[str, int] = dict(rows.fetchall())
    ends = {name: counts[name] for name in _ENDS if counts.get(name)}
    return MessageCounts(sum(counts.values()), counts.get("pending", 0) + counts.get("claimed", 0), ends)


def group_turns(turns: Sequence[TurnRow], by: StatsGroup, zone: ZoneInfo) -> list[GroupStats]:
    """Sum turns up by group: days and hours in their order, the others with the most turns first."""
    key = _KEYS[by]
    groups: dict[str, list[TurnRow]] = {}
    for turn in turns:
        groups.setdefault(key(turn, zone), []).append(turn)
    order = sorted(groups) if by in ("day", "hour") else sorted(groups, key=lambda name: (-len(groups[name]), name))
    return [_sum(name, groups[name]) for name in order]


_KEYS: Mapping[StatsGroup, Callable[[TurnRow, ZoneInfo], str]] = {
    "all": lambda turn, zone: "",
    "channel": lambda turn, zone: turn.channel,
    "model": lambda turn, zone: turn.model or "-",
    "day": lambda turn, zone: f"{turn.at.astimezone(zone):%Y-%m-%d}",
    "hour": lambda turn, zone: f"{turn.at.astimezone(zone):%Y-%m-%d %H}",
}


def _sum(name: str, turns: Sequence[TurnRow]) -> GroupStats:
    phases = {phase: _phase_times(turns, phase) for phase in PHASES}
    return GroupStats(
        name,
        len(turns),
        distribution([turn.millis for turn in turns if turn.millis is not None]),
        {phase: times for phase, times in phases.items() if times.measured},
        sum(turn.retries for turn in turns),
        sum(turn.tokens_in for turn in turns),
        sum(turn.tokens_out for turn in turns),
    )


def _phase_times(turns: Iterable[TurnRow], phase: str) -> Distribution:
    return distribution([turn.phases[phase] for turn in turns if phase in turn.phases])


def _turn(names: str, moments: str, phases: str, retries: int, tokens_in: int, tokens_out: int) -> TurnRow:
    """Build a turn.

    names: of its session, channel and model; moments: when its message came in, when it was committed and when it was
    sent; each as JSON.
    """
    session, channel, model = json.loads(names)
    received_at, committed_at, sent_at = json.loads(moments)
    received = datetime.fromisoformat(received_at)
    spent: dict[str, int] = json.loads(phases)
    millis = _measure_between(received, sent_at)
    if millis is not None:
        spent[DELIVERY] = _measure_between(datetime.fromisoformat(committed_at), sent_at) or 0
    return TurnRow(session, channel, model, received, millis, spent, retries, tokens_in, tokens_out)


def _measure_between(begin: datetime, end: str) -> int | None:
    """Return the milliseconds from a moment to a stored one, at least 0; None where there is no such."""
    return max(0, round(1000 * (datetime.fromisoformat(end) - begin).total_seconds())) if end else None
