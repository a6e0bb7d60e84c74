"""Complete a copy of a home's database that was made without the tables of what can be made anew."""

from kenobot.cognitive.mirror.lists.list_files import ListFiles
from kenobot.cognitive.mirror.pattern_file import STATE_KEY
from kenobot.cognitive.mirror.records.record_files import RecordFiles
from kenobot.cognitive.store import records, term_index
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.state import drop_state

_PAGE = 500
_ANY = 2**62  # above every number of a record


def complete_copy(connection: Connection) -> None:
    """File every record under its words, and forget which files were written: all are written anew, into no tree.

    A file that is noted and missing would be one that a person deleted.
    """
    for key in (ListFiles.cursor_key, RecordFiles.cursor_key, STATE_KEY):
        drop_state(connection, key)
    before = _ANY
    while rows := records.page_before(connection, before, ALL_SCOPES, _PAGE):
        for record in records.by_ids(connection, [number for number, _ in rows], ALL_SCOPES).values():
            term_index.index_new(connection, record)
        before = rows[-1][0] - 1
