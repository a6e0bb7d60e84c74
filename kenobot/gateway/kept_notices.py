"""Keep alerts for an owner who has not written in private yet, in the order in which they came about."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kenobot.ports.frozen import dataclass
from kenobot.ports.signals import ALL_SIGNALS, Signal
from kenobot.storage.connection import Connection
from kenobot.storage.state import drop_state, read_json, write_json

_log = logging.getLogger(__name__)

_KEY = "notices:kept"
_MOST = 20  # the newest


@dataclass(frozen=True, slots=True)
class KeptNotice:
    """A signal that the owner is to be alerted of, and when it was sent. subject: of which one alert is enough."""

    subject: str
    signal: Signal
    payload: Mapping[str, str]
    trace: str
    at: datetime


def keep_notice(connection: Connection, notice: KeptNotice) -> None:
    """Store an alert, inside a transaction; one about the same subject gives way to it, in its place."""
    kept = {each.subject: each for each in load_notices(connection)} | {notice.subject: notice}
    if len(kept) > _MOST:
        _log.warning("an alert is dropped, as more than %d wait for the owner to write in private", _MOST)
    write_json(connection, _KEY, [_dump(each) for each in [*kept.values()][-_MOST:]])


def load_notices(connection: Connection) -> list[KeptNotice]:
    """Return the alerts that are kept, the oldest first, without those that are damaged."""
    rows: list[Any] = read_json(connection, _KEY, [])
    return [notice for row in rows if (notice := _load(row)) is not None]


def drop_notices(connection: Connection) -> None:
    """Forget the alerts, inside the transaction that puts them into the outbox."""
    drop_state(connection, _KEY)


def _dump(notice: KeptNotice) -> dict[str, object]:
    return {
        "subject": notice.subject,
        "signal": notice.signal.name,
        "payload": dict(notice.payload),
        "trace": notice.trace,
        "at": notice.at.isoformat(),
    }


def _load(row: Any) -> KeptNotice | None:
    try:
        payload = {str(name): str(value) for name, value in row["payload"].items()}
        return KeptNotice(
            str(row["subject"]), ALL_SIGNALS[row["signal"]], payload, row["trace"], datetime.fromisoformat(row["at"])
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
