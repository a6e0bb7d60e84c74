"""Select the memories of a group that were told by the same people alone."""

from collections.abc import Iterable, Set

from kenobot.ports.records import Record
from kenobot.storage import conversation
from kenobot.storage.connection import Connection


def select_told_by(connection: Connection, found: Iterable[Record], accounts: Set[str]) -> list[Record]:
    """Select the records that these accounts told and nobody else; of a group none where nobody is known to have.

    What is nobody's of a group is everybody's here.
    """
    among = list(found)
    turns = {turn for record in among if is_of_group(record.scope) for turn in record.source_message_ids}
    written = conversation.authors(connection, turns) if turns and accounts else {}
    return [each for each in among if not is_of_group(each.scope) or _is_told_by(each, written, accounts)]


def is_of_group(scope: str) -> bool:
    """Return whether a scope is that of a group's memories."""
    return scope.startswith("chat:")


def _is_told_by(record: Record, written: dict[int, str], accounts: Set[str]) -> bool:
    return bool(accounts) and {written.get(turn) for turn in record.source_message_ids} == accounts
