"""What a question asks for, and what cannot hold it."""

import pytest

from kenobot.language.question import answers
from tests.cases import each


@each(
    ("question", "kind"),
    [
        ("How much does the parcel weigh?", "weight"),
        ("¿Cuánto pesa la maleta?", "weight"),
        ("How much is the dishwasher?", "money"),
        ("¿Cuánto cuesta el abono del tren?", "money"),
        ("¿Cuánto mide el pasillo?", "size"),
        ("And how old is Beatrix?", "age"),
        ("¿Cada cuánto viene el técnico?", "often"),
        ("How long does the ferry take?", "long"),
        ("¿De qué color es la bufanda?", "colour"),
        ("What is the code of the locker?", "code"),
        ("¿Cuál es el teléfono del fontanero?", "phone"),
        ("At what time does the shop open?", "clock"),
        ("¿Cuándo es el cumpleaños de Bruno?", "festivity"),
        ("Which languages does Hana speak?", "language"),
        ("¿En qué calle vive Bruno?", "address"),
        ("What is Hana's email address?", "mail"),
        ("What is the name of the barber?", "name"),
        ("¿Cómo se llama la hija de Bruno?", "name"),
        ("Which airline did we fly with?", "name"),
        ("What's Hana's surname?", "surname"),
        ("¿A qué colegio fue Bruno?", "school"),
        ("What is Hana's job?", "job"),
        ("What's the registration plate?", "code"),
        ("¿Qué número de socia tengo?", "code"),
        ("What car do I drive?", "thing"),
        ("¿Qué moto tengo?", "thing"),
        ("What year did Hana move?", "year"),
        ("¿En qué año me casé?", "year"),
        ("¿Qué día nació Bruno?", "festivity"),
        ("When was Hana's father born?", "festivity"),
        ("What's our postcode?", "code"),
        ("What's my library card number?", "code"),
        ("¿Cuál es mi DNI?", "code"),
        ("What's Hana's star sign?", "sign"),
        ("¿De qué signo es Bruno?", "sign"),
        ("What's my blood type?", "blood"),
        ("¿Cuál es mi grupo sanguíneo?", "blood"),
        ("What's my favourite colour?", "favourite"),
        ("¿Cuál es la canción favorita de Bruno?", "favourite"),
        ("How many pupils have I got?", "count"),
        ("¿Cuántas plantas tengo?", "count"),
        ("¿A qué gimnasio voy?", "name"),
        ("¿A qué iglesia voy?", "thing"),
        ("What is planned after receiving Hana's phone number?", None),
        ("¿Quién es Bruno?", None),
        ("Who watered the plants?", "person"),
        ("¿A quién presté el taladro?", "person"),
        ("Why did I sell the piano?", None),
        ("Do I know how old he is?", None),
        ("Tell me about the code of honour", None),
        ("", None),
    ],
)
def test_a_question_says_by_its_opening_what_it_asks_for(question: str, kind: str | None) -> None:
    """In Spanish and English; what stands further on in it, or asks for anything else, says nothing."""
    assert answers.classify_type(question) == kind


@each(
    ("question", "holds", "lacks"),
    [
        ("How much does the parcel weigh?", "The parcel is three kilos", "The parcel comes on Monday"),
        ("¿Cuánto pesa la maleta?", "Mi maleta pesa 12 kg", "La maleta es roja y tiene 4 ruedas"),
        ("How much is the dishwasher?", "The dishwasher was 420", "The dishwasher came in 2021"),
        ("¿Cuánto cuesta el abono?", "El abono son veinte euros", "El abono caduca en mayo de 2026"),
        ("¿Cuánto mide el pasillo?", "El pasillo tiene seis metros", "El pasillo da a 3 cuartos"),
        ("How old is Beatrix?", "Beatrix turned forty", "Beatrix lives in Ghent"),
        ("How old is Beatrix?", "Beatrix was born in 1950", "Beatrix was diagnosed in 2021"),
        ("How old is Beatrix?", "Beatrix is thirty-five", "Beatrix has taught for thirty five years"),
        ("How old is the house?", "The house dates from 1920", "The house was sold in 2020"),
        ("¿Qué edad tiene Bruno?", "Bruno tiene treinta y cinco", "Bruno lleva treinta y cinco años en el banco"),
        ("What year did Hana move?", "Hana moved in 2019", "Hana moved on a Monday"),
        ("¿En qué año me mudé?", "Me mudé hace tres años", "Me mudé con Inés"),
        ("¿Qué día nació Bruno?", "Bruno nació el 3 de mayo", "Bruno llega el 3 de mayo"),
        ("¿De qué signo es Bruno?", "Bruno es piscis", "Bruno llega en abril"),
        ("What's my blood type?", "I'm O negative", "I hate needles"),
        ("What's Hana's favourite fruit?", "Hana loves figs", "Hana bought figs"),
        ("How many pupils have I got?", "I have thirty pupils", "My pupils are loud"),
        ("¿De qué color es la bufanda?", "La bufanda es verde", "La bufanda es de lana"),
        ("What is the code of the locker?", "The locker opens with 3-1-8", "The locker stands by the door"),
        ("¿A qué hora abre la tienda?", "La tienda abre a las once", "La tienda está en la esquina"),
        ("When is Bruno's birthday?", "Bruno was born on 3 May", "Bruno likes birthday cake"),
        ("What is Hana's phone number?", "Call Hana at 600 123 456", "Hana is on the phone"),
        ("What's Hana's surname?", "Hana Novak came", "Hana came"),
        ("¿A qué colegio fue Bruno?", "Bruno estudió en Sagunto", "Bruno odia el picante"),
        ("What is Hana's job?", "Hana works in a bank", "Hana likes tea"),
        ("Which languages does Hana speak?", "Hana grew up with Czech", "Hana speaks softly"),
        ("¿En qué calle vive Bruno?", "Bruno vive en la plaza Nueva", "Bruno vive en Oporto"),
        ("What is Hana's email address?", "Write to hana@example.org", "Hana hates email"),
        ("What is the name of the barber?", "I go to Sal, the barber", "The barber opens on Monday"),
        ("¿Cómo se llama la hija de Bruno?", "La hija de Bruno es Inés", "El hermano de Bruno es Iker"),
        ("Which novel am I reading?", 'I am reading "emma"', "I read a novel in bed"),
        ("¿Qué novela leo?", "Leo Los santos inocentes", "Leo una novela en la cama"),
        ("What is the dog called?", "my dog is called rex", "my dog sleeps on the sofa"),
        ("¿Cómo se llama mi perra?", "mi perra se llama luna", "mi perra duerme en el sofá"),
        ("¿Cómo se llama la mujer de Bruno?", "La mujer de Bruno es Inés", "Los hijos son Bruno, Iker y Leo"),
        ("What's Hana's brother called?", "Hana's brother is Jan", "Hana and Petra paint"),
        ("When is my birthday?", "my birthday is 3 May", "Bruno's birthday is 3 May"),
        ("¿Cuándo es mi cumple?", "cumplo 40 el 3 de mayo", "el cumple de Inés es el 3 de mayo"),
        ("How old is Beatrix?", "Beatrix is 41", "Beatrix is away from the 23rd"),
        ("¿Cómo se llamará mi sobrina?", "mi hermana la va a llamar Vega", "mi hermana se llama Sara"),
        ("What's my dentist called?", "my dentist is called almeida", "Call the dentist about the bill"),
        ("what is my dentist's name?", "Dr Almeida is my dentist", "I called the dentist about the bill"),
        ("Who is my dentist?", "My dentist is Almeida", "I have a dentist appointment on Thursday"),
        ("who's our landlord?", "Piers is our landlord", "the landlord comes on Friday"),
        ("Who is my accountant?", "my cousin is my accountant", "we pay the accountant 300"),
        ("What's our plumber called?", "The plumber is Ignacio", "Pay the plumber on Monday"),
        ("¿Cómo se llama mi dentista?", "mi dentista se llama almeida", "Llamar al dentista por la factura"),
        ("como se llama mi dentista", "La doctora Almeida es mi dentista", "Tengo cita con el dentista el jueves"),
        ("¿Quién es mi dentista?", "Mi dentista es Almeida", "Pagué 300 al dentista"),
        ("¿Quién es nuestra casera?", "La casera es Piedad", "la casera viene el lunes"),
        ("¿Cómo se llama mi banco?", "mi banco es ING", "Llamo al banco el viernes"),
        ("Who waters the plants?", "I water the plants", "The plants want water"),
        ("Who watered the plants?", "My neighbour watered the plants", "The plants want water"),
        ("¿Quién regó las plantas?", "Las plantas las regó Inés", "Las plantas quieren agua"),
    ],
)
def test_what_cannot_hold_the_answer_is_told_from_what_may(question: str, holds: str, lacks: str) -> None:
    """By a number, a unit, a colour, a name that the question does not say, or whose bond is meant."""
    kind = answers.classify_type(question)
    assert not answers.lacks_answer(kind, question, holds)
    assert answers.lacks_answer(kind, question, lacks)


@pytest.mark.parametrize("text", ["他的狗很重", "Собака тяжёлая", "كلب كبير", ""])
def test_of_another_script_nothing_is_claimed(text: str) -> None:
    """Its numbers and names are not known here."""
    assert not answers.lacks_answer(answers.classify_type("Who is it?"), "Who is it?", text) or not text
    assert not answers.lacks_answer(None, "Why is it?", text)


@pytest.mark.parametrize(
    "piece", ["1", "1.", "A ", "what ", "mother ", "cuanto ", '"', "how much is ", "I'm ", "from ", "for "]
)
def test_a_long_text_is_read_through_once(piece: str) -> None:
    """None of the patterns goes over the rest at every place: all of it in a fraction of a second."""
    import time

    text = (piece * 2000)[:2000]
    began = time.thread_time()
    for question in (
        "How much does it weigh?",
        "How much is the rent?",
        "How tall is she?",
        "What is it called?",
        "How old is it?",
        text,
    ):
        answers.lacks_answer(answers.classify_type(question), question, text)
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What is my sister's name?", "My name is Marta", True),
        ("¿Cómo se llama mi hermana?", "Me llamo Marta", True),
        ("What's my boss called?", "I'm Marta", True),
        ("What is my name?", "My name is Marta", False),
        ("What is my sister's name?", "My sister's name is Ana", False),
    ],
)
def test_ones_own_name_is_not_that_of_ones_people(question: str, text: str, lacks: bool) -> None:
    """A memory that tells its speaker's name alone answers no question for the name of somebody of theirs."""
    assert answers.lacks_answer(answers.classify_type(question), question, text) == lacks
