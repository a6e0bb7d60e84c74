"""Words that turn a statement round, and words that mean the opposite of each other, in Spanish and English.

The two sides of a row are one topic with two answers: a text that says the one is never a repeat of a text that says
the other. Every form of a word is on its side, because its stem is.
"""

from dataclasses import dataclass
from functools import lru_cache

from kenobot.cognitive.text.stopwords import NEGATIONS
from kenobot.cognitive.text.words import stems

_CONTRARY = """
like likes love loves enjoy enjoys adore prefer prefers want wants gusta gustan encanta encantan ama adora
    disfruta prefiere prefiero quiere amo adoro gusto / dislike dislikes hate hates detest detests loathe loathes avoid
    avoids despise odia odio odian detesta detesto disgusta aborrece evita evito evitan
allow allows allowed permit permits permite permiten permitido / forbid forbids forbidden ban banned prohibit prohibited
    prohibe prohibido
on encendido / off apagado
open opens opened abierto abierta / closed cerrado cerrada
married casado casada / single divorced soltero soltera divorciado divorciada
alive vivo viva / dead muerto muerta
true verdadero cierto / false falso
enable enabled enables activado activada / disable disabled disables desactivado desactivada
accept accepts acepta / reject rejects rechaza
agree agrees / disagree disagrees
safe seguro segura / dangerous unsafe peligroso peligrosa
able possible posible capaz / unable impossible imposible incapaz
vegan vegetarian vegano vegana vegetariano vegetariana / carnivore omnivore carnivoro omnivoro carnivora omnivora
employed empleado empleada / unemployed desempleado desempleada
optional opcional / mandatory required obligatorio obligatoria
tolerates tolera / intolerant intolerante
public publico publica / private privado privada
happy feliz contento contenta / sad unhappy triste
"""
"""Both cannot be so at once."""

_DIFFERENT = """
start starts begin begins empieza comienza / stop stops end ends quit quits termina acaba
buy buys compra / sell sells vende
hot caliente calor / cold frio fria
before antes / after despues
more mas / less fewer menos
increase increases aumenta / decrease decreases reduces disminuye
up sube arriba / down baja abajo
arrive arrives llega / leave leaves sale
early temprano pronto / late tarde
left izquierda izquierdo / right derecha derecho
good bueno buena bien / bad malo mala mal
best better mejor / worst worse peor
big large grande / small little pequeno pequena
first primero primera / last ultimo ultima
near cerca / far lejos
hire hired contrata / fire fired despide
win wins gana / lose loses pierde
inside indoors dentro / outside outdoors fuera
light claro clara / dark oscuro oscura
tall alto alta / short bajo
day dia / night noche
morning manana / evening
easy facil / hard difficult dificil
cheap barato barata / expensive caro cara
"""

NEGATORS = NEGATIONS | frozenset(
    "mustn't shan't needn't ain't dont doesnt didnt cant wont isnt wasnt arent lacks carece dejo dejado hardly barely "
    "apenas former formerly "
    "не нет никогда pas jamais nicht kein keine keinen não nao nunca non nein لا ليس لم لن غير ليست".split()
)
"""Words that make the opposite of what follows."""
NEGATING_SIGNS = frozenset("不没沒無无未别非")
"""The same, in scripts that put no blanks between words."""


@dataclass(frozen=True, slots=True)
class Polarity:
    """The answer that a word gives to a question of yes or no: on which topic, which one, and whether a text that
    gives the other cannot be so too."""

    topic: str
    is_second: bool
    contrary: bool


def _table() -> dict[str, Polarity]:
    found: dict[str, Polarity] = {}
    for contrary, rows in ((True, _CONTRARY), (False, _DIFFERENT)):
        for row in rows.replace("\n    ", " ").strip().splitlines():
            first, _, second = row.partition(" / ")
            topic = f"±{first.split()[0]}"
            for at, column in enumerate((first, second)):
                for word in column.split():
                    for stem in (word, *stems(word)):
                        found.setdefault(stem, Polarity(topic, at == 1, contrary))
    return found


_SIDES = _table()


@lru_cache(4096)
def polarity_of(word: str) -> Polarity | None:
    """The side that a folded word takes on a topic; None when it takes none."""
    found = _SIDES.get(word)
    if found is not None or word in NEGATORS:
        return found
    return next((_SIDES[stem] for stem in stems(word) if stem in _SIDES), None)


def is_negation(word: str) -> bool:
    """Whether a folded word makes the opposite of what follows."""
    return word in NEGATORS or not NEGATING_SIGNS.isdisjoint(word)
