"""Words that say that one thing led to another, in Spanish and English."""

import re

from kenobot.cognitive.text.words import fold

_PHRASES = (
    "as a result of",
    "as a result",
    "as a consequence",
    "because of",
    "because",
    "caused by",
    "due to",
    "therefore",
    "consequently",
    "thanks to",
    "which led to",
    "led to",
    "that is why",
    "that's why",
    "which is why",
    "resulted in",
    "so that",
    "como resultado",
    "como consecuencia",
    "en consecuencia",
    "a causa de",
    "a raiz de",
    "debido a",
    "gracias a",
    "por culpa de",
    "por lo tanto",
    "por tanto",
    "por eso",
    "por ello",
    "porque",
    "puesto que",
    "ya que",
    "asi que",
    "causado por",
    "provoco",
)
_CAUSAL = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _PHRASES))})(?!\w)")
_BACKWARD = re.compile(
    r"(?:y |and )?(?:because of (?:that|this)|as a (?:result|consequence)|therefore|consequently|that(?: i|')s why"
    r"|por eso|por ello|por (?:lo )?tanto|en consecuencia|como (?:resultado|consecuencia)|asi que"
    r"|debido a (?:eso|ello|esto)|a (?:raiz|causa) de (?:eso|ello|esto))(?!\w)"
)


def causal_phrase(text: str) -> str | None:
    """The first phrase of cause in `text`, folded; None when it tells of none."""
    found = _CAUSAL.search(fold(text))
    return found[0] if found else None


def names_previous_as_cause(text: str) -> bool:
    """Whether `text` begins by naming what came before it as its cause: "That's why …", «Por eso …»."""
    return _BACKWARD.match(fold(text).lstrip("¿¡\"'«“( ")) is not None
