"""Which sentences ask without a question mark, in both languages."""

from kenobot.language.questions import asks_unmarked
from tests.cases import each
from tests.cost import assert_bounded


@each(
    "text",
    [
        "what year was I born",
        "a q hora tomo la pastilla",
        "cuando es la cita",
        "who is my barber",
        "remind me what my locker is",
        "remind me when my appointment is",
        "cuando es la cita del dentista",
        "donde vivo",
        "donde deje las llaves del coche",
        "cual es mi talla",
        "con quien ceno el sabado",
        "cuantos años tiene Leo",
        "hey what's my locker number",
        "hola, como se llama mi dentista",
        "a que hora sale el tren",
        "how old is my sister",
        "dime la clave del wifi",
        "recuerdame cual es mi matricula",
        "que dia es la boda",
        "where do I live",
        "which bus do I take",
        "when does the shop close",
        "am i allergic to nuts",
        "do you remember my name",
        "who's my gp",
        "what did i tell you about Bea",
        "en que calle vive Ana",
        "quien es el medico de Leo",
        "cuanto pago de alquiler",
        "cuanto mide Leo",
        "what time is dinner",
        "any idea where my keys are",
        "the wedding, when is it",
        "oye y cuando caduca el carnet",
        "cuándo era lo de Marta",
        "qué desayuna Leo",
        "whose bike is that",
        "k hora es la reunion",
        "when is Bea's birthday",
        "how do I get to Tom's",
        "tell me my pin",
    ],
)
def test_a_question_needs_no_mark(text: str) -> None:
    """Nor an accent, nor careful spelling, nor to begin the sentence."""
    assert asks_unmarked(text)


@each(
    "text",
    [
        "when I was 12 I broke my arm",
        "que llueva",
        "cuando llego a casa ceno",
        "cuando era niño vivia en Soria",
        "cuando llega mi madre cocino",
        "cuando viene Ana comemos pizza",
        "cuando tengo hambre como pan",
        "donde vivo hay un parque",
        "donde vivo nieva mucho",
        "quien cocina en casa es mi padre",
        "what I need is milk",
        "what my dad hates is fish",
        "which is a pain",
        "what a day it was",
        "did my shoulder in, torn cuff",
        "did my homework",
        "have my exam tomorrow",
        "was the best day ever",
        "que dice mama que el jueves no",
        "que el jueves no, que el viernes",
        "para que sepas, mi talla es la 42",
        "para que no se me olvide tengo cita el martes",
        "en cuanto llegue te llamo",
        "en cuanto al cafe, solo",
        "porque trabajo de noche",
        "como pan cada dia",
        "como se que te gusta te lo digo",
        "where I live it snows a lot",
        "who I trust is Bea",
        "remind me to call mum",
        "remind me when I get home to feed the cat",
        "remind me my appointment is Tuesday",
        "recuerdame que mañana tengo medico",
        "recuerdame la cita del martes",
        "recuérdame comprar pan",
        "my locker is 14",
        "me llamo Ana",
        "cuando termino de trabajar salgo a correr",
        "cuando hace sol salgo",
        "quien me conoce sabe que soy vegano",
        "is raining",
        "how nice",
        "what's more, I hate fish",
        "whatever",
        "cuanto mas duermo mejor",
        "donde caben dos caben tres",
        "when it rains my knee hurts",
        "Do the tea urn for St John's",
        "cual es mi sorpresa hoy: me han ascendido",
        "el cole, que dia mas largo",
        "a quien madruga dios le ayuda",
        "cuando cumplo años hago fiesta",
        "cuando salgo del trabajo voy al gym",
    ],
)
def test_what_begins_like_a_question_may_tell_something(text: str) -> None:
    """A clause of time or place before what is told, a reminder, an exclamation."""
    assert not asks_unmarked(text)


def test_a_long_text_asks_nothing() -> None:
    """It is not searched."""
    assert_bounded(asks_unmarked, "who is the one that " * 50_000)
