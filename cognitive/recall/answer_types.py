"""What precisely a question asks for - a colour, a price, somebody's name - and whether a memory can hold that at all.

"How much does the dog weigh?" is not answered by whatever else is known of the dog. A memory without any number does
not hold the answer, however near it lies; one with a number may. Told by words, in Spanish and English, and only of
texts in Latin letters: of any other, as of a question that names no such kind, nothing is said. A hint, never a filter.
"""

import re
from functools import lru_cache
from typing import Literal

from kenobot.cognitive.recall.relations import names_other_relationship
from kenobot.cognitive.text.times import calendar_names, names_time
from kenobot.cognitive.text.words import fold, words

AnswerType = Literal[
    "mail", "money", "weight", "size", "age", "often", "long", "colour", "code", "clock", "festivity", "language",
    "address", "name", "person",
]  # fmt: skip

_TENS = (
    "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|"
    "seventy|eighty|ninety|hundred|thousand|million|diez|doce|trece|catorce|quince|dieci\\w+|veint\\w+|treinta|cuarenta|"
    "cincuenta|sesenta|setenta|ochenta|noventa|cien|cientos?|doscient[oa]s|trescient[oa]s|cuatrocient[oa]s|quinient[oa]s|"
    "seiscient[oa]s|setecient[oa]s|ochocient[oa]s|novecient[oa]s|mil|millon(?:es)?"
)
_FEW = "two|three|four|five|six|seven|eight|nine|dozen|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|docena"
_NUMBER = rf"(?:\d|\b(?:{_FEW}|{_TENS})\b)"
_AMOUNT = rf"(?:(?<![\d.,])\d[\d.,]{{0,12}}|\b(?:half|one|una?|media|medio|{_FEW}|{_TENS})\b)"
_DAYS = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lunes|martes|miercoles|jueves|viernes|sabados?|domingos?|weekends?|"
    r"weekdays?|fin(?:es)? de semana"
)
_CALLED = r"called|named?|se llaman?|llamad[oa]s?|nombres?|apellid\w+|surname"

_NAMED = (
    "brand|make|hotel|restaurant|university|college|school|gym|airline|company|bank|band|football club|(?:\\w+ )?team|"
    "city|country|town|village|airport|hospital|newspaper|political party|film|movie|novel|song|marca|modelo|"
    "restaurante|universidad|colegio|instituto|gimnasio|aerolinea|compañia|banco|grupo de musica|equipo|club|ciudad|"
    "pais|pueblo|aeropuerto|periodico|partido|pelicula|novela|cancion"
)
"""What goes by a name of its own nearly always."""

_ASKS: dict[AnswerType, str] = {
    "mail": r".*\b(?:e-?mail address|direccion de (?:correo|e-?mail)|(?:correo|e-?mail) de)\b",
    "weight": r"how heavy|how much (?:do|does|did|is|are)\b.*\bweigh|cuanto pes\w+|que peso\b",
    "money": r"how much (?:is|are|was|were|do|does|did|will|has|have)\b.*\b(?:cost|pay|paid|earn|charge|spend|"
    r"spent|owe|rent|worth|fee|save|raise|make)|how much (?:is|are|was|were) (?:the|my|our|his|her|their|a|an)\b|"
    r"how much (?:rent|money)\b|(?:what|which) (?:is|was|are|were|'s)?.{0,12}\b(?:prices?|rent|salary|wages?|fees?|"
    r"fare|budget|costs?)\b|what do(?:es)? \w+ (?:pay|earn|charge|owe)\b|cuanto (?:cuest\w+|cost\w+|val(?:e|en|ia)|"
    r"pag\w+|cobr\w+|gan[oa]\w*|deb\w+|gast\w+|ahorr\w+|me sale)|(?:que|cual es el|cual es la|"
    r"cual era el) (?:precio|sueldo|salario|presupuesto|tarifa|alquiler|coste)\b",
    "size": r"how (?:tall|high|wide|deep|big|large|far)\b|(?:what|which) (?:height|size|distance|area)\b|"
    r"cuanto mid\w+|(?:que|cual es la|cual es el) (?:altura|estatura|tamaño|distancia|anchura|superficie|talla)\b|"
    r"que numero calz\w+",
    "age": r"how old\b|(?:what|which) age\b|que edad\b|cuantos años (?:tien|tengo|cumpl|tenia)\w*",
    "often": r"how often\b|cada cuant[oa]s?\b|cuantas veces\b|con que frecuencia\b",
    "long": r"how long\b|cuanto (?:tiempo|dur\w+|tard\w+|llev[oa])\b",
    "colour": r"(?:what|which) colou?rs?\b|que color(?:es)?\b",
    "code": r"(?:(?:what|which|cual) (?:is|was|'s|es|era|son) .{0,20}|(?:que|what|which) )\b(?:phone numbers?|"
    r"(?:wifi )?passwords?(?! man)|passcode|pin|codes?|number plate|licen[cs]e plate|iban|account number|"
    r"telefonos?|contraseña|codigos?|clave|matricula|numero de (?:cuenta|telefono|movil|socio|socia|habitacion|"
    r"serie|la seguridad social))\b",
    "clock": r"(?:at )?what time\b|a que hora\b|que hora\b",
    "festivity": r"(?:when|what day|which day|what date|cuando|que dia|que fecha)\b.*\b(?:birthdays?|anniversary|"
    r"cumpleaños|cumple|cumplen|aniversario|santo)\b",
    "language": r"(?:what|which) (?:(?:second|other|native) )?(?:languages?|tongue)\b|"
    r"que (?:otr[oa]s? )?(?:idiomas?|lenguas?)\b|cual es (?:el|mi|su) (?:segundo |otro )?idioma",
    "address": r"(?:what|which) (?:street|road|avenue|square)\b|que (?:calle|avenida|plaza)\b|(?:what|cual) (?:is|"
    r"es)\b.*\b(?:postal )?(?:address|direccion)\b",
    "name": rf"(?:what|whats|how|que|cual)\b.*\b(?:{_CALLED})\b|como (?:se llama\w*|me llamo)|"
    rf"(?:what|which|que) (?:{_NAMED})\b",
    "person": r"(?:(?:a|con|de|para|por|with|to|for|from) )?(?:who|whom|whose|quien(?:es)?)\b",
}
"""How a question begins that asks for each, in the order in which they are looked for: the first that is found counts.

Only what its first words say, and not what is said later on.
"""

_HOLDS: dict[AnswerType, str] = {
    "weight": rf"{_AMOUNT} ?(?:kg|kilos?|kilogram\w*|g|gr|grams?|gramos|lbs?|pounds|stones?|libras|tons?|"
    rf"toneladas)\b",
    "money": rf"[€$£¥₹]|{_AMOUNT} ?(?:euros?|eur|dollars?|usd|pounds|quid|pence|cents?|centimos|libras|pesos|yen|"
    rf"francs?|kroner|bucks)\b|\b(?!(?:19|20)\d\d\b)\d[\d.,]{{0,12}}\d\b(?!:)|\b(?:{_TENS})\b|\b(?:free|gratis)\b",
    "size": rf"{_AMOUNT} ?(?:cm|mm|m|m2|km|metros?|met(?:er|re)s?|centimet\w+|feet|foot|ft|inch(?:es)?|kilomet\w+|"
    rf"miles?|hectar\w+|acres?|square|hours?|minutes?|horas?|minutos?)\b|\d[.,]\d|\b(?:size|talla)\b|\b(?:xs|s|m|l|"
    rf"xl|xxl)\b|\b[2-6]\d\b",
    "age": rf"{_NUMBER}|\b(?:baby|newborn|bebe|recien nacid[oa])\b",
    "often": rf"{_NUMBER}|\b(?:every|each|daily|weekly|monthly|yearly|always|never|once|twice|often|times|cada|"
    rf"tod[oa]s|diari\w+|semanal\w*|mensual\w*|anual\w*|siempre|nunca|veces|vez|{_DAYS})\b",
    "long": rf"{_NUMBER}|\b(?:years?|months?|weeks?|days?|hours?|minutes?|since|until|always|forever|años?|"
    rf"mes(?:es)?|semanas?|dias?|horas?|minutos?|desde|hasta|siempre|{_DAYS})\b",
    "colour": r"\b(?:red|blue|green|yellow|black|white|brown|gr[ea]y|orange|purple|pink|violet|gold(?:en)?|silver|"
    r"turquoise|beige|maroon|navy|ochre|mustard|cream|lilac|blonde?|ginger|roj[oa]s?|azul(?:es)?|verdes?|"
    r"amarill[oa]s?|negr[oa]s?|blanc[oa]s?|marron(?:es)?|gris(?:es)?|naranjas?|morad[oa]s?|rosas?|violeta|"
    r"dorad[oa]s?|platead[oa]s?|turquesa|granate|ocre|mostaza|crema|celeste|lila|rubi[oa]s?|pelirroj[oa]|moren[oa]|"
    r"castañ[oa])\b",
    "code": rf"\d|\b(?:{_FEW}|{_TENS})\b|[\"“«]|\b(?:is|es|son|called|named|llama)\b",
    "clock": rf"{_NUMBER}|\b(?:one|una|once|noon|midday|midnight|dawn|dusk|sunrise|sunset|morning|evening|"
    rf"afternoon|night|early|late|mediodia|medianoche|amanecer|anochecer|mañana|tarde|noche|temprano|o'clock)\b",
    "language": r"\b(?:english|spanish|french|german|italian|portuguese|irish|gaelic|welsh|norwegian|swedish|"
    r"danish|dutch|finnish|polish|czech|russian|ukrainian|greek|turkish|arabic|hebrew|hindi|chinese|mandarin|"
    r"cantonese|japanese|korean|catalan|basque|galician|latin|romanian|ingles|español|castellano|frances|aleman|"
    r"italiano|portugues|irlandes|gales|noruego|sueco|danes|neerlandes|holandes|polaco|checo|ruso|ucraniano|griego|"
    r"turco|arabe|hebreo|chino|mandarin|japones|coreano|euskera|vasco|gallego|rumano|valenciano)\b",
    "address": r"\b(?:street|st|road|rd|avenue|lane|square|terrace|row|calle|c/|avenida|plaza|paseo|camino|"
    r"travesia|numero)\b|\d",
    "mail": r"@|\barroba\b",
}
"""How a memory says what may be each. Wide on purpose: it is told only of what certainly does not hold it."""

_ROLES = (
    r"\b(?:mother|father|mum|mom|dad|sister|brother|aunt|uncle|cousin|son|daughter|husband|wife|neighbou?r|boss|friends?|"
    r"colleagues?|doctor|dentist|gp|vet|plumber|electrician|architect|lawyer|teacher|tutor|coach|mentor|cleaner|manager|"
    r"director|team|agency|company|landlord|grand\w+|niece|nephew|partner|customer|client|guard|nurse|tuner|driver|owner|"
    r"accountant|mechanic|parents?|family|everyone|everybody|nobody|somebody|someone|madre|padres?|hermanas?|hermanos?|tia|"
    r"tio|prim[oa]s?|hij[oa]s?|marido|mujer|pareja|vecin[oa]s?|jef[ea]s?|amig[oa]s?|compañer[oa]s?|doctora?|medic[oa]|"
    r"dentista|abuel[oa]s?|fontanero|electricista|arquitect[oa]|abogad[oa]|profesora?|maestr[oa]|entrenadora?|director[a]?|"
    r"administrador|casero|vigilante|fisioterapeuta|pediatra|veterinari[oa]|gestor(?:a|ia)?|novi[oa]|sobrin[oa]|suegr[oa]s?|"
    r"cuñad[oa]|clientes?|clienta|dueñ[oa]|mecanic[oa]|empresa|equipo|agencia|familia|todos|nadie|alguien|i|we|he|she|"
    r"they|yo|nosotr[oa]s|ella|ellas|ellos)\b"
)
_NAMING = r"\b(?:called|named|names? (?:is|are)|llam[ao]n?|llamad[oa]s?|nombres? (?:es|son)|apellid\w+) +\w"
_CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-zà-ÿ][\w'’-]*")
_MARKED = re.compile(r"[\"“«]\w|\d[A-Za-z]|[A-Za-z]\d")  # a title, or the name of a thing
_BEGINNINGS = frozenset(
    "the my our we i a an he she it it's they his her their this that these those there no not never if when since "
    "on in at to from for with every all and but el la los las mi mis un una nuestro nuestra nuestros nuestras su sus "
    "este esta ese esa hay desde en de con por para si cuando como que no nunca me te se nos le les lo al del cada "
    "todos todas y pero yo soy es son tengo tenemos".split()
)
"""Words that have a capital only because a sentence begins with them; of others that cannot be told."""

_SELF = frozenset("i'm i've i'd i'll".split())
_OPENING = 12  # words of a question within which it says what it asks for
_LONGEST = 2000  # characters of a text that are looked through
_LATIN = 0.7  # share of Latin letters from which on a text is one in Latin letters
_LEADING = re.compile(r"^\W*(?:(?:y|and|but|pero|so|in|on|at|from|to|en|de|a|desde|por|con)\s+)?")


def asked_type(question: str) -> AnswerType | None:
    """The kind of answer that a question asks for by its opening; None where it asks for another, or does not say."""
    plain = " ".join(fold(question[:_LONGEST]).replace("¿", " ").split()[:_OPENING])
    start = _LEADING.match(plain)
    begin = start.end() if start is not None else 0
    return next((kind for kind, pattern in _ASKS.items() if _compiled(pattern).match(plain, begin)), None)


def lacks_answer(kind: AnswerType | None, question: str, text: str) -> bool:
    """Whether a memory certainly does not hold what a question asks for. kind: as `asked` gave it."""
    if kind is None or not _latin(text):
        return False
    if kind in ("name", "person"):
        return not _names(kind, question, text) or (kind == "name" and names_other_relationship(question, text))
    if kind == "festivity":
        return not _dated(text)
    return not _held(kind, text)


@lru_cache(64)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when it is first needed: all of them would take a command's start 20 ms."""
    return re.compile(pattern)


def _held(kind: AnswerType, text: str) -> bool:
    return _compiled(_HOLDS[kind]).search(fold(text[:_LONGEST])) is not None


def _latin(text: str) -> bool:
    letters = [char for char in text[:_LONGEST] if char.isalpha()]
    return sum(ord(char) < 0x250 for char in letters) >= _LATIN * len(letters)


def _dated(text: str) -> bool:
    """Whether a text says anything of a day."""
    plain = fold(text[:_LONGEST])
    return names_time(plain) or re.search(r"\d", plain) is not None


def _names(kind: AnswerType, question: str, text: str) -> bool:
    """Whether a text names somebody or something that the question does not, or says by another word who it is."""
    plain = fold(text[:_LONGEST])  # a name may stand without its capital, as people write to each other
    if _MARKED.search(text[:_LONGEST]) or _compiled(_NAMING if kind == "name" else _ROLES).search(plain):
        return True
    asked_of = set(words(question))
    for name in _CAPITAL.finditer(text[:_LONGEST]):
        first = not text[: name.start()].rstrip(" ¿¡\"'(").strip() or text[: name.start()].rstrip()[-1] in ".:;!?"
        said = [word for word in words(name[0]) if len(word) > 1 and word not in _SELF]
        if any(
            word not in asked_of and not (first and word in _BEGINNINGS) and not calendar_names(word) for word in said
        ):
            return True
    return False
