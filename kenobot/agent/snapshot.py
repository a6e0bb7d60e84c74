"""Take a snapshot of the bot's state from its database, for `kenobot status`, the watch, metrics, doctor and chat."""

from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.memory import Nights
from kenobot.ledger.limits import Limit, find_used_up
from kenobot.ports.frozen import dataclass
from kenobot.storage import mail_counts, queue_ages, turn_stats
from kenobot.storage.connection import Connection
from kenobot.storage.mail_counts import MailCounts
from kenobot.storage.queue_ages import QueueAges


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of the bot at one moment.

    ages: of the mail that waits. used_up: budgets of which nothing is left, with what was spent. last_turn: the newest
    answer of a model. last_night: end of the last whole night; born: of the first event; None where there was none.
    is_night: a night is under way.
    """

    mail: MailCounts
    ages: QueueAges
    used_up: Sequence[tuple[Limit, int]]
    last_turn: turn_stats.TurnRow | None
    last_night: datetime | None
    born: datetime | None
    is_night: bool

    @property
    def waiting_since(self) -> datetime | None:
        """Return since when the oldest message waits, for its answer or for being sent; None when none does."""
        return min((at for at in (self.ages.unanswered, self.undelivered_since) if at is not None), default=None)

    @property
    def undelivered_since(self) -> datetime | None:
        """Return since when the oldest part of an answer waits for its platform; None when none does."""
        return min((since for since, _ in self.ages.undelivered.values()), default=None)


def take_snapshot(connection: Connection, now: datetime, budgets: Sequence[Limit] = (), day: str = "") -> Snapshot:
    """Take the snapshot. budgets: looked at for the owner's calendar `day`."""
    return Snapshot(
        mail_counts.count_mail(connection, now),
        queue_ages.read(connection, now),
        find_used_up(connection, budgets, day),
        turn_stats.last_turn(connection),
        Nights.last_full_at(connection),
        Nights.first_event_at(connection),
        Nights.find_unfinished(connection) is not None,
    )
