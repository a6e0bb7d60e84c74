"""Scope is enforced where rows are read: no query of people's words goes without saying whose they may be."""

import ast
import re
from collections.abc import Callable, Iterator

import pytest

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES, Scopes
from kenobot_testing.clock import START
from tests.sources import find_modules

_OCCASION = AdmitContext(START, "2026-02-14", "test")
_WORDS = re.compile(r"\b(?:from|join)\s+(?:record|message|prompt_prefix)\b", re.IGNORECASE)
_BOUND = re.compile(r"\bscope = \?|\{where\}|\bsession = \?", re.IGNORECASE)
_NUMBERS_ONLY = re.compile(  # or the names of sessions, of which each is then asked for by itself
    r"select\s+max\(id\) from (?:record|message)\b|select distinct scope from record"
    r"|select id from record where id \{store\.among\}"
    r"|as \(select min\(session\) from message"
    r"|select pictures from message where pictures"  # digests of files, of which the unused ones go
    r"|select exists \(select 1 from inbox"  # whether a message has been answered
    r"|select exists \(select 1 from message where id"  # whether there is any talk but what the prompt shows
    r"|select platform_id from message where \{_sessions\}"  # fingerprints of what was imported
    r"|select (?:distinct inbox_id|min\(id\), max\(id\)) from message where inbox_id between"
    r"|select max\(at\) from \("  # when the database was last written to
    r"|select session, max\(id\), max\(at\), count\(\*\) from message where scope \{_?among\}"  # of who asks
    r"|not in \(select id from record where not \{says\} and \{listed\}\)"  # what holds others: nothing that tells
    r"|select count\(\*\), total\(id\), total\(use_count\)|select 1 from event left join record",
    re.IGNORECASE,
)


def _queries() -> Iterator[tuple[str, str]]:
    """Every piece of SQL in the package that reads words of people: where it stands, and its text."""
    for path in find_modules():
        source = path.read_text("utf-8")
        nodes = list(ast.walk(ast.parse(source))) if re.search(r"select\b", source, re.IGNORECASE) else []
        pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
        for node in nodes:
            if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in pieces:
                text = ast.unparse(node)
                if _WORDS.search(text) and re.search(r"\bselect\b", text, re.IGNORECASE):
                    yield f"{path.name}:{node.lineno}", text


def test_every_query_of_words_is_bound_to_scopes_or_a_session() -> None:
    """In all of the package, whoever wrote it: a query that is not does not pass this test."""
    found = dict(_queries())
    assert len([at for at in found if at.startswith("records.py")]) >= 12
    assert {at.partition(":")[0] for at in found} >= {"records.py", "conversation.py", "pass_rows.py"}
    loose = {at: sql for at, sql in found.items() if not _BOUND.search(sql) and not _NUMBERS_ONLY.search(sql)}
    assert loose == {}


def test_whole_home_is_asked_for_by_name_and_rarely() -> None:
    """The mirror and its cards, the index, the closing of boxes, a rebuild, sleep, and the owner at the command line.

    Sleep looks after everybody's memory: `apply_change.py` carries out a change in the scope of its record,
    and undoes a night; `report.py` and `why_not.py` answer the owner at the command line. `pass_rows.py` and
    `endings.py` read what sleep judges, each in its own scope; `pattern_file.py`
    keeps the file of all patterns on the owner's disk.

    `export_rows.py` hands the owner all there is, where no scopes are named.

    A purge looks through everybody's reminders for what is erased: `job_rows.py`.

    A summary may tell in any chat what is to be forgotten: `summary_rows.py` finds it and takes it back.
    `session_note.py` writes the owner's own file.

    Words and vectors of everybody's memory are kept by scope and looked for within one: `documents.py`,
    `backlog_rows.py`, `vector_rows.py`.

    `services.py` has the owner's key of the REST API reach what the owner reaches; `operations.py` counts for it.

    `fresh_copy.py` makes anew what a copy of a whole home lacks; `timeline_rows.py` counts for the owner's timeline
    faster than within scopes that are named.

    `derived_texts.py` has the summaries of chats follow a memory that was corrected in the scope of their talk.

    `live.py` and `asked.py` measure what the memory of an invented person holds, in a home made for it.

    Another place has to be put on this list with a reason.
    """
    using = {path.name for path in find_modules() if "ALL_SCOPES" in path.read_text("utf-8")}
    assert using == {
        "apply_change.py",
        "backlog_rows.py",
        "boxes.py",
        "context.py",
        "derived_texts.py",
        "documents.py",
        "endings.py",
        "export_rows.py",
        "fresh_copy.py",
        "job_rows.py",
        "list_files.py",
        "asked.py",
        "live.py",
        "operations.py",
        "pass_rows.py",
        "pattern_file.py",
        "rebuild.py",
        "record_plans.py",
        "report.py",
        "scopes.py",
        "services.py",
        "session_note.py",
        "sleep_plans.py",
        "summary_rows.py",
        "term_index.py",
        "timeline_rows.py",
        "vector_rows.py",
        "why_not.py",
    }


Look = Callable[[Connection, int, Scopes], object]
LOOKS: dict[str, Look] = {
    "get": records.get,
    "by_ids": lambda connection, record, reach: records.by_ids(connection, [record], reach),
    "successor": records.successor,
    "forget": lambda connection, record, reach: forget(connection, record, reach, _OCCASION),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
async def test_an_id_opens_no_other_scope(database: Database, look: Look) -> None:
    """Whoever knows or guesses the number of a record gets nothing of it outside their own scopes."""

    def work(connection: Connection) -> None:
        old = admit(connection, Candidate("note", "user:b", "canary old"), _OCCASION).record
        assert old is not None
        new = supersede(connection, old, Candidate("note", "user:b", "canary new"), _OCCASION).record
        assert new is not None
        record = old if look is LOOKS["successor"] else new
        for foreign in ((), ("owner",), ("user:a", "chat:a"), ("user", "b", "user:B")):
            assert not look(connection, record, foreign)
        assert look(connection, record, ("owner", "user:b"))

    await database.write(work)


async def test_nobody_supersedes_in_another_scope(database: Database) -> None:
    """A candidate of one scope takes the place of no record of another, whatever number is said."""

    def work(connection: Connection) -> None:
        theirs = admit(connection, Candidate("note", "user:b", "canary"), _OCCASION).record
        assert theirs is not None
        decision = supersede(connection, theirs, Candidate("note", "user:a", "mine now"), _OCCASION)
        assert decision.action == "created"
        kept = records.get(connection, theirs, ALL_SCOPES)
        assert kept is not None
        assert kept.status == "active"

    await database.write(work)


async def test_a_batch_of_ids_gives_only_ones_own(database: Database) -> None:
    """Across the borders of a batch too, and the whole home only by its name."""

    def work(connection: Connection) -> None:
        scopes = ["owner", "user:b", "chat:c"]
        made = [admit(connection, Candidate("note", scopes[n % 3], f"fact {n}"), _OCCASION).record for n in range(1200)]
        ids = [number for number in made if number is not None]
        assert len(ids) == 1200
        own = records.by_ids(connection, ids, ("owner", "chat:c"))
        assert {record.scope for record in own.values()} == {"owner", "chat:c"}
        assert len(own) == 800
        assert len(records.by_ids(connection, ids, ALL_SCOPES)) == 1200
        assert records.by_ids(connection, ids, ()) == {}
        assert {r.scope for r in records.list_changed_since(connection, ("user:b",), 0, 2000)} == {"user:b"}
        assert records.list_changed_since(connection, (), 0, 2000) == []

    await database.write(work)
