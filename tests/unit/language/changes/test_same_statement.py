"""Which statement a sentence ends for sure, and that nothing else ends."""

import tomllib
from datetime import date
from pathlib import Path

import pytest

from kenobot.language.facts.heuristic import Message, read_messages
from tests.cases import each

DATA = Path(__file__).parents[3] / "data"
CHANGES = tomllib.loads((DATA / "changes.toml").read_text("utf-8"))["case"]
NEAR = tomllib.loads((DATA / "near_endings.toml").read_text("utf-8"))
SAID = date(2026, 3, 5)

SAME = [
    ("Mi hijo Leo tiene 5 años", "Leo ya tiene 6 años"),
    ("My salary is 350k a month", "My salary is now 420k a month, thank God"),
    ("mi nena tiene 4", "mi nena ya tiene 5, cumplió ayer"),
    ("I pay 30 for the gym", "I pay 35 for the gym from today"),
    ("I take 20 mg of ramipril every morning", "I take 10 mg of ramipril every morning now"),
    ("Calzo un 42", "ahora calzo un 43"),
    ("Calzo un 42", "Ahora calzo un 43"),
    ("My train leaves at 8:05", "My train leaves at 9:20 now"),
    ("Hablo polaco", "ya no hablo polaco"),
    ("I play tennis on Mondays", "I no longer play tennis"),
    ("I play tennis on Mondays", "I don't play tennis any more"),
    ("I play tennis on Mondays", "I play tennis on Tuesdays now"),
    ("Vivo con Dani", "ya no vivo con Dani"),
    ("mi teléfono es el 611 222 333", "mi teléfono ahora es el 600 123 456"),
    ("el código del portal es 1234", "el código del portal ahora es 4471"),
    ("my shoe size is 42", "my shoe size is 43 now"),
    ("I'm 29", "I'm 30 now"),
    ("I'm 29", "I'm 30 now!"),
    ("La reunión con Beltrán es el 14", "la reunión con Beltrán no es el 14, la han cambiado al 16"),
    ("Mateo's teacher is Ms. Delgado", "Mateo's teacher isn't Ms. Delgado, it's Mr. Park"),
    ("Mateo's teacher is Ms. Delgado", "Mateo's teacher is Mr. Park now"),
    ("My boss is called Ana", "my boss is called Luis now"),
    ("my son Tom is 12", "my son Tom is 13 now"),
    ("bus 21 leaves at 8", "bus 21 leaves at 9 now"),
    ("My favourite colour is green", "my favourite colour is red now"),
    ("Mi color favorito es el verde", "ahora mi color favorito es el rojo"),
    ("I pay 30 a month for the gym", "I pay 40 a month for the gym now"),
    ("I work at Tesco", "I work at Aldi now"),
    ("The meeting is on Friday", "the meeting has been moved to Monday"),
    ("The meeting is on Friday", "the meeting isn't on Friday, it's on Monday"),
    ("el turno es el martes a las 5", "el turno ya no es el martes a las 5, es el jueves"),
    ("im 40", "im 41 now"),
    ("I have a sister, Ana. My locker is 14", "my locker is 15 now"),
    ("me gusta el pescado", "ya no me gusta el pescado"),
    ("entro a las 8", "ahora entro a las 9"),
    ("My dentist is Ana", "Actually my dentist is Luis"),
    ("tomo 20 mg de enalapril", "ahora tomo 10 mg de enalapril"),
    ("My wifi network is Foo12", "my wifi network is Bar13 now"),
    ("Tom is 12", "Tom is 13 now"),
    ("I have 2 dogs", "I have 3 dogs now"),
    ("el bus 21 sale a las 8", "el bus 21 ahora sale a las 9"),
    ("Ana's number is 600111222", "Ana's number is 600333444 now"),
    ("I like tea", "I don't like tea any more"),
    ("Tom lives in York", "Tom lives in Leeds now"),
    ("my address is 12 Mill Road", "my address is 4 Oak Street now"),
    ("Mi jefe es Pablo", "Mi jefe ya no es Pablo"),
]
SAME += [
    ("I live in Leeds", "I live in York now"),
    ("Vivo en Madrid", "ahora vivo en Valencia"),
    ("I live in Leeds and I work at Tesco", "I work at Aldi now"),
    ("Taquilla 118", "La taquilla es la 181, no la 118"),
    ("The budget is 12 grand", "the budget is 14 grand, not 12 grand"),
    ("The rent is 850 a month", "the rent is 900 now"),
]
SAME += [  # one value is denied, and another of its kind named
    ("My boss is Ana", "my boss isn't Ana, it's Marta"),
    ("My daughter is 5", "My daughter isn't 5, she's 6"),
    ("Mi hija tiene 5 años", "Mi hija no tiene 5 años, tiene 6 años"),
    ("La tienda abre a las 9", "La tienda no abre a las 9, abre a las 10"),
    ("I live in Leeds", "I don't live in Leeds but in York"),
    ("My boss is Ana", "my boss is not Ana but Luis"),
    ("Mi jefe es Pablo", "mi jefe no es Pablo sino Luis"),
    ("Mi hermana se llama Eva", "mi hermana no se llama Eva, se llama Ana"),
    ("Mi hermana se llama Eva", "no, mi hermana se llama Ana, no Eva"),
    ("Mi hermana se llama Eva", "mi hermana se llama Ana, no Eva"),
    ("Mis gatos se llaman Tula y Bruno", "no, mis gatos se llaman Tula y Simón, no Tula y Bruno"),
    ("My sister is called Eva", "no, my sister is called Ana, not Eva"),
    ("My sister's name is Eva", "my sister's name is Ana, not Eva"),
    ("I live in Leeds", "I don't live in Leeds, I live in York"),
    ("Vivo en Madrid", "no vivo en Madrid, vivo en Valencia"),
    ("Vivo en Madrid", "no vivo en Madrid sino en Nueva York"),
    ("Mi hermana Ana vive en París", "Mi hermana Ana no vive en París, vive en Roma"),
    ("I'm 40", "I'm not 40, I'm 41"),
    ("The rent is 850 a month", "the rent isn't 850 a month, it's 900 a month"),
    ("El alquiler es de 850 euros", "el alquiler no es de 850 euros, es de 900 euros"),
    ("Tengo clase los lunes", "ya no tengo clase los lunes"),
    ("Tengo clase los lunes", "ahora tengo clase los jueves"),
    ("Trabajo los lunes y miércoles", "ya no trabajo los lunes y miércoles"),
    ("Car insurance is with Aviva", "car insurance isn't with Aviva now, it's Admiral"),
    ("I smoke cigars", "I don't smoke cigars these days"),
    ("Como carne", "desde hoy no como carne"),
    ("I also have yoga on Thursdays", "I no longer have yoga on Thursdays"),
    ("Ahora también trabajo los martes", "ya no trabajo los martes"),
    ("I like tea", "I also don't like tea any more"),
    ("Trabajo en Correos", "Ya no trabajo en Correos, sigo en paro"),
    ("I work at Tesco", "I no longer work at Tesco, still looking"),
    ("Vivo con Dani", "Además, ya no vivo con Dani"),
    ("My sister Ana is 30", "Ana is 31 now"),
    ("Ana is 30", "my sister Ana is 31 now"),
    ("My mum Ana is 60", "My mother Ana is 61 now"),
    ("Mi hermana Ana tiene 30 años", "Mi hermana Ana ya tiene 31 años"),
]
ANOTHER = [
    ("I live in Leeds", "I moved to Android"),
    ("I live in Leeds", "I moved to London for the summer"),
    ("I live in Leeds", "I moved to York for a week"),
    ("I live in Leeds", "I moved to York in my dream"),
    ("I live in Leeds", "I moved to York as a child"),
    ("I live in Leeds", "I moved to York, wrong chat sorry"),
    ("I live in Leeds", "I live in York now, just kidding"),
    ("Vivo en Madrid", "me mudé a Gmail"),
    ("Vivo en Madrid", "me mudé a Valencia por un mes"),
    ("Vivo en Madrid", "ahora vivo en Valencia, es broma"),
    ("We live in Leeds", "I live in York now"),
    ("The meeting is at 5", "the meeting is 2 hours now"),
    ("The train is at 5", "the train is 20 euros now"),
    ("My son is 10", "my son is 140 cm now"),
    ("My son is 10", "my son is 30 kilos now"),
    ("I'm 39", "I'm 40 kilos now"),
    ("I am 39", "I'm 40 now, just kidding"),
    ("my shoe size is 42", "my shoe size is 43 now in trainers"),
    ("my shoe size is 42", "my shoe size is 44 now for skiing"),
    ("My rent is 850", "my rent is 300 now, my share"),
    ("My boss is Tom", "my boss is Sue now until Friday"),
    ("My boss is Tom", "my boss is Sue now in the other job"),
    ("my landlord is Tom", "my landlord is Sue now on weekends"),
    ("el código del portal es 1234", "el código del portal ahora es 4471, creo"),
    ("I play the piano", "I no longer play the piano, April fool"),
    ("My mum takes 5 mg of warfarin and lives alone", "my mum takes 3 mg of warfarin now"),
    ("Mi vecina Lola paga 500 de alquiler y tiene un loro", "mi vecina Lola ahora paga 550 de alquiler"),
    ("the meeting is 2 hours", "the meeting is at 5 now"),
    ("I live in Nottingham", "I moved to Leeds last week"),
    ("Vivo en Madrid", "me mudé a Valencia"),
    ("Taquilla 118. Candado 4071", "el candado es azul, no la taquilla 118"),
    ("The budget is 12 grand", "Okafor's budget is 14 grand, not 12 grand"),
    ("The meeting is on Friday", "the party is on Monday, not the meeting"),
    ("My address is 12 Mill Road, flat 3", "I'm 40 now"),
    ("I paid 300 for my bike", "I'm 41 now"),
    ("pagué 300 por la bici", "son las 9 ahora"),
    ("I take 20 mg of ramipril every morning", "the dog takes 5 mg of something now"),
    ("Calzo un 42", "mi hermano ahora calza un 45"),
    ("My train leaves at 8:05", "Ella's train leaves at 9:20 now"),
    ("Hablo polaco", "ya no me hablo con mi tío"),
    ("I play tennis on Mondays", "do you think I should play on Tuesdays instead"),
    ("Vivo con Dani", "Sara me dijo: ya no vivo con Dani"),
    ("I live in Nottingham", "moved to Leeds last week"),
    ("Vivo en Madrid con Ana", "me mudé a Valencia"),
    ("vive en Madrid", "vive en Valencia ahora"),
    ("Mateo's teacher is Ms. Delgado", "my niece's teacher isn't Ms. Delgado, it's Mr. Park"),
    ("my friend is called Ana", "my friend is called Luis now"),
    ("my son Tom is 12", "my son Leo is 12 now"),
    ("bus 21 leaves at 8", "bus 22 leaves at 8 now"),
    ("we're 4", "we're 5 now"),
    ("my car is red", "my car is dirty now"),
    ("I pay 30 a month for the gym", "if it costs 40 now I'm leaving"),
    ("The door code at mum's is 4471", "mum's alarm code is 2580"),
    ("I work at Tesco", "my brother works at Aldi now"),
    ("I work at Tesco with Ana", "I work at Aldi now"),
    ("tengo turno el martes a las 5", "el turno ya no es el martes, es el jueves"),
    ("I have a sister, Ana. My locker is 14", "we're 15 now"),
    ("no me gusta el pescado", "ahora sí me gusta el pescado"),
    ("Hoy entro a las 8", "ahora entro a las 9"),
    ("tomo 20 mg de enalapril", "mi madre ahora toma 10 mg de enalapril"),
    ("my phone number is 600 111 222", "my work phone number is 600 333 444 now"),
    ("my mum's phone number is 600 111 222", "my phone number is 600 333 444 now"),
    ("Tom is 12", "Ella is 12 now"),
    ("my daughter is 5", "my daughter is 5 months pregnant now"),
    ("my cat weighs 5 kilos", "my cat weighs 5 pounds now"),
    ("I start at 8", "I start to get it now"),
    ("la Coca pasa los viernes", "ahora la coca viene los miércoles"),
    ("My bike cost 300", "my bike is 3 years old now"),
    ("I have 2 dogs", "I have 3 cats now"),
    ("I have 2 dogs", "my neighbour has 3 dogs now"),
    ("Mi hijo Leo tiene 5 años", "mi hijo Nico ya tiene 6 años"),
    ("My son Leo is 5", "Leo's friend is 6 now"),
    ("mi madre toma 5 mg de enalapril", "mi padre ahora toma 10 mg de enalapril"),
    ("el bus 21 sale a las 8", "el bus 22 ahora sale a las 9"),
    ("My flight is at 9", "the flight simulator is at 10 now"),
    ("Ana's number is 600111222", "Ana's work number is 600333444 now"),
    ("I pay 30 euros for the gym", "I pay 30 euros for the pool now"),
    ("The gym costs 30", "The gym costs 40 for students now"),
    ("I'm 40", "I'm 5 minutes late now"),
    ("I'm 40", "I'm 40 minutes away now"),
    ("I work from 9 to 5", "I work from 9 to 5 on Mondays only now"),
    ("the wifi password is mango22", "the old wifi password was mango21 until now"),
    ("I like tea", "I like coffee now"),
    ("I like tea", "I don't like coffee any more"),
    ("I like green tea", "I don't like tea leaves any more"),
    ("vivo en Madrid", "mi hermana ya no vive en Madrid"),
    ("vivo en Madrid", "ya no vive en Madrid"),
    ("trabajo en Correos", "Ana ya no trabaja en Correos"),
    ("I drive to work", "I no longer drive to school"),
    ("My GP is Dr Lim", "my dentist is Dr Shaw now"),
    ("My daughter's school is Elm Park", "my son's school is Oak Park now"),
    ("we meet on Mondays", "we meet on Tuesdays this month now"),
    ("Tom lives in York", "Tom's brother lives in Leeds now"),
    ("Tom lives in York", "Tom moved the sofa to Leeds"),
    ("I take 5 mg of warfarin", "I take 10 mg of ramipril now"),
    ("my address is 12 Mill Road", "my mum's address is 4 Oak Street now"),
    ("http://example.org/wiki?id=42", "I'm 35 now"),
    ("my locker is 14", "we're 5 now"),
    ("my locker is 14", "my locker is red now"),
    ("I'm 5 minutes late now", "there are 4 of us now"),
    ("vivo en la calle Mayor 5", "ahora somos 7"),
    ("vivo en la calle Mayor 5", "ahora vivo en la calle Mayor con Ana"),
    ("The rent is 850", "the rent is due on the 5th now"),
    ("My team is Betis", "my son's team is Sevilla now"),
    ("Mi coche es un Seat León", "mi coche ahora es un desastre"),
    ("Mi jefe es Pablo", "mi jefe ya no es tan malo"),
    ("Mi jefe es Pablo", "mi jefe ya no me habla"),
    ("I see Dr Lim on Mondays", "I see Dr Lim on TV now"),
    ("My appointment is at 9", "my appointment at 9 is with Dr Lim now"),
    ("I have a sister in Cork", "I have a sister in law in Cork now"),
    ("i weigh 94 kg", "my suitcase is 23 kg now"),
    ("Peso 81 kilos", "ahora peso las maletas"),
    ("nos vamos el 15", "ahora son las 15"),
    ("I live in Leeds", "I live in hope now"),
    ("I live in Leeds", "I lived in York"),
    ("My name is Rob", "my name is mud now"),
    ("I was born in Leeds", "I was in York just now"),
]
ONCE = [  # what was not so once, or is not for a while, and why
    ("I play football", "I didn't play football, it rained"),
    ("I work from home", "I didn't work from home, I went to the office"),
    ("I speak French", "I didn't speak French, we used English"),
    ("Tengo coche", "No tengo coche, está en el taller"),
    ("Mi hijo Leo va al cole", "Mi hijo Leo no va al cole, está malo"),
    ("Tengo clase los lunes", "No tengo clase el lunes, es fiesta"),
    ("I have class on Mondays", "I don't have class on Monday, it's a holiday"),
    ("I run every morning", "I didn't run every morning, it was too hot"),
    ("I drink coffee", "I did not drink coffee, I was in a hurry"),
    ("I smoke", "I didn't smoke, I swear"),
    ("We have a car", "We don't have a car, it's at the garage"),
    ("I have internet", "I don't have internet, the router died"),
    ("I have a key", "I don't have a key, it is with Tom"),
    ("I eat meat", "I don't eat meat, it's Friday"),
    ("I drive to work", "I don't drive to work; the car broke down"),
    ("I drive to work", "I didn't drive to work but took the bus"),
    ("I take the bus", "I don't take the bus, they're on strike"),
    ("Trabajo los viernes", "No trabajo los viernes, son fiesta"),
    ("Trabajo los viernes", "No trabajo el viernes, es puente"),
    ("Trabajo los viernes", "no trabajo el viernes, trabajo el sábado"),
    ("Trabajo los viernes", "ya no trabajo el viernes"),
    ("Trabajo los lunes y miércoles", "no trabajo el lunes y miércoles, es fiesta"),
    ("Juego al tenis", "No juego al tenis, me duele el codo"),
    ("Como carne", "No como carne, es viernes santo"),
    ("Mi hermana Ana vive en París", "Mi hermana Ana no vive en París, está de viaje"),
    ("Estoy en casa los lunes", "No estoy en casa los lunes, estoy en la oficina"),
    ("Trabajamos desde casa", "no trabajamos desde casa sino en la oficina"),
    ("La reunión es el viernes", "La reunión no es el viernes, es fiesta"),
    ("The meeting is on Friday", "The meeting is not on Friday, it is a holiday"),
    ("The shop is open", "The shop is not open, it is Sunday"),
    ("My boss is Ana", "My boss is not Ana, it is raining"),
    ("My boss is Ana", "My boss is not Ana, my dentist is Marta"),
    ("I live in Leeds", "I don't live in Leeds, I work in York"),
    ("I take the bus on Fridays", "I didn't take the bus on Friday, I walked"),
    ("Voy al gimnasio los lunes", "No voy al gimnasio el lunes, voy el martes"),
    ("El bus sale a las 8", "El bus no salió a las 8, salió a las 9"),
    ("Cenamos a las 8", "No cenamos a las 8, cenamos a las 9"),
    ("My boss is Ana", "My boss isn't Ana, she's Spanish"),
    ("Mi jefe es Pablo", "Mi jefe no es Pablo, es de Murcia"),
    ("My daughter is 5", "My daughter isn't 5, she's 3 months older"),
    ("Mi hija tiene 5 años", "Mi hija no tiene 5 años, tiene fiebre"),
    ("The meeting is on Friday", "The meeting isn't on Friday, it's on Zoom"),
    ("I have 2 dogs", "I don't have 2 dogs, I have 3 cats"),
    ("Tengo clase los lunes", "ahora tengo clase el jueves"),
    ("I have class on Mondays", "I have class on Thursday now"),
    ("Tengo coche", "Ahora no tengo coche, está en el taller"),
    ("Tengo coche", "No tengo coche ahora, está en el taller"),
    ("I play football", "I don't play football now, it's raining"),
    ("I have a car", "I actually don't have a car, it's at the garage"),
    ("I work at Tesco", "now I don't work at Tesco, I'm on leave"),
    ("Mi hijo Leo va al cole", "Ahora mi hijo Leo no va al cole, está malo"),
    ("Tengo coche", "No, no tengo coche, está en el taller"),
    ("I play football", "No, I didn't play football, it rained"),
]
ADDED = [  # another beside it
    ("I have yoga on Mondays", "Now I also have yoga on Thursdays"),
    ("Trabajo los lunes", "Ahora también trabajo los martes"),
    ("I work on Mondays", "I now work on Tuesdays too"),
    ("I work on Mondays", "I now work on Tuesdays as well"),
    ("I have yoga on Mondays", "I have yoga on Thursdays now, too"),
    ("I have yoga on Mondays", "I have yoga on Thursdays now, as well as on Mondays"),
    ("I have yoga on Mondays", "Also, I have yoga on Thursdays now"),
    ("I have yoga on Mondays", "Now I have yoga on Thursdays too, it's great"),
    ("I have yoga on Mondays", "I have yoga on Thursdays now, besides Mondays"),
    ("I have yoga on Mondays", "I have yoga on Thursdays now in addition"),
    ("I have yoga on Mondays too", "I have yoga on Thursdays now"),
    ("I work at Tesco", "I also work at Aldi now"),
    ("I work at Tesco", "I work at Aldi now too"),
    ("I work at Tesco", "I work at Aldi now, and still at Tesco"),
    ("I work at Tesco", "I work at Aldi now, still at Tesco on weekends"),
    ("I live in Leeds", "I live in York now, and in Leeds as well"),
    ("I take 20 mg of ramipril", "I also take 10 mg of ramipril now"),
    ("Tengo clase los lunes", "Ahora además tengo clase los jueves"),
    ("Tengo clase los lunes", "Ahora tengo clase los jueves además"),
    ("Tengo clase los lunes", "Ahora tengo clase los jueves, además de los lunes"),
    ("Toco el piano los lunes", "Ahora toco el piano los martes también"),
    ("Toco el piano los lunes", "Ahora toco el piano los martes, y también los lunes"),
    ("Trabajo para Acme", "Ahora trabajo también para Beta"),
    ("Trabajo para Acme", "Ahora trabajo para Beta, sigo también en Acme"),
    ("Trabajo para Acme", "Ahora trabajo para Beta, aunque sigo en Acme"),
    ("mi teléfono es el 611 222 333", "mi teléfono ahora también es el 600 123 456"),
    ("I have yoga on Mondays", "I have yoga on Thursdays now. Mondays too"),
    ("Trabajo los lunes", "Ahora trabajo los martes. Y también los lunes"),
]
NAMESAKES = [  # two people with one name
    ("My sister Ana is 30", "My niece Ana is 5 now"),
    ("My cousin Leo lives in Madrid", "My brother Leo lives in Paris now"),
    ("Mi tía Rosa vive en Madrid", "Mi abuela Rosa ahora vive en París"),
    ("My brother Leo's phone number is 600111222", "My cousin Leo's phone number is 600333444 now"),
    ("Mi hijo Leo tiene 5 años", "Mi sobrino Leo ya tiene 6 años"),
    ("My son Tom is 12", "my nephew Tom is 13 now"),
    ("My friend Tom is 30", "My cousin Tom is 31 now"),
    ("Mi hermana Ana tiene 30 años", "Mi vecina Ana ya tiene 31 años"),
    ("My older sister Ana is 30", "My little niece Ana is 5 now"),
    ("Mi hermana mayor Ana vive en Roma", "Mi prima pequeña Ana ahora vive en París"),
    ("My sister Ana works at Tesco", "my cousin Ana no longer works at Tesco"),
    ("My sister Ana works at Tesco", "my boss Ana doesn't work at Tesco any more"),
    ("My sister Ana lives in York", "Ana, my cousin, lives in Leeds now"),
    ("My brother Leo's phone number is 600111222", "No, my cousin Leo's phone number is 600333444, not 600111222"),
    ("Mi tía Rosa vive en Madrid", "Mi abuela Rosa no vive en Madrid, vive en París"),
    ("Mi hermana Ana tiene 30 años. Mi prima Ana tiene 20 años", "Ana ya tiene 31 años"),
    ("My sister-in-law Ana lives in York", "My sister Ana lives in Leeds now"),
    ("My dog Leo is 3", "My nephew Leo is 4 now"),
    ("Our neighbour Tom works at Tesco", "my brother Tom works at Aldi now"),
]


def _ended(says: str, known: list[str]) -> set[int]:
    facts = read_messages([Message(says, SAID)], known)
    return {number for fact in facts for number, _ in fact.verdicts}


@each(("known", "says"), SAME)
def test_the_same_statement_ends(known: str, says: str) -> None:
    """The same words with another value of one kind, or denied, end a statement where a word of change is with them."""
    assert _ended(says, [known]) == {1}


@each(("known", "says"), ANOTHER)
def test_another_statement_ends_nothing(known: str, says: str) -> None:
    """Another subject, another kind of value, a condition, hearsay or fewer words than memory has end nothing."""
    assert _ended(says, [known]) == set()


@each(("known", "says"), [*ONCE, *ADDED, *NAMESAKES])
def test_what_may_hold_beside_it_ends_nothing(known: str, says: str) -> None:
    """What is not so once, what is added, and what is told of another of the same name end nothing."""
    assert _ended(says, [known]) == set()


@each(("known", "says"), SAME)
@each("around", ["{}?", "if {} I'd know", "Sara me dijo: {}", "he said “{}”", "maybe {}", "quizás {}"])
def test_what_is_asked_fancied_or_reported_ends_nothing(around: str, known: str, says: str) -> None:
    """Questions, conditions, guesses, quotations and reported speech end nothing."""
    assert _ended(around.format(says), [known]) == set()


@pytest.mark.parametrize("language", ["english", "spanish", "english_later", "spanish_later"])
def test_what_only_sounds_like_an_end_ends_nothing(language: str) -> None:
    """Another's thing, another thing of the same place, what was put somewhere, a night and a quotation end nothing."""
    assert [says for known, says in NEAR[language] if _ended(says, [known])] == []


@each("case", CHANGES)
def test_only_what_is_meant_ends(case: dict[str, list[str]]) -> None:
    """No change of the corpus ends a memory that it does not mean."""
    assert _ended(str(case["says"]), [text.partition(" @")[0] for text in case["known"]]) <= {case["ends"]}


@each("others", [["My niece Ana is a doctor"], ["Mi prima Ana vive en Roma"], ["Ana, my aunt, paints"]])
def test_a_name_that_two_people_have_ends_nothing_alone(others: list[str]) -> None:
    """With the relation it does."""
    known = [*others, "My sister Ana is 30"]
    assert _ended("Ana is 31 now", known) == set()
    assert _ended("My sister Ana is 31 now", known) == {2}
    assert _ended("mi jefa ahora es Marta", ["Mi dentista es Ana Gil", "Mi jefa es Ana"]) == {2}


def test_one_sentence_of_a_note_ends_alone() -> None:
    """A verdict names the sentence that it is about."""
    facts = read_messages([Message("My locker is 15 now", SAID)], ["I swim on Mondays. My locker is 14"])
    assert [fact.ended_parts for fact in facts] == [((1, "My locker is 14"),)]


def test_a_quoted_message_is_as_it_was_written() -> None:
    """A sentence that goes on about the message before it is quoted behind that, each as it was typed."""
    facts = read_messages([Message("its a girl", SAID, before="My wifes expecting in august")], [])
    assert all(fact.text == "My wifes expecting in august. its a girl" for fact in facts)


def test_the_words_are_those_of_the_speaker() -> None:
    """What replaces a memory says its own words, as they were written."""
    (fact,) = read_messages([Message("im 41 now", SAID)], ["I'm 40"])
    assert fact.text == "im 41 now"
