"""What contradicts each other and came past the door is settled as the door would have, or asked about."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from kenobot.cognitive.beliefs.value import strength
from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory
from tests.unit.cognitive.sleep.beliefs import links, live, put, relation_json, sleep_judged
from tests.unit.cognitive.sleep.nights import THEN, sleep, view_of

LATER = START + timedelta(hours=3)


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def questions(memory: Connection) -> list[str]:
    rows = memory.execute("SELECT text FROM record WHERE form = 'question' AND status = 'active' ORDER BY id")
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Adrian likes cilantro", "Adrian does not like cilantro"),
        ("A Laura le gusta el cilantro", "A Laura no le gusta el cilantro"),
        ("User likes cilantro", "User dislikes cilantro"),
    ],
)
def test_the_later_word_stands_where_a_model_says_so(memory: Connection, before: str, after: str) -> None:
    """The earlier one is history, linked both as replaced and as contradicted."""
    new, old = put(memory, after, at=LATER), put(memory, before)
    changes = sleep_judged(memory, pair_review.CONTRADICTIONS, "contradiction")
    assert [change.kind for change in changes] == ["invalidated"]
    assert live(memory) == [after]
    assert (new.id, old.id) in links(memory, "supersedes") & links(memory, "contradicts")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Adrian likes cilantro", "Adrian does not like cilantro"),
        ("A Laura le gusta el cilantro", "A Laura no le gusta el cilantro"),
        ("Como carne", "No como carne"),
    ],
)
def test_without_a_model_the_owner_is_asked_and_both_stay(memory: Connection, before: str, after: str) -> None:
    """What rules take for a contradiction is one open question, and changes neither."""
    records = [put(memory, after, at=LATER), put(memory, before)]
    assert [change.kind for change in sleep(memory, pair_review.CONTRADICTIONS)] == ["questioned"]
    assert len(questions(memory)) == 1
    assert [get(memory, record.id) for record in records] == records


def test_another_value_is_asked_about(memory: Connection) -> None:
    """Whatever the words; what one can have several of, and what happened, is not."""
    put(memory, "Bob lives in Lyon", subject="bob", attributes='{"residence": "Lyon"}')
    put(memory, "He has moved: Bob is in Nice these days", subject="bob", at=LATER, attributes='{"residence": "Nice"}')
    for text, name in (("Bob speaks French", "language"), ("Bob speaks Spanish", "language")):
        put(memory, text, subject="bob", attributes=f'{{"{name}": "{text[-6:]}"}}')
    assert [change.kind for change in sleep(memory, pair_review.CONTRADICTIONS)] == ["questioned"]
    assert {"Bob lives in Lyon", "He has moved: Bob is in Nice these days"} <= {*live(memory)}


def test_what_admit_saw_and_let_stand_stands(memory: Connection) -> None:
    """Two values that came in by the door are no news to sleep."""
    put(memory, "He is at Acme", attributes='{"employer": "Acme"}', source="extraction")
    put(memory, "Globex pays him as well", attributes='{"employer": "Globex"}', source="extraction", at=LATER)
    assert sleep(memory, pair_review.CONTRADICTIONS) == []


def test_what_many_turns_support_is_weakened_by_a_verdict(memory: Connection) -> None:
    """It stays beside the new one, less believed, and never more than before."""
    old = put(memory, "Strict mode is essential", source_messages="[1, 2, 3]", confidence=0.6)
    put(memory, "Strict mode is not essential", at=LATER, confidence=0.6)
    assert [change.kind for change in sleep_judged(memory, pair_review.CONTRADICTIONS, "contradiction")] == ["weakened"]
    after = get(memory, old.id)
    assert (after.status, round(after.confidence, 4)) == ("active", 0.4)
    assert strength(after, THEN) <= strength(old, THEN)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"verification": "user_confirmed"}, {}),
        ({"policy_class": "protected"}, {}),
        ({"source": "tag"}, {"trust": "model", "confidence": 0.5}),
    ],
)
def test_what_may_not_be_taken_is_asked_about(
    memory: Connection, older: dict[str, str], newer: dict[str, str | float]
) -> None:
    """What the owner confirmed, or said, yields to their word only: both stay, and there is one open question.

    It is in the language in which they told the rest, where the words of neither have one.
    """
    put(memory, "Mi vecina Eva tiene una huerta", at=START)
    put(memory, "Laura no come carne", at=START, **older)
    put(memory, "Laura come carne", at=LATER, **newer)
    sleep(memory, pair_review.CONTRADICTIONS)
    assert questions(memory) == ["¿Qué es lo correcto: «Laura no come carne» o «Laura come carne»?"]
    assert len(live(memory)) == 4


def test_a_question_ends_with_its_answer_and_is_asked_once(memory: Connection) -> None:
    """Nothing tells which came first: asked. One of the two is forgotten: no question any more."""
    one = put(memory, "Bob eats meat", subject="bob")
    put(memory, "Bob does not eat meat", subject="bob")
    sleep(memory, pair_review.CONTRADICTIONS)
    assert len(questions(memory)) == 1
    assert sleep(memory, pair_review.CONTRADICTIONS, THEN + timedelta(days=1)) == []
    memory.execute("UPDATE record SET status = 'forgotten' WHERE id = ?", (one.id,))
    assert [change.kind for change in sleep(memory, pair_review.CONTRADICTIONS)] == ["expired"]
    assert questions(memory) == []


def test_a_quotation_speaks_against_nothing(memory: Connection) -> None:
    """What a forwarded message says takes nothing away, and asks the owner nothing."""
    put(memory, "Adrian likes cilantro")
    put(memory, "Adrian does not like cilantro", at=LATER, trust="forward")
    assert sleep(memory, pair_review.CONTRADICTIONS) == []


@pytest.mark.parametrize("trust", ["owner", "model", "guest"])
def test_a_question_about_a_guests_words_is_quoted_as_theirs(memory: Connection, trust: str) -> None:
    """So that a guest's words never stand in a prompt as the house's own."""
    put(memory, "Bob eats meat", subject="bob", scope="chat:1", trust="guest")
    put(memory, "Bob does not eat meat", subject="bob", scope="chat:1", trust=trust)
    sleep(memory, pair_review.CONTRADICTIONS)
    rows = memory.execute("SELECT trust, scope FROM record WHERE form = 'question'").fetchall()
    assert rows == [("guest", "chat:1")]


def test_what_the_owner_undid_is_not_done_again(memory: Connection) -> None:
    """Undone, both stay, tonight and later."""
    put(memory, "Adrian likes cilantro")
    put(memory, "Adrian does not like cilantro", at=LATER)
    sleep_judged(memory, pair_review.CONTRADICTIONS, "contradiction")
    root = memory.execute("SELECT min(id) FROM event WHERE type = 'invalidated'").fetchone()[0]
    undo(memory, root, ("owner",), AdmitContext(THEN, "2026-02-15", "owner"))
    assert len(live(memory)) == 2
    assert sleep(memory, pair_review.CONTRADICTIONS, THEN + timedelta(days=1)) == []


def test_a_model_tells_what_words_do_not(memory: Connection) -> None:
    """A contradiction in other words; a repeat; and what it told apart is not asked about again."""
    for at, text in ((START, "The user thinks writing unit tests pays off"), (LATER, "The user thinks writing unit "
                     "tests is tedious")):  # fmt: skip
        put(memory, text, at=at)
    asked = list(pair_review.CONTRADICTIONS.questions(view_of(memory)))
    assert len(asked) == 1
    assert "> The user thinks writing unit tests pays off" in asked[0].text
    assert sleep(memory, pair_review.CONTRADICTIONS) == []
    changes = sleep(memory, pair_review.CONTRADICTIONS, answers={asked[0].key: relation_json("independent")})
    assert [change.kind for change in changes] == ["compared"]
    sql = "SELECT json_extract(data, '$.action') FROM event WHERE type = 'compared'"
    assert memory.execute(sql).fetchone() == ("link_graph",)
    assert pair_review.CONTRADICTIONS.questions(view_of(memory)) == []


@pytest.mark.parametrize(("relation", "kind", "left"), [("contradiction", "invalidated", 1), ("repeat", "merged", 1)])
def test_a_verdict_is_carried_out_and_never_deletes(memory: Connection, relation: str, kind: str, left: int) -> None:
    """Records only change their status."""
    put(memory, "The user thinks writing unit tests pays off")
    put(memory, "The user thinks writing unit tests is tedious", at=LATER)
    asked = list(pair_review.CONTRADICTIONS.questions(view_of(memory)))
    changes = sleep(memory, pair_review.CONTRADICTIONS, answers={asked[0].key: relation_json(relation)})
    assert [change.kind for change in changes] == [kind]
    assert len(live(memory)) == left
    assert memory.execute("SELECT count(*) FROM record").fetchone() == (2,)


def test_scopes_never_meet(memory: Connection) -> None:
    """What a chat says is nothing against what the owner says elsewhere."""
    put(memory, "Adrian likes cilantro")
    put(memory, "Adrian does not like cilantro", at=LATER, scope="chat:1")
    put(memory, "It is Lyon", attributes='{"residence": "Lyon"}')
    put(memory, "It is Nice", attributes='{"residence": "Nice"}', at=LATER, scope="user:x")
    assert sleep(memory, pair_review.DUPLICATES) == sleep(memory, pair_review.CONTRADICTIONS) == []
