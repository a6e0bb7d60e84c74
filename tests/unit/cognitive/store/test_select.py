"""The queries that rows modules share: condition, scope, order, limit and pages."""

from collections.abc import Iterator

import pytest

from kenobot.cognitive.store import records
from kenobot.cognitive.store.records import AMONG, FACTS, LIVE
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.memory_rows import open_memory, put_record


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def test_records_that_meet_a_condition_within_the_reach_come_in_order(memory: Connection) -> None:
    kept = [put_record(memory, text).id for text in ("one", "two", "three")]
    put_record(memory, "gone", status="forgotten")
    other = put_record(memory, "elsewhere", scope="chat:1").id
    assert [each.id for each in records.select(memory, LIVE, (), ("owner",))] == kept
    assert records.select_ids(memory, LIVE, (), ("owner",), order="id DESC", limit=2) == kept[:0:-1]
    assert records.select_ids(memory, f"{FACTS} AND {LIVE}", (), ALL_SCOPES, scan_scope=False) == [*kept, other]
    assert records.select_ids(memory, f"id {AMONG}", (f"[{kept[1]}, {other}]",), ("chat:1",)) == [other]
    assert records.count(memory, LIVE, (), ("owner",)) == 3
    assert records.select(memory, LIVE, (), ()) == []


def test_pages_go_through_all_of_them_once(memory: Connection) -> None:
    kept = [put_record(memory, f"number {number}").id for number in range(7)]
    assert [each.id for each in records.pages(memory, "text != ?", ("number 3",), ALL_SCOPES, size=2)] == kept[
        :3
    ] + kept[4:]
