"""What says nearly the same is found by a few of its words, whatever else is remembered."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kenobot.cognitive.control.forget import forget, plan_purge, purge
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records, term_index
from kenobot.cognitive.store.change import change
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_state
from kenobot_testing.clock import START
from tests.memory_rows import open_memory, put_record
from tests.samples import plan

_NOW = AdmitContext(START, "2026-02-14", "test")
_REACH = ("owner",)


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def found(memory: Connection, text: str, scope: str = "owner", subject: str = "owner") -> list[str]:
    return [record.text for record, _ in term_index.neighbours(memory, scope, subject, text)]


def test_a_lookup_stays_with_one_scope_and_subject(memory: Connection) -> None:
    """And finds words of any script, by their stems."""
    for scope, subject, text in [
        ("owner", "", "Adrian drinks green tea"),
        ("owner", "Bob", "drinks black tea"),
        ("chat:1", "", "we drink tea here"),
        ("owner", "", "我喜欢喝绿茶"),
        ("owner", "", "a mí me gustan los trenes"),
    ]:
        admit(memory, Candidate("note", scope, text, subject=subject), _NOW)
    assert found(memory, "drinking tea") == ["Adrian drinks green tea"]
    assert found(memory, "tea", subject="bob") == ["drinks black tea"]
    assert found(memory, "tea", "chat:1") == ["we drink tea here"]
    assert found(memory, "绿茶") == ["我喜欢喝绿茶"]
    assert found(memory, "me gusta el tren") == ["a mí me gustan los trenes"]


def test_what_is_gone_is_not_found_and_what_comes_back_is(memory: Connection) -> None:
    """Also under its new words when it is reworded; what is erased leaves nothing."""
    number = admit(memory, Candidate("note", "owner", "Adrian drinks tea"), _NOW).record or 0
    forget(memory, number, _REACH, _NOW)
    assert found(memory, "tea") == []
    known = records.get(memory, number, _REACH)
    assert known is not None
    change(memory, known, "undone", {"status": "active", "text": "Adrian drinks milk"}, _NOW.change_context(""))
    assert found(memory, "tea") == []
    assert found(memory, "milk") == ["Adrian drinks milk"]
    doomed = plan_purge(memory, number, _REACH)
    assert doomed is not None
    purge(memory, doomed, _NOW)
    assert memory.execute("SELECT count(*) FROM term_index").fetchone() == (0,)


def test_records_from_before_are_filed_little_by_little(memory: Connection) -> None:
    """Each admit files a few of those that came in another way, until none is left."""
    for number in range(60):
        put_record(memory, f"old fact about station {number}")
    memory.execute("INSERT INTO key_value (key, value) SELECT 'terms:next', max(id) FROM record")
    for number in range(3):
        admit(memory, Candidate("note", "owner", f"something else {number}"), _NOW)
    assert memory.execute("SELECT count(DISTINCT record_id) FROM term_index").fetchone()[0] == 63
    assert "old fact about station 7" in found(memory, "station 7")
    assert read_state(memory, "terms:next") is None


def test_a_denial_is_found_among_thousands_of_common_words(memory: Connection) -> None:
    """However many records share each of its words: all of them together are filed as one."""
    admit(memory, Candidate("note", "owner", "Adrian likes green tea"), _NOW)
    for number in range(400):
        common = f"Adrian likes green paint {number}" if number % 2 else f"Adrian likes black tea {number}"
        admit(memory, Candidate("episode", "owner", common), _NOW)
    decision = admit(memory, Candidate("note", "owner", "Adrian doesn't like green tea"), replace(_NOW, evidence=9))
    assert (decision.action, decision.reason) == ("replaced", "takes the place of 1")


def test_a_lookup_reads_few_rows_however_much_is_remembered(memory: Connection) -> None:
    """Every query is answered from an index, and follows a bounded number of its rows."""
    for number in range(300):
        record = put_record(memory, f"Adrian likes thing {number}")
        term_index.index_record(memory, record.id, record.scope)
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    costs = []
    for _ in range(2):
        memory.set_progress_handler(count, 10)
        steps = 0
        term_index.neighbours(memory, "owner", "owner", "Adrian likes other things")
        costs.append(steps)
        memory.set_progress_handler(None, 0)
        for number in range(2000):
            record = put_record(memory, f"Adrian likes thing {number} too")
            term_index.index_record(memory, record.id, record.scope)
    assert costs[1] < 2 * costs[0]
    for sql in (
        "SELECT record_id FROM term_index WHERE term = 1 ORDER BY record_id DESC LIMIT 9",
        "DELETE FROM term_index WHERE record_id = 1",
        "SELECT id FROM record WHERE key = '' AND scope = '' AND status != 'active' ORDER BY id DESC LIMIT 8",
    ):
        assert "SCAN" not in plan(memory, sql), sql


def test_a_name_stands_for_whom_the_owner_says(memory: Connection) -> None:
    """Other names of somebody, once told by the owner; a quotation gives nobody a name."""
    told = Candidate("note", "owner", "Laura goes by Lau", subject="Laura", attributes=(("aliases", "Lau, Laurita"),))
    admit(memory, told, _NOW)
    admit(memory, replace(told, text="Bob goes by Lau", subject="Bob", trust="tool"), _NOW)
    assert term_index.subject_by_name(memory, "owner", "LAURITA") == "laura"
    assert term_index.subject_by_name(memory, "owner", "lau") == "laura"
    assert term_index.subject_by_name(memory, "chat:1", "lau") is None
    number = admit(memory, Candidate("note", "owner", "plays chess", subject="Lau"), _NOW).record or 0
    known = records.get(memory, number, _REACH)
    assert known is not None
    assert known.subject == "laura"
