"""Spanish or English? A guess from function words, and the sentences that the core itself says in both."""

import re
from typing import Literal

Language = Literal["en", "es"]

_WORD = re.compile(r"[^\W\d_]+")
_SPANISH = frozenset(
    "el la los las un una unos unas de del al que qué y o en con por para como cómo cuando cuándo donde dónde "
    "quien quién es está son soy estoy fue ser hay no sí si se me te le lo mi tu su mis tus sus yo tú él ella "
    "nosotros pero porque muy más menos también ya hoy ayer mañana hola gracias buenos buenas días tardes "
    "noches oye recuerda acuérdate acuerdate sabes sobre esto eso este esta ese esa quiero puedo puedes tengo "
    "tienes prefiero gusta llamo vivo trabajo hasta luego adiós cuál cuánto cuanto nada todo algo".split()
)
_ENGLISH = frozenset(
    "the a an of to in on at for with by from and or but not is are was were be been am i you he she it we "
    "they me my your his her its our their this that these those what who when where why how which do does did "
    "can could will would should have has had hello hi hey thanks thank please remember know about there here "
    "yes good morning evening night want prefer like live work name bye all some nothing anything".split()
)
_SPANISH_SIGNS = re.compile(r"[ñ¿¡]", re.IGNORECASE)


def guess(text: str, default: Language = "en") -> Language:
    """The likelier of the two languages of `text`; `default` when nothing speaks for either."""
    words = [word.lower() for word in _WORD.findall(text[:2000])]
    spanish = sum(word in _SPANISH for word in words) + 2 * bool(_SPANISH_SIGNS.search(text[:2000]))
    english = sum(word in _ENGLISH for word in words)
    if spanish == english:
        return default
    return "es" if spanish > english else "en"


_SENTENCES: dict[str, dict[Language, str]] = {
    "noted": {"en": "Noted.", "es": "Anotado."},
    "silent": {
        "en": "I have nothing to say to that.",
        "es": "No tengo nada que decir a eso.",
    },
    "patience": {
        "en": "I cannot reach my model just now. I have kept your message and answer it as soon as I can.",
        "es": "Ahora mismo no puedo contactar con mi modelo. He guardado tu mensaje y lo responderé en cuanto pueda.",
    },
    "expired": {
        "en": "Your message waited too long for me to answer it as if nothing had happened. "
        "If it still matters, please send it again.",
        "es": "Tu mensaje ha esperado demasiado como para responderlo como si nada. "
        "Si todavía importa, vuelve a enviármelo.",
    },
    "too_many": {
        "en": "You are writing faster than I can answer. I have left out what came last; "
        "please send it again in a few minutes.",
        "es": "Escribes más deprisa de lo que puedo responder. He dejado fuera lo último que ha llegado; "
        "vuelve a enviármelo en unos minutos.",
    },
    "rejected": {
        "en": "I could not answer: the model refused the request. `kenobot signals` tells the owner why.",
        "es": "No he podido responder: el modelo rechazó la petición. `kenobot signals` le dice al dueño por qué.",
    },
    "broken": {
        "en": "Something went wrong on my side and I could not answer. I have kept your message; please try again.",
        "es": "Algo ha fallado de mi lado y no he podido responder. He guardado tu mensaje; inténtalo de nuevo.",
    },
    "secret": {
        "en": "(I did not save that: it looks like a password or a key.)",
        "es": "(Eso no lo he guardado: parece una contraseña o una clave.)",
    },
}

Sentence = Literal["noted", "silent", "patience", "expired", "too_many", "rejected", "broken", "secret"]


def say(sentence: Sentence, language: Language) -> str:
    """One of the core's own sentences, in `language`."""
    return _SENTENCES[sentence][language]
