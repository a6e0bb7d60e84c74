"""How much a sentence stands out, by its words in Spanish and English: whether it belongs into MEMORY.md, not whether
it is kept."""

import re

from kenobot.cognitive.beliefs.value import DEFAULT, clamp
from kenobot.cognitive.policy.value import ValuePolicy
from kenobot.cognitive.text.words import fold

# Folded words, each from its beginning; `\w*` where any ending will do.
_SIGNS = {
    "error": r"errors?|fail\w*|bug|bugs|crash\w*|broke|broken|exception|4(?:0[0-9]|1[0357]|2[259])|50[0-4]|errores"
    r"|fall[aoe]\w*|fracas\w*|averia\w*|rompi\w*|roto|rota",
    "success": r"success\w*|solved|fixed|works now|exito\w*|solucion\w*|resuelt[oa]s?|arregl\w*|logr\w*|funciono",
    "correction": r"actually|correction|corrected|wrong|mistake\w*|not anymore|no longer|en realidad"
    r"|correccion\w*|corrij\w*|corregi\w*|equivoc\w*|ya no|mas bien",
    "new": r"new|first time|never before|nuev[oa]s?|primera vez|por primera|nunca antes|estren\w*",
    "preference": r"prefer\w*|favou?rite\w*|likes|loves|hates|dislikes?"
    r"|(?:i|we|they|you) (?:really )?(?:like|love|hate)"
    r"|always|never|allergic|time ?zone"
    r"|prefier\w*|preferi\w*|preferenc\w*|favorit[oa]s?|gusta\w*|encanta\w*|odi[oa]\w*|detest\w*|siempre|nunca"
    r"|alergic[oa]s?|zona horaria|huso horario",
    "lesson": r"decided?|decision\w*|decides|learn\w*|learnt|remember\w*|lesson\w*|decidi\w*|aprend\w*|recuerd\w*"
    r"|recordar\w*|acuerd\w*|leccion\w*",
}
_PATTERNS = {name: re.compile(rf"(?<!\w)(?:{words})(?!\w)") for name, words in _SIGNS.items()}


def salience_signs(text: str) -> tuple[str, ...]:
    """What stands out in `text`: error, success, correction, new, preference, lesson; each once."""
    folded = fold(text)
    return tuple(name for name, pattern in _PATTERNS.items() if pattern.search(folded))


def salience(text: str, policy: ValuePolicy = DEFAULT) -> float:
    """How much `text` stands out, from 0 to 1."""
    return clamp(sum(policy.salience_weights[name] for name in salience_signs(text)))


def is_salient(text: str, policy: ValuePolicy = DEFAULT) -> bool:
    """Whether `text` stands out enough for MEMORY.md."""
    return salience(text, policy) >= policy.salient_from
