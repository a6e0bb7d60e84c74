"""Merging the lists of the side index: each write leaves a piece of its own, and each query looks into every piece.

FTS5 merges a few by itself as it writes. The rest is done here in the background, a little at a time: now and then all
of it, when it has grown or something was erased, whose words stay until the piece that holds them is written anew.
"""

from kenobot.storage.connection import Connection

_ERASED, _MERGED = "erased", "merged"  # names of cursors; the second is of as many documents as there were then
_STEP = 200  # pages that are written at a time: some hundredths of a second
_WORKED = 2  # FTS5 counts two changes for a merge that found something to do
_MANY = 8  # pieces
_GROWN, _WORTH_IT = 1.25, 1000  # by how much an index has grown, and documents


def request_full_merge(index: Connection) -> None:
    """Something is to leave the lists for good."""
    index.execute("INSERT OR REPLACE INTO cursor (name, at) VALUES (?, 1)", (_ERASED,))


def is_full_merge_due(index: Connection) -> bool:
    """Whether all of the lists are to be merged."""
    if _at(index, _ERASED):
        return True
    docs = _documents(index)
    return docs >= _WORTH_IT and docs >= _GROWN * _at(index, _MERGED)


def segment_count(index: Connection) -> int:
    """How many there are."""
    return int(index.execute("SELECT count(DISTINCT segid) FROM list_idx").fetchone()[0])


def merge_step(index: Connection) -> bool:
    """Merge a little; whether there is more to do."""
    if is_full_merge_due(index):
        if _merge(index, -_STEP):
            return True
        index.execute("INSERT OR REPLACE INTO cursor (name, at) VALUES (?, ?)", (_MERGED, _documents(index)))
        if _at(index, _ERASED):
            index.execute("DELETE FROM cursor WHERE name = ?", (_ERASED,))
            index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return False
    return segment_count(index) > _MANY and _merge(index, _STEP)


def _merge(index: Connection, pages: int) -> bool:
    """Write so many pages, below 0 of a merge of everything; whether there was anything to merge."""
    before = index.total_changes
    index.execute("INSERT INTO list (list, rank) VALUES ('merge', ?)", (pages,))
    return index.total_changes - before >= _WORKED


def _documents(index: Connection) -> int:
    return int(index.execute("SELECT coalesce(sum(docs), 0) FROM room").fetchone()[0])


def _at(index: Connection, name: str) -> int:
    row = index.execute("SELECT at FROM cursor WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0
