"""How urgently does what somebody said want to be read for memories? It decides when, never whether.

Local and bounded: of a long text its beginning and its end are looked at, by lists of fixed beginnings without nested
repeats; the owner's own patterns run in an automaton of their own. See `kenobot.core.pattern_set`.
"""

import re
import unicodedata
from typing import Literal

from kenobot.cognitive.policy.extract import ExtractPolicy
from kenobot.cognitive.text.words import fold
from kenobot.core.pattern_set import PatternSet

SignalLevel = Literal["high", "medium", "low", "none"]

_APOSTROPHES = str.maketrans("’‘ʼ`´", "'''''")
_NO_PATTERNS = PatternSet(())


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")


_HIGH = _any(
    # they put us right
    r"(?:that|it)(?:'s| is| was)(?: just| simply)? (?:not|wrong|incorrect|false)",
    r"(?:that|it) (?:isn't|wasn't) (?:right|correct|true|so|what)",
    r"you(?:'re| are) (?:wrong|mistaken)|you (?:misunderstood|got (?:it|that) wrong)",
    r"why (?:did|do|would) you (?:say|think|do|write|claim|call)",
    r"correction|i (?:meant|mean to say|did not say|didn't say|never said|(?:already )?told you)",
    r"actually,|actually (?:it|it's|i|i'm|i've|my|we|the|that|that's|no|not)|no longer|not any ?more|any ?more",
    r"(?:eso|esto) (?:no es|esta mal|es falso)|no es (?:cierto|verdad|correcto|asi|eso)|no,? (?:es|era|son|eran)",
    r"te equivocas|te has equivocado|te equivocaste|estas equivocad[oa]|correccion|corrijo|perdon,? (?:es|era|queria)",
    r"por que (?:has dicho|dijiste|dices|crees)|(?:yo )?no (?:he dicho|dije)|ya te (?:dije|he dicho)",
    r"queria decir|me referia|mejor dicho|en realidad|ya no|de hecho,? (?:es|no|soy|me|mi)",
    # how they like things
    r"i(?: really| also| do| much| would| always| generally)? (?:prefer|love|hate|dislike|detest|adore|enjoy|like)",
    r"i(?:'d| would) rather|i (?:do not|don't|can't|cannot) (?:like|stand|bear|eat|drink)|my favou?rite",
    r"i (?:always|never)|please (?:always|never|don't ever)|(?:always|never) (?:use|call|send|write|ask|answer|reply)",
    r"prefiero|preferimos|preferiria|me (?:gusta|gustan|gustaba|encanta|encantan|molesta|molestan|fascina|chifla)",
    r"odio|detesto|adoro|no (?:soporto|aguanto)|mi (?:\w+ )?(?:favorit[oa]|preferid[oa])|mis \w+ favorit[oa]s",
    r"(?:yo )?(?:siempre|nunca|jamas) (?:uso|como|bebo|tomo|quiero|hago|voy|llamo|escribo|uses|hagas|me)",
    # what is settled
    r"(?:we|i|they|you)(?:'ve| have|'d| had)?(?: just| finally)? (?:decided|agreed|settled|chosen|chose|committed)",
    r"from now on|from (?:today|tomorrow) on|going forward|as of (?:today|now)|let's (?:go with|stick (?:to|with))",
    r"(?:hemos|he|han) (?:decidido|acordado|elegido|quedado)|decidimos|decidi|acordamos|elegimos|quedamos (?:en|para)",
    r"a partir de (?:ahora|hoy|mañana|este)|de ahora en adelante|desde (?:ahora|hoy)|en adelante",
    # who they are
    r"my name(?:'s| is)|call me|i(?:'m| am) (?:called|from|allergic|intolerant|vegan|vegetarian|married|based|an? )",
    r"i (?:live|work|study|moved|was born|grew up|come from|own|speak|have been working|started working)",
    r"my (?:birthday|anniversary|address|e-?mail|phone(?: number)?|job|boss|wife|husband|partner|girlfriend|boyfriend)",
    r"my (?:son|daughter|kids?|children|mother|father|mom|mum|dad|sister|brother|dog|cat)(?:'s| is| are| was)",
    r"me llamo|llamame|mi nombre es|me apellido|me puedes llamar|soy (?:de|del|un|una|celiac[oa]|vegan[oa])",
    r"soy (?:vegetarian[oa]|intolerante|diabetic[oa]|zurd[oa]|\w{3,}(?:er[oa]|or|ora|ista|ic[oa]|ad[oa]|ente|ante))",
    r"(?:yo )?(?:vivo|trabajo|estudio) (?:en|con|de|como|para|por|cerca)|naci|me (?:mude|he mudado|mudo)|hablo \w+",
    r"mi (?:cumplea[nñ]os|aniversario|direccion|correo|telefono|movil|trabajo|jef[ea]|mujer|espos[oa]|marido|pareja)",
    r"mi (?:novi[oa]|prometid[oa]|familia|casa|coche|empresa)(?: se| es| tiene| esta| vive| ha)",
    r"mi (?:hij[oa]|madre|padre|mama|papa|herman[oa]|perr[oa]|gat[oa])(?: mayor| menor)? (?:se|es|tiene|esta|vive|ha)",
    # they ask for it
    r"remember|(?:don't|do not|never) forget|(?:keep|bear) in mind|(?:make|take) (?:a )?note|note that|please note",
    r"fyi|for (?:your information|the record|future reference)|save (?:this|that)|memori[sz]e|write (?:this|that) down",
    r"recuerda|recuerde|recordad|acuerdate|no (?:te )?olvides|no (?:se )?olvide|(?:ten|tenga) en cuenta|tomar? nota",
    r"apunta(?:lo|te|telo)?|anota(?:lo)?|memoriza|guarda(?:lo)? (?:esto|eso|que)|que sepas|para que (?:lo )?sepas",
    # they commit themselves
    r"i (?:promise|committed|owe)|remind me|(?:the |my )?deadline|(?:is|are|it's) due",
    r"(?:te lo )?prometo|me comprometo|recuerdame|(?:la )?fecha (?:limite|tope)|(?:el )?plazo|tengo que entregar",
)
_MEDIUM = _any(
    r"usually|typically|normally|generally|mostly|often|rarely|tend to|most of the time|on (?:mon|tues|wednes)days",
    r"every (?:day|week|month|year|morning|evening|night|weekend)|(?:daily|weekly|monthly)",
    r"(?:i|we)(?:'m| am|'re| are) (?:planning|going|trying|working|thinking of|thinking about|learning|building)",
    r"(?:i|we) (?:plan|intend|have to|need to|must|should|use|used to|started|stopped|bought|finished|met)",
    r"suelo|solemos|suele|soliamos|normalmente|generalmente|habitualmente|a menudo|casi siempre|rara vez|raramente",
    r"(?:cada|todos los|todas las) (?:dia|dias|semana|semanas|mes|meses|a[nñ]os?|noches?|mañanas?|lunes)",
    r"(?:tengo|tenemos|habra|hay) que|deb(?:o|emos|eria)|necesit(?:o|amos)|pienso|planeo|estoy (?:pensando|apren\w+)",
    r"us(?:o|amos)|empece|empezamos|deje de|compre|hemos (?:terminado|empezado|comprado)|conoci",
    r"because|so that|the reason|porque|por eso|la razon",
)
_LOW = _any(
    r"i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|us|our|ours|myself",
    r"yo|mi|mis|mio|mia|conmigo|nosotros|nosotras|nuestr[oa]s?|creo|quiero|queremos|puedo|tengo|tenemos|estoy|estamos",
    r"soy|somos|voy|vamos|hago|hacemos|fui|fuimos|he|hemos|hice",
)


def signal_level(text: str, policy: ExtractPolicy, patterns: PatternSet = _NO_PATTERNS) -> SignalLevel:
    """The level of what a person said. `patterns`: the owner's own, any of which makes it high."""
    seen = unicodedata.normalize("NFKC", _window(text, policy.scanned_chars))[
        : policy.scanned_chars
    ]  # some letters become many
    if patterns.search(seen, policy.pattern_steps):
        return "high"
    plain = fold(seen).translate(_APOSTROPHES)
    if _HIGH.search(plain):
        return "high"
    if _MEDIUM.search(plain):
        return "medium"
    return "low" if _LOW.search(plain) else "none"


def _window(text: str, size: int) -> str:
    """A short text whole; of a long one the beginning and the end, where people say what they want."""
    if len(text) <= size:
        return text
    return f"{text[: size * 3 // 4]}\n{text[-(size // 4) :]}"
