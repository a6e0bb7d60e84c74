"""What a plain statement says of whom, where there can be only one answer: where somebody lives, what they are called.

For what nobody has taken apart yet: a model's `<memory>` tag, a line that a person typed. Only sentences of a few known
shapes are read, in Spanish and English; of anything else, denied or conditional, nothing is said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kenobot.cognitive.remember.statement_relation import parse_statement
from kenobot.cognitive.text.entity_names import is_owner
from kenobot.cognitive.text.words import fold

_LONGEST = 160  # characters of a sentence that is read
_ADVERBS = r"(?:[Nn]ow|[Cc]urrently|[Tt]hese days|[Tt]oday|[Aa]hora|[Yy]a|[Aa]ctualmente|[Hh]oy)"
_NAME = rf"(?!{_ADVERBS}\b)[^\W\d_a-zß-öø-ÿ][\w'’.-]*(?:\s(?:de\s|del\s|la\s)?[^\W\d_a-zß-öø-ÿ][\w'’.-]*){{0,3}}"
_WHO = rf"(?P<who>(?:[Tt]he |[Ee]l |[Ll]a )?(?:[Uu]ser|[Oo]wner|[Uu]suari[oa])|I|[Yy]o|{_NAME})"
_POSSESSOR = rf"(?:(?P<who>{_NAME}|[Tt]he user|[Uu]ser)['’]s|(?P<mine>[Mm]y|[Mm]i))"
_OF = rf"(?: de(?:l)? (?P<who>{_NAME}|usuario))?"
_VALUE = r"(?P<value>[^.,;:!?\n]+?)"
_NOW = r"(?: (?:now|ahora|currently|actualmente|these days))?"
_WHEN = (
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)s?"
)
_EXACT = rf"(?:{_WHEN}|\d[\w.:/%€$£ -]{{0,24}}|(?:v|€|\$|£)\d[\w.:]{{0,24}})"
_END = r"(?:,? (?:since|desde|with|con|because|porque|as|como)\b.*)?[.!]?"


def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_ADVERBS},? )?(?:{pattern}){_NOW}{_END}")


_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "residence",
        _shape(
            rf"(?:{_WHO} )?(?:(?:now |has |have |just )?(?:live|lives|reside|resides|moved|is based|am based)"
            rf"(?: now| back| recently)? (?:in|to)) {_VALUE}"
        ),
    ),
    (
        "residence",
        _shape(
            rf"(?:{_WHO} )?(?:ahora |ya )?(?:vive|vivo|reside|se mud[oó]|me mud[eé]|se ha mudado|me he mudado)"
            rf"(?: ahora)? (?:en|a) {_VALUE}"
        ),
    ),
    ("employer", _shape(rf"(?:{_WHO} )?(?:now )?(?:work|works)(?: now)? (?:at|for) {_VALUE}")),
    ("employer", _shape(rf"(?:{_WHO} )?(?:ahora )?(?:trabaja|trabajo)(?: ahora)? para {_VALUE}")),
    ("name", _shape(rf"{_POSSESSOR} name is {_VALUE}")),
    ("name", _shape(rf"(?:(?P<who>[Uu]suari[oa]|[Ee]l usuario) )?(?:[Ss]e llama|[Mm]e llamo) {_VALUE}")),
    ("name", _shape(rf"(?P<mine>[Mm]i) nombre es {_VALUE}")),
    ("birthday", _shape(rf"{_POSSESSOR} birthday is (?:on )?{_VALUE}")),
    ("birthday", _shape(rf"(?:[Ee]l |(?P<mine>[Mm]i) )cumpleaños{_OF} es (?:el )?{_VALUE}")),
    ("age", _shape(rf"(?:{_WHO} )?(?:is|am) (?P<value>\d{{1,3}})(?: years old)?")),
    ("age", _shape(rf"(?:{_WHO} )?(?:tiene|tengo) (?P<value>\d{{1,3}}) años")),
    (
        "favourite",
        _shape(rf"(?:{_POSSESSOR} |(?P<owner>[Uu]ser |[Tt]he user ))favou?rite (?P<what>\w+(?: \w+)?) is {_VALUE}"),
    ),
    (
        "favourite",
        _shape(rf"(?:[Ee]l |[Ll]a |(?P<mine>[Mm]i) )(?P<what>\w+(?: \w+)?) favorit[oa]{_OF} es {_VALUE}"),
    ),
    (
        "relation",
        _shape(
            rf"{_POSSESSOR} (?P<what>wife|husband|spouse|boss|mother|father|girlfriend|boyfriend|manager|landlord|"
            rf"doctor|dentist|email|phone|phone number|address|time zone|timezone|shoe size|blood type|car|job|"
            rf"mother tongue|esposa|mujer|marido|esposo|jefa|jefe|madre|padre|novia|novio|correo|teléfono|dirección|"
            rf"médico|médica|dentista|coche|trabajo|talla|zona horaria|grupo sanguíneo)(?:['’]s name)? "
            rf"(?:is(?: called)?|es|se llama) {_VALUE}"
        ),
    ),
    (
        "fixed",
        re.compile(
            r"(?:(?:[Tt]he|[Oo]ur|[Mm]y|[Ee]l|[Ll]a|[Nn]uestr[oa]|[Mm]i) )?"
            r"(?P<what>[^\W\d_][\w' -]{1,40}?) (?:is|es)(?: now| ahora)? "
            rf"(?:on |at |el |a las )?(?P<value>(?i:{_EXACT}))[.!]?"
        ),
    ),
)
_TOLD_BY = re.compile(
    r"\b(?:is|am|es|lives?|resides?|moved|based|works?|viv[eo]|resid[eo]|mud\w+|trabaj[ao]|llam[ao]|tiene|tengo)\b"
)
_PLACES = frozenset({"residence", "employer"})
_ANYBODY = frozenset("it he she they we this that there el ella ellos ellas eso esto".split())
_SEVERAL = re.compile(r"\s(?:and|or|y|o|e)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AttributeStatement:
    """Of whom something is said ("" for the owner of the memory), of what by name, and what."""

    subject: str
    attribute: str
    value: str


def read_attribute(text: str) -> AttributeStatement | None:
    """The one thing that `text` says of somebody, if it has one of the shapes."""
    sentence = text.strip()
    if not sentence or len(sentence) > _LONGEST or "\n" in sentence or not _TOLD_BY.search(fold(sentence)):
        return None
    found = parse_statement(sentence)
    if found.negative or found.conditions & {
        "if",
        "si",
        "maybe",
        "perhaps",
        "quiza",
        "quizas",
        "might",
        "could",
        "would",
    }:
        return None
    for name, shape in _SHAPES:
        match = shape.fullmatch(sentence) or shape.fullmatch(sentence[0].lower() + sentence[1:])
        if match:
            return _frame(name, {group: value or "" for group, value in match.groupdict().items()})
    return None


def _frame(name: str, groups: Mapping[str, str]) -> AttributeStatement | None:
    value, who, what = groups["value"].strip(), groups.get("who", ""), fold(groups.get("what", ""))
    attribute = {"favourite": f"favourite {what}", "relation": what, "fixed": what}.get(name, name)
    if _SEVERAL.search(value) or fold(who) in _ANYBODY or (name == "fixed" and _is_person(what)):
        return None
    if name in _PLACES and value[0].islower():
        return None
    return AttributeStatement("" if is_owner(who) else who, attribute, value)


def _is_person(what: str) -> bool:
    """Whether what is said to be a number or a day is one that is said so of many things: it, he, there."""
    return what.rsplit(maxsplit=1)[-1] in {
        "it",
        "he",
        "she",
        "that",
        "this",
        "there",
        "today",
        "tomorrow",
        "hoy",
        "eso",
        "user",
    }
