"""The catalogue of sentences that the bot itself says, in English and Spanish."""

from kenobot.core.i18n import Text

# Replies in place of a model's, and what goes into one.

NOTED = Text("Noted.", "Anotado.")
SILENT = Text("I have nothing to say to that.", "No tengo nada que decir a eso.")
PATIENCE = Text(
    en="I cannot reach my model just now. I have kept your message and answer it as soon as I can.",
    es="Ahora mismo no puedo contactar con mi modelo. He guardado tu mensaje y lo responderé en cuanto pueda.",
)
EXPIRED = Text(
    en="Your message waited too long for me to answer it as if nothing had happened. If it still matters, please send "
    "it again.",
    es="Tu mensaje ha esperado demasiado como para responderlo como si nada. Si todavía importa, vuelve a enviármelo.",
)
TOO_MANY = Text(
    en="You are writing faster than I can answer. I have left out what came last; please send it again in a few "
    "minutes.",
    es="Escribes más deprisa de lo que puedo responder. He dejado fuera lo último que ha llegado; vuelve a enviármelo "
    "en unos minutos.",
)
REJECTED = Text(
    en="I could not answer: the model refused the request. `kenobot signals` tells the owner why.",
    es="No he podido responder: el modelo rechazó la petición. `kenobot signals` le dice al dueño por qué.",
)
BROKEN = Text(
    en="Something went wrong on my side and I could not answer. I have kept your message; please try again.",
    es="Algo ha fallado de mi lado y no he podido responder. He guardado tu mensaje; inténtalo de nuevo.",
)
SECRET_REFUSED = Text(
    en="(I did not save that: it looks like a password or a key.)",
    es="(Eso no lo he guardado: parece una contraseña o una clave.)",
)
STORE_FAILED = Text(
    en="I cannot save your message just now. I answer it as soon as I can; there is no need to send it again.",
    es="Ahora mismo no puedo guardar tu mensaje. Lo responderé en cuanto pueda; no hace falta que lo repitas.",
)
LINK_REMOVED = Text("[link removed]", "[enlace quitado]")

# Notices to the owner.

NOTICE_DISK = Text(
    en="I cannot save anything: my disk is full, read-only or broken. Messages wait until it works again.",
    es="No puedo guardar nada: mi disco está lleno, es de solo lectura o falla. Los mensajes esperan a que vuelva a "
    "funcionar.",
)
NOTICE_HEALTH = Text(
    en="Something needs your eye: {problem}. `kenobot signals --since 1h` tells what happened.",
    es="Hay algo que necesita tu atención: {problem}. `kenobot signals --since 1h` cuenta qué ha pasado.",
)
NOTICE_DEAD_LETTER = Text(
    en="There is a message that I could not answer, and I have given up on it. `kenobot deadletter list` shows it, "
    "and can have it answered once more.",
    es="Hay un mensaje que no he podido responder y que he dado por perdido. `kenobot deadletter list` lo muestra "
    "y puede hacer que lo intente otra vez.",
)
NOTICE_QUARANTINED = Text(
    en="Something came in that I cannot read ({channel}). `kenobot deadletter list` shows it and says why.",
    es="Ha llegado algo que no sé leer ({channel}). `kenobot deadletter list` lo muestra, y por qué.",
)
NOTICE_FAILED = Text(
    en="Something that I wrote could not be delivered ({channel}). `kenobot deadletter list` shows it and says why.",
    es="Algo que he escrito no se ha podido entregar ({channel}). `kenobot deadletter list` lo muestra, y por qué.",
)
NOTICE_PAIRING = Text(
    en="{name} would like to talk to me ({channel}). If they tell you a code, send me `/pair CODE`.",
    es="{name} quiere hablar conmigo ({channel}). Si te dice un código, envíame `/emparejar CÓDIGO`.",
)
NOTICE_PROPOSALS = Text(
    en="I have something to propose to you ({count}). `/proposals` shows it; nothing changes by itself.",
    es="Tengo algo que proponerte ({count}). `/propuestas` lo muestra; nada cambia por sí solo.",
)
NOTICE_SLEEP = Text(
    en="While I slept I changed much of my memory at once ({what}). `kenobot sleep report` tells what and why, and "
    "`kenobot sleep undo` takes it back.",
    es="Mientras dormía he cambiado mucho de mi memoria de una vez ({what}). `kenobot sleep report` cuenta qué y por "
    "qué, y `kenobot sleep undo` lo deshace.",
)
NOTICE_MISSING_FILES = Text(
    en="{count} memory files are gone at once ({where}). That looks like a loss, so I have forgotten nothing and have "
    "written them again. If you meant to delete them, say `/missing forget`; `/missing` shows what they said.",
    es="Han desaparecido {count} ficheros de memoria a la vez ({where}). Parece una pérdida, así que no he olvidado "
    "nada y los he vuelto a escribir. Si querías borrarlos, di `/perdidos olvida`; `/perdidos` muestra lo que "
    "decían.",
)
NOTICE_FORGOTTEN_FILES = Text(
    en="{count} memories were taken out of my files at once ({where}), so I have forgotten them. If that was not you, "
    "`/undo {event}` brings all of them back.",
    es="Se han quitado {count} recuerdos de mis ficheros a la vez ({where}), así que los he olvidado. Si no fuiste "
    "tú, `/deshacer {event}` los devuelve todos.",
)

# Pairing.

PAIRING_CODE = Text(
    en="I only talk to people whom my owner has let in. To be one of them, give my owner this code: {code}. It is "
    "good for one hour.",
    es="Solo hablo con quien mi dueño ha dejado pasar. Para ser una de esas personas, dale este código: {code}. Vale "
    "durante una hora.",
)
PAIRED = Text(
    en="My owner has let you in: you may talk to me now.",
    es="Mi dueño te ha dejado pasar: ya puedes hablar conmigo.",
)
PAIR_HOW = Text(
    en="Write `/pair` and the code that the person was given, such as `/pair ABCD-EFGH`.",
    es="Escribe `/emparejar` y el código que recibió esa persona, por ejemplo `/emparejar ABCD-EFGH`.",
)
PAIR_DONE = Text(
    en="{who} may talk to me now. `/people` shows everybody whom you let in.",
    es="{who} ya puede hablar conmigo. `/personas` muestra a quiénes has dejado pasar.",
)
PAIR_WRONG = Text(
    en="That code is not right. Tries left: {left}.",
    es="Ese código no es correcto. Intentos que quedan: {left}.",
)
PAIR_LOCKED = Text(
    en="Too many wrong codes: all codes are void, and pairing is shut for an hour.",
    es="Demasiados códigos erróneos: todos quedan anulados y el emparejamiento se cierra durante una hora.",
)
PAIR_NOTHING = Text(
    en="No code is open: a code is good for one hour.",
    es="No hay ningún código abierto: un código vale durante una hora.",
)
PEOPLE_NONE = Text(
    en="You have let nobody in, beside those in the configuration.",
    es="No has dejado pasar a nadie, aparte de quienes están en la configuración.",
)
PEOPLE_SOME = Text(
    en="Whom you have let in:\n{lines}\n\n`/people revoke ID` puts somebody out again.",
    es="A quiénes has dejado pasar:\n{lines}\n\n`/personas revocar ID` deja fuera a alguien de nuevo.",
)
PEOPLE_WAITING = Text("Who waits to be let in:\n{lines}", "Quiénes esperan a que los dejes pasar:\n{lines}")
PEOPLE_REVOKED = Text("{who} may not talk to me any more.", "{who} ya no puede hablar conmigo.")
PEOPLE_UNKNOWN = Text(
    en="There is nobody like that among those whom you let in: `/people` shows them.",
    es="No hay nadie así entre quienes has dejado pasar: `/personas` los muestra.",
)

# Memory by command: `/remember`, `/forget`, `/memory`.

REMEMBER_HOW = Text("Write `/remember` and what I should remember.", "Escribe `/recuerda` y lo que debo recordar.")
ALREADY_KNOWN = Text("I knew that already: {what}", "Eso ya lo sabía: {what}")
LEARNED = Text("✓ I have learned that: {what}", "✓ He aprendido que: {what}")
REMEMBER_REFUSED = Text("I do not keep that: {why}.", "Eso no lo guardo: {why}.")
REMEMBER_REFUSED_SECRET = Text(
    en="I do not keep that: it looks like a password or a key.",
    es="Eso no lo guardo: parece una contraseña o una clave.",
)
FORGET_HOW = Text(
    en="Write `/forget` and what I should forget: its number, such as `/forget 12`, or some of its words. `/memory` "
    "shows the newest.",
    es="Escribe `/olvida` y lo que debo olvidar: su número, como `/olvida 12`, o algunas de sus palabras. `/memoria` "
    "muestra lo más reciente.",
)
FORGET_NONE = Text(
    en="I find nothing like that in my memory. `/memory` shows what is newest in it.",
    es="No encuentro nada así en mi memoria. `/memoria` muestra lo más reciente.",
)
FORGET_GONE = Text("I remember nothing with the number {number} here.", "No recuerdo aquí nada con el número {number}.")
FORGOTTEN = Text(
    en="Forgotten:\n{lines}\n\n`/undo {event}` brings it back.",
    es="Olvidado:\n{lines}\n\n`/deshacer {event}` lo devuelve.",
)
FORGOTTEN_SEVERAL = Text(
    en="Forgotten:\n{lines}\n\n`/undo` brings them back, one at a time.",
    es="Olvidado:\n{lines}\n\n`/deshacer` los devuelve, de uno en uno.",
)
FORGET_ONE = Text(
    en="Shall I forget this?\n{lines}\n\nAnswer *yes* or *no*.",
    es="¿Olvido esto?\n{lines}\n\nResponde *sí* o *no*.",
)
FORGET_WHICH = Text(
    en="Which of these shall I forget?\n{lines}\n\nAnswer with the number, with several, with *all* or *no*.",
    es="¿Cuál de estos olvido?\n{lines}\n\nResponde con el número, con varios, con *todos* o con *no*.",
)
FORGET_SAID = Text(
    en="I have not noted that yet, but you said it: “{what}”. Shall I forget it? Answer *yes* or *no*.",
    es="Eso aún no lo he anotado, pero lo dijiste: «{what}». ¿Lo olvido? Responde *sí* o *no*.",
)
FORGOTTEN_SAID = Text(
    en="Forgotten: I do not look at that message any more, and learn nothing from it.",
    es="Olvidado: ya no miro ese mensaje ni aprendo nada de él.",
)
FORGET_EVERYTHING = Text(
    en="I do not forget everything at one word. Tell me what it is about, such as `/forget my address`; `/memory` "
    "shows what is newest.",
    es="No lo olvido todo de golpe. Dime de qué se trata, por ejemplo `/olvida mi dirección`; `/memoria` muestra lo "
    "más reciente.",
)
FORGET_DECLINED = Text("Good, I keep it.", "Bien, lo conservo.")
NO_QUESTION = Text("There is nothing open that I asked you.", "No tengo ninguna pregunta abierta.")
RECORD_LINE = Text("- #{number} “{what}”", "- #{number} «{what}»")
ALSO_COPIES = Text("what repeats it: {count}", "lo que lo repite: {count}")
ALSO_MESSAGES = Text("messages that told it: {count}", "mensajes que lo contaban: {count}")
RECORD_LINE_ALSO = Text("{line} (also {along})", "{line} (también {along})")
MEMORY_NONE = Text("I remember nothing here yet.", "Aquí todavía no recuerdo nada.")
MEMORY_SOME = Text(
    en="I remember {count} things here ({forms}). The newest:\n{lines}",
    es="Aquí recuerdo {count} cosas ({forms}). Lo más reciente:\n{lines}",
)
MEMORY_FILES = Text(
    en="They stand as Markdown in {folder}: what you change there, I take in.",
    es="Están como Markdown en {folder}: lo que cambies ahí, lo aprendo.",
)
MEMORY_HANDS = Text(
    en="`/forget NUMBER` makes me forget one, `/why` says what stood behind an answer.",
    es="`/olvida NÚMERO` hace que olvide uno, `/porque` dice qué había detrás de una respuesta.",
)

# `/why`, `/undo`, `/missing`.

WHY_NONE = Text("I have not answered anything here yet.", "Todavía no he respondido nada aquí.")
WHY_NOTHING = Text(
    en="No memory stands behind my last answer (to {question}): only this conversation.",
    es="Detrás de mi última respuesta (a {question}) no hay ningún recuerdo: solo esta conversación.",
)
WHY_SOME = Text(
    en="Behind my last answer (to {question}):\n{lines}",
    es="Detrás de mi última respuesta (a {question}):\n{lines}",
)
WHY_MORE = Text(
    en="{count} more of my memories were in view, and have none of its words.",
    es="Tenía a la vista {count} recuerdos más, sin palabras en común.",
)
WHY_LINE = Text("- #{number} “{what}” — {origin}, {age}{quote}", "- #{number} «{what}» — {origin}, {age}{quote}")
WHY_QUOTE = Text(": you wrote “{said}”", ": escribiste «{said}»")
WHY_QUOTE_ELSE = Text(": somebody wrote “{said}”", ": alguien escribió «{said}»")
FROM_TAG = Text("noted while we talked", "anotado mientras hablábamos")
FROM_EXTRACTION = Text("learned from what was said", "aprendido de lo que se dijo")
FROM_EDIT = Text("written into my files", "escrito en mis archivos")
FROM_COMMAND = Text("told me as an order", "me lo ordenaron")
FROM_SLEEP = Text("put together while at rest", "reunido en reposo")
FROM_IMPORT = Text("imported", "importado")
UNDO_NONE = Text("There is nothing in this memory to undo.", "No hay nada que deshacer en esta memoria.")
UNDO_HOW = Text(
    en="Write `/undo`, or `/undo` and the number of a change.",
    es="Escribe `/deshacer`, o `/deshacer` y el número de un cambio.",
)
UNDO_HINDERED = Text("I cannot undo that: {why}", "No puedo deshacer eso: {why}")
UNDONE = Text(
    en="Undone:\n{lines}\n\n`/undo {event}` takes that back.",
    es="Deshecho:\n{lines}\n\n`/deshacer {event}` lo revierte.",
)
UNDONE_BACK = Text("- #{number} “{what}” is remembered again", "- vuelvo a recordar #{number} «{what}»")
UNDONE_GONE = Text("- #{number} “{what}” is not remembered any more", "- ya no recuerdo #{number} «{what}»")
UNDONE_TEXT = Text("- #{number} says “{what}” again", "- #{number} vuelve a decir «{what}»")
MISSING_NONE = Text(
    en="No memory files were lost that I should ask you about.",
    es="No se han perdido ficheros de memoria por los que deba preguntarte.",
)
MISSING_SOME = Text(
    en="{count} memory files were gone at once {age} ({where}), and I have written them again. Among what they said:\n"
    "{lines}\n\nIf you meant to delete them, say `/missing forget`; if not, `/missing keep`.",
    es="Desaparecieron {count} ficheros de memoria a la vez {age} ({where}), y los he vuelto a escribir. Entre lo que "
    "decían:\n{lines}\n\nSi querías borrarlos, di `/perdidos olvida`; si no, `/perdidos guarda`.",
)
MISSING_KEPT = Text("Good, I keep all of it.", "Bien, lo conservo todo.")
MISSING_FORGOTTEN = Text(
    en="Forgotten: {count} memories. `/undo {event}` brings all of them back.",
    es="Olvidados: {count} recuerdos. `/deshacer {event}` los devuelve todos.",
)
MISSING_ELSEWHERE = Text(
    en="What was lost belongs to other chats: say so there, or use `kenobot memory forget`.",
    es="Lo que se perdió es de otros chats: dilo allí, o usa `kenobot memory forget`.",
)
JUST_NOW = Text("just now", "ahora mismo")
TIME_AGO = Text("{span} ago", "hace {span}")

# Proposals.

PROPOSALS_NONE = Text(
    en="I have nothing to propose. Nights when memory is looked after may bring something.",
    es="No tengo nada que proponer. Puede surgir algo en las noches en que reviso la memoria.",
)
PROPOSALS_SOME = Text(
    en="What I propose:\n{lines}\n\n`/approve NUMBER` has it done, `/reject NUMBER` turns it down. Nothing changes by "
    "itself.",
    es="Lo que propongo:\n{lines}\n\n`/aprobar NÚMERO` lo lleva a cabo, `/rechazar NÚMERO` lo descarta. Nada cambia "
    "por sí solo.",
)
PROPOSALS_MORE = Text(
    en="{count} more wait: `kenobot proposals list` shows them all.",
    es="Esperan {count} más: `kenobot proposals list` las muestra todas.",
)
PROPOSAL_LINE = Text("- {number}. *{title}* — {text}{does}", "- {number}. *{title}* — {text}{does}")
APPROVE_HOW = Text(
    en="Write `/approve` and the number of a proposal; `/proposals` shows them.",
    es="Escribe `/aprobar` y el número de una propuesta; `/propuestas` las muestra.",
)
REJECT_HOW = Text(
    en="Write `/reject` and the number of a proposal; `/proposals` shows them.",
    es="Escribe `/rechazar` y el número de una propuesta; `/propuestas` las muestra.",
)
PROPOSAL_ADVICE = Text(
    en="Noted. This is advice: a setting is yours to change{setting}.",
    es="Anotado. Es un consejo: el ajuste lo cambias tú{setting}.",
)
PROPOSAL_APPROVED = Text(
    en="Done: {title}. `/reject {number}` takes it back.",
    es="Hecho: {title}. `/rechazar {number}` lo deshace.",
)
PROPOSAL_REJECTED = Text(
    en="Good, I leave it: {title}. I do not propose it again.",
    es="De acuerdo, lo dejo: {title}. No volveré a proponerlo.",
)
PROPOSAL_UNDONE = Text("Taken back: {title}.", "Deshecho: {title}.")
PROPOSAL_HINDERED = Text("I cannot do that: {why}", "No puedo hacerlo: {why}")
