"""What kind of answer a question asks for, and whether a memory holds one; and whether either turns something down.

Told by words, in Spanish and English, the words that ask also in other languages. Hints for a ranking, never a filter.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from kenobot.cognitive.text.times import asks_time_first, names_time
from kenobot.cognitive.text.words import fold

AnswerKind = Literal["time", "number", "person", "place"]

_NUMBER_ASKED = re.compile(
    r"\b(how (?:much|many|often|long|old|high|tall|far|fast|late|early|slow|heavy|big|deep|hot)|what (?:size|number|"
    r"age|price|percentage)|cuant[oa]s?|que (?:numero|edad|talla|precio|cifras?|porcentaje)|combien|wie ?(?:viel|oft|"
    r"lange)|quant[oiae]s?|сколько|скільки)\b|多少|几|幾|いくら|いくつ|何[回歳]|몇|얼마"
)
_PERSON_ASKED = re.compile(
    r"\b(who|whom|whose|quien|quienes|qui|wer|wem|wen|quem|chi|кто|кого|хто|кого)\b|谁|誰|누가|누구"
)
_NAME_ASKED = re.compile(r"\b(?:name|called|nombre|se llama)\b")
_OPENS = re.compile(
    r"\b(?:what|which|how|who|whom|whose|where|when|why|que|cual|quien|donde|adonde|cuando|cuant[oa]s?)\b"
)
_PLACE_ASKED = re.compile(
    r"\b(where|(?:in |to |from )?wh(?:ich|at) (?:city|country|town|place|street|floor)|donde|adonde|(?:que|cual) "
    r"(?:ciudad|pais|sitio|lugar|calle|piso|pueblo)|wo|wohin|onde|dove|où|где|куда|де)\b|哪里|哪儿|哪个城市|どこ|어디"
)
_NUMBER = re.compile(
    r"\d|\b(two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|"
    r"thousand|half|twice|every|once|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|"
    r"cuarenta|cincuenta|sesenta|noventa|cien|doscientos|mil|media|medio|cada|veces|vez)\b|[一二三四五六七八九十百千]"
)
_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)\b[^\W\d_a-zà-ÿ][^\W\d_]*[a-zà-ÿ]\w*"  # a capital within a sentence
    r"|^[^\W\d_a-zà-ÿ]\w+(?='s |’s | (?:is|has|wants|likes|does|es|tiene|quiere|bebe|no)\b)"  # or at its beginning
)
_PLACE = re.compile(
    r"\b(in|at|on|under|behind|inside|near|from|to|en|bajo|detras|dentro|cerca|junto|hasta|dans|sous|chez|unter|bei|em|"
    r"nella|под|в|у)\b|在|で|に|에|ใน|ใต้"
)
_TURNED_DOWN = re.compile(
    r"\b(no|not|never|nobody|nothing|without|don't|doesn't|didn't|can't|cannot|isn't|aren't|won't|mustn't|shouldn't|"
    r"hates?|dislikes?|avoids?|refuses?|forbid\w*|forbade|banned|stop(?:ped)?|quit|gave up|no longer|allergic|fear\w*|"
    r"afraid|scare\w*|out of the question|wrong|nunca|jamas|ni|sin|nadie|nada|tampoco|odi[oae]\w*|aborrezco|detest\w*|"
    r"evit\w+|rechaz\w+|prohib\w+|vet(?:o|aron|ado)|dej[eo]|alergi\w+|miedo|terror|panico|asco|falta|mal|rompi)\b"
)
_MARK = re.compile(r"[?？؟]")
_LONGEST = 2000  # characters of a message in which its question is looked for
_OPENING = 5  # words of a question within which it says what it asks for
_PEOPLE = re.compile(
    r"\b(mother|father|mum|dad|sister|brother|aunt|uncle|cousin|son|daughter|husband|wife|neighbour|neighbor|boss|friend|"
    r"colleague|doctor|dentist|madre|padre|hermana|hermano|tia|tio|prima|primo|hija|hijo|marido|mujer|pareja|vecina|"
    r"vecino|jefa|jefe|amiga|amigo|compañera|compañero|doctora|dentista|abuela|abuelo)\b"
)
_OFFERS: dict[AnswerKind, re.Pattern[str]] = {"number": _NUMBER, "place": _PLACE, "person": _PEOPLE}
_ASKS: dict[AnswerKind, re.Pattern[str]] = {"number": _NUMBER_ASKED, "person": _PERSON_ASKED, "place": _PLACE_ASKED}


def asked_kinds(question: str) -> frozenset[AnswerKind]:
    """The kinds of answer that a question asks for; none where it asks for another, or does not say."""
    plain = " ".join(fold(_question(question[:_LONGEST])).split()[:_OPENING])
    opens = _OPENS.search(plain)
    first = opens.start() if opens is not None else len(plain)
    found: set[AnswerKind] = {kind for kind, at in _asked_at(plain) if at <= first}
    if _NAME_ASKED.search(plain):
        found.add("person")
    return frozenset(found | {"time"} if asks_time_first(plain, first) else found)


def _question(text: str) -> str:
    """The first question of a text; all of it where it has none."""
    for mark in _MARK.finditer(text):
        begin = max(text.rfind(end, 0, mark.start()) for end in ".!?¿？؟\n") + 1
        if begin < mark.start():
            return text[begin : mark.start()]
    return text


def _asked_at(plain: str) -> Iterator[tuple[AnswerKind, int]]:
    """The kinds of answer that words of a question ask for, each with where it does so first."""
    for kind, pattern in _ASKS.items():
        if match := pattern.search(plain):
            yield kind, match.start()


@lru_cache(512)
def holds_kind(text: str, kind: AnswerKind) -> bool:
    """Whether a memory may hold this kind of answer."""
    text = text[:_LONGEST]
    plain = fold(text)
    if kind == "time":
        return _NUMBER.search(plain) is not None or names_time(plain)
    return _OFFERS[kind].search(plain) is not None or (kind == "person" and _NAME.search(text) is not None)


@lru_cache(512)
def is_negative(text: str) -> bool:
    """Whether a question or a memory speaks of what is not so, not wanted, not allowed or feared."""
    return _TURNED_DOWN.search(fold(text[:_LONGEST])) is not None


def kind_score(wanted: frozenset[AnswerKind], text: str) -> float:
    """How well a memory fits the kinds of answer: 1 holds one, 0 none; a half where no kind is asked for."""
    return 0.5 if not wanted else float(any(holds_kind(text, kind) for kind in wanted))
