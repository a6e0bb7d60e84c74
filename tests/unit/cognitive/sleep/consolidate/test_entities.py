"""One name is one subject; a near name is only a question to the owner."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kenobot.cognitive.sleep.consolidate import entities
from kenobot.cognitive.sleep.proposals import approve
from kenobot.cognitive.store import proposals
from kenobot.cognitive.store.records import subjects
from kenobot.ports.memory_changes import DecisionContext
from kenobot.storage.connection import Connection
from tests.memory_rows import open_memory
from tests.unit.cognitive.sleep.beliefs import put
from tests.unit.cognitive.sleep.nights import THEN, sleep, view_of


@pytest.fixture
def memory() -> Iterator[Connection]:
    with open_memory() as connection:
        yield connection


def test_one_name_written_twice_is_one_subject(memory: Connection) -> None:
    """However it is joined; in another scope it is another person."""
    put(memory, "likes jazz", subject="jane doe")
    put(memory, "plays chess", subject="jane doe")
    put(memory, "lives in Lyon", subject="jane-doe")
    put(memory, "works at Acme", subject="janedoe")
    put(memory, "likes rain", subject="janedoe", scope="chat:1")
    assert {change.kind for change in sleep(memory, entities.PASS)} == {"joined"}
    assert list(subjects(memory, "owner")) == ["jane doe"]
    assert list(subjects(memory, "chat:1")) == ["janedoe"]


def test_an_alias_that_somebody_told_joins(memory: Connection) -> None:
    """What was filed under the nickname before goes where it belongs; an alias of two people joins nobody."""
    put(memory, "is called Bobby by friends", subject="robert", attributes='{"aliases": "Bobby"}')
    put(memory, "likes jazz", subject="bobby")
    put(memory, "is called Al", subject="alan", attributes='{"alias": "Al"}')
    put(memory, "is also called Al", subject="albert", attributes='{"alias": "Al"}')
    put(memory, "plays chess", subject="al")
    sleep(memory, entities.PASS)
    assert list(subjects(memory, "owner")) == ["al", "alan", "albert", "robert"]


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("jane roe", "jade roe", True),
        ("dan lee", "ann lee", False),
        ("laura gomez", "laura gomes", True),
        ("laura gomez", "luara gomez", True),
        ("laura gomez", "laura gomezz", True),
        ("app-v2", "app-v3", False),
        ("server 12", "server 112", False),
        ("李雷雷雷雷", "李雷雷雷梅", True),
        ("мария", "mapия", False),
        ("ann", "anna", False),
    ],
)
def test_a_near_name_is_laid_before_the_owner(memory: Connection, one: str, other: str, near: bool) -> None:
    """Never joined by itself; a digit or another script makes another name."""
    put(memory, "likes jazz", subject=one)
    put(memory, "plays chess", subject=other)
    changes = sleep(memory, entities.PASS)
    assert [change.kind for change in changes] == (["proposed"] if near else [])
    assert list(subjects(memory, "owner")) == sorted([one, other])


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ({"laura": "vive en Madrid", "laura gómez": "es mi prima"}, 1),
        ({"laura": "likes jazz", "laura gomez": "works at Acme"}, 1),
        ({"ana": "vive en Bilbao", "ana lópez": "es mi jefa", "ana ruiz": "odia el café"}, 0),
        ({"ana": "vive en Bilbao", "ana maría": "es mi jefa"}, 0),
        ({"react": "is a library for interfaces", "react native": "runs on phones"}, 0),
        ({"mercedes": "vive en Sevilla", "mercedes benz": "cuesta mucho"}, 0),
        ({"docker": "runs on port 80", "docker desktop": "needs 4 GB"}, 0),
    ],
)
def test_a_first_name_beside_the_one_fuller_name_of_a_person_is_proposed(
    memory: Connection, told: dict[str, str], asked: int
) -> None:
    """Both told of as people, and no other name begins the same way; never joined by itself."""
    for name, text in told.items():
        put(memory, text, subject=name)
    assert [change.kind for change in sleep(memory, entities.PASS)] == ["proposed"] * asked
    assert {*subjects(memory, "owner")} == {*told}


def test_an_approved_proposal_joins_the_names(memory: Connection, tmp_path: Path) -> None:
    """In the words that the owner's approval understands, and it is made once."""
    for number in range(2):
        put(memory, f"likes jazz {number}", subject="laura gomez")
    put(memory, "juega al ajedrez con su hermana", subject="laura gomes")
    sleep(memory, entities.PASS)
    (number,) = memory.execute("SELECT id FROM proposal").fetchone()
    known = proposals.get(memory, number)
    assert known is not None
    assert known.title == "«laura gomes» y «laura gomez»: ¿un mismo nombre?"
    approve(memory, number, DecisionContext(THEN, "owner", tmp_path))
    assert list(subjects(memory, "owner")) == ["laura gomez"]


def test_a_night_brings_few_proposals(memory: Connection) -> None:
    """The rest waits for another night."""
    for letter in "abcdefgh":
        put(memory, f"likes {letter}", subject=f"martin{letter}")
    planned = [change for change in entities.plan(view_of(memory)) if change.kind == "proposed"]
    assert len(planned) == 3
