"""What the offline provider answers in a conversation: what memory took from it, and what memory holds."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.agenda.answers import MOST_SHOWN
from kenobot.ports.clock import Clock
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Provider
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene

LIVE = "SELECT text FROM record WHERE status = 'active' AND form NOT IN ('box', 'summary') ORDER BY id"


def offline(home: Path, clock: Clock) -> Provider:
    return plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))


def scene(home: Path, *, bootstrap: bool = False) -> Scene:
    clock = EagerClock()
    return Scene(home, provider=offline(home, clock), clock=clock, extraction=True, bootstrap=bootstrap)


TALKS: Sequence[Sequence[tuple[str, Sequence[str]]]] = (
    # a message, and what its answer holds; "-" before what it must not hold
    (
        ("Apúntalo: el sábado 28 ceno con Marta", ["Lo recordaré: «el sábado 28 ceno con Marta»"]),
        ("¿Con quién ceno el sábado?", ["«el sábado 28 ceno con Marta»"]),
        ("Mi hermana Ana vive en Bilbao", ["Lo recordaré: «Mi hermana Ana vive en Bilbao»"]),
        (
            "Ana ya no vive en Bilbao, se mudó a Vigo",
            ["Lo recordaré", "Sustituye a «Mi hermana Ana vive en Bilbao»"],
        ),
        ("¿Dónde vive Ana?", ["Vigo"]),
        ("Mi mujer se llama Carmen y es alérgica al marisco", ["Carmen y es alérgica al marisco»", "-Sustituye"]),
        ("¿Cómo se llama mi mujer?", ["Carmen"]),
        ("¿Quiénes son mis primos?", ["Eso no lo sé", "-Carmen"]),
        ("Me mudé a Madrid", ["Lo recordaré: «Me mudé a Madrid»"]),
        ("¿Dónde vivo?", ["Madrid", "-Vigo"]),
        ("¿Dónde trabajo?", ["Eso no lo sé"]),
        ("Juego al pádel los jueves", ["Lo recordaré"]),
        ("Ya no juego al pádel", ["Sustituye a «Juego al pádel los jueves»"]),
        ("Juego al pádel los jueves, apúntalo", ["Lo recordaré"]),
    ),
    (
        ("Hello there", ["Hello!"]),
        ("Note that the wifi hint is blue whale", ["I'll remember: “the wifi hint is blue whale”"]),
        ("keep in mind the meeting is at 5", ["I'll remember: “the meeting is at 5”"]),
        ("Actually the meeting is at 6", ["“the meeting is at 6”", "takes the place of “the meeting is at 5”"]),
        ("When is the meeting?", ["at 6", "-at 5"]),
        ("My rent is 850 euros", ["I'll remember"]),
        ("Actually it's 900", ["“My rent is 850 euros. Actually it's 900”", "Does this take the place of “My rent is"]),
        ("yes", ["“My rent is 850 euros” is over"]),
        ("Actually my bike cost 300 euros", ["“my bike cost 300 euros”", "-takes the place"]),
        ("The server runs on port 8080", ["I'll remember"]),
        ("No, it's 9090", ["“The server runs on port 8080. No, it's 9090”", "Does this take the place of"]),
        ("no", ["both stay"]),
        ("I work as a nurse at St. Mary's", ["“I work as a nurse at St. Mary's”"]),
        ("Tom is my boss", ["I'll remember"]),
        ("Anna is my boss now", ["I'll remember", "-takes the place"]),
        ("I decided to use Postgres", ["I'll remember: “I decided to use Postgres”"]),
        ("What did I decide?", ["Postgres", "-euros"]),
        ("I live in Paris", ["I'll remember"]),
        ("Actually I live in Rome now", ["“I live in Rome now”", "takes the place of “I live in Paris”"]),
        ("Where do I live?", ["Rome", "-Paris"]),
        ("I live in Rome now", ["I knew that already"]),
        ("Note to self: renew the passport", ["“renew the passport”"]),
        ("can you remember that the gate code changes monthly?", ["“the gate code changes monthly”", "-This is"]),
        ("remember my name?", ["I don't know that"]),
        ("My dog is called Rex. Where do I live?", ["I'll remember: “My dog is called Rex”", "Rome"]),
        ("write me a poem", ["I cannot do that"]),
        ("who is the president of France?", ["I don't know that", "-Rome"]),
    ),
    (
        ("Vivo en Zaragoza", ["Lo recordaré"]),
        ("Mi hermana Pilar vive en Huesca y trabaja de enfermera", ["«Mi hermana Pilar vive en Huesca y"]),
        ("¿Dónde vive Luis?", ["-Zaragoza"]),
        ("Pilar ahora vive en Teruel", ["Sustituye a «Mi hermana", "queda: «Mi hermana Pilar trabaja de enfermera»"]),
        ("¿Dónde vive mi hermana?", ["Teruel", "-Zaragoza", "-Huesca"]),
        ("Mi hermana se ha mudado a Lugo", ["Lo recordaré", "-Sustituye a"]),
        ("¿Dónde vive Pilar?", ["Teruel"]),
        ("Mi hermana Eva vive en Jaca", ["Lo recordaré", "-Sustituye"]),
        ("Mi hermana tiene 34 años", ["Lo recordaré"]),
        ("¿Cuántos años tiene Pilar?", ["Eso exactamente no me lo han contado. Lo más cercano"]),
        ("Mi hija se llama Maite y tiene 7 años", ["Lo recordaré"]),
        ("Me equivoqué, Maite tiene 8", ["«Maite tiene 8»", "-Sustituye"]),
        ("¿Cuántos años tiene mi hija?", ["«Maite tiene 8» (hoy)\n- «Mi hija se llama Maite y tiene 7 años» (hoy)"]),
    ),
    (
        ("My brother Tom lives in Leeds and is a vet", ["“My brother Tom lives in Leeds and is a vet”"]),
        ("My brother moved to York", ["I'll remember", "-takes the place"]),
        (
            "Where does Tom live?",
            ["“My brother moved to York” (today)\n- “My brother Tom lives in Leeds and is a vet”"],
        ),
        ("my brother is 34", ["I'll remember"]),
        ("How old is Tom?", ["34"]),
    ),
    (
        ("我喜欢喝绿茶", ["“我喜欢喝绿茶”"]),
        ("我喜欢喝什么？", ["“我喜欢喝绿茶”"]),
        ("我不喜欢喝绿茶", ["Does this take the place of “我喜欢喝绿茶”"]),
        ("yes", ["“我喜欢喝绿茶” is over"]),
        ("我住在上海", ["“我住在上海”"]),
        ("我搬到北京了", ["“我搬到北京了”", "-takes the place"]),
        ("我住在哪里？", ["“我搬到北京了” (today)\n- “我住在上海”"]),
        ("记住：我的狗叫豆豆", ["“我的狗叫豆豆”"]),
        ("Запомни, что я живу в Казани", ["“я живу в Казани”"]),
        ("Где я живу?", ["Казани"]),
        ("أنا أعيش في القاهرة", ["القاهرة"]),
        ("Merke dir: mein Hund heißt Bello", ["mein Hund heißt Bello"]),
    ),
    (
        ("the code of the boiler is 4471", ["I'll remember"]),
        ("What is the code of the garage?", ["The closest I remember", "-This is what I remember"]),
        ("What is the code of the boiler?", ["This is what I remember", "4471"]),
        ("Why do you think that?", ["the code of the boiler is 4471"]),
        ("Soy alérgica a la penicilina", ["Lo recordaré"]),
        ("¿Soy alérgica a las gambas?", ["Lo más cercano que recuerdo", "-Esto es lo que recuerdo"]),
        ("¿Soy alérgica a la penicilina?", ["Esto es lo que recuerdo"]),
        ("deshaz eso", ["Deshecho", "Soy alérgica a la penicilina"]),
    ),
    (
        ("In this chat we speak English", ["I'll remember for this chat: “we speak English”"]),
        ("recuerda en este chat que hablamos del jardín", ["Lo recordaré para este chat: «hablamos del jardín»"]),
        ("recuerda que\nuna cosa\ny otra", ["«una cosa»", "otra"]),
        ("ten en cuenta que soy celíaca, por favor", ["«soy celíaca»"]),
        ("remember that my key is sk-ant-api03-" + "Zx9" * 20, ["password", "-Zx9"]),
    ),
    (  # on a Saturday, 2026-02-14
        ("I have to call the vet tomorrow at 5", ["I'll remember"]),
        ("Dentist on Wednesday at 9", ["I'll remember"]),
        ("I have to return the books the week after next", ["I'll remember"]),
        ("remember to buy milk", ["I'll remember"]),
        ("I work from home on Fridays", ["I'll remember"]),
        (
            "What do I have next week?",
            ["Wednesday 18 February**\n- 9:00 “Dentist on Wednesday at 9”", "-books", "-milk", "-vet"],
        ),
        ("what do I have on Sunday?", ["**Tomorrow, Sunday 15 February**\n- ", "vet tomorrow at 5”", "-Dentist"]),
        ("What do I have to do?", ["vet", "Dentist", "books", "milk"]),
        ("¿Qué tengo el miércoles?", ["Dentist", "-vet"]),
        ("what do I have on Thursday?", ["told me of nothing for then", "-Dentist", "-books"]),
        ("The dentist is cancelled", ["Does this take the place of “Dentist on Wednesday at 9”"]),
        ("yes", ["“Dentist on Wednesday at 9” is over"]),
        ("what do I have on Wednesday?", ["-Dentist on"]),
        ("between us, I am looking for another job", ["I'll remember"]),
        ("what am I looking for?", ["“I am looking for another job” (in confidence)"]),
    ),
)


@pytest.mark.parametrize(
    "talk", TALKS, ids=["es", "en", "family-es", "family-en", "scripts", "things", "requests", "agenda"]
)
async def test_the_answer_tells_what_memory_took_and_holds(
    tmp_path: Path, talk: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """What was kept, what it took the place of, what is known and what is not: never the opposite of memory."""
    async with scene(tmp_path) as house:
        for text, expected in talk:
            said = await house.say(text)
            for piece in expected:
                assert (piece[1:] not in said) if piece.startswith("-") else (piece in said), f"{text}: {said}"


async def test_what_the_answer_says_is_what_stands_in_memory(tmp_path: Path) -> None:
    """Each turn is extracted once, and an undo takes back what the answer told of."""
    async with scene(tmp_path) as house:
        await house.say("Juego al pádel los jueves")
        await house.say("Ya no juego al pádel")
        await house.app.background.extraction.drain()
        assert [row[0] for row in await house.rows(LIVE)] == ["Ya no juego al pádel"]
        await house.say("/undo")
        assert [row[0] for row in await house.rows(LIVE)] == ["Juego al pádel los jueves"]
        assert "Juego al pádel los jueves" in await house.say("¿A qué juego los jueves?")


async def test_without_a_model_a_wish_to_forget_is_asked_about_or_finds_nothing(tmp_path: Path) -> None:
    """By some of its words too, with any verb for it; where nothing is like it, that is said and nothing is kept."""
    async with scene(tmp_path) as house:
        for wish, none in (("Forget the locker code", "nothing to forget"), ("borra mi talla", "nada que olvidar")):
            assert none in await house.say(wish)
        await house.say("The code of the pool locker is on the key ring")
        for wish in ("forget the locker code", "erase the code of the locker"):
            assert "Shall I forget this?\n- #1 “The code of the pool locker" in await house.say(wish)
            await house.say("no")
        await house.say("The van is at the harbour")
        await house.say("Theo sold the boat")
        assert (await house.say("forget about the van")).count("\n- ") == 1  # it is a verb in Spanish
        await house.say("no")
        assert "Forgotten" in await house.say("yes" if "Shall" in await house.say("delete the locker code") else "")


@pytest.mark.parametrize(
    "told",
    [
        "Rufus has four ferrets",
        "Candela cumplió 6 anteayer",
        "We painted the shed with Greta",
        "I think the hut code is 77",
    ],
)
async def test_what_names_or_counts_something_is_kept_where_no_model_reads_it(tmp_path: Path, told: str) -> None:
    """Word for word, a guess as the guess that it was."""
    async with scene(tmp_path) as house:
        assert told in await house.say(told)
        assert [row[0] for row in await house.rows(LIVE)] == [told]


@pytest.mark.parametrize("said", ["You're hopeless", "that's not so", "what a Monday", "it's 12", "ok Keno", "Nice!"])
async def test_a_remark_is_kept_nowhere(tmp_path: Path, said: str) -> None:
    """Nor what points back at something that was not told."""
    async with scene(tmp_path) as house:
        await house.say(said)
        assert await house.rows(LIVE) == []


async def test_what_a_sentence_goes_on_about_is_not_told_as_known(tmp_path: Path) -> None:
    """The reply tells what is new of it."""
    async with scene(tmp_path) as house:
        await house.say("The plumber is coming on Thursday at 2pm")
        assert "I knew" not in await house.say("Her name is Olga")


async def test_a_name_is_met_and_kept_once(tmp_path: Path) -> None:
    """The first conversation ends with the name, whatever else was told beside it."""
    async with scene(tmp_path, bootstrap=True) as house:
        assert "¿Cómo te llamas?" in await house.say("hola")
        said = await house.say("Me llamo Ana y vivo en Lyon")
        assert "¡Encantado de conocerte, Ana!" in said and "«vivo en Lyon»" in said
        assert [row[0] for row in await house.rows(LIVE)] == ["Me llamo Ana", "vivo en Lyon"]


async def test_a_fallback_without_a_model_tells_of_memory_too(tmp_path: Path) -> None:
    """Where the model cannot be reached, what is told is kept and what is asked is found."""
    from kenobot.ports.errors import Unavailable

    clock = EagerClock()
    broken = ScriptedProvider([Unavailable("down")], repeat_last=True)
    async with Scene(tmp_path, provider=broken, fallbacks=[offline(tmp_path, clock)], clock=clock) as house:
        assert "“I live in Rome”" in await house.say("I live in Rome")
        assert "“I live in Rome”" in await house.say("Where do I live?")


async def test_another_persons_memory_is_not_told(tmp_path: Path) -> None:
    """A guest is answered out of what guests may read."""
    async with scene(tmp_path) as house:
        await house.say("My rent is 850 euros")
        assert "850" not in await house.say("How much is the rent?", chat="2", user="2")


async def test_a_question_for_plans_is_told_that_there_are_none(tmp_path: Path) -> None:
    """For the days that it asks for, whatever else is known, and in the words of the answer."""
    async with scene(tmp_path) as house:
        await house.say("Vivo en Lugo")
        assert "No me has contado nada para entonces" in await house.say("¿qué tengo mañana?")
        assert "You have told me of nothing for then" in await house.say("what do I have on Friday?")
        assert "No me has contado nada" not in await house.say("¿cómo se llama mi perro?")


async def test_an_agenda_that_is_too_long_says_how_many_more_there_are(tmp_path: Path) -> None:
    """Whoever reads twenty plans must not take them for all."""
    async with scene(tmp_path) as house:
        for number in range(MOST_SHOWN + 2):
            await house.say(f"meeting {number} with client {number} tomorrow at {number}:15")
        said = await house.say("what do I have tomorrow?")
        assert said.startswith("**Tomorrow, Sunday 15 February**")
        assert said.count("“meeting") == MOST_SHOWN
        assert said.endswith("… and 2 more.")
        assert "… y 2 más." in await house.say("¿qué tengo mañana?")


@pytest.mark.parametrize("text", ["forget everything", "olvida todo", "forget", "olvida"])
async def test_only_the_owner_is_told_to_touch_the_machine(tmp_path: Path, text: str) -> None:
    """A guest has no key to it, and is sent to the person who has."""
    async with scene(tmp_path) as house:
        owner, guest = await house.say(text), await house.say(text, chat="2", user="2")
        assert re.search("folder|memory`|carpeta", owner)
        assert not re.search("folder|memory`|carpeta|delete|borra su", guest)
        assert "/forget" in guest or "/olvida" in guest


async def test_nothing_stands_behind_an_answer_that_found_nothing(tmp_path: Path) -> None:
    """That the answer and a memory both deny something makes neither the reason of the other."""
    async with scene(tmp_path) as house:
        await house.say("no como marisco, me da alergia")
        assert "Eso no lo sé" in await house.say("¿cuál es la clave del wifi?")
        told, _, _ = (await house.say("/porque")).partition("También a la vista")
        assert "marisco" not in told


@pytest.mark.parametrize(
    ("question", "guessed", "other"),
    [
        ("¿dónde vivo?", "Vivo en una burbuja feliz", "El pueblo donde vivo se llama Lugo"),
        ("where do I live?", "I live in comfort these days", "The village where I live is called Leeds"),
        ("what is my job?", "I'm a bad cook", "The van of my job is a white one"),
    ],
)
async def test_what_perhaps_tells_an_attribute_hides_nothing(
    tmp_path: Path, question: str, guessed: str, other: str
) -> None:
    """Only a memory that holds the attribute answers by itself."""
    async with Scene(tmp_path, provider=offline(tmp_path, EagerClock()), extraction=True) as scene:
        for text in (guessed, other):
            await scene.say(f"/remember {text}")
        answer = await scene.say(question)
        assert guessed in answer
        assert other in answer
