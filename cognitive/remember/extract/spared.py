"""Tell what only sounds like an end: what was done to another thing or put somewhere, and a thing beside one's own.

"I left my umbrella at Barlow's" ends no work there, and "Amir moved the sofa" no living with Amir.
"""

from kenobot.cognitive.remember.extract.change_sentence import stems_of
from kenobot.cognitive.text.dates import names_time
from kenobot.core import lazy

_HOUR = r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|dawn|half|quarter)"
SPARES = lazy.regex(
    r"\b(?:but not (?:ours|mine|my|our)|pero no (?:el|la|los|las) (?:mi[oa]s?|nuestr[oa]s?)"  # all but one's own
    r"|(?:above|below|next (?:door )?to|beside|opposite) (?:mine|ours|my|us|me)|de (?:arriba|abajo|al lado|enfrente)"
    r"|on (?:the )?(?:tv|telly)|de la tele|(?:the|los|las) (?:neighbours?|neighbors?|vecin[oa]s?) .{0,30}\b(?:their|su)"
    r"|off sick|for the night|hasta mañana|un[ao] del"
    r"|(?:me|se) (?:dej[eo]|he dejado|ha dejado) (?:el|la|los|las|un|una|mi|mis)"
    r"|(?:she|he|they) (?:said|says|told (?:me|us)) (?:that )?(?:she|he|they)(?:'|’| had| has| have)"
    r"|left (?:\w+ ){1,3}(?:early|late)|sal(?:io|i|ido) de .{1,30} (?:tarde|pronto)"
    rf"|left (?:\w+ ){{1,3}}at {_HOUR})\b"
)
"""Words of a sentence that speaks of what is beside one's own thing, of a day or a night, or of what was forgotten."""

_DEED = (
    r"(?:cancell?ed|moved|closed|left|lost|quit|sold|dropped|finished|ended|gave up|switched off|"
    r"cambiado|cambio|quitado|quito|cerrado|cerro|dejado|dejo|deje|cancelado|vendido|vendio|movido|movio|perdido|perdio)"
)
_NO_THING = r"(?!(?:to|at|in|on|out|off|away|back|for|from|up|down|en|a|al|de|del|por|con|with)\b)"
_THING = (
    rf"{_NO_THING}(?:(?:the|an?|my|our|its|his|her|their|el|la|los|las|una?|sus?|mis?|dos|tres) )?"
    r"[^\W\d_][\w'’ &-]*?"
)
_ACTS = lazy.regex(
    rf"(?P<who>\A[^,;.:]*?)\b{_DEED} (?P<what>{_THING})"
    r"(?= (?:to|at|in|on|for|en|a|hech[oa]s?|from|para)\b|\W*\Z|[,;.])"
)
_PUTS = lazy.regex(
    r"\b(?:left|put|dejado|deje) (?P<what>[^,;.]+?) (?:at|in|on|en) "
    r"(?P<where>(?:(?:the|my|our|el|la|los|las|mi|un|una|doble) )?[^,;.]+)"
)
_LEFT_FOR_GOOD = frozenset(
    "job work company firm team post role course house home flat city school trabajo empresa curro puesto equipo curso "
    "clases carrera piso casa ciudad colegio".split()
)
_OWN = lazy.regex(r"(?:\A|.*\b)(?:i|we|i've|we've|he|hemos|yo)(?: (?:just|finally|ya))?\s*\Z")


def acts_on_another(plain: str, statement: str) -> bool:
    """Return whether a folded sentence tells a deed to another thing than a statement's, or where something was put.

    Another thing: the sentence begins with what the statement is about, and what it does something to is not in it.
    """
    has = stems_of(statement)
    put = _PUTS.search(plain)
    if put is not None and not _LEFT_FOR_GOOD.intersection(put["what"].split()) and not names_time(put["where"]):
        what, where = (not stems_of(put[part]).isdisjoint(has) for part in ("what", "where"))
        if what != where:
            return True
    act = _ACTS.match(plain)
    if act is None or _OWN.match(act["who"]) or _LEFT_FOR_GOOD.intersection(act["what"].split()):
        return False
    if names_time(act["what"]):
        return False
    thing, about = stems_of(act["what"]), stems_of(act["who"])
    return bool(thing) and thing.isdisjoint(has) and not about.isdisjoint(has)
