"""Patterns of the messages that the offline provider understands; its sentences and words are in phrases.toml.

Every pattern is anchored at its start and meant for `match` on NFC text, so that a long message costs linear time.
"""

import re
import tomllib
from importlib import resources
from typing import Literal

from kenobot.core.i18n import Language


def _any(*alternatives: str) -> re.Pattern[str]:
    """Matches when the text starts with one of `alternatives`, upper or lower case, at the end of a word."""
    return re.compile(rf"[¿¡\s]*(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


# ── how people begin ─────────────────────────────────────────────────────────────────────────────────────────────

GREETING = _any(
    r"hi|hello|hey|hiya|good (?:morning|afternoon|evening)|greetings",
    r"hola|buenas(?: tardes| noches)?|buenos d[ií]as|qu[eé] tal|saludos",
    r"你好|您好|привет|bonjour|olá|ciao|مرحبا|こんにちは",
)
POLITE = _any(r"please|por favor|oye|escucha|listen|okay|ok|vale|ah|oh|so|bueno|pues|y|and|entonces")
SPANISH = _any(  # openings that settle the language of a message too short for anything else to
    r"recu[eé]rda(?:me)?|recuerda|acu[eé]rdate|apunta|anota|toma nota|guarda|memoriza",
    r"no olvides|ten en cuenta|olv[ií]da|hola|gracias|ayuda|adi[oó]s|repite|vale|soy|vivo|trabajo|prefiero|tengo",
)
YES_OR_NO = re.compile(r"[¡\s]*(?:yes|yeah|no|nope|sure|s[ií]|claro|nada)[\s.!]*\Z", re.IGNORECASE)
# Cut from the end of a fact: the first group after any space, the second only after a comma or a full stop.
PLEASE = ("please", "por favor")
AFTERTHOUGHTS = ("thanks", "thank you", "gracias", "ok", "okay", "vale", "eh", "right", "sí", "si")
THANKS = _any(r"thanks|thank you|cheers|gracias|muchas gracias|mil gracias|te lo agradezco|谢谢")
FAREWELL = _any(
    r"bye|goodbye|good night|see you|take care|talk (?:to you )?later",
    r"adi[oó]s|hasta (?:luego|ma[nñ]ana|pronto|la vista)|nos vemos|chao|chau|再见",
)

# ── what they ask for ────────────────────────────────────────────────────────────────────────────────────────────

_THAT = r"(?:(?:that|this|the fact that|to|down)(?!\w))?"
_QUE = r"(?:(?:de )?(?:que|esto)(?!\w))?"
_ASKED = r"(?:(?:can|could|will|would) you (?:please )?|i (?:want|need) you to |i'?d like you to )?"
_PEDIDO = r"(?:(?:puedes|podr[ií]as|quiero que|necesito que) )?"
REMEMBER = re.compile(
    rf"""[¿¡\s]*(?:
      {_ASKED.replace(" ", "[ ]")} (?: remember | (?:do[ ]not|don'?t|never)[ ]forget | (?:keep|bear)[ ]in[ ]mind
        | (?:make|take)[ ]a?[ ]?note | note | save | memori[sz]e ) (?!\w) \s* {_THAT.replace(" ", "[ ]")}
    | {_PEDIDO.replace(" ", "[ ]")} (?: recu[eé]rdes? | recuerdes? | recuerda | recordar | acu[eé]rdate | te[ ]acuerdes
        | ten(?:gas)?[ ](?:en[ ]cuenta|presente) | (?:no|nunca)[ ](?:te[ ])?olvides? | apunta | anota
        | toma[ ]nota | guarda | memoriza ) (?!\w) \s* {_QUE.replace(" ", "[ ]")}
    )[\s:,]*""",
    re.IGNORECASE | re.VERBOSE,
)
IN_THIS_CHAT = _any(
    r"(?:in|for) this (?:chat|conversation|group)", r"(?:en|para) (?:este|esta) (?:chat|conversaci[oó]n|grupo)"
)
FORGET = _any(
    r"(?:can you |could you |please )?(?:forget|erase|delete|remove)(?! to)",
    r"(?:puedes )?(?:olv[ií]d(?:a|ar|alo|ate)|borra(?:r|lo)?|elimina(?:r|lo)?)",
)
REPEAT = re.compile(
    r"[¡\s]*(?:repeat (?:exactly|after me|this)|say exactly|repite (?:exactamente|esto|conmigo)|di exactamente)"
    r"(?!\w)[\s:,]*",
    re.IGNORECASE,
)
ABOUT_THE_BOT = _any(
    r"who are you|what are you|what can you do|what do you do|how do you work|help|are you (?:a|an) (?:bot|ai|robot)",
    r"qui[eé]n eres|qu[eé] eres|qu[eé] (?:puedes|sabes) hacer|c[oó]mo funcionas|para qu[eé] sirves|ayuda",
)
_ABOUT_ME = r"(?:\s+(?:about (?:me|myself|us)|of me|(?:de|sobre) (?:m[ií]|nosotros)))?"
EVERYTHING = re.compile(
    rf"[¿\s]*(?:what (?:do|did|have) you (?:know|remember|remembered|stored|saved)"
    rf"|(?:qu[eé]|lo que) (?:sabes|recuerdas|has guardado)|tell me what you (?:know|remember)"
    rf"|dime (?:qu[eé]|lo que) sabes)"
    rf"{_ABOUT_ME}[\s?.!]*\Z",
    re.IGNORECASE,
)
ABOUT_ONESELF = re.compile(r"\b(?:i|my|me|mi|mis|yo|vivo|trabajo|prefiero|odio|nac[ií]|soy|tengo)\b", re.IGNORECASE)
MY_NAME = _any(
    r"what(?:'?s| is) my name|who am i|do you (?:know|remember) my name",
    r"c[oó]mo me llamo|cu[aá]l es mi nombre|qui[eé]n soy",
    r"(?:sabes|recuerdas|te acuerdas de) (?:c[oó]mo me llamo|mi nombre)",
)
QUESTION = _any(
    r"who|what|when|where|which|why|how|whose|do|does|did|is|are|am|was|were|can|could|tell me|remind me",
    r"qui[eé]n(?:es)?|qu[eé]|cu[aá]ndo|d[oó]nde|cu[aá]l(?:es)?|por qu[eé]|c[oó]mo|cu[aá]nt[oa]s?|dime|sabes|recuerdas"
    r"|te acuerdas|a qu[eé]|en qu[eé]|de qu[eé]|con qui[eé]n",
)

# ── what they say about themselves ───────────────────────────────────────────────────────────────────────────────

_MY = r"my (?:\w+(?:'s)? ){1,4}(?:is|are)|mi(?:s)? (?:\w+ ){1,5}?(?:es|son|se llaman?)"
STATEMENT = _any(
    r"my name is|(?:you can |please )?call me|i live|i work|i prefer|i like|i love|i hate",
    r"i (?:do not|don'?t) (?!know|understand|remember|think|see|get|care)\w+",
    r"i (?:was born|speak|study|use|always|never)",
    r"i(?: am|'m) (?:a|an|from|allergic|vegan|vegetarian|called)",
    r"i have (?:a|an|two|three|\d+) (?!question|problem|doubt|idea)\w+",
    r"(?:(?:no|ya no|ahora|actualmente) )?(?:me llamo|vivo|trabajo|prefiero|me gustan?|me encantan?|odio|nac[ií]|hablo"
    r"|estudio|uso|como|bebo)|(?:ahora )?me (?:he mudado|mud[eé]) a",
    r"(?:now )?i(?:'ve| have)?(?: just| recently| now)? (?:moved to|live|work)",
    r"ll[aá]mame|(?:no )?soy (?:de|del|un|una|al[eé]rgic[oa]|vegan[oa]|vegetarian[oa]|\w{4,})",
    r"tengo (?:un|una|dos|tres|\d+) (?!pregunta|duda|problema|idea|error)\w+",
    _MY,
)
_NAME = r"([^\W\d_][\w'’.-]{0,39}(?: [^\W\d_a-zà-ÿ][\w'’-]{0,39}){0,3})"
SAID_NAME = re.compile(
    r"[¡\s]*(?i:my name is|(?:you can |please )?call me|i am called|i'm called|me llamo|ll[aá]mame|mi nombre es)"
    rf"\s+{_NAME}"
)
THEIR_NAME = re.compile(  # as a memory may have it, in the first person or the third
    rf"(?:(?i:(?:the )?(?:owner|user)(?:'s name)? is(?: called| named)?|(?:el |la )?(?:due[nñ][oa]|usuari[oa]) se llama"
    rf"|name:|nombre:))\s+{_NAME}"
)
# These two only while we get to know one another; otherwise "soy Virgo" is no name.
PRESENTED = re.compile(rf"[¡\s]*(?i:i'm|i am|it's|it is|this is|soy)\s+(?=[^\W\d_a-zà-ÿ]){_NAME}")
BARE_NAME = re.compile(r"[¡\s]*([^\W\d_][\w'’.-]{0,39}(?: [^\W\d_][\w'’.-]{0,39}){0,3})[\s.!]*\Z")
NAME_PARTICLES = frozenset(["de", "del", "la", "las", "los", "el", "y"])
NO_NAME = _any(
    r"no|nope|none|yes|yeah|sure|why|rather not|skip|later|nothing|s[ií]|claro|prefiero no|nada|luego|i'?d rather not"
    r"|i (?:do not|don'?t) want"
)

# ── what we say ──────────────────────────────────────────────────────────────────────────────────────────────────

Phrase = Literal[
    "hello", "ready", "bye", "welcome", "about", "noted", "noted_chat", "forget", "nothing", "nothing_at_all", "found",
    "everything", "more", "your_name", "cannot", "intro", "ask_name", "met", "no_name", "language",
]  # fmt: skip

_TABLES = tomllib.loads(resources.files(__package__).joinpath("phrases.toml").read_text("utf-8"))
PHRASES: dict[Phrase, dict[Language, str]] = _TABLES["phrases"]
NAME_FACT: dict[Language, str] = _TABLES["name_fact"]
QUOTES: dict[Language, str] = _TABLES["quotes"]
STOP_WORDS = frozenset(_TABLES["words"]["stop"].split())
ACCENTED: dict[str, str] = _TABLES["words"]["accented"]
CONCEPTS = tuple(tuple(row.split()) for row in _TABLES["words"]["concepts"])
