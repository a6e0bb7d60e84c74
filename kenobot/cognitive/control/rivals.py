"""Find the memories that may have taken the place of another, which their person has not said yet."""

from kenobot.cognitive.store import events, records
from kenobot.ports.memory_changes import ASKED, BOTH_STAND, NOT_ASKED
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


def list_rivals(connection: Connection, record: int, reach: Scopes) -> list[Record]:
    """List the live memories that may have replaced one, by its events: asked about, and not denied.

    In the place of one that is over itself: the one that replaced it.
    """
    found: dict[int, Record] = {}
    for new in list_asked(connection, record):
        rival = records.get(connection, new, reach)
        if rival is not None and rival.status == "superseded":
            rival = records.successor(connection, rival.id, reach)
        if rival is not None and rival.status == "active" and rival.id != record:
            found[rival.id] = rival
    return [found[number] for number in sorted(found)]


def list_asked(connection: Connection, record: int) -> set[int]:
    """List the memories that may have replaced one, of any status, by its events: asked about, and not denied."""
    told = events.record_events(connection, record)
    asked = {each.data.get("new") for each in told if each.kind in (ASKED, NOT_ASKED)}
    return {int(str(new)) for new in asked - {None}} - list_denied(connection, record)


def list_denied(connection: Connection, record: int) -> set[int]:
    """List the memories of which the person said that they hold beside one."""
    told = events.record_events(connection, record)
    return {int(str(new)) for each in told if each.kind == BOTH_STAND and (new := each.data.get("new")) is not None}
