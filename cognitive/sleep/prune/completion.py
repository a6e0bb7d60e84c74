"""Detect that a commitment is said to be done, or called off, in Spanish and English.

Conservative on purpose: what is not understood leaves a commitment open, and what is open never goes by itself.
"""

import re
from collections.abc import Sequence

from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS
from kenobot.cognitive.text.words import fold, stems, words

_LONGEST = 4000
_END = re.compile(r"(?<=[.!?…])\s+|\n+|;\s+|,\s+(?=(?:pero|but|y|and)\s)")
_QUOTE = re.compile(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)

_AHEAD = re.compile(  # it is still to be done, or only thought of
    r"\b(?:have to|has to|need to|needs to|must|should|will|going to|gonna|let's|remind|if|when|once|until|not yet"
    r"|still|want to|plan to|about to|would|could|tomorrow"
    r"|tengo que|tenemos que|hay que|debo|deberia|voy a|vamos a|si|cuando|hasta que|en cuanto|todavia|aun|quiero"
    r"|recuerdame|pienso|falta|faltan|podria)\b|(?<!\besta )(?<!\bla )\bmañana\b"
)
_YES = re.compile(r"\s*(?:s[ií]|yes|yep|yeah|ok|okay|vale|bueno|hola|hey)\s*[,.!]\s*", re.IGNORECASE)
_FUTURE = re.compile(r"\b\w+[aei]r(?:é|emos|án|ás|á)\b", re.IGNORECASE)  # enviaré, as against envié
_CALLED_OFF = re.compile(
    r"\b(?:no longer (?:have|need) to|(?:don't|do not) (?:have|need) to .{1,60} any ?more"
    r"|(?:was|were|is|are|got|been) cancell?ed|called off|fell through"
    r"|ya no (?:tengo que|tenemos que|hace falta|hay que|es necesario|voy a)"
    r"|(?:se|lo|la|han|he|hemos|esta|queda) (?:ha |han )?(?:cancel\w+|anul\w+|suspendi\w+))\b"
)
_FINISHED = re.compile(
    r"\b(?:(?:is|are|'s|it's|all|got|been|already|finally) (?:now |already |finally )?"
    r"(?:done|finished|completed|sorted|settled|paid|sent|submitted|delivered|fixed|booked)"
    r"|(?:done|finished|sorted|completed) with"
    r"|ya (?:esta|estan|queda|quedan) \w+(?:ad|id)[oa]s?"
    r"|(?:esta|estan|queda|quedo|quedaron|ya|todo) (?:ya )?"
    r"(?:hech[oa]s?|list[oa]s?|terminad[oa]s?|acabad[oa]s?|resuelt[oa]s?|pagad[oa]s?|enviad[oa]s?|entregad[oa]s?"
    r"|arreglad[oa]s?|reservad[oa]s?)"
    r"|(?:hech[oa]s?|list[oa]s?|resuelt[oa]s?) lo del?)\b"
)
_IRREGULAR = (
    "sent did made paid bought went wrote gave met took got told brought spoke sold left found put cut rang saw read "
    "handed drove flew ran built held kept taught won lost swept fed"
)
_PAST = re.compile(
    rf"\b(?:i|we)(?:'ve| have| had)? (?:already |finally |just |also )?(?:\w{{2,}}ed|{'|'.join(_IRREGULAR.split())}"
    r"|written|given|taken|gone|spoken|seen|done|driven|flown|been to)\b"
    r"|\b(?:he|hemos) \w+(?:ado|ido|cho|to|sto)\b"
    r"|\bacabo de \w+(?:ar|er|ir)(?:l[oea]s?)?\b"
)
_PRETERITE = re.compile(  # accents tell envié from envíe and pagó from pago
    r"\b(?:\w{2,}(?:é|í)|hice|fui|di|vi|puse|traje|dije|hicimos|fuimos|(?<=[Yy]a )\w+(?:amos|imos))\b"
)
_FORMULA = frozenset(
    "done finish finished complete completed sort sorted settled ready already finally just hecho hecha hechos hechas "
    "listo lista listos listas terminado terminada acabado acabada resuelto resuelta todo todos all fin ahora now have "
    "need must should will going had has been was were got get did do does make tengo tenemos debo debemos hay voy "
    "vamos prometo comprometo promise promised user usuario owner hacer "
    "today tomorrow tonight yesterday hoy mañana ayer anoche monday tuesday wednesday thursday friday saturday sunday "
    "lunes martes miercoles jueves viernes sabado domingo week semana next proximo proxima before antes by "
    "january february march april may june july august september october november december "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "cancelled canceled called off cancelado cancelada anulado anulada longer falta necesario".split()
)
_NAME = re.compile(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑÜ][\w'’-]+")


def completion_sentences(text: str) -> list[str]:
    """The sentences of a text that may say that something is done. A text with quotations has none."""
    if _QUOTE.search(text[:_LONGEST]):
        return []
    parts = (_YES.sub("", part.strip(), count=1) for part in _END.split(text[:_LONGEST]))
    return [part for part in parts if part and len(part) <= 300 and not part.endswith(("?", "？")) and _completes(part)]


def completed_commitment(sentence: str, commitments: Sequence[str]) -> int | None:
    """The place of the commitment that a completion sentence is surely about."""
    stated, is_strong = _content(sentence), _says_finished(fold(sentence))
    if not stated:
        return None
    scores: list[tuple[int, int]] = []
    for place, commitment in enumerate(commitments):
        wanted = _content(commitment)
        shared = sum(not one.isdisjoint(other) for one in stated for other in wanted)
        enough = 1 if is_strong or len(wanted) == 1 else 2
        if shared >= enough and 2 * shared >= len(stated) and not _names_another(sentence, commitment):
            scores.append((shared, place))
    scores.sort(reverse=True)
    if not scores or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def _completes(sentence: str) -> bool:
    plain = fold(sentence)
    if _CALLED_OFF.search(plain):
        return True
    if _AHEAD.search(plain) or _FUTURE.search(sentence) or not NEGATIONS.isdisjoint(words(sentence)):
        return False
    return _says_finished(plain) or bool(_PAST.search(plain) or _PRETERITE.search(sentence))


def _says_finished(plain: str) -> bool:
    """Whether the thing itself is said to be finished, so that the thing alone identifies the commitment."""
    return bool(_FINISHED.search(plain) or _CALLED_OFF.search(plain))


def _content(text: str) -> list[set[str]]:
    """The stems of each word of a sentence, without formulas and days."""
    empty = STOPWORDS | NEGATIONS | _FORMULA
    plain = (word for word in words(text) if word not in empty and not word.startswith(("cancel", "anul")))
    return [set(stems(word)) for word in dict.fromkeys(plain) if not word.isdecimal()]


def _names_another(sentence: str, commitment: str) -> bool:
    """Whether each has a name that the other has not: to call Ana is not to call Luis."""
    one, other = ({fold(name) for name in _NAME.findall(text)} for text in (sentence, commitment))
    return bool(one - set(words(commitment))) and bool(other - set(words(sentence)))
