"""Match wishes about memory in plain Spanish and English: to forget something, or to tell what is known.

Precision before recall: only a message that is nothing but such a wish matches; all others go to the model. A wish to
forget leads to a question first: see `kenobot.agent.commands.forget`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from kenobot.cognitive.text.words import fold
from kenobot.core.i18n import Language

_LONGEST = 240  # characters of a wish
_LONGEST_ANSWER = 40


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A wish: "forget" what `topic` says, "forget_all", or "tell" what is known of the person."""

    kind: Literal["forget", "forget_all", "tell"]
    topic: str
    language: Language


Answer = Literal["yes", "no", "all"] | frozenset[int]
"""An answer to a question: yes, no, all of it, or the chosen numbers."""

# ── English ──────────────────────────────────────────────────────────────────────────────────────────────────────

_EN_LEAD = (
    r"(?:(?:hey|hi|hello|ok|okay|please|kenobot|now|right|well)\W+){0,3}"
    r"(?:(?:can|could|would|will) you (?:please |now )?|i(?:'d| would) like you to |i want you to |i need you to "
    r"|you (?:can|should|may) (?:now )?)?"
)
_EN_FACT = r"(?P<about>(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our)\b .+)"
_EN_OTHERS = (  # a clause, so three words at least: "forget that idea" means something else
    r"(?P<about>(?!(?:you|you're|it|it's|its|this|that|that's|there|there's|he|she|they|the (?:last|above))\b)"
    r"\S+(?: \S+){2,})"
)
_EN_TOPIC = (
    r"(?P<about>(?!(?:it|this|that|these|those|them|him|her|us|you|yesterday|today|tonight|earlier|before|last|the last"
    r"|what|how|why|who|when|where)\b).+)"
)
_EN_KNOWN = (
    r"(?:(?:everything|anything|all|what|whatever|the things?) )(?:that )?"
    r"(?:you (?:know|remember|have|stored|saved|learned|learnt|noted)"
    r"|i(?:'ve| have)? (?:told|said|mentioned)(?: to)?(?: you)?) (?:about|on|of) "
)
_EN_FORGET = (
    rf"forget (?:about )?(?:the fact )?(?:that )?{_EN_FACT}",
    rf"forget (?:about )?(?:the fact )?that {_EN_OTHERS}",
    rf"forget {_EN_KNOWN}(?P<about>.+)",
    rf"forget (?:the (?:thing|stuff|bit|part|note|memory|memories)|everything|all) about {_EN_TOPIC}",
    rf"(?:stop remembering|no longer remember|do not remember any more|don't remember any ?more) that {_EN_FACT}",
    r"(?:delete|erase|remove|wipe|drop) (?:the fact )?(?:that )?(?P<about>.+?) from (?:your |the )?memory",
    rf"(?:delete|erase|remove|wipe) {_EN_KNOWN}(?P<about>.+)",
)
_EN_IDIOM = re.compile(
    r"(?:i|we)(?:'ve|'d| have| had)? (?:ever |just |even |already |once )*"
    r"(?:say|said|ask|asked|tell|told|mention|mentioned|wr[io]te|written|sent|brought|exist|"
    r"was (?:say|ask|talk|jok)ing|"
    r"am here|called|texted|interrupted)\b"
    r"|my (?:last|previous|first|earlier|question|request|message|words?|mistake|manners|bad|comment|order|idea)\b"
    r"|(?:it|that|this|them|him|her|us)\W*$"
)
_EN_MORE = re.compile(
    r"[,;]? (?:and|but|then) (?:then |instead |please )?(?:remember|save|note|tell|write|book|use|call|help|send|give|"
    r"show|make|let|do|remind|explain|start|go)\b"
    r"|, (?:what|how|who|when|where|why|let's|can|could|tell|instead|just|because|i'm (?:jok|kidd)ing|it was)\b"
    r"|\b(?:for (?:a|one) (?:second|moment|minute)|for now|and imagine|and pretend)\b"
)
_EN_TELL = (
    r"what (?:all )?(?:do|can) you (?:actually |really |currently |already |still )?(?:know|remember|recall)"
    r" (?:about|of) me",
    r"what (?:have you|you've|did you) (?:learned|learnt|learn|remembered|remember|stored|saved|noted|kept)"
    r"(?: down)?(?: so far)? about me",
    r"(?:tell|show|list) me (?:everything|all|what)(?: that)? you "
    r"(?:know|remember|(?:have |'ve )?(?:stored|saved|noted)) (?:about|of) me",
    r"what(?:'s| is) in your memory(?: about me)?",
    r"what (?:information|facts|memories|data|things) do you (?:have|keep|hold|store) (?:about|on|of) me",
    r"what do you have (?:stored|saved|noted|written down|on file) about me",
    r"(?:everything|all) you know about me",
)

# ── Spanish, with its accents taken off ──────────────────────────────────────────────────────────────────────────

_ES_LEAD = (
    r"(?:(?:oye|hola|hey|por favor|porfa|porfavor|ok|vale|bueno|kenobot|ahora|mira)\W+){0,3}"
    r"(?:(?:puedes|podrias|podes|podras|quiero que|necesito que|me gustaria que|quisiera que|te pido que|haz que) )?"
)
_ES_VERB = r"(?:olvidate de|olvidate|olvidarte de|te olvides de|olvida|olvides|olvidar|olvide)"
_ES_TOPIC = (  # "lo de ayer" is let go, not forgotten
    r"(?P<about>(?!(?:ayer|anteayer|anoche|hoy|mañana|antes|luego|entonces|siempre|arriba|abajo|ahora|hace|est[aeo]s?"
    r"|es[aeo]s?|aquell?[ao]?s?|(?:el |la )?otr[ao]|(?:el |la )?ultim[ao]|que|como|quien|cuando|donde)\b).+)"
)
_ES_KNOWN = (
    r"(?:todo )?lo que (?:sabes|sepas|recuerdas|recuerdes|tienes(?: guardado| apuntado)?|has (?:aprendido|guardado)"
    r"|te (?:he |habia )?(?:dicho|contado|dije|conte|comente)) (?:de|sobre|acerca de) "
)
_ES_FORGET = (
    rf"{_ES_VERB} (?:(?:de )?lo de )?que (?P<about>.+)",
    rf"{_ES_VERB} (?:de )?lo (?:de|del) {_ES_TOPIC}",
    rf"{_ES_VERB} (?P<about>(?:mi|mis|nuestro|nuestra|nuestros|nuestras) .+)",
    rf"{_ES_VERB} {_ES_KNOWN}(?P<about>.+)",
    r"(?:deja|dejes|dejar) de recordar que (?P<about>.+)",
    r"(?:ya )?no (?:quiero que )?(?:recuerdes|te acuerdes de)(?: mas)? que (?P<about>.+)",
    r"(?:borra|borres|borrar|elimina|elimines|eliminar|quita|quites|quitar) de (?:tu|la) memoria "
    r"(?:(?:lo de )?que |lo de )?(?P<about>.+)",
    r"(?:borra|borres|borrar|elimina|elimines|eliminar|quita|quites|quitar) (?:lo de )?(?:que )?(?P<about>.+?)"
    r" de (?:tu|la) memoria",
    rf"(?:borra|borres|borrar|elimina|elimines|eliminar) {_ES_KNOWN}(?P<about>.+)",
)
_ES_IDIOM = re.compile(
    r"(?:yo )?(?:te |os |se |me )?(?:lo |la |los |las )?(?:he |habia |haya )?"
    r"(?:dije|dicho|digo|diga|pedi|pedido|pregunte|preguntado|mencione|mencionado|comente|comentado|escribi|escrito|"
    r"conte|contado|hable|hablado|hablamos|existo|existe|exista|envie|enviado|mande|mandado|llame)\b(?! (?:en|a) )"
    r"|(?:estoy|estaba|estuve) (?:aqui|bromeando|hablando|preguntando)\b"
    r"|(?:mi|mis) (?:ultim|anterior|primer|pregunta|peticion|mensaje|palabra|comentario|error|orden|idea)"
    r"|(?:eso|esto|ello|todo|nada|lo)\W*$"
)
_ES_MORE = re.compile(
    r"[,;]? (?:y|pero|e) (?:luego |ahora |mejor |en su lugar |por favor )?(?:recuerda|apunta|guarda|dime|anota|escribe|"
    r"reserva|usa|llama|ayuda|ayudame|manda|envia|dame|muestra|haz|hazme|explica|explicame|busca|vamos|cuentame)\b"
    r"|, (?:mejor|ahora|dime|que tal|como|quien|cuando|donde|por que|vamos|puedes|solo|era|es broma|porque)\b"
    r"|\b(?:por un (?:momento|segundo|rato|minuto)|de momento|por ahora|e imagina)\b"
)
_ES_ME = r" (?:de|sobre|acerca de|respecto a) mi(?: persona)?"
_ES_TELL = (
    rf"que (?:es lo que |cosas |mas )?(?:sabes|recuerdas|conoces)(?: ya| ahora)?{_ES_ME}",
    rf"que (?:has aprendido|aprendiste|tienes (?:guardado|apuntado|anotado|registrado|en (?:tu |la )?memoria)|guardas|"
    rf"has guardado|has apuntado|has anotado){_ES_ME}",
    rf"(?:dime|cuentame|muestrame|ensename|lista) (?:todo )?lo que (?:sabes|recuerdas|tienes (?:guardado|apuntado)|"
    rf"has aprendido|has guardado){_ES_ME}",
    rf"que (?:hay|tienes) en tu memoria(?:{_ES_ME})?",
    rf"que (?:informacion|datos|recuerdos) (?:tienes|guardas){_ES_ME}",
    r"(?:de )?que te acuerdas de mi",
    rf"todo lo que sabes{_ES_ME}",
)

_TAIL = {
    "en": r"(?: (?:so far|now|already|right now|exactly|at the moment|please|then|today|up to now|until now))?",
    "es": r"(?: (?:hasta ahora|hasta el momento|ahora|ya|exactamente|por favor|porfa|ahora mismo|hoy|entonces))?",
}
_PLEASE = re.compile(r"[,]? (?:please|thanks|thank you|now|right now|por favor|porfa|gracias|ya|ahora|ok|vale)$")
_ASKED = {"en": re.compile(r"(?:can|could|would|will) you\b"), "es": re.compile(r"(?:puedes|podrias|podes|podras)\b")}
_I_FORGOT = re.compile(r"\W*(?:me )?olvid(?:é|e\u0301)\b", re.IGNORECASE)  # only an accent parts it from an order
_EVERYTHING = frozenset({"me", "mi", "myself", "mi persona", "me and everything", "mi todo"})
_SENTENCES = re.compile(r"[.!?;:][)\"'”»]?\s+\S|[\r\n]")


def _compiled(lead: str, bodies: tuple[str, ...], tail: str = "") -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(f"{lead}{body}{tail}") for body in bodies)


_FORGET: dict[Language, tuple[re.Pattern[str], ...]] = {
    "en": _compiled(_EN_LEAD, _EN_FORGET),
    "es": _compiled(_ES_LEAD, _ES_FORGET),
}
_TELL: dict[Language, tuple[re.Pattern[str], ...]] = {
    "en": _compiled(r"(?:(?:hey|hi|hello|ok|okay|so|and|please|kenobot|well)\W+){0,3}", _EN_TELL, _TAIL["en"]),
    "es": _compiled(r"(?:(?:oye|hola|hey|ok|vale|y|bueno|por favor|kenobot)\W+){0,3}", _ES_TELL, _TAIL["es"]),
}
_IDIOM: dict[Language, re.Pattern[str]] = {"en": _EN_IDIOM, "es": _ES_IDIOM}
_MORE: dict[Language, re.Pattern[str]] = {"en": _EN_MORE, "es": _ES_MORE}
_LANGUAGES: tuple[Language, ...] = ("en", "es")


def match_command(text: str) -> MemoryRequest | None:
    """Return the wish that a message is; None for any other message."""
    whole = text.strip()
    if _I_FORGOT.match(whole) or not whole or len(whole) > _LONGEST or whole.startswith(("/", ">", '"', "“", "«")):
        return None
    plain = fold(whole).replace("’", "'").lstrip("¿¡ ")
    if _SENTENCES.search(plain.rstrip(".!? ")):
        return None
    asked = plain.endswith("?")
    plain = _PLEASE.sub("", plain.rstrip(".!?… ").rstrip())
    for language in _LANGUAGES:
        if any(pattern.fullmatch(plain) for pattern in _TELL[language]):
            return MemoryRequest("tell", "", language)
        wish = _forgetting(plain, language, asked)
        if wish is not None:
            return wish
    return None


def _forgetting(plain: str, language: Language, asked: bool) -> MemoryRequest | None:
    for pattern in _FORGET[language]:
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        about = match["about"].strip(" ,.")
        if asked and not _ASKED[language].search(plain[: match.start("about")]):
            return None  # "forget that I live in Paris?" wonders
        if _IDIOM[language].match(about) or _MORE[language].search(plain):
            return None
        return MemoryRequest("forget_all" if about in _EVERYTHING else "forget", about, language)
    return None


# ── answers to a question ────────────────────────────────────────────────────────────────────────────────────────

_YES = frozenset(
    "yes|y|yep|yeah|yup|sure|ok|okay|do it|go ahead|confirm|confirmed|please do|yes please|of course|right|correct|"
    "forget it|forget them|si|sip|claro|vale|hazlo|adelante|de acuerdo|confirmo|confirmado|si por favor|"
    "por supuesto|correcto|exacto|olvidalo|eso es|👍|✅".split("|")
)
_NO = frozenset(
    "no|n|nope|nah|cancel|stop|never mind|nevermind|don't|do not|no thanks|no thank you|keep it|leave it|better not|"
    "cancela|cancelar|mejor no|no gracias|dejalo|dejalo asi|ni hablar|no lo hagas|nada|👎".split("|")
)
_ALL = frozenset("all|all of them|both|both of them|every one|todas|todos|ambas|ambos|las dos|los dos".split("|"))
_NUMBERS = re.compile(
    r"(?:(?:the )?(?:number|numbers|numero|numeros|el|la|los|las|n[.º°]?) ?)?#?[0-9]{1,15}"
    r"(?:(?: ?[,;&+] ?| (?:and|y|e) | ?, (?:and|y) | )#?[0-9]{1,15}){0,19}"
)
_DIGITS = re.compile(r"[0-9]+")


def parse_answer(text: str) -> Answer | None:
    """Return the answer that a short message gives to a question of the bot's; None for any other message."""
    if len(text) > _LONGEST_ANSWER:
        return None
    plain = " ".join(fold(text).replace("’", "'").replace(",", " , ").strip(" .!¡¿?").split()).replace(" , ", ", ")
    bare = plain.replace(",", "")
    if bare in _YES:
        return "yes"
    if bare in _NO:
        return "no"
    if bare in _ALL:
        return "all"
    if _NUMBERS.fullmatch(plain):
        return frozenset(int(number) for number in _DIGITS.findall(plain))
    return None
