"""Spanish or English? A guess from function words, and the sentences that the core itself says in both."""

import re
from typing import Literal

Language = Literal["en", "es"]

_WORD = re.compile(r"[^\W\d_]+")
_SPANISH = frozenset(
    "el la los las un una unos unas de del al que qué y o en con por para como cómo cuando cuándo donde dónde "
    "quien quién es está son soy estoy fue ser hay no sí si se me te le lo mi tu su mis tus sus yo tú él ella "
    "nosotros pero porque muy más menos también ya hoy ayer mañana hola gracias buenos buenas días tardes "
    "noches oye recuerda acuérdate acuerdate sabes sobre esto eso este esta ese esa quiero puedo puedes tengo "
    "tienes prefiero gusta llamo vivo trabajo hasta luego adiós cuál cuánto cuanto nada todo algo".split()
)
_ENGLISH = frozenset(
    "the a an of to in on at for with by from and or but not is are was were be been am i you he she it we "
    "they me my your his her its our their this that these those what who when where why how which do does did "
    "can could will would should have has had hello hi hey thanks thank please remember know about there here "
    "yes good morning evening night want prefer like live work name bye all some nothing anything".split()
)
_SPANISH_SIGNS = re.compile(r"[ñ¿¡]", re.IGNORECASE)


def guess_language(text: str, default: Language = "en") -> Language:
    """The likelier of the two languages of `text`; `default` when nothing speaks for either."""
    words = [word.lower() for word in _WORD.findall(text[:2000])]
    spanish = sum(word in _SPANISH for word in words) + 2 * bool(_SPANISH_SIGNS.search(text[:2000]))
    english = sum(word in _ENGLISH for word in words)
    if spanish == english:
        return default
    return "es" if spanish > english else "en"


_SENTENCES: dict[str, dict[Language, str]] = {
    "noted": {"en": "Noted.", "es": "Anotado."},
    "silent": {
        "en": "I have nothing to say to that.",
        "es": "No tengo nada que decir a eso.",
    },
    "patience": {
        "en": "I cannot reach my model just now. I have kept your message and answer it as soon as I can.",
        "es": "Ahora mismo no puedo contactar con mi modelo. He guardado tu mensaje y lo responderé en cuanto pueda.",
    },
    "expired": {
        "en": "Your message waited too long for me to answer it as if nothing had happened. "
        "If it still matters, please send it again.",
        "es": "Tu mensaje ha esperado demasiado como para responderlo como si nada. "
        "Si todavía importa, vuelve a enviármelo.",
    },
    "too_many": {
        "en": "You are writing faster than I can answer. I have left out what came last; "
        "please send it again in a few minutes.",
        "es": "Escribes más deprisa de lo que puedo responder. He dejado fuera lo último que ha llegado; "
        "vuelve a enviármelo en unos minutos.",
    },
    "rejected": {
        "en": "I could not answer: the model refused the request. `kenobot signals` tells the owner why.",
        "es": "No he podido responder: el modelo rechazó la petición. `kenobot signals` le dice al dueño por qué.",
    },
    "broken": {
        "en": "Something went wrong on my side and I could not answer. I have kept your message; please try again.",
        "es": "Algo ha fallado de mi lado y no he podido responder. He guardado tu mensaje; inténtalo de nuevo.",
    },
    "secret": {
        "en": "(I did not save that: it looks like a password or a key.)",
        "es": "(Eso no lo he guardado: parece una contraseña o una clave.)",
    },
    "unstored": {
        "en": "I cannot save your message just now. I answer it as soon as I can; there is no need to send it again.",
        "es": "Ahora mismo no puedo guardar tu mensaje. Lo responderé en cuanto pueda; no hace falta que lo repitas.",
    },
    "notice_disk": {
        "en": "I cannot save anything: my disk is full, read-only or broken. Messages wait until it works again.",
        "es": "No puedo guardar nada: mi disco está lleno, es de solo lectura o falla. "
        "Los mensajes esperan a que vuelva a funcionar.",
    },
    "notice_health": {
        "en": "Something needs your eye: {problem}. `kenobot signals --since 1h` tells what happened.",
        "es": "Hay algo que necesita tu atención: {problem}. `kenobot signals --since 1h` cuenta qué ha pasado.",
    },
    "notice_dead": {
        "en": "There is a message that I could not answer, and I have given up on it. `kenobot mail list` shows it, "
        "and can have it answered once more.",
        "es": "Hay un mensaje que no he podido responder y que he dado por perdido. `kenobot mail list` lo muestra "
        "y puede hacer que lo intente otra vez.",
    },
    "notice_aside": {
        "en": "Something came in that I cannot read ({channel}). `kenobot mail list` shows it and says why.",
        "es": "Ha llegado algo que no sé leer ({channel}). `kenobot mail list` lo muestra, y por qué.",
    },
    "notice_failed": {
        "en": "Something that I wrote could not be delivered ({channel}). `kenobot mail list` shows it and says why.",
        "es": "Algo que he escrito no se ha podido entregar ({channel}). `kenobot mail list` lo muestra, y por qué.",
    },
    "notice_pairing": {
        "en": "{name} would like to talk to me ({channel}). If they tell you a code, send me `/pair CODE`.",
        "es": "{name} quiere hablar conmigo ({channel}). Si te dice un código, envíame `/emparejar CÓDIGO`.",
    },
    "notice_proposals": {
        "en": "I have something to propose to you ({count}). `/proposals` shows it; nothing changes by itself.",
        "es": "Tengo algo que proponerte ({count}). `/propuestas` lo muestra; nada cambia por sí solo.",
    },
    "notice_sleep": {
        "en": "While I slept I changed much of my memory at once ({what}). `kenobot sleep report` tells what and "
        "why, and `kenobot sleep undo` takes it back.",
        "es": "Mientras dormía he cambiado mucho de mi memoria de una vez ({what}). `kenobot sleep report` cuenta "
        "qué y por qué, y `kenobot sleep undo` lo deshace.",
    },
    "notice_lost": {
        "en": "{count} memory files are gone at once ({where}). That looks like a loss, so I have forgotten nothing "
        "and have written them again. If you meant to delete them, say `/lost forget`; `/lost` shows what they said.",
        "es": "Han desaparecido {count} ficheros de memoria a la vez ({where}). Parece una pérdida, así que no he "
        "olvidado nada y los he vuelto a escribir. Si querías borrarlos, di `/perdidos olvida`; `/perdidos` muestra "
        "lo que decían.",
    },
    "notice_taken_out": {
        "en": "{count} memories were taken out of my files at once ({where}), so I have forgotten them. If that was "
        "not you, `/undo {event}` brings all of them back.",
        "es": "Se han quitado {count} recuerdos de mis ficheros a la vez ({where}), así que los he olvidado. Si no "
        "fuiste tú, `/deshacer {event}` los devuelve todos.",
    },
    "link": {"en": "[link removed]", "es": "[enlace quitado]"},
    "stranger": {
        "en": "I only talk to people whom my owner has let in. To be one of them, give my owner this code: {code}. "
        "It is good for one hour.",
        "es": "Solo hablo con quien mi dueño ha dejado pasar. Para ser una de esas personas, dale este código: "
        "{code}. Vale durante una hora.",
    },
    "let_in": {
        "en": "My owner has let you in: you may talk to me now.",
        "es": "Mi dueño te ha dejado pasar: ya puedes hablar conmigo.",
    },
    "pair_how": {
        "en": "Write `/pair` and the code that the person was given, such as `/pair ABCD-EFGH`.",
        "es": "Escribe `/emparejar` y el código que recibió esa persona, por ejemplo `/emparejar ABCD-EFGH`.",
    },
    "pair_done": {
        "en": "{who} may talk to me now. `/people` shows everybody whom you let in.",
        "es": "{who} ya puede hablar conmigo. `/personas` muestra a quiénes has dejado pasar.",
    },
    "pair_wrong": {
        "en": "That code is not right. Tries left: {left}.",
        "es": "Ese código no es correcto. Intentos que quedan: {left}.",
    },
    "pair_locked": {
        "en": "Too many wrong codes: all codes are void, and pairing is shut for an hour.",
        "es": "Demasiados códigos erróneos: todos quedan anulados y el emparejamiento se cierra durante una hora.",
    },
    "pair_nothing": {
        "en": "No code is open: a code is good for one hour.",
        "es": "No hay ningún código abierto: un código vale durante una hora.",
    },
    "people_none": {
        "en": "You have let nobody in, beside those in the configuration.",
        "es": "No has dejado pasar a nadie, aparte de quienes están en la configuración.",
    },
    "people_some": {
        "en": "Whom you have let in:\n{lines}\n\n`/people revoke ID` puts somebody out again.",
        "es": "A quiénes has dejado pasar:\n{lines}\n\n`/personas revocar ID` deja fuera a alguien de nuevo.",
    },
    "people_waiting": {
        "en": "Who waits to be let in:\n{lines}",
        "es": "Quiénes esperan a que los dejes pasar:\n{lines}",
    },
    "people_revoked": {
        "en": "{who} may not talk to me any more.",
        "es": "{who} ya no puede hablar conmigo.",
    },
    "people_unknown": {
        "en": "There is nobody like that among those whom you let in: `/people` shows them.",
        "es": "No hay nadie así entre quienes has dejado pasar: `/personas` los muestra.",
    },
}

TextKey = Literal[
    "noted",
    "silent",
    "patience",
    "expired",
    "too_many",
    "rejected",
    "broken",
    "secret",
    "link",
    "unstored",
    "notice_disk",
    "notice_health",
    "notice_dead",
    "notice_aside",
    "notice_failed",
    "notice_pairing",
    "notice_proposals",
    "notice_sleep",
    "notice_lost",
    "notice_taken_out",
    "stranger",
    "let_in",
    "pair_how",
    "pair_done",
    "pair_wrong",
    "pair_locked",
    "pair_nothing",
    "people_none",
    "people_some",
    "people_waiting",
    "people_revoked",
    "people_unknown",
]


def translate(sentence: TextKey, language: Language, **values: object) -> str:
    """One of the core's own sentences, in `language`, with `values` in their places."""
    text = _SENTENCES[sentence][language]
    return text.format(**values) if values else text


_PROBLEMS: tuple[tuple[str, str], ...] = (
    ("channel {} keeps failing", "el canal {} falla una y otra vez"),
    ("channel {} keeps falling silent", "el canal {} se queda mudo una y otra vez"),
    (
        "Another program reads this bot's messages with the same token: stop it or get a new token",
        "otro programa lee los mensajes de este bot con el mismo token: páralo o consigue un token nuevo",
    ),
)


def translate_problem(text: str, language: Language) -> str:
    """What is wrong, in `language` as far as it is a problem that this house knows; else as it was written."""
    for english, spanish in _PROBLEMS if language == "es" else ():
        if match := re.fullmatch(re.escape(english).replace(r"\{\}", "(.+)"), text):
            return spanish.format(*match.groups())
    return text
