"""Rows that `admit` alone reads and writes: new records, what is gone, and what was erased for good."""

import json
from collections.abc import Sequence

from kenobot.storage.connection import Connection


def received_times(connection: Connection, turns: Sequence[int]) -> dict[int, str]:
    """When the messages of these inbox rows came in; rows that are gone are left out."""
    rows = connection.execute(
        "SELECT id, received_at FROM inbox WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(turns)),)
    )
    return {row[0]: row[1] for row in rows}
