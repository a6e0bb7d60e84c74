"""Tell what only sounds like an end: what was done to another thing or put somewhere, and a thing beside one's own.

"I left my umbrella at Barlow's" ends no work there, and "Amir moved the sofa" no living with Amir.
"""

from kenobot.cognitive.remember.extract.change_sentence import stems_of
from kenobot.cognitive.text.dates import names_time
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

_HOUR = r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|dawn|half|quarter)"
SPARES = lazy.regex(
    r"\b(?:but not (?:ours|mine|my|our)|pero no (?:el|la|los|las) (?:mi[oa]s?|nuestr[oa]s?)"  # all but one's own
    r"|(?:above|below|next (?:door )?to|beside|opposite) (?:mine|ours|my|us|me)|de (?:arriba|abajo|al lado|enfrente)"
    r"|on (?:the )?(?:tv|telly)|de la tele|(?:the|los|las) (?:neighbours?|neighbors?|vecin[oa]s?) .{0,30}\b(?:their|su)"
    r"|off sick|for the night|hasta mañana|un[ao] del"
    r"|(?:his|her|their|['’]s) other (?!day|night|week)|(?:no|any|much|many|few) (?:\w+ ){1,3}left"  # none are left
    r"|(?:cancell?ed|sold|lost|dropped) another|(?:cancelad|anulad|suspendid|quitad|vendid|perdid)[oa]s? otr[oa]s?"
    r"|(?:me|se) (?:dej[eo]|he dejado|ha dejado) (?:el|la|los|las|un|una|mi|mis)"
    r"|(?:she|he|they) (?:said|says|told (?:me|us)) (?:that )?(?:she|he|they)(?:'|’| had| has| have)"
    r"|left (?:\w+ ){0,3}(?:early|late)|sal(?:io|i|ido) de .{1,30} (?:tarde|pronto)"
    rf"|left (?:\w+ ){{1,3}}at {_HOUR})\b"
)
"""Words of a sentence that speaks of what is beside one's own thing, of a day or a night, or of what was forgotten."""

_SOME_PERSON = r"(?:man|woman|guy|girl|boy|lady|bloke|person|señora?|hombre|mujer|chic[oa]|tip[oa]|persona|part|parte)"
OF_SOMEBODY = lazy.regex(
    r"\W*(?:(?:so|and|well|pues|y|bueno|hoy|ayer|today|yesterday),? )?(?:a )?"
    r"(?:some(?:one|body)|one of (?!my|our)|(?:half|most|some|many) of (?!my|our)|half the|alguien"
    rf"|un[oa] (?:que|de l[oa]s)|la mitad|(?:algun|much|vari)[oa]s"
    rf"|(?:a|an|one|some|this|that|un|una|otr[oa]|es[ea]) (?:\w+ )?{_SOME_PERSON})\b"
)
"""How a sentence begins that tells of somebody whom nobody knows."""

_DEED = (
    r"(?:(?:cancell?ed|called off|moved|closed|left|lost|quit|sold|dropped|finished|ended|gave up|switched off)"
    r"(?P<one> an?(?= ))?|cambiado|cambio|quitado|quito|cerrado|cerro|dejado|dejo|deje|cancelado|vendido|vendio|"
    r"movido|movio|perdido|perdio)"
)
_NO_THING = r"(?!(?:to|at|in|on|out|off|away|back|for|from|up|down|en|a|al|de|del|por|con|with)\b)"
_THING = (
    rf"{_NO_THING}(?:(?:the|an?|my|our|its|his|her|their|el|la|los|las|una?|sus?|mis?|dos|tres) )?"
    r"[^\W\d_][\w'’ &-]*?"
)
_ACTS = lazy.regex(
    rf"(?P<who>\A[^,;.:]*?)\b{_DEED} (?P<what>{_THING})"
    r"(?= (?:to|at|in|on|for|en|a|hech[oa]s?|from|para|that|which|que|with|con)\b|\W*\Z|[,;.])"
)
_PUTS = lazy.regex(
    r"\b(?:left|put|dejado|deje) (?P<what>[^,;.]+?) "
    r"(?:at|in|on|by|under|near|behind|beside|outside|en|junto al?|por|sobre) "
    r"(?P<where>(?:(?:the|my|our|el|la|los|las|mi|un|una|doble) )?[^,;.]+)"
)
_LEFT_FOR_GOOD = frozenset(
    "job work company firm team post role course house home flat city school trabajo empresa curro puesto equipo curso "
    "clases carrera piso casa ciudad colegio appointment meeting wedding engagement cita reunion boda "
    "compromiso".split()
)
_IS_OVER = lazy.regex(
    r"\bse (?:(?:me|nos|le|les) )?(?:ha |han )?(?:roto|(?:acab|termin|romp|vend|perd|estrope|gast)\w+) "
    r"(?:el|la|los|las|una?) (?P<what>\w+)"
)
_OUT_OF = lazy.regex(
    r"\b(?:(?:we're|we are|i'm|i am|are|is|r[au]n|running|clean|sold) out of|(?:quedado|quedamos|quede) sin|"
    r"se (?:(?:me|nos) )?(?:ha |han )?(?:acab|termin|gast)\w+)\b"
)
_USED_UP = lazy.regex(
    r"\b(?:drink|eat|take|smoke|use|beb(?:o|e|emos)|com(?:o|e|emos)|tom(?:o|a|amos)|fum(?:o|a|amos)|us(?:o|a|amos))\b"
)
_TOWN_OR_PET = lazy.regex(
    r"(?:\b(?i:live|vivo|vivimos)\b.*? (?:in|en)|\b(?:called|named|se llaman?)) (?P<name>[A-ZÁÉÍÓÚÑ][\w-]+)"
)
_NOUN = lazy.regex(r"\b(?:an?|the|una?|un[ao]s|el|la|los|las) (?P<noun>[a-záéíóúñ][\w-]+)")
_OWN = lazy.regex(r"(?:\A|.*\b)(?:i|we|i've|we've|he|hemos|yo)(?: (?:just|finally|ya))?\s*\Z")
_ONE_OF_MANY = lazy.regex(r"(?:some|una?|un[oa]s|two|three|dos|tres)\b")
_PUT_SOMEWHERE = lazy.regex(r"\b(?:to|into|onto|next to|al?|hasta) (?:the|el|la|mi|my) \w+")
_AT_PLACE = lazy.regex(r"(?i:in|at|over in|en) (?:the |el |la |los |las )?(?P<where>[A-ZÁÉÍÓÚÑ][\w'’-]+)")


def acts_on_another(plain: str, statement: str) -> bool:
    """Return whether a folded sentence tells a deed to another thing than a statement's, or where something was put.

    Another thing: the sentence begins with what the statement is about, and what it does something to is not in it.
    """
    has = stems_of(statement)
    if _OUT_OF.search(plain) and _USED_UP.search(fold(statement)):
        return True
    over = _IS_OVER.search(plain)
    if over is not None and not names_time(over[0]) and stems_of(over["what"]).isdisjoint(has):
        return True
    put = _PUTS.search(plain)
    if put is not None and not _LEFT_FOR_GOOD.intersection(put["what"].split()) and not names_time(put["where"]):
        what, where = (not stems_of(put[part]).isdisjoint(has) for part in ("what", "where"))
        if what != where:
            return True
    act = _ACTS.match(plain)
    if act is None or _LEFT_FOR_GOOD.intersection(act["what"].split()) or names_time(act["what"]):
        return False
    thing, about = stems_of(act["what"]), stems_of(act["who"])
    if not thing or not thing.isdisjoint(has):
        return False
    if not act["who"].strip() or _OWN.match(act["who"]):  # "I sold a print that I took with the Nikon"
        return bool(act["one"] or _ONE_OF_MANY.match(act["what"]) or _PUT_SOMEWHERE.search(plain, act.end("what")))
    return not about.isdisjoint(has)


def is_elsewhere(sentence: str, statement: str) -> bool:
    """Return whether a sentence begins with a place, or what has a name, of which a statement says nothing."""
    opening = _AT_PLACE.match(sentence)
    if opening is None or names_time(fold(opening["where"])):
        return False
    return stems_of(opening["where"]).isdisjoint(stems_of(statement))


def is_mere_noun(sentence: str, statement: str) -> bool:
    """Return whether a sentence has the name of a town or a pet as a mere noun: "by the bath", of who lives in Bath."""
    named = _TOWN_OR_PET.search(statement)
    return named is not None and any(noun["noun"] == named["name"].lower() for noun in _NOUN.finditer(sentence))
