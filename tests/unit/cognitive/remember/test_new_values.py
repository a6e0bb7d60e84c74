"""Which values of attributes a draft replaces: those that a model gives, and those that rules read in a text."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate, Decision, RelationVerdict
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import open_memory


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def say(memory: Connection, text: str, turn: int, scope: str = "owner", **given: Any) -> Decision:
    """Admit what the turn of this number says, as a model that extracts notes it."""
    evidence = given.pop("evidence", turn)
    occasion = AdmitContext(START + timedelta(minutes=turn), "2026-02-14", "model", "s-1", evidence=evidence)
    told = {"source": "extraction", "confidence": 0.95, **given}
    return admit(memory, Candidate("note", scope, text, **told), occasion)


def live(memory: Connection) -> list[str]:
    rows = memory.execute("SELECT text FROM record WHERE status = 'active' AND form != 'box' ORDER BY id")
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("allergies", ("The user is allergic to peanuts", "peanuts"), ("The user is allergic to bees", "bees")),
        ("food allergies", ("Allergic to peanuts", "peanuts"), ("Allergic to penicillin", "penicillin")),
        ("medication", ("The user takes ramipril", "ramipril"), ("The user takes metformin", "metformin")),
        ("instrument", ("The user plays piano", "piano"), ("The user plays the cello", "cello")),
        ("children", ("The user's son is Leo", "Leo"), ("The user's daughter is Mia", "Mia")),
        ("hijos", ("Su hijo es Leo", "Leo"), ("Su hija es Mía", "Mía")),
        ("flat", ("The user has a flat in Vigo", "Vigo"), ("The user has a flat in Lugo", "Lugo")),
        ("favourite film", ("A favourite film is Alien", "Alien"), ("A favourite film is Dune", "Dune")),
        ("city", ("The user lives in Oslo", "Oslo"), ("The user lived in Rome until 2015", "Rome")),
        ("employer", ("The user works at Acme", "Acme"), ("The user also works at Beta on weekends", "Beta")),
    ],
)
def test_one_value_is_told_beside_another(
    memory: Connection, name: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Under a name that a model made up, in the past, or besides; with its verdict it takes the place."""
    first = say(memory, one[0], 1, attributes=((name, one[1]),))
    assert say(memory, other[0], 2, attributes=((name, other[1]),)).action == "created"
    assert live(memory) == [one[0], other[0]]
    assert memory.execute("SELECT count(*) FROM link WHERE type = 'contradicts'").fetchone() == (0,)
    verdicts = (RelationVerdict(first.record or 0, "contradiction"),)
    say(memory, f"{other[0]}, and not the former", 3, attributes=((name, other[1]),), verdicts=verdicts)
    assert one[0] not in live(memory)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("city", ("The user lives in Oslo", "Oslo"), ("I moved to Paris", "Paris")),
        ("residence", ("El usuario vive en Vigo", "Vigo"), ("El usuario se ha mudado a Lugo", "Lugo")),
        ("name", ("The user's name is Ana", "Ana"), ("The user's name is Eva", "Eva")),
        ("birthday", ("The user's birthday is 3 May", "3 May"), ("The user's birthday is 4 May", "4 May")),
        ("phone", ("The user's phone is 600111222", "600111222"), ("The user's phone is 600333444", "600333444")),
        ("employer", ("The user works at Acme", "Acme"), ("The user works at Globex", "Globex")),
    ],
)
def test_another_value_of_what_there_is_one_of_takes_the_place(
    memory: Connection, name: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Also without a verdict, where both statements tell nothing else; back again, too."""
    for turn, (text, value) in enumerate((one, other, one), 1):
        say(memory, text, turn, attributes=((name, value),))
        assert live(memory) == [text]


def test_one_changed_value_takes_no_other_away(memory: Connection) -> None:
    """Of a note of two values the one stays that nothing tells to be over."""
    old = say(
        memory, "Laura, a baker, lives in Lyon", 1, subject="Laura", attributes=(("city", "Lyon"), ("job", "baker"))
    )
    told = (("city", "Paris"), ("job", "singer"))
    say(memory, "Laura moved to Paris and she is a singer", 2, subject="Laura", attributes=told)
    known = records.get(memory, old.record or 0, ("owner",))
    assert known is not None
    assert (known.status, known.attribute_map) == ("active", {"job": "baker"})


PAIRS = [
    ("My mother is called Rosa", "My mother is Spanish"),
    ("Mi madre se llama Rosa", "Mi madre es Española"),
    ("My birthday is 3 May", "My birthday is on Saturday"),
    ("Yoga is on Monday", "Yoga is at 18:00"),
    ("Yoga is on Monday", "Yoga is on Thursday"),
    ("Pilates es el lunes", "Pilates es el jueves"),
    ("I live in Paris", "I moved to Madrid in 2010"),
    ("Vivo en Vigo", "Me mudé a Madrid en 2010"),
    ("I live in Paris", "I moved to Linux"),
    ("I work at Acme", "I work at Beta on weekends"),
    ("Trabajo para Acme", "Trabajo para Beta los sábados"),
    ("My phone is 600111222", "My phone is a Pixel 8"),
    ("My doctor is Ruiz", "My doctor is Vegan"),
    ("My car is a Seat", "My car is Red"),
    ("My favourite film is Alien", "My favourite film is Dune"),
    ("My size is 42", "My size is 38"),
    ("The bus is 42", "The bus is 27"),
]


@pytest.mark.parametrize("source", ["command", "tag", "edit", "extraction"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_rules_read_in_a_text_ends_nothing(memory: Connection, one: str, other: str, source: str) -> None:
    """Whoever wrote it: they may have misread what the words are a value of."""
    say(memory, one, 1, source=source)
    say(memory, other, 2, source=source)
    assert live(memory) == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yoga is on Monday", "Yoga is on Thursday now"),
        ("The door code is 4471", "The door code is now 5582"),
        ("El código del portal es 1234", "El código del portal ahora es 4471"),
        ("My favourite film is Alien", "My favourite film is Dune now"),
        ("I live in Paris", "I live in Oslo"),
        ("My name is Ana", "Me llamo Eva"),
        ("My phone number is 600111222", "My phone number is 600333444"),
        ("My birthday is 3 May", "My birthday is 4 May"),
    ],
)
def test_what_rules_read_ends_the_same_statement(memory: Connection, one: str, other: str) -> None:
    """With a word of change, or of what there is one of."""
    say(memory, one, 1, source="command")
    say(memory, other, 2, source="command")
    assert live(memory) == [other]


@pytest.mark.parametrize(
    ("one", "other", "third", "attributes"),
    [
        ("User lives in Madrid", "User lives in Paris", "User lives in Oslo", ""),
        ("User lives in Madrid", "User moved to Paris", "User moved to Oslo", "residence"),
        ("User eats meat", "User doesn't eat meat", "User doesn't eat meat", ""),
        ("User plays tennis", "User no longer plays tennis", "User no longer plays tennis now", ""),
    ],
)
def test_in_a_group_one_account_ends_nothing_of_another(
    memory: Connection, one: str, other: str, third: str, attributes: str
) -> None:
    """Where both were noted of “the user”; the same account does."""
    for turn, account in ((1, "eva"), (2, "luis"), (3, "eva")):
        conversation.note_author(memory, turn, account)
    for turn, text in enumerate((one, other, third), 1):
        value = ((attributes, text.split()[-1]),) if attributes else ()
        say(memory, text, turn, "chat:s-1", source="tag", attributes=value)
        if turn == 2:
            assert live(memory) == [one, other]
    assert one not in live(memory)
    assert other in live(memory)


@pytest.mark.parametrize(
    ("source", "evidence", "left"),
    [("extraction", 2, 2), ("command", 2, 2), ("extraction", None, 2), ("command", None, 1)],
)
def test_in_a_group_words_of_nobody_known_end_nothing(
    memory: Connection, source: str, evidence: int | None, left: int
) -> None:
    """But for what the owner writes with their own hands, outside of the chat."""
    conversation.note_author(memory, 1, "eva")
    say(memory, "The gate code is 4471", 1, "chat:s-1", source="tag")
    say(memory, "The gate code is 5582 now", 2, "chat:s-1", source=source, trust="owner", evidence=evidence)
    assert len(live(memory)) == left
