"""English and Spanish: guess a text's language, and say a sentence in either."""

import re
from typing import Literal, NamedTuple

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


def guess_language(text: str, default: Language = "en") -> Language:
    """Guess the language of `text` by its function words; `default` on a tie."""
    words = [word.lower() for word in _WORD.findall(text[:2000])]
    spanish = sum(word in _SPANISH for word in words) + 2 * bool(_SPANISH_SIGNS.search(text[:2000]))
    english = sum(word in _ENGLISH for word in words)
    if spanish == english:
        return default
    return "es" if spanish > english else "en"


class Text(NamedTuple):
    """A sentence in both languages; `{name}` marks a place for a value."""

    en: str
    es: str

    def __call__(self, language: Language, **values: object) -> str:
        """Translate into `language` and fill in `values`."""
        text = self.es if language == "es" else self.en
        return text.format(**values) if values else text


_PROBLEMS = (
    Text("channel {} keeps failing", "el canal {} falla una y otra vez"),
    Text("channel {} keeps falling silent", "el canal {} se queda mudo una y otra vez"),
    Text(
        "Another program reads this bot's messages with the same token: stop it or get a new token",
        "otro programa lee los mensajes de este bot con el mismo token: páralo o consigue un token nuevo",
    ),
)


def translate_problem(text: str, language: Language) -> str:
    """Translate the text of a health problem; one without a translation stays as it is."""
    for english, spanish in _PROBLEMS if language == "es" else ():
        if match := re.fullmatch(re.escape(english).replace(r"\{\}", "(.+)"), text):
            return spanish.format(*match.groups())
    return text
