"""Classify facts as episodes or notes, and confidences as tiers.

An episode happened once; a note holds until something else does. Evidence counts in this order: time, category, tags,
verbs of doing, words of lasting.
"""

import re
from collections.abc import Sequence
from typing import Literal

from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.text.words import fold

FactKind = Literal["episode", "note"]
ConfidenceTier = Literal["explicit", "implied", "inferred", "speculative"]

_DAYS = (
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miercoles|jueves|viernes|sabado|domingo)"
)
_ONCE = re.compile(
    r"\b(?:yesterday|today|tonight|last (?:night|week|month|year|time|"
    + _DAYS
    + r")|this (?:morning|afternoon|evening)|"
    r"(?:an? |\d+ )(?:minutes?|hours?|days?|weeks?|months?|years?) ago|just now|earlier today|the other day|"
    r"ayer|anteayer|anoche|hoy|esta (?:manana|tarde|noche)|la semana pasada|el (?:mes|ano) pasado|el otro dia|"
    r"hace (?:un|una|\d+|unos|unas) \w+|(?:el )?" + _DAYS + r" pasado)\b|\b\d{4}-\d{2}-\d{2}\b"
)
_ON_A_DAY = re.compile(rf"\b(?:on|el) {_DAYS}\b")
_AGAIN = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|yearly|usually|always|never|recurring|cada|todos los|todas las|semanal\w*|"
    r"diari\w*|mensual\w*|siempre|nunca|normalmente|suele[ns]?|los " + _DAYS + r"|" + _DAYS + r"s)\b"
)
_LASTING = frozenset({"preference", "principle", "rule", "habit", "relationship", "policy"})
_NOTES = _LASTING | {"decision", "commitment", "goal", "constraint", "skill", "correction", "profile"}
_EPISODES = frozenset({"event", "action", "moment", "observation", "incident"})
_NOTE_TAGS = _NOTES | {"preferences", "rules", "policies", "principles", "preferencia", "norma", "politica", "decision"}
_EPISODE_TAGS = _EPISODES | {"deploy", "release", "meeting", "trip", "evento", "incidente", "reunion", "viaje"}
_DONE = re.compile(
    r"\b(?:deployed|merged|fixed|shipped|released|pushed|created|deleted|removed|installed|visited|attended|bought|sold|"
    r"moved|started|finished|completed|launched|met|called|wrote|sent|broke|crashed|failed|happened|went|arrived|left|"
    r"won|lost|booked|rebooted|restarted|migrated|"
    r"desplego|arreglo|envio|compro|vendio|visito|empezo|termino|fue a|fuimos|fui a|llego|salio|gano|perdio|"
    r"reinicio|instalo|borro|escribio|llamo a|conocio|paso que|asistio)\b"
)
_STAYS = re.compile(
    r"\b(?:prefers?|preferred|likes?|loves?|hates?|dislikes?|always|never|must|should|usually|wants?|believes?|"
    r"policy|rule|requires?|favou?rite|allergic|avoids?|is|are|has|have|lives?|works?|speaks?|knows?|owns?|"
    r"prefiere[ns]?|prefiero|gusta[ns]?|encanta[ns]?|odia[ns]?|odio|siempre|nunca|debe[ns]?|suele[ns]?|quiere[ns]?|"
    r"norma|regla|alergic[oa]|favorit[oa]s?|evita[ns]?|es|son|esta|tiene|vive|trabaja|habla|sabe|tengo|vivo|trabajo)\b"
)


def kind_of(text: str, category: str = "fact", tags: Sequence[str] = (), default: FactKind = "episode") -> FactKind:
    """Whether `text` tells of an event or of how things are; `default` where nothing in it tells."""
    said = fold(text[:2000])
    recurs = _AGAIN.search(said) is not None
    done = _DONE.search(said) is not None
    once = _ONCE.search(said) is not None or (_ON_A_DAY.search(said) is not None and (done or category in _EPISODES))
    if once and not recurs and category not in _LASTING:
        return "episode"
    if category in _NOTES:
        return "note"
    if category in _EPISODES:
        return "episode"
    marks = {fold(tag) for tag in tags}
    if marks & _NOTE_TAGS:
        return "note"
    if marks & _EPISODE_TAGS or done:
        return "episode"
    return "note" if _STAYS.search(said) else default


def tier_of_confidence(confidence: float, policy: AdmitPolicy) -> ConfidenceTier:
    """What a confidence is worth: said, meant, concluded, or guessed."""
    if confidence >= policy.explicit_from:
        return "explicit"
    if confidence >= policy.implied_from:
        return "implied"
    return "inferred" if confidence >= policy.inferred_from else "speculative"
