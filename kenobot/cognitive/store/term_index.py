"""Index live facts by their words, attributes and names, and look up those that a text may repeat or contradict.

Terms are numbers made of scope, subject and word, so that a lookup stays among records of one scope and subject, and a
purge leaves no word. A lookup follows the rarest words of a text to their newest records: its cost is bounded.
Records that share all words share a term, so that a statement and its denial always meet.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from heapq import nlargest

from kenobot.cognitive.store import records as store
from kenobot.language.fingerprint import supersession_key
from kenobot.language.relatives import list_relatives
from kenobot.language.similarity import similarity, topic_words
from kenobot.language.words import fold
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.state import read_state, write_state

_FILED = ("note", "episode")
_NAMES = frozenset("name names alias aliases nickname nombre apodo".split())
_COMMON = 128  # records under one word that a lookup reads at most, the newest first
_RAREST = 6  # words of a text that a lookup follows
_LOADED = 8  # records that are compared
_TOGETHER = 8  # records under all words of a text
_SOUGHT = 24  # words of a text that are counted
_BEHIND = "terms:next"  # state key: records up to this id are still to be filed
_BATCH = 25
_PAGE = 500


def neighbours(
    connection: Connection, scope: str, subject: str, text: str, limit: int = 8
) -> list[tuple[Record, float]]:
    """Return the live records of this scope and subject that are nearest to `text` by their words, nearest first."""
    about = topic_words(text)
    marks = list(dict.fromkeys(_mark(scope, subject, form) for forms in about[:_SOUGHT] for form in forms))
    counts = sorted((count, mark) for count, mark in zip(_counts(connection, marks), marks, strict=True) if count)
    bags, rarest = _join_stems(scope, subject, about), counts[:_RAREST]
    listed = _newest_of_each(connection, [*bags, *(mark for _, mark in rarest)])
    scores: dict[int, float] = defaultdict(float)
    for records in listed[: len(bags)]:
        for record in records[:_TOGETHER]:
            scores[record] += _COMMON
    for (count, _), records in zip(rarest, listed[len(bags) :], strict=True):
        for record in records:
            scores[record] += 1 / count
    best = [record for _, record in nlargest(_LOADED, zip(scores.values(), scores, strict=True))]
    found = [
        (record, similarity(record.text, text))
        for record in store.by_ids(connection, best, (scope,)).values()
        if record.status == "active" and record.subject == subject
    ]
    return sorted(found, key=lambda pair: (-pair[1], -pair[0].id))[:limit]


def records_with_attribute(connection: Connection, scope: str, subject: str, attribute: str) -> list[Record]:
    """Return the newest live records of this scope that say what this attribute of `subject` is."""
    ids = _select_newest(connection, _attribute(scope, subject, attribute), _LOADED)
    found = store.by_ids(connection, ids, (scope,)).values()
    return [record for record in found if record.status == "active" and record.subject == subject]


def subject_by_name(connection: Connection, scope: str, name: str) -> str | None:
    """Return the subject of this scope that is known to go by `name`, as the newest record that says so has it."""
    ids = _select_newest(connection, _name(scope, name), 1)
    found = store.by_ids(connection, ids, (scope,))
    return found[ids[0]].subject if ids and ids[0] in found else None


def subjects_by_name(connection: Connection, scope: str, name: str) -> set[str]:
    """Return every subject of this scope that is known to go by `name`."""
    ids = _select_newest(connection, _name(scope, name), _LOADED)
    return {known.subject for known in store.by_ids(connection, ids, (scope,)).values() if known.status == "active"}


def subject_by_relation(connection: Connection, scope: str, relation: str) -> str | None:
    """Return the subject of this scope whom its owner calls by a relation, such as "sister".

    None for none or several.
    """
    ids = _select_newest(connection, _relation(scope, relation), _LOADED)
    known = [each for each in store.by_ids(connection, ids, (scope,)).values() if each.status == "active"]
    names = {name for each in known for kin, name in list_relatives(each.text) if kin == relation}
    if len(names) != 1:
        return None
    (first,) = names
    return max((each.subject for each in known if each.subject.split()[:1] == [first]), key=len, default=first)


# ── filing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def index_record(connection: Connection, record: int, scope: str) -> None:
    """File a record under what it says now; one that is not live is taken out."""
    connection.execute("DELETE FROM term_index WHERE record_id = ?", (record,))
    known = store.get(connection, record, (scope,))
    if known is not None:
        index_new(connection, known)


def index_new(connection: Connection, record: Record) -> None:
    """File a record that is filed nowhere yet; one that is not live is left out."""
    if record.status == "active" and record.form in _FILED:
        connection.execute(
            "INSERT OR IGNORE INTO term_index (term, record_id) SELECT value, ? FROM json_each(?)",
            (record.id, json.dumps(sorted(set(_marks(record))))),
        )


def index_backlog(connection: Connection) -> None:
    """File a few of the records that are older than the files; nothing when there are none."""
    behind = read_state(connection, _BEHIND)
    if behind is None:
        return
    rows = store.page_before(connection, int(behind), ALL_SCOPES, _BATCH)
    for record, scope in rows:
        index_record(connection, record, scope)
    if len(rows) == _BATCH:
        write_state(connection, _BEHIND, str(rows[-1][0] - 1))
    else:
        connection.execute("DELETE FROM key_value WHERE key = ?", (_BEHIND,))


def iterate_shared_terms(connection: Connection) -> Iterator["tuple[int, array[int]]"]:
    """Yield every number that two or more records are filed under, with those; also of what is still to be filed."""
    late = _load_unfiled(connection)
    rows = connection.execute(
        "SELECT term, count(*), group_concat(record_id) FROM term_index WHERE record_id > ? GROUP BY term "
        "HAVING count(*) > 1 OR ?",
        (int(read_state(connection, _BEHIND) or 0), bool(late)),
    )
    for mark, count, listed in rows:
        more = late.pop(mark, None)
        if count > 1 or more:
            yield mark, (more or array("q")) + array("q", map(int, listed.split(",")))
    yield from ((mark, records) for mark, records in late.items() if len(records) > 1)


def term_counts(connection: Connection) -> dict[int, int]:
    """Count the numbers under which each record is filed, or will be."""
    behind = int(read_state(connection, _BEHIND) or 0)
    found: dict[int, int] = dict(
        connection.execute(
            "SELECT record_id, count(*) FROM term_index WHERE record_id > ? GROUP BY record_id", (behind,)
        ).fetchall()
    )
    for records in _load_unfiled(connection).values():
        for record in records:
            found[record] = found.get(record, 0) + 1
    return found


def _load_unfiled(connection: Connection) -> dict[int, "array[int]"]:
    """Return what the records that are still to be filed would be filed under."""
    before = int(read_state(connection, _BEHIND) or 0)
    late: dict[int, array[int]] = {}
    while rows := store.page_before(connection, before, ALL_SCOPES, _PAGE) if before else []:
        for record in store.by_ids(connection, [number for number, _ in rows], ALL_SCOPES).values():
            if record.status == "active" and record.form in _FILED:
                for mark in set(_marks(record)):
                    late.setdefault(mark, array("q")).append(record.id)
        before = rows[-1][0] - 1
    return late


def _marks(record: Record) -> Iterator[int]:
    about = topic_words(record.text)
    yield from (_mark(record.scope, record.subject, form) for forms in about for form in forms)
    yield from _join_stems(record.scope, record.subject, about)
    for attribute, value in json.loads(record.attributes).items():
        if attribute == "by":
            continue
        yield _attribute(record.scope, record.subject, attribute)
        if attribute in _NAMES and record.trust == "owner":
            yield from (_name(record.scope, each) for each in split_names(value))
    if record.trust == "owner":
        yield from (_relation(record.scope, kin) for kin, _ in list_relatives(record.text))


def split_names(value: object) -> list[str]:
    """Return the names that the value of an attribute such as `aliases` lists."""
    listed: Iterable[object] = value if isinstance(value, list) else str(value).replace(";", ",").split(",")
    return [str(each).strip() for each in listed if str(each).strip()]


def _mark(scope: str, subject: str, form: str) -> int:
    return _number(scope, subject, "w", form)


def _join_stems(scope: str, subject: str, about: tuple[tuple[str, ...], ...]) -> list[int]:
    """Return all words of a text in one, by their English and by their Spanish stems."""
    bags = {" ".join(sorted({forms[0] for forms in about})), " ".join(sorted({forms[-1] for forms in about}))}
    return [_number(scope, subject, "*", bag) for bag in sorted(bags) if bag]


def _attribute(scope: str, subject: str, attribute: str) -> int:
    return _number(scope, "=", supersession_key(subject, attribute))


def _name(scope: str, name: str) -> int:
    return _number(scope, "", "@", fold(" ".join(name.split())))


def _relation(scope: str, relation: str) -> int:
    return _number(scope, "", "of", relation)


def _number(*parts: str) -> int:
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _counts(connection: Connection, marks: Sequence[int]) -> list[int]:
    """Count the records under each of these marks, up to the most that a lookup reads."""
    rows = connection.execute(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM term_index WHERE term = mark.value LIMIT ?)) "
        "FROM json_each(?) AS mark ORDER BY mark.key",
        (_COMMON, json.dumps(marks)),
    )
    return [row[0] for row in rows]


def _newest_of_each(connection: Connection, marks: Sequence[int]) -> list[list[int]]:
    """Return the newest records under each of these marks."""
    rows = connection.execute(  # as one text a mark: a row of its own for each would cost as much as finding them
        "SELECT (SELECT json_group_array(record_id) FROM (SELECT record_id FROM term_index "
        "WHERE term = mark.value ORDER BY record_id DESC LIMIT ?)) FROM json_each(?) AS mark ORDER BY mark.key",
        (_COMMON, json.dumps(marks)),
    )
    return [sorted(json.loads(row[0]), reverse=True) for row in rows]


def _select_newest(connection: Connection, mark: int, limit: int) -> list[int]:
    rows = connection.execute(
        "SELECT record_id FROM term_index WHERE term = ? ORDER BY record_id DESC LIMIT ?", (mark, limit)
    )
    return [row[0] for row in rows]
