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
        ("Mi abuela está ingresada en el Clínico", "Mi abuelo salió del hospital esta mañana"),
        ("Mi prima está de viaje en Chile", "Mi primo ha vuelto de Chile"),
        ("My daughter is in surgery", "He's home"),
        ("My dad is in hospital", "My dad's flatmate is home from hospital"),
        ("Mi padre está en el hospital", "El padre de Ana ya está en casa"),
        ("My wife is in hospital", "In the film, his wife is home from hospital"),
        ("My dad is in hospital", "My mum says dad is home"),
        ("I'm waiting for my new passport", "My mum's passport arrived"),
        ("I lost my keys", "I found the keys of my office"),
        ("He perdido las llaves", "He encontrado las llaves del vecino"),
        ("My boiler has broken down", "The plumber fixed the boiler at my mum's"),
    ],
)
def test_another_event_ends_nothing(state: str, event: str) -> None:
    """Another person, another thing, or what has not happened leaves the state."""
    assert ended_state(event, [state]) is None


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("My mum is in hospital", "My mum's home is in Leeds"),
        ("My mum is in hospital", "My mum is at home with my dad most weekends"),
        ("My dad is in hospital", "My dad got out of bed today"),
        ("My wife is in hospital", "My wife is out of patience"),
        ("My wife is in hospital", "My wife is home alone, no wait, she's still there"),
        ("My brother Tom is in Japan", "Tom got back to me"),
        ("My sister is in Berlin until May", "My sister is back from Rome"),
        ("Mi mujer está de viaje", "Mi mujer ha vuelto de correr"),
        ("We're looking for a flat", "I found a flat that costs 1,200, but it is too expensive"),
        ("Estoy buscando piso en Gracia", "He encontrado un piso que me gusta, pero es caro"),
        ("I'm looking for a job", "I got a job interview on Tuesday"),
        ("Busco trabajo", "Ya tengo trabajo para toda la tarde en casa"),
        ("I'm selling my car", "The car sold by my cousin broke down"),
        ("I'm selling my old sofa", "Nobody bought the sofa"),
        ("I lent Ana my drill", "I gave Ana back her keys"),
        ("El ascensor está averiado", "El ascensor funciona con llave"),
        ("Estoy esperando el paquete de Amazon", "Llegó un paquete para mi vecina"),
        ("My wife is pregnant", "My wife had a son from her first marriage"),
        ("Mi hermana está embarazada", "Mi hermana tuvo un examen ayer"),
        ("Mi hijo tiene fiebre", "Mi hijo está bien de notas"),
        ("Tengo gripe", "Estoy bien con la decisión"),
        ("I'm reading Middlemarch", "I finished chapter three of Middlemarch"),
        ("Estoy escribiendo una novela", "He terminado una novela de Marías"),
        ("I owe Marta 20 euros", "I paid Marta a compliment"),
        ("Pedro me debe 50 euros", "Pedro me devolvió 10 euros"),
        ("The plumber is coming on Tuesday", "The plumber came recommended"),
        ("I'm on antibiotics until Friday", "I took my antibiotics this morning"),
    ],
)
def test_what_only_begins_like_an_event_ends_nothing(state: str, event: str) -> None:
    """What the clause goes on with, or what follows it, makes something else of it."""
    assert ended_state(event, [state]) is None


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("Mum's in hospital in Leeds", "They let Mum out yesterday"),
        ("My brother Tom is in Japan", "Tom's back from Japan"),
        ("Estamos en Lisboa hasta el domingo", "Ya hemos vuelto de Lisboa"),
        ("Estoy de baja", "Hoy he vuelto al trabajo"),
        ("I'm selling my car", "I sold the car to a guy from Hull"),
        ("Laura está embarazada", "Laura ha tenido una niña"),
        ("I owe Ben 40 pounds", "I paid Ben the 40 pounds"),
        ("Le debo 40 euros a Quique", "Ya le he pagado todo a Quique"),
        ("My sister is in hospital", "she was so tired, but she's home now"),
    ],
)
def test_when_where_and_how_may_be_told_with_an_event(state: str, event: str) -> None:
    """The event ends its state with them as without."""
    assert ended_state(event, [state]) == 0


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
    told = read_messages(messages, ())
    facts = [fact.text for fact in told]
    assert f"{messages[0].text}. {messages[1].text}" in facts
    assert [("due" in dict(fact.attributes)) for fact in told] == [True, False]


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
