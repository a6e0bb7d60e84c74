"""What the rules understand of what people say of themselves, in Spanish and English."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.facts.heuristic import Message, extract_facts, read_messages
from kenobot.language.named_days import day_named
from kenobot.language.words import fold
from kenobot.ports.memory import CONFIDED
from tests.cases import each
from tests.cost import assert_bounded

SAID = date(2026, 2, 14)  # a Saturday


def _read(text: str) -> list[tuple[str, str, dict[str, str]]]:
    return [(fact.text, fact.category, dict(fact.attributes)) for fact in extract_facts(text, SAID)]


@each(
    ("text", "category", "attributes"),
    [
        ("Me llamo Ana García", "fact", {"name": "Ana García"}),
        ("My name is Bob", "fact", {"name": "Bob"}),
        ("call me Bob", "fact", {"name": "Bob"}),
        ("Me llamo 李雷", "fact", {"name": "李雷"}),
        ("Vivo en Lyon desde hace dos años", "fact", {"residence": "Lyon"}),
        ("I live in New York with my wife", "fact", {"residence": "New York"}),
        ("me mudé a Madrid ayer", "fact", {"residence": "Madrid"}),
        ("I'm living in Berlin now", "fact", {"residence": "Berlin"}),
        ("Vivo en un piso pequeño", "fact", {}),
        ("Trabajo en Acme como ingeniera", "fact", {"employer": "Acme"}),
        ("I work at Google", "fact", {"employer": "Google"}),
        ("I work as a nurse", "fact", {"profession": "nurse"}),
        ("trabajo de enfermera en el Clínico", "fact", {"profession": "enfermera"}),
        ("Me gusta el café solo", "preference", {}),
        ("no me gustan las aceitunas", "preference", {}),
        ("I really love hiking", "preference", {}),
        ("I don't like olives", "preference", {}),
        ("Mi color favorito es el azul", "preference", {"favourite color": "azul"}),
        ("My favourite language is C++", "preference", {"favourite language": "C++"}),
        ("Mi cumpleaños es el 3 de mayo", "fact", {"birthday": "05-03"}),
        ("I was born on May 3, 1990", "fact", {"birthday": "1990-05-03"}),
        ("Cumplo 35 el 2 de enero", "fact", {"birthday": "01-02"}),
        ("I turn 35 on January 2", "fact", {"birthday": "01-02"}),
        ("nací en Sevilla", "fact", {}),
        ("Soy alérgica a los cacahuetes", "fact", {}),
        ("I'm vegan", "fact", {}),
        ("mi hermana se llama Lucía", "relationship", {}),
        ("Ana vive en Lyon", "relationship", {}),
        ("My wife is called Kate", "relationship", {"wife": "Kate"}),
        ("Hemos decidido usar Postgres", "decision", {}),
        ("From now on deploy on Fridays", "decision", {}),
        ("Tengo que entregar el informe el viernes", "commitment", {"due": "2026-02-20"}),
        ("Mañana tengo dentista a las 10", "commitment", {"due": "2026-02-15"}),
        ("I have to call the bank by March 3rd", "commitment", {"due": "2026-03-03"}),
        ("Prometo ir al gimnasio", "commitment", {}),
        ("Ya no vivo en Lyon", "correction", {}),
        ("I no longer work at Acme", "correction", {}),
    ],
)
def test_a_plain_statement(text: str, category: str, attributes: dict[str, str]) -> None:
    """The words stay as they were said; what they say of their speaker is taken from them."""
    assert _read(f"{text}.") == [(text, category, attributes)]


@pytest.mark.parametrize(
    "text",
    [
        "¿Vivo en Lyon?",
        "Do I live in Lyon?",
        "If I live in Lyon I will be happy",
        "Si vivo en Lyon, seré feliz",
        "> I live in Hell",
        "```\nI live in a fence\n```",
        "me gusta eso",
        "I like your answer",
        "Call me when you can",
        "llámame mañana",
        "I'm a bit tired",
        "my wife is tired of it",
        "I'll be back",
        "ok",
        "remember all of this",
        "recuerda lo que te dije",
        "Anoche soñé que vivo en Lyon",
    ],
)
def test_what_is_not_said_of_oneself_is_left_alone(text: str) -> None:
    """Questions, conditions, quotations, politeness and other people's lives are no statements."""
    assert _read(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("anota que la caldera pierde agua", "la caldera pierde agua"),
        ("la caldera pierde agua, apúntalo porfa", "la caldera pierde agua"),
        ("keep in mind the gate sticks", "the gate sticks"),
        ("the gate sticks, don't forget", "the gate sticks"),
        ("¿puedes apuntar que la verja chirría?", "la verja chirría"),
        ("para que lo sepas, la verja chirría", "la verja chirría"),
        ("write this down: oak treads, thirteen of them", "oak treads, thirteen of them"),
        ("recuérdame comprar pan", "recuérdame comprar pan"),
    ],
)
def test_a_wish_may_stand_anywhere(text: str, wanted: str) -> None:
    """Before what is meant, and behind it."""
    assert [fact.text for fact in extract_facts(text, SAID)] == [wanted]


def test_a_wish_alone_is_about_what_was_said_before() -> None:
    """In the same message or in the one before; a list below it is meant line by line."""
    assert [fact.text for fact in extract_facts("La verja chirría. Apúntalo.", SAID)] == ["La verja chirría"]
    [fact] = read_messages([Message("write that down please", SAID, before="the gate sticks")], ())
    assert fact.text == "the gate sticks"
    assert [fact.text for fact in extract_facts("Apunta esto:\n- pan\n- leche fresca", SAID)] == ["pan", "leche fresca"]


@pytest.mark.parametrize(
    ("text", "known", "ended"),
    [
        ("ya no voy a yoga", "voy a yoga los martes", True),
        ("se cancela el viaje a Asturias", "nos vamos de viaje a Asturias", False),
        ("no, eran 8.400", "me deben 8.200 euros", False),
        ("scratch that, it's £8,400 not £8,200", "they owe us £8,200", False),
        ("el viaje a Roma fue bonito", "nos vamos de viaje a Asturias", False),
        ("actually I love Asturias", "nos vamos de viaje a Asturias", False),
    ],
)
def test_only_the_same_statement_ends(text: str, known: str, ended: bool) -> None:
    """Words that do not name all of what memory has end nothing, and no text is put together from two."""
    found = read_messages([Message(text, SAID)], ["tengo un perro", known])
    assert [verdict for fact in found for verdict in fact.verdicts] == ([(2, "contradiction")] if ended else [])
    assert all(fact.text in text for fact in found)


def test_a_change_replaces_what_the_same_turns_said() -> None:
    """What ends a statement of the same turns stands alone."""
    texts = [Message("el fontanero cobra 95 euros", SAID, 1), Message("el fontanero ahora cobra 85 euros", SAID, 2)]
    assert [fact.text for fact in read_messages(texts, ())] == ["el fontanero ahora cobra 85 euros"]


@pytest.mark.parametrize("text", ["Entre tú y yo, pienso dejar el trabajo", "I might quit my job. Don't tell anyone"])
def test_what_is_told_in_confidence_is_marked(text: str) -> None:
    """The mark stays with the memory."""
    assert [fact.tags for fact in extract_facts(text, SAID)] == [(CONFIDED,)]


def test_several_things_at_once() -> None:
    """Openings go, clauses come apart, each with its own attribute."""
    text = "Hola, me llamo Ana y vivo en Lyon, trabajo en Acme. Por cierto, mi hermana se llama Lucía"
    assert _read(text) == [
        ("me llamo Ana", "fact", {"name": "Ana"}),
        ("vivo en Lyon", "fact", {"residence": "Lyon"}),
        ("trabajo en Acme", "fact", {"employer": "Acme"}),
        ("mi hermana se llama Lucía", "relationship", {}),
    ]


def test_being_put_right() -> None:
    """What corrects is a correction, and says the same of its speaker."""
    assert _read("No, me llamo Anna.") == [("me llamo Anna", "correction", {"name": "Anna"})]
    assert _read("Actually, I live in Paris") == [("I live in Paris", "correction", {"residence": "Paris"})]


def test_what_is_asked_to_be_remembered_is_kept_whole() -> None:
    """Whoever asks for it need not say something that rules understand."""
    assert _read("Recuerda que el código del garaje es azul") == [("el código del garaje es azul", "fact", {})]
    assert _read("Remember that the gate code is on the fridge") == [("the gate code is on the fridge", "fact", {})]
    assert _read("recuerda: soy vegano") == [("soy vegano", "fact", {})]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("el 3 de marzo", "2026-03-03"),
        ("3rd of March 2027", "2027-03-03"),
        ("on January 5", "2027-01-05"),
        ("el 29 de febrero", "2028-02-29"),
        ("el 31 de abril", None),
        ("2026-07-01", "2026-07-01"),
        ("mañana por la mañana", "2026-02-15"),
        ("por la mañana", None),
        ("pasado mañana", "2026-02-16"),
        ("the day after tomorrow", "2026-02-16"),
        ("el sábado", "2026-02-21"),
        ("next Friday", "2026-02-20"),
        ("dentro de tres días", "2026-02-17"),
        ("in 2 weeks", "2026-02-28"),
        ("in 5000 days", None),
        ("someday", None),
    ],
)
def test_days(text: str, day: str | None) -> None:
    """A day is counted from the one on which it was said."""
    found = day_named(fold(text), SAID)
    assert (found.isoformat() if found else None) == day


@pytest.mark.parametrize(
    "text", ["I live in " * 400, "no, " * 1000, ", I " * 1000, "I like " + "a" * 4000, ".\n" * 2000, "y " * 2000]
)
def test_a_bounded_part_of_a_hostile_text_is_read(text: str) -> None:
    """No text takes long, whatever it repeats."""
    assert_bounded(lambda part: extract_facts(part, SAID), text * 20)


_PIECES = [
    "I live in ",
    "vivo en ",
    "Lyon",
    ", ",
    " y ",
    " and ",
    ".",
    "?",
    "\n",
    "> ",
    "no, ",
    "mañana ",
    "tengo ",
    "İ",
    "ﷺ",
    "👩‍👧",
    "\0",
]


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=5), max_size=15).map("".join))
def test_any_text_may_come(text: str) -> None:
    """Whatever is said, what is found is words of it in their order, with one blank between two."""
    for fact in extract_facts(text, SAID):
        words, at = fact.text.split(), 0
        assert words
        assert fact.text == " ".join(words)
        for word in words:
            at = text.find(word.rstrip("."), at)
            assert at >= 0, (fact.text, word)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I live in  no, \nLyon", "I live in no, Lyon"),
        ("My  locker\tis   14", "My locker is 14"),
        ("Mi taquilla\u00a0es  la 14", "Mi taquilla es la 14"),
    ],
)
def test_white_space_within_a_line_becomes_one_blank(text: str, found: str) -> None:
    """However many blanks or tabs stand between two words, a fact has one."""
    assert found in [fact.text for fact in extract_facts(text, SAID)]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("my card number is 4111 1111 1111 1111", "fact"),
        ("mi tarjeta es la 4111 1111 1111 1111", "fact"),
        ("my car is a blue Fiesta", "fact"),
        ("my boss is Ana", "relationship"),
        ("mi hermana se llama Eva", "relationship"),
        ("I promised Bea a cake", "commitment"),
        ("prometí a Ana mandarle las fotos", "commitment"),
        ("quedé en pintar la valla", "commitment"),
        ("le he prometido a Ana una tarta", "commitment"),
        ("remind me to call the dentist on Friday", "commitment"),
        ("I told Ana I'd send her the photos", "commitment"),
        ("quedé en casa de Ana", "fact"),
        ("Tom promised me a bike", "fact"),
    ],
)
def test_a_kind_is_told_by_what_a_sentence_is_about(text: str, category: str) -> None:
    """Who somebody is to somebody is about people; what the speaker promised, or wants to be reminded of, is to do."""
    assert [fact.category for fact in extract_facts(text, date(2026, 11, 28))] == [category]


@each(
    ("text", "name"),
    [
        ("call me Rob", "Rob"),
        ("I'm Rob", "Rob"),
        ("soy Ana", "Ana"),
        ("hi i'm rob", "rob"),
        ("hola soy ana", "ana"),
        ("call me rob", "rob"),
        ("my name is Rob", "Rob"),
        ("my name is rob", "rob"),
        ("me llamo ana", "ana"),
        ("Me llamo José Luis", "José Luis"),
        ("llámame Pepe", "Pepe"),
        ("you can call me Al", "Al"),
        ("mi nombre es Lucía", "Lucía"),
        ("my name's Anne-Marie", "Anne-Marie"),
        ("Soy Carlos, de Vigo", "Carlos"),
        ("puedes llamarme Nando", "Nando"),
        ("This is Beth", "Beth"),
        ("hey i'm kofi", "kofi"),
        ("call me Max please", "Max"),
        ("call me Ishmael", "Ishmael"),
        ("me llamo Mar", "Mar"),
        ("my name is Grace", "Grace"),
        ("hola soy sol", "sol"),
        ("My name is Rob Smith", "Rob Smith"),
        ("call me Bea, not Beatriz", "Bea"),
        ("my name is siobhan", "siobhan"),
        ("I'm Will", "Will"),
        ("soy Rosa", "Rosa"),
        ("please call me Kit", "Kit"),
    ],
)
def test_a_name_is_read_from_how_people_present_themselves(text: str, name: str) -> None:
    """In small letters too behind a greeting, or where the sentence says that it is one."""
    assert [told for fact in extract_facts(text, date(2026, 3, 10)) for told in fact.attributes] == [("name", name)]


@each(
    "text",
    [
        "call me when you can",
        "call me back",
        "call me later",
        "call me crazy",
        "call me maybe",
        "call me on 07700 900123",
        "call me asap",
        "call me tonight",
        "call me from the airport",
        "call me before 5",
        "call me mum's phone",
        "call me Monday",
        "call me Dr Lee's office",
        "please call me a taxi",
        "It's complicated",
        "I'm home",
        "I'm fine",
        "I'm back",
        "soy yo",
        "estoy en casa",
        "I'm Home",
        "I'm Vegan",
        "I'm Spanish",
        "I'm at home",
        "I'm Ok",
        "I'm knackered",
        "hi I'm home",
        "hola soy yo",
        "hey I'm lost",
        "hi I'm vegan",
        "hola soy vegana",
        "hey I'm starving",
        "hola soy profe",
        "hi I'm allergic",
        "hola soy celiaca",
        "hi I'm divorced",
        "llámame cuando puedas",
        "llámame luego",
        "llámame loca",
        "llámame ya",
        "llámame el lunes",
        "llámame al móvil",
        "llámame si eso",
        "llámame pronto",
        "llámame a casa",
        "llámame tonto",
        "puedes llamarme mañana",
        "This is Friday",
        "This is London",
        "I'm English",
        "soy de Vigo",
        "soy Virgo",
        "soy Acuario",
        "soy Española",
        "aquí estoy",
        "aqui Madrid",
        "aquí Llueve",
        "I'm In",
        "call me stupid but I like it",
        "my name is not important",
        "my name's mud",
        "me llamo mucho la atención",
        "mi nombre es largo",
        "the name is taken",
        "name's on the list",
        "my name is on the lease",
        "call me names",
        "call me out",
        "call me in the morning",
        "me llaman del banco",
        "I'm Leaving",
        "I'm NOT going",
        "I'm On my way",
        "soy Así",
        "hi i'm diabetic",
        "I'm called every day",
        "hola soy autonomo",
        "hi, I'm new here",
    ],
)
def test_everyday_words_are_no_names(text: str) -> None:
    """Nor are times, places, origins and signs of the zodiac, however they are written."""
    assert "name" not in {name for fact in extract_facts(text, date(2026, 3, 10)) for name, _ in fact.attributes}
