"""What a night makes of a confidence is one: merged, put right or summed up, its words keep the mark."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from kenobot.cognitive.control import export
from kenobot.cognitive.sleep.consolidate import synthesize
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.cognitive.sleep.night import NIGHT
from kenobot.ports.memory import CONFIDED
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory
from tests.nights import play
from tests.unit.cognitive.sleep.beliefs import put, relation_json, sleep_judged
from tests.unit.cognitive.sleep.nights import sleep, view_of

MARK = json.dumps([CONFIDED])
LATER = START + timedelta(days=12)


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def records_of(memory: Connection) -> list[Record]:
    rows = memory.execute("SELECT id FROM record WHERE status = 'active' ORDER BY id").fetchall()
    return [get(memory, row[0]) for row in rows]


@pytest.mark.parametrize("trust", ["owner", "model", "guest"])
@pytest.mark.parametrize("others", [0, 30])
def test_a_merged_confidence_stays_one(memory: Connection, trust: str, others: int) -> None:
    """Whoever's word stays, and however many tags there are, what says the same as a confidence is one."""
    put(memory, "Adrian left his wife Laura in March", trust=trust, tags=MARK)
    many = json.dumps([f"a{number:02}" for number in range(others)])
    put(memory, "Adrian left his wife Laura in March.", tags=many, confidence=1.0)
    sleep(
        memory,
        pair_review.DUPLICATES,
        answers={
            question.key: relation_json("repeat") for question in pair_review.DUPLICATES.questions(view_of(memory))
        },
    )
    left = [record for record in records_of(memory) if "Laura" in record.text]
    assert len(left) == 1 or all(record.trust == "guest" for record in left if record.is_confided)
    assert len(left) == 2 or left[0].is_confided


def test_what_takes_the_place_of_a_confidence_is_one(memory: Connection) -> None:
    """A later word against it, which ends it at night by a model's verdict, tells of the same thing."""
    put(memory, "Adrian is in love with Laura", tags=MARK)
    newer = put(memory, "Adrian is not in love with Laura", at=START + timedelta(days=1))
    sleep_judged(memory, pair_review.CONTRADICTIONS, "contradiction", START + timedelta(days=2))
    assert [record.text for record in records_of(memory)] == [newer.text]
    assert get(memory, newer.id).is_confided


def test_a_question_about_a_confidence_is_one(memory: Connection) -> None:
    """It quotes what was told in confidence."""
    put(memory, "Adrian is in love with Laura", tags=MARK)
    put(memory, "Adrian is not in love with Laura", at=START + timedelta(days=1))
    sleep(memory, pair_review.CONTRADICTIONS, START + timedelta(days=2))
    [question] = [record for record in records_of(memory) if record.form == "question"]
    assert question.is_confided


def test_what_a_whole_night_makes_of_confidences_is_marked(memory: Connection) -> None:
    """Profile, week and conclusion: each has the mark when one of its sources has it, and an export keeps it."""
    for report in ("weekly", "monthly", "incident"):
        put(memory, f"The user prefers concise {report} reports", category="preference", tags=MARK)
    put(memory, "Oskar told the user that he gambles at night", form="episode", tags=MARK)
    asked = synthesize.questions(view_of(memory, LATER))
    answers = {question.key: json.dumps({"principle": "The user values brevity in reports"}) for question in asked}
    play(memory, NIGHT, LATER, answers=answers, model_available=True)
    made = [record for record in records_of(memory) if record.source == "sleep"]
    assert {"profile", "summary", "note"} <= {record.form for record in made}
    assert all(record.is_confided for record in made), [record.text for record in made if not record.is_confided]
    lines = [json.loads(line) for line in export.export(memory, ALL_SCOPES, LATER)]
    exported = [line["record"] for line in lines if line.get("record", {}).get("source") == "sleep"]
    assert len(exported) >= len(made)
    assert all(CONFIDED in json.dumps(row["tags"]) for row in exported)
