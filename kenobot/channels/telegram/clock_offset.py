"""Measure how far this machine's clock is ahead of Telegram's, which dates the messages."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from kenobot.ports.messages import Inbound
from kenobot.ports.sentences import Sentence

_JITTER: Final = timedelta(minutes=1)  # of an answer on its way, and of a message dated while it is
_WORTH_TELLING: Final = timedelta(hours=1)


def clock_ahead(now: datetime, server_time: datetime | None) -> timedelta:
    """Return how far the clock that reads `now` is ahead of the one that reads `server_time`; zero when it is not.

    A clock that is behind makes no message look older than it is, and needs no correction.
    """
    ahead = now - server_time if server_time is not None else timedelta()
    return ahead if ahead > _JITTER else timedelta()


def correct_sent_at(inbound: Inbound, ahead: timedelta, now: datetime) -> Inbound:
    """Date a message by a clock that is `ahead`, so that it looks no older than it is.

    One from the future of Telegram's own clock stays as it is: then the two dates are not of the same clock.
    """
    if not ahead or inbound.sent_at > now - ahead + _JITTER:
        return inbound
    return replace(inbound, sent_at=min(inbound.sent_at + ahead, now))


def clock_problem(ahead: timedelta) -> str:
    """Tell the owner of a clock that is far ahead; "" when it is near enough."""
    if ahead < _WORTH_TELLING:
        return ""
    return Sentence("telegram.clock_ahead", hours=round(ahead / timedelta(hours=1)))
