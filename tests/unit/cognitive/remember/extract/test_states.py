"""Which state an event ends, which count a sum changes, and what neither touches."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.remember.extract.changes import KnownStatement
from kenobot.cognitive.remember.extract.counts import changed_count
from kenobot.cognitive.remember.extract.heuristic import Message, read_messages
from kenobot.cognitive.remember.extract.states import ended_state, is_state, rest_of_state

SAID = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("My wife is in intensive care", "my wife's out of hospital"),
        ("Papá está ingresado en La Paz", "a mi padre le dieron el alta esta mañana"),
        ("We're looking for a bigger house in Fife", "we finally found a house!"),
        ("Busco compañero de piso", "ya tengo compañero de piso"),
        ("I'm waiting for the results of my blood test", "my results came back, all clear"),
        ("Estoy esperando la beca", "me han concedido la beca"),
        ("The fridge is for sale, 80 quid", "sold the fridge"),
        ("Vendo la guitarra por 300", "la guitarra ya está vendida"),
        ("I lent Nuala my bike pump", "Nuala gave me the pump back"),
        ("Le presté el coche a Andrés", "Andrés me devolvió el coche"),
        ("Our neighbour Fatima is expecting", "Fatima had a little boy"),
        ("The dishwasher's leaking", "a man came and fixed the dishwasher"),
        ("Mi hija lleva muletas", "a mi hija le han quitado las muletas"),
    ],
)
def test_an_event_ends_its_state(state: str, event: str) -> None:
    """The state is kept, and the event ends it and none of others."""
    others = ["My uncle Bert lives in Perth", "Mi tía tiene una mercería"]
    assert is_state(state)
    assert ended_state(event, [others[0], state, others[1]]) == 1


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("My wife is in hospital", "my brother got home from work"),
        ("My wife is in hospital", "my wife will be home soon"),
        ("My wife is in hospital", "my wife isn't home yet"),
        ("Mi suegra está en la UCI", "ya estoy en casa"),
        ("We're looking for a bigger house", "we found a puppy"),
        ("I'm looking for a job", "my sister found a job"),
        ("I'm waiting for a call from Lola", "Berta called"),
        ("Vendo la moto", "mi primo vendió la casa"),
        ("I'm selling my red bike", "I sold the green bike"),
        ("I lent Nuala my tent", "Marek gave me my books back"),
        ("Mi prima Noe está de viaje", "mi prima Eva ha vuelto"),
    ],
)
def test_another_event_ends_nothing(state: str, event: str) -> None:
    """Another person, another thing, or what has not happened leaves the state."""
    assert ended_state(event, [state]) is None


def test_a_trade_is_known_by_its_name() -> None:
    """The roofer is the one whose name was told apart from when they come."""
    known = ["Our roofer is called Stan", "Stan is coming on Monday", "El fontanero se llama Ramiro"]
    assert ended_state("the roofer came", known) == 1
    assert ended_state("ya vino Ramiro", [*known, "viene el fontanero el jueves 12"]) == 3


def test_where_two_states_may_be_meant_none_ends() -> None:
    """A pronoun means the only open state of its kind."""
    first, second = "My dad is in hospital", "My aunt is in hospital"
    assert ended_state("she's home now", [second]) == 0
    assert ended_state("they're home now", [first, second]) is None


@pytest.mark.parametrize(
    ("statement", "event", "rest"),
    [
        ("Megan is staying with us and she is allergic to nuts", "Megan went home", "Megan is allergic to nuts"),
        ("my mum's in St James's. Her name's Christine, she's 74", "mum's home", "My mum's name's Christine, she's 74"),
        ("Mi madre está ingresada y tiene 74 años", "mi madre ya está en casa", "Mi madre tiene 74 años"),
        ("Megan is staying with us", "Megan went home", ""),
    ],
)
def test_the_rest_of_a_statement_outlives_its_state(statement: str, event: str, rest: str) -> None:
    """What else a statement says of the person stands alone then."""
    assert rest_of_state(statement, event) == rest


def test_a_name_told_next_is_kept_with_the_trade() -> None:
    """The plumber's name is a memory of its own, so that it outlives the visit."""
    messages = [Message("el miércoles que viene viene el fontanero, entre 9 y 11", SAID)]
    messages += [Message("se llama Ramiro y cobra 40 la visita", SAID, 2, messages[0].text)]
    facts = [fact.text for fact in read_messages(messages, ())]
    assert "el fontanero se llama Ramiro y cobra 40 la visita" in facts
    told = read_messages([Message("ya vino Ramiro", SAID)], [KnownStatement(text) for text in facts])
    assert [fact.verdicts for fact in told] == [((facts.index(messages[0].text) + 1, "contradiction"),)]


@given(st.integers(2, 900), st.integers(1, 40), st.booleans())
def test_a_count_changes_by_an_exact_sum_only(before: int, by: int, fewer: bool) -> None:
    """The number after the sum takes the old one's place; one that does not come out changes nothing."""
    after = before - by if fewer else before + by
    known = [f"We manage {before} flats"]
    found = changed_count(f"{by} changed hands, so we have {after}", known) if after > 0 and after != by else None
    if found is not None:
        assert found.text == f"We manage {after} flats"
    assert changed_count(f"{by} changed hands, so we have {after + 2 * by + 1}", known) is None


@pytest.mark.parametrize("says", ["I ate 3 biscuits so there are 21 left", "se gastaron 3 euros, así que quedan 21"])
def test_a_sum_of_other_things_changes_no_count(says: str) -> None:
    """What is counted must be the same, and no money."""
    assert changed_count(says, ["I teach 24 pupils"]) is None


def test_a_changed_count_is_told_in_the_old_words() -> None:
    """The memory that takes the place of the old one says what is counted."""
    known = [KnownStatement("Tenemos 45 socios en el club")]
    [fact] = read_messages([Message("se han borrado dos, así que 43", SAID)], known)
    assert (fact.text, fact.verdicts) == ("Tenemos 43 socios en el club", ((1, "contradiction"),))
