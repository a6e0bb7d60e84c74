"""A conclusion is drawn by a model only, once, from what somebody said, and does not outlive it."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate import synthesize
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from tests.memory_rows import get, open_memory
from tests.unit.cognitive.sleep.beliefs import links, live, put
from tests.unit.cognitive.sleep.nights import THEN, sleep, view_of

BELIEFS = (
    "The user prefers concise weekly reports",
    "The user prefers concise monthly reports",
    "The user prefers concise incident reports",
)
PRINCIPLE = "The user values brevity in reports"


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def answer(memory: Connection, principle: str | None = PRINCIPLE) -> dict[str, str]:
    return {question.key: json.dumps({"principle": principle}) for question in synthesize.questions(view_of(memory))}


def metas(memory: Connection) -> list[Record]:
    rows = memory.execute("SELECT id FROM record WHERE category = 'meta' AND status = 'active' ORDER BY id")
    return [get(memory, row[0]) for row in rows.fetchall()]


def test_a_theme_becomes_a_belief_about_it(memory: Connection) -> None:
    """As sure and as lasting as the seed has it, linked to what it was drawn from, which stays."""
    ids = [put(memory, text).id for text in BELIEFS]
    put(memory, "The user lives in Lyon near the station")
    sleep(memory, synthesize.PASS, answers=answer(memory))
    (meta,) = metas(memory)
    assert (meta.text, meta.confidence, meta.stability, meta.source) == (PRINCIPLE, 0.8, 3.0, "sleep")
    assert {dst for src, dst in links(memory, "derived") if src == meta.id} == set(ids)
    assert set(BELIEFS) < set(live(memory))
    sql = "SELECT json_extract(data, '$.action') FROM event WHERE actor = 'sleep' AND data LIKE '%\"pass\"%'"
    assert memory.execute(sql).fetchone() == ("summarize_node",)


def test_without_a_model_nothing_is_concluded(memory: Connection) -> None:
    """Nor from an answer that cannot be read."""
    for text in BELIEFS:
        put(memory, text)
    assert sleep(memory, synthesize.PASS) == []
    (asked,) = synthesize.questions(view_of(memory))
    assert sleep(memory, synthesize.PASS, answers={asked.key: "I would say brevity"}) == []


def test_the_same_is_never_concluded_twice(memory: Connection) -> None:
    """Three nights, one conclusion, and it never joins a theme itself; not even forgotten is it drawn again."""
    for text in BELIEFS:
        put(memory, text)
    sleep(memory, synthesize.PASS, answers=answer(memory, "The user prefers concise reports of any kind"))
    for night in (1, 2):
        assert synthesize.questions(view_of(memory, THEN + timedelta(days=night))) == []
    assert len(metas(memory)) == 1
    memory.execute("UPDATE record SET status = 'forgotten' WHERE category = 'meta'")
    assert synthesize.questions(view_of(memory)) == []


def test_a_theme_without_a_principle_is_pondered_once(memory: Connection) -> None:
    """Until as many again have come as make a theme; then the new conclusion takes the place of what it outgrew."""
    for text in BELIEFS:
        put(memory, text)
    changes = sleep(memory, synthesize.PASS, answers=answer(memory, None))
    assert [change.kind for change in changes] == ["pondered"]
    assert synthesize.questions(view_of(memory)) == []
    for kind in ("yearly", "travel", "budget"):
        put(memory, f"The user prefers concise {kind} reports")
    sleep(memory, synthesize.PASS, answers=answer(memory))
    assert [meta.text for meta in metas(memory)] == [PRINCIPLE]


@pytest.mark.parametrize(
    "principle",
    [
        "The user wants reports of 3 pages",
        "It is Laura who writes the reports",
        "The user prefers concise weekly reports",
        "The user does not prefer concise weekly reports",
        "None",
    ],
)
def test_what_is_no_conclusion_is_not_kept(memory: Connection, principle: str) -> None:
    """It invents something, is one of the beliefs itself, or denies one."""
    for text in BELIEFS:
        put(memory, text)
    sleep(memory, synthesize.PASS, answers=answer(memory, principle))
    assert metas(memory) == []
    assert set(live(memory)) == set(BELIEFS)


def test_a_conclusion_goes_with_what_it_stands_on(memory: Connection) -> None:
    """When fewer than three of its beliefs are left."""
    ids = [put(memory, text).id for text in BELIEFS]
    sleep(memory, synthesize.PASS, answers=answer(memory))
    memory.execute("UPDATE record SET status = 'forgotten' WHERE id = ?", (ids[0],))
    assert [change.kind for change in sleep(memory, synthesize.PASS)] == ["expired"]
    assert metas(memory) == []


def test_people_and_scopes_are_not_mixed_and_strangers_left_out(memory: Connection) -> None:
    """Three near beliefs of three people, of three scopes, or quoted, are no theme."""
    for number, text in enumerate(BELIEFS):
        put(memory, text, subject=f"person{number}")
        put(memory, text, scope=f"chat:{number}", key=f"c{number}")
        put(memory, text, trust="tool", key=f"t{number}")
    assert synthesize.questions(view_of(memory)) == []


def test_what_is_forgotten_is_in_no_conclusion(memory: Connection) -> None:
    """It goes at once with any belief that it was drawn from."""
    ids = [put(memory, text).id for text in BELIEFS]
    sleep(memory, synthesize.PASS, answers=answer(memory))
    forget(memory, ids[0], ("owner",), AdmitContext(THEN + timedelta(hours=1), "2026-02-15", "owner"))
    assert metas(memory) == []
