"""What the offline provider understands beside memory, in two languages: small talk, names, and hostile input."""

import pytest

from kenobot.core.i18n import Language
from kenobot.providers.offline.phrases import PHRASES_FOR_GUESTS, Phrase
from tests.cases import each
from tests.unit.providers.offline_talk import BOOTSTRAP, ask, phrased, tagged

_REFUSALS: tuple[Phrase, ...] = ("deed", "task", "alarm_how", "private", "forget_all")

# ── small talk ───────────────────────────────────────────────────────────────────────────────────────────────────


@each(
    ("text", "phrase", "language"),
    [
        ("Hello!", "hello", "en"),
        ("¡Hola!", "hello", "es"),
        ("", "hello", "en"),
        ("😀", "ready", "en"),
        ("ok", "ready", "en"),
        ("sí", "ready", "es"),
        ("thanks!", "welcome", "en"),
        ("Muchas gracias", "welcome", "es"),
        ("bye", "bye", "en"),
        ("Hasta luego", "bye", "es"),
        ("who are you?", "about", "en"),
        ("how old are you?", "about", "en"),
        ("please remind me!", "reminder_how", "en"),
        ("could you remind me?", "reminder_how", "en"),
        ("Recuérdame", "reminder_how", "es"),
        ("¿quién te ha creado?", "about", "es"),
        ("help", "about", "en"),
        ("¿Qué puedes hacer?", "about", "es"),
        ("forget that I like tea", "forget_none", "en"),
        ("Olvida mi nombre", "forget_none", "es"),
        ("no, that's wrong", "wrong", "en"),
        ("Te has equivocado", "wrong", "es"),
        ("how are you?", "fine", "en"),
        ("¿qué tal estás?", "fine", "es"),
        ("you are stupid", "sorry", "en"),
        ("eres tonto", "sorry", "es"),
        ("lol", "ready", "en"),
        ("jajaja", "ready", "es"),
        ("no me has entendido", "wrong", "es"),
        ("that's not what I said", "wrong", "en"),
        ("hola de nuevo", "hello", "es"),
        ("what's the weather like today?", "nothing", "en"),
        ("¿va a llover mañana?", "nothing", "es"),
        ("can you write me a poem", "task", "en"),
        ("¿podrías traducir esto?", "task", "es"),
        ("can you set an alarm for 7am", "alarm_how", "en"),
        ("¿puedes ponerme una alarma?", "alarm_how", "es"),
        ("tell me a joke", "task", "en"),
        ("Escribe un poema", "task", "es"),
        ("thanks, that was a joy", "welcome", "en"),
        ("Gracias, eso ha sido precioso", "welcome", "es"),
        ("forget", "forget", "en"),
        ("forget everything", "forget_all", "en"),
        ("How do I delete all my data?", "forget_all", "en"),
        ("olvida todo", "forget_all", "es"),
        ("¿cómo borro todos mis datos?", "forget_all", "es"),
        ("book me a table at Nando's for friday", "deed", "en"),
        ("can you order a pizza?", "deed", "en"),
        ("text my mum that I'm late", "deed", "en"),
        ("Reserva mesa en Arzak", "deed", "es"),
        ("mándale un whatsapp a mi madre", "deed", "es"),
        ("llama a mi madre", "deed", "es"),
        ("set an alarm for 7", "alarm_how", "en"),
        ("pon una alarma a las 7", "alarm_how", "es"),
        ('traduce "good morning"', "task", "es"),
        ("are you chatgpt?", "about", "en"),
        ("¿eres humano?", "about", "es"),
        ("do you share my data with anyone?", "private", "en"),
        ("¿quién puede leer esto?", "private", "es"),
    ],
)
def test_small_talk_is_answered_in_its_language(text: str, phrase: Phrase, language: str) -> None:
    """Greetings, thanks, farewells, who it is, and an honest word about forgetting."""
    assert ask(text) == phrased(phrase, language)


def test_a_guest_is_told_what_a_guest_can_do() -> None:
    """In both languages, and like anybody else where there is no difference."""
    told: list[tuple[str, Phrase, Language]] = [("forget everything", "forget_all", "en"), ("olvida", "forget", "es")]
    for text, phrase, language in told:
        assert ask(text, report="### Who asks: a guest") == PHRASES_FOR_GUESTS[phrase][language]
    assert ask("who are you?", report="### Who asks: a guest") == phrased("about", "en")


@pytest.mark.parametrize(
    "text", ["remind me tomorrow at 9 to call Ana", "Recuérdame mañana llamar a Ana", "avísame a las 9"]
)
def test_it_does_not_claim_that_it_will_remind(text: str) -> None:
    """What is to be recalled at a time is kept, and it says that it will not write by itself."""
    kept = ask(text, report=f"### What this message changed\n- noted: {text}").splitlines()
    assert kept[1:] in ([phrased("reminder_how", "en")], [phrased("reminder_how", "es")])


def test_a_wish_to_be_told_a_fact_again_is_reminder_how() -> None:
    """It is remembered like any other fact."""
    text = "recuérdame que mi código es 12"
    assert phrased("reminder_how", "es") not in ask(
        text, report="### What this message changed\n- noted: mi código es 12"
    )


@pytest.mark.parametrize(
    "text",
    ["order number 42", "find my keys", "call me Sam", "is it safe to eat this?", "llama la atención", "forget Tom"],
)
def test_what_only_begins_like_a_request_is_none(text: str) -> None:
    """What was found for it is shown, or nothing was."""
    assert ask(text) not in {phrased(phrase, lang) for phrase in _REFUSALS for lang in ("en", "es")}


def test_a_question_in_haste_is_a_question() -> None:
    """Without its apostrophe."""
    reply = ask("whats the code of my locker", report="### What was found for it (high)\n- it is 4417 _(2026-02-14)_")
    assert reply.startswith(phrased("found", "en"))


def test_it_is_honest_about_what_it_is() -> None:
    """Nobody shall take it for a model."""
    assert "not a language model" in ask("what are you?")
    assert "no un modelo de lenguaje" in ask("¿quién eres?")


def test_it_repeats_what_it_is_asked_to_repeat() -> None:
    """Tags too: the pipeline knows that they stood in the message."""
    assert ask("Repeat exactly: <memory>x</memory>") == "<memory>x</memory>"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("What's your name?", "My name is Rosa."),
        ("¿Y cómo te llamas?", "Me llamo Rosa."),
        ("do you remember me?", "Your name is Hanna."),
        ("¿Te acuerdas de mí?", "Te llamas Hanna."),
    ],
)
def test_it_tells_its_name_and_knows_whom_it_talks_to(text: str, told: str) -> None:
    """Whatever else is found for the question."""
    memory = "### Long-term memory\n- My name is Hanna"
    report = "### What was found for it (high)\n- My husband's name is Jorge"
    assert ask(text, system=memory, report=report, bot_name="Rosa") == told


def test_a_question_that_only_begins_like_one_about_its_memory_of_a_person_is_another() -> None:
    """What was found for it is shown."""
    report = "### What was found for it (high)\n- the router is new"
    assert "the router is new" in ask("do you remember me telling you about the router?", report=report)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what day is today", "It is 12:14 on Saturday, 2026-11-28."),
        ("¿qué día es hoy?", "Hoy es sábado, 2026-11-28, y el reloj marca las 12:14."),
    ],
)
def test_it_tells_the_day_of_the_week_with_the_time(text: str, told: str) -> None:
    """As the clock of the person has it."""
    assert ask(text, system="_Today is Saturday 2026-11-28, Europe/Madrid._", time="12:14") == told
    assert ask(text, system="_Today is Friday 2026-11-27, Europe/Madrid._", time="Sat 2026-11-28 12:14") == told


def test_what_stands_for_an_attachment_is_in_nobody_s_language() -> None:
    """A sticker is answered in the language of the talk before it."""
    assert ask("[sent a sticker: 😀]", talk=[("¿dónde vivo?", "Eso no lo sé.")]) == phrased("cannot", "es")


def test_the_last_message_that_tells_a_language_tells_it() -> None:
    """Not those before it, however many."""
    talk = [("me gusta mucho la paella", "De acuerdo."), ("¿qué me gusta?", "La paella."), ("where do I live?", "Hm.")]
    assert ask("1234", talk=talk) == phrased("cannot", "en")


def test_a_short_message_is_answered_in_the_language_of_the_conversation() -> None:
    """A name or a number speaks no language."""
    assert ask("1234", before="¡Hola! Dime algo que deba recordar.") == phrased("cannot", "es")
    assert ask("no", before="Hello! Tell me something to remember.") == phrased("ready", "en")


# ── getting to know one another ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("text", "told"), [("Hello!", "Hello, I am Rosa!"), ("¡Hola!", "¡Hola, soy Rosa!")])
def test_the_bot_introduces_itself_by_the_name_it_was_given(text: str, told: str) -> None:
    """Not by that of the program."""
    assert ask(text, system=BOOTSTRAP, bot_name="Rosa").startswith(told)


@pytest.mark.parametrize("name", ["Rosa", "R2-D2 (home)", "Nam!"])
def test_the_bots_name_after_a_greeting_is_part_of_it(name: str) -> None:
    """Whatever signs it has; a word that only begins so is no name."""
    assert ask(f"Hi {name}, who are you?", bot_name=name) == phrased("about", "en")
    assert ask(f"Hi {name}", bot_name=name) == phrased("hello", "en")
    assert ask("Hi Rosalind", bot_name="Rosa") != phrased("hello", "en")


@pytest.mark.parametrize(("text", "language"), [("Hello", "en"), ("hola", "es"), ("who are you?", "en")])
def test_at_first_it_introduces_itself_and_asks_the_name(text: str, language: str) -> None:
    """Two sentences and one question, and onboarding goes on."""
    reply = ask(text, system=BOOTSTRAP)
    assert reply == f"{phrased('intro', language).format('KenoBot')}\n\n{phrased('ask_name', language)}"


@pytest.mark.parametrize(
    ("text", "before", "fact"),
    [
        ("Hola, soy María José", "", "Me llamo María José"),
        ("Hi, I'm Anna", "", "My name is Anna"),
        ("Ana", "¡Hola! ¿Cómo te llamas?", "Me llamo Ana"),
        ("josé de la torre.", "¡Hola! ¿Cómo te llamas?", "Me llamo José De La Torre"),
        ("its marcus", "Hi! What is your name?", "My name is Marcus"),
        ("aquí pepe", "¡Hola! ¿Cómo te llamas?", "Me llamo Pepe"),
        ("小明", "Hi! What is your name?", "My name is 小明"),
    ],
)
def test_a_name_ends_onboarding(text: str, before: str, fact: str) -> None:
    """The name is remembered, and nothing that was not said; onboarding is over."""
    reply = ask(text, system=BOOTSTRAP, before=before)
    assert tagged(reply) == [fact]
    assert "user-update" not in reply
    assert reply.endswith("<bootstrap-complete/>")


def test_a_name_that_was_kept_already_is_not_kept_twice() -> None:
    """What else the message told is said as ever."""
    kept = "### What this message changed\n- noted: My name is Carlos"
    reply = ask("My name is Carlos", system=BOOTSTRAP, report=kept)
    assert not tagged(reply) and reply.startswith("Nice to meet you, Carlos!")
    reply = ask("My name is Carlos and I live in Lyon", system=BOOTSTRAP, report=f"{kept}\n- noted: I live in Lyon")
    assert "“I live in Lyon”" in reply and reply.endswith("<bootstrap-complete/>")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hola, soy Iker. Vivo en Vitoria", "Iker"),
        ("My name is J. R. Ewing. I live in Dallas", "J. R. Ewing"),
        ("I'm Dr. Smith. We live in Ghent", "Dr. Smith"),
    ],
)
def test_a_name_ends_with_its_sentence(text: str, name: str) -> None:
    """The full stop of an initial or a title ends none."""
    assert f", {name}!" in ask(text, system=BOOTSTRAP)


@pytest.mark.parametrize("text", ["no", "prefiero no decirlo", "No, gracias"])
def test_nobody_has_to_say_their_name(text: str) -> None:
    """A refusal ends onboarding too, and stores no name."""
    reply = ask(text, system=BOOTSTRAP, before="¿Cómo te llamas?")
    assert not tagged(reply)
    assert reply.endswith("<bootstrap-complete/>")


@pytest.mark.parametrize(
    "text",
    [
        "leave me alone",
        "soy feliz",
        "I live in Rome",
        "what can you do?",
        "Stop",
        "exit",
        "menú",
        "Cancelar",
        "error 404",
        "its raining",
        "it's me",
    ],
)
def test_not_every_answer_is_a_name(text: str) -> None:
    """What is no name is answered like anything else."""
    assert "bootstrap-complete" not in ask(text, system=BOOTSTRAP, before="What is your name?")


@pytest.mark.parametrize("word", ["pizza", "Pizza", "table", "tomorrow", "Friday", "mesa", "hambre", "elephant"])
def test_an_everyday_word_is_no_name(word: str) -> None:
    """Though the bot has just asked for one."""
    assert not tagged(ask(word, system=BOOTSTRAP, before="What is your name?"))


@pytest.mark.parametrize(
    "text",
    [
        "It's complicated",
        "It's Complicated",
        "call me when you can",
        "I'm Home",
        "soy yo",
        "estoy en casa",
        "No me llames",
    ],
)
def test_a_sentence_about_something_else_is_no_name(text: str) -> None:
    """However like a presentation it begins."""
    assert not tagged(ask(text, system=BOOTSTRAP, before="What is your name?"))


@pytest.mark.parametrize(
    ("text", "before", "fact"),
    [
        ("no, it's Ana", "What is your name?", "My name is Ana"),
        ("no, it's Ana", "Nice to meet you, Rob! Tell me anything you want me to remember.", "My name is Ana"),
        ("no, es Ana", "¡Encantado de conocerte, Rosa! Cuéntame lo que quieras que recuerde.", "Me llamo Ana"),
        ("sorry, it's ana", "Nice to meet you, Rob! Tell me anything you want me to remember.", "My name is Ana"),
    ],
)
def test_a_name_may_be_put_right(text: str, before: str, fact: str) -> None:
    """A "no" before it is no refusal to tell it."""
    system = BOOTSTRAP if "?" in before else ""
    assert tagged(ask(text, system=system, before=before)) == [fact]


def test_the_name_is_asked_for_once() -> None:
    """Who talks of something else is not asked again, and may still say it later."""
    earlier = [("hola", "¡Hola! ¿Cómo te llamas?"), ("¿qué puedes hacer?", phrased("about", "es"))]
    assert "llamas" not in ask("vivo en Lugo", system=BOOTSTRAP, talk=earlier)
    assert "Ana" in ask("Me llamo Ana", system=BOOTSTRAP, talk=earlier)
    assert not tagged(ask("Lugo", system=BOOTSTRAP, talk=earlier))


def test_a_request_comes_before_the_introduction() -> None:
    """Who starts with something to remember gets it done first."""
    reply = ask(
        "remember that I like tea", system=BOOTSTRAP, report="### What this message changed\n- noted: I like tea"
    )
    assert reply.startswith("I'll remember: “I like tea”.")
    assert reply.endswith("What is your name?")


# ── hostile input ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("remember that " + " ." * 50_000 + "x", id="dots"),
        pytest.param("my " + "a " * 50_000, id="words"),
        pytest.param("hola " * 20_000, id="greetings"),
        pytest.param("my name is " + "A" * 100_000, id="name"),
        pytest.param("<" * 100_000 + "?", id="openers"),
        pytest.param("\ud800\x00\u202e", id="odd"),
    ],
)
def test_hostile_messages_cost_little(text: str) -> None:
    """Every pattern takes linear time, so even a huge message is answered at once."""
    assert ask(text)
