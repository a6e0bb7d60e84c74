"""Patterns of extraction without a model, for the start of a folded clause, in Spanish and English.

The groups `value` and `also` are cut from the text as written.
"""

import re
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.remember.extract.parse_facts import Category

Needs = Literal["", "day", "birthday"]


@dataclass(frozen=True, slots=True)
class ExtractionRule:
    """A pattern and the fact it makes.

    attribute: name of the value; "favourite" and "relation" go on with the group `what` or `que`.
    needs: a day that is due, or the speaker's birthday.
    """

    pattern: re.Pattern[str]
    category: Category = "fact"
    attribute: str = ""
    needs: Needs = ""


def _start(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(parts)})(?!\w)")


_ENDS = (
    r"y|e|o|and|or|pero|but|porque|because|desde|since|con|with|para|for|cuando|when|donde|where|aunque|though|hace"
    r"|ahora|now|que|that|which|as|como|de momento|right now|these days|until|hasta|so|asi"
    r"|ayer|hoy|yesterday|today|last|next|este|esta|this"
)
_HERE = r"\s*[,.;:!?()]|\s*$"
_VALUE = rf"(?P<value>\S.{{0,59}}?)(?=\s+(?:{_ENDS})\b|{_HERE})"
_NAME = rf"(?P<value>[^\W\d_][\w'.-]{{0,39}}(?: [^\W\d_][\w'.-]{{0,39}}){{0,3}}?)(?=\s+(?:{_ENDS})\b|{_HERE})"
_JOB = rf"(?P<value>\S.{{0,59}}?)(?=\s+(?:{_ENDS}|en|in|at)\b|{_HERE})"
_NO_PLACE = r"(?!(?:un|una|el|la|los|las|mi|casa|a|an|the|my|this|that|pareja|familia|peace|fear|paz|remoto|equipo)\b)"
_NOT_THIS = (
    r"(?!(?:it|that|this|these|those|them|you|your|how|the (?:way|idea|sound)|when|what|to (?:know|see|ask|hear)"
    r"|eso|esto|esta|este|ese|esa|tu|tus|como|la idea|lo que|que (?:me|te|tu)|saber|mucho$|bastante$)\b)"
)
_LATELY = r"(?:just |recently |now |currently )?"
_REALLY = r"(?:really |also |do |truly |just |absolutely |usually |always )?"
_AHORA = r"(?:yo |ahora |actualmente )?"
_ON_A_DAY = (
    r"(?:(?:mañana|pasado mañana|hoy|tomorrow|today|tonight|(?:el|este|on|next|this) \w+(?: que viene)?)"
    r"(?: por la (?:mañana|tarde|noche)| morning| afternoon| evening)?,? )?"
)


def _also(pattern: str) -> str:
    """A second way to say it within one rule: a group's name may stand only once in a pattern."""
    return pattern.replace("(?P<value>", "(?P<also>")


OPENINGS = re.compile(
    r"(?:(?:hi|hello|hey|hola|buenas|buenos dias|oye|mira|bueno|pues|vale|ok|okay|well|so|also|and|y|ademas|tambien"
    r"|by the way|btw|por cierto|fyi|for the record|please|por favor|listen|que sepas que)\b[\s,:!.]*){1,3}"
)
ASKS_TO_REMEMBER = re.compile(
    r"(?:please |por favor )?(?:remember|don't forget|keep in mind|note|make a note|take a note|recuerda|acuerdate"
    r"|no olvides|no te olvides|ten en cuenta|toma nota|apunta|anota|memoriza)(?: de)?(?: that| que)?\b[\s,:]*"
)
REFERS_ELSEWHERE = (
    re.compile(  # what is to be remembered stands elsewhere: "remember all of this", "recuerda lo que dije"
        r"(?:this|that|it|these|those|them|all|everything|what|when|how|who|where|why|me|us|the (?:above|following)"
        r"|esto|eso|este|esta|aquello|todo|lo (?:que|de)|cuando|como|quien|donde|por que)\b(?!\s+(?:is|es)\b)|\W*\Z"
    )
)
CORRECTS = re.compile(
    r"(?:no,|(?:that's|that is) (?:not right|wrong)[,.:]|correction[,:]|actually,?|in fact,?|i mean(?:t)?,?|sorry,"
    r"|correccion[,:]|en realidad,?|de hecho,?|perdon,|mejor dicho,?|quiero decir,?|queria decir,?"
    r"|eso no es asi[,.:])\s+"
)
CLAUSES = re.compile(
    r"\s*(?:,|;| y| e| and| pero| but)\s+(?=(?:i|i'm|i've|my|we|me (?:llamo|gustan?|encantan?|mude)|vivo|trabajo|soy"
    r"|mi|mis|prefiero|odio|nac[ií]|tengo|no me)\s)",
    re.IGNORECASE,
)

_NO_LONGER = (
    ExtractionRule(
        _start(r"ya no \w+", r"i (?:don't|do not) .{1,80}any ?more", r"i(?: am|'m)? no longer \w+"),
        "correction",
    ),
)
_NAMES = (
    ExtractionRule(
        _start(
            rf"(?:my name(?:'s| is)|i(?:'m| am) called) {_NAME}",
            r"(?:you can |please )?call me (?!when|if|back|later|tomorrow|today|on|at|after|before|as|an?\b|the|maybe)"
            + _also(_NAME),
        ),
        attribute="name",
    ),
    ExtractionRule(
        _start(
            rf"(?:me llamo|mi nombre es) {_NAME}",
            r"(?:llamame|puedes llamarme|me puedes llamar) (?!cuando|si|luego|mañana|hoy|el|la|al?\b|mas|por|en|de)"
            + _also(_NAME),
        ),
        attribute="name",
    ),
)
_PLACES = (
    ExtractionRule(
        _start(
            rf"i(?:'ve| have)? {_LATELY}(?:live|moved|am living|relocated) (?:in|to) {_NO_PLACE}{_VALUE}",
            rf"i(?:'m| am) (?:living|based) in {_NO_PLACE}{_also(_VALUE)}",
        ),
        attribute="residence",
    ),
    ExtractionRule(
        _start(
            rf"{_AHORA}(?:vivo|resido) en {_NO_PLACE}{_VALUE}",
            rf"(?:me mude|me he mudado|nos hemos mudado|nos mudamos) a {_NO_PLACE}{_also(_VALUE)}",
        ),
        attribute="residence",
    ),
    ExtractionRule(
        _start(rf"i(?:'ve| have)? {_LATELY}(?:work|started working|am working) (?:at|for) {_NO_PLACE}{_VALUE}"),
        attribute="employer",
    ),
    ExtractionRule(
        _start(rf"{_AHORA}(?:trabajo|empece a trabajar|he empezado a trabajar) (?:en|para) {_NO_PLACE}{_VALUE}"),
        attribute="employer",
    ),
    ExtractionRule(
        _start(rf"i {_LATELY}work as (?:an? )?{_JOB}", rf"{_AHORA}trabajo (?:de|como) {_also(_JOB)}"),
        attribute="profession",
    ),
    ExtractionRule(
        _start(
            r"i (?:live|work|study) \w+",
            r"i(?:'m| am) from \w+",
            r"soy (?:de|del) \w+",
            r"(?:yo )?(?:vivo|trabajo|estudio) \w+",
        )
    ),
)
_BIRTHDAYS = (
    ExtractionRule(
        _start(
            r"my birthday(?:'s| is)",
            r"i was born",
            r"mi cumplea[nñ]os es",
            r"cumplo (?:los )?a[nñ]os",
            r"(?:yo )?naci",
        ),
        attribute="birthday",
        needs="birthday",
    ),
)
_LIKINGS = (
    ExtractionRule(
        _start(
            rf"my favou?rite (?P<what>\w+(?: \w+)?) (?:is|are) (?:the )?{_VALUE}",
            rf"mi (?P<que>\w+) (?:favorit|preferid)[oa] es (?:el |la )?{_also(_VALUE)}",
        ),
        "preference",
        "favourite",
    ),
    ExtractionRule(
        _start(
            rf"i {_REALLY}(?:prefer|like|love|enjoy|hate|dislike|detest|adore|can't stand|cannot stand) {_NOT_THIS}\w+",
            rf"i (?:don't|do not) (?:really )?(?:like|enjoy|want you to) {_NOT_THIS}\w+",
            r"i(?:'d| would) rather \w+",
            rf"(?:a mi )?(?:no )?me (?:gusta|gustan|encanta|encantan|molesta|molestan|apasiona) {_NOT_THIS}\S+",
            rf"(?:yo )?(?:prefiero|odio|detesto|adoro|no soporto|no aguanto) {_NOT_THIS}\S+",
        ),
        "preference",
    ),
)
_ONESELF = (
    ExtractionRule(
        _start(
            r"i(?:'m| am) (?:allergic|intolerant) to \w+",
            r"i(?:'m| am) (?:an? )?(?:vegan|vegetarian|coeliac|celiac|diabetic|left-handed|bilingual)",
            r"i(?:'m| am) (?:married|divorced|single|pregnant|retired)",
            r"i(?:'m| am) an? (?!bit|little|lot|few|while|huge|big|idiot|fan\b)\w{3,}",
            r"(?:yo )?soy (?:muy )?(?:alergic[oa]|intolerante) \w+",
            r"(?:yo )?soy (?:vegan|vegetarian|celiac|diabetic|zurd|casad|solter|divorciad|jubilad)[oa]",
            r"tengo (?:alergia|intolerancia) \w+",
            r"estoy (?:embarazada|casad[oa]|jubilad[oa])",
        )
    ),
    ExtractionRule(
        _start(
            r"i (?:speak|study|own|play) \w+",
            r"i (?:don't|do not) (?:eat|drink|speak|smoke|drive) \w+",
            r"(?:yo )?(?:hablo|estudio|toco|no (?:como|bebo|fumo|conduzco|hablo)) \w+",
        )
    ),
)
_PEOPLE = (
    ExtractionRule(
        _start(
            rf"my (?P<what>wife|husband|partner|girlfriend|boyfriend|boss|manager|mother|father)"
            rf"(?:'s name is| is called| is named) {_NAME}",
            r"mi (?P<que>mujer|esposa|marido|esposo|pareja|novia|novio|jefa|jefe|madre|padre) se llama " + _also(_NAME),
        ),
        "relationship",
        "relation",
    ),
    ExtractionRule(
        _start(
            r"my (?:\w+ )?(?:son|daughter|mother|father|mom|mum|dad|sister|brother|cousin|friend|neighbou?r|dog|cat"
            r"|colleague)(?:'s name)? (?:is|has|lives|works|was born|likes|loves) \S+",
            r"mi (?:\w+ )?(?:hij|herman|prim|perr|gat|ti|abuel|amig|vecin|compañer|sobrin)[oa](?: mayor| menor)? "
            r"(?:se llama|es|tiene|vive|trabaja|nacio) \S+",
            r"mi (?:madre|padre) (?:se llama|es|tiene|vive|trabaja|nacio) \S+",
            r"tengo (?:un|una|dos|tres|\d+) (?:hij|herman|perr|gat|sobrin|niet)[oa]s?",
            r"i have (?:an?|one|two|three|\d+) (?:sons?|daughters?|kids?|children|sisters?|brothers?|dogs?|cats?)",
        ),
        "relationship",
    ),
)
_PLANS = (
    ExtractionRule(
        _start(
            r"(?:i|we)(?:'ve| have)? (?:just |finally )?(?:decided|agreed|settled on|chose|chosen) \S+",
            r"(?:hemos|he) (?:decidido|acordado|elegido) \S+",
            r"(?:decidimos|decidi|acordamos|elegimos) \S+",
            r"quedamos en \S+",
            r"(?:from now on|a partir de (?:ahora|hoy)|de ahora en adelante),? \S+",
            r"let's (?:go with|stick (?:to|with)) \S+",
        ),
        "decision",
    ),
    ExtractionRule(
        _start(
            rf"{_ON_A_DAY}i(?:'ll| will| have to| need to| must| should| am going to|'m going to|'ve got to) \w+",
            rf"{_ON_A_DAY}i have (?:an?|my|the|to) \w+",
            rf"{_ON_A_DAY}we (?:have|need|will) \w+",
            r"my \w+(?: \w+)? is (?:on|due)",
            rf"{_ON_A_DAY}(?:tengo|tenemos|hay|habra) que \w+",
            rf"{_ON_A_DAY}(?:debo|debemos|voy a|vamos a|he de) \w+",
            rf"{_ON_A_DAY}(?:tengo|tenemos) (?:un |una |el |la )?(?!que|ganas|miedo|hambre|sueño|frio|calor)\w+",
            r"mi (?:\w+ )?(?:vuelo|cita|examen|reunion|entrega|tren|boda) es \S+",
        ),
        "commitment",
        needs="day",
    ),
    ExtractionRule(_start(r"i promised? \w+", r"(?:te )?prometo \w+", r"me comprometo a \w+"), "commitment"),
)

RULES: tuple[ExtractionRule, ...] = (
    *_NO_LONGER,  # before what would read it as still so
    *_NAMES,
    *_PLACES,
    *_BIRTHDAYS,
    *_LIKINGS,
    *_ONESELF,
    *_PEOPLE,
    *_PLANS,
)
