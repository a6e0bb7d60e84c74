"""A message that wants something done in the background is told from those about backgrounds."""

from kenobot.agent.commands.natural_language import asks_to_cancel_task
from kenobot.agent.turn.background_words import asks_for_background
from tests.cases import each

_WANTS = {
    "en": """do that in the background
Do this in the background, please.
please do it in the background
ok, do it in the background
Can you do that in the background?
could you please run this in the background?
You can do it in the background.
I'd like you to do that in the background
do all of that in the background
handle it in the background
Work on that in the background.
keep working on it in the background
take care of this for me in the background
finish it in the background
run it as a background task
do it meanwhile
do that in the meantime, please
Go through my notes and list the open questions. Do it in the background.
Research three hotels in Lisbon. You can do that in the background!
Compare these two offers, do that in the background
Compare the two offers and do it in the background
research three hotels in Lisbon in the background
Please look up the opening hours of all museums in Vienna in the background
summarise the three reports in the background, thanks
find out who wrote all of these in the background
In the background: read all files of the workspace and make a list
In the background, please, go through my files and count them
As a background task, collect the prices of these shops
just do it in the background
yes, do it in the background""",
    "es": """hazlo en segundo plano
Hazlo en segundo plano, por favor.
hazlo mientras tanto
¿Puedes hacerlo en segundo plano?
¿podrías hacerlo mientras tanto?
haz eso en segundo plano
haz todo eso en segundo plano
Vale, hazlo de fondo
hacelo en segundo plano
hágalo en segundo plano, gracias
quiero que lo hagas en segundo plano
encárgate de eso en segundo plano
ejecútalo en segundo plano
ve haciéndolo mientras tanto
Investiga tres hoteles en Lisboa. Hazlo en segundo plano.
Compara las dos ofertas y hazlo en segundo plano
investiga tres hoteles en Lisboa en segundo plano
busca los horarios de todos los museos en segundo plano, por favor
resume los tres informes como tarea en segundo plano
En segundo plano: lee todos los archivos y haz una lista
En segundo plano, por favor, revisa mis archivos y cuéntalos
sigue con eso en segundo plano
oye, hazlo entretanto""",
}
_OTHERS = """what is in the background?
Who is the man in the background?
put a castle in the background
Draw me a cat with mountains in the background
The music in the background is too loud
remove the people in the background
In the background, there's a tree
In the background you can see a church
In the background: a red house
don't do that in the background
never do it in the background
How do I do that in the background?
Did you do that in the background?
I do that in the background all the time
what did you do in the background
Why do you do it in the background?
do that in the background of the picture
my background is in biology
write a story with a war in the background
write a poem about what happens in the background
what are you doing meanwhile?
Meanwhile I will cook.
He did it in the background
run a background check on him
> do that in the background
"do that in the background"
read the sign in the background
do you have a background in law?
tell me about your background
change the background to blue
they do this in the meantime
¿qué hay en segundo plano?
¿quién es la mujer del segundo plano?
dibuja un gato con montañas en segundo plano
la música de fondo está muy alta
pon música de fondo
pon un castillo de fondo
no lo hagas en segundo plano
nunca lo hace en segundo plano
mientras tanto voy a cocinar
¿qué haces mientras tanto?
En segundo plano hay un árbol
En segundo plano, una iglesia
él lo hizo en segundo plano
mi familia quedó en segundo plano
¿cómo lo hago en segundo plano?
el trabajo pasa a segundo plano
artículo de fondo"""


@each(("language", "text"), [(each, line) for each in _WANTS for line in _WANTS[each].splitlines()])
def test_what_is_to_be_done_in_the_background(language: str, text: str) -> None:
    """By an order about what was said, or by one with what is to be done."""
    assert asks_for_background(text) == language


@each("text", _OTHERS.splitlines())
def test_what_has_a_background_of_its_own(text: str) -> None:
    """Pictures, stories, music, people, and talk about it."""
    assert asks_for_background(text) is None


def test_a_picture_has_a_background() -> None:
    """Beside one only an order about what was said counts."""
    assert asks_for_background("find out who is in the background", has_pictures=True) is None
    assert asks_for_background("do that in the background", has_pictures=True) == "en"


@each(
    ("text", "number"),
    [
        ("cancel that task", ""),
        ("Cancel the task, please", ""),
        ("please cancel the background task", ""),
        ("Can you stop the task?", ""),
        ("cancel task 3", "3"),
        ("stop the task number 12", "12"),
        ("abort this job", ""),
        ("cancela esa tarea", ""),
        ("Cancela la tarea 3, por favor", "3"),
        ("detén la tarea en segundo plano", ""),
        ("¿puedes parar la tarea?", ""),
        ("anula la última tarea", ""),
        ("cancel", None),
        ("stop", None),
        ("cancel my dentist task", None),
        ("do not cancel that task", None),
        ("cancel the task of buying milk", None),
        ("cancela la reunión", None),
        ("no canceles la tarea", None),
        ("did you cancel the task?", None),
    ],
)
def test_what_cancels_a_task(text: str, number: str | None) -> None:
    """Nothing but that, with its number or without."""
    assert asks_to_cancel_task(text) == number
