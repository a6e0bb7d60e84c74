"""What the core says in chat about memory, in both languages. The words of a memory itself stay as they are."""

from datetime import timedelta
from typing import Literal

from kenobot.core.i18n import Language

_SENTENCES: dict[str, dict[Language, str]] = {
    "remember_how": {
        "en": "Write `/remember` and what I should remember.",
        "es": "Escribe `/recuerda` y lo que debo recordar.",
    },
    "known": {"en": "I knew that already: {what}", "es": "Eso ya lo sabía: {what}"},
    "refused": {"en": "I do not keep that: {why}.", "es": "Eso no lo guardo: {why}."},
    "refused_secret": {
        "en": "I do not keep that: it looks like a password or a key.",
        "es": "Eso no lo guardo: parece una contraseña o una clave.",
    },
    "learned": {"en": "✓ I have learned that: {what}", "es": "✓ He aprendido que: {what}"},
    "learned_preference": {
        "en": "✓ I have saved your preference: {what}",
        "es": "✓ He guardado tu preferencia: {what}",
    },
    "learned_pattern": {"en": "✓ I have spotted a pattern: {what}", "es": "✓ He identificado un patrón: {what}"},
    "forget_how": {
        "en": "Write `/forget` and what I should forget: its number, such as `/forget 12`, or some of its words. "
        "`/memory` shows the newest.",
        "es": "Escribe `/olvida` y lo que debo olvidar: su número, como `/olvida 12`, o algunas de sus palabras. "
        "`/memoria` muestra lo más reciente.",
    },
    "forget_none": {
        "en": "I find nothing like that in my memory. `/memory` shows what is newest in it.",
        "es": "No encuentro nada así en mi memoria. `/memoria` muestra lo más reciente.",
    },
    "forget_gone": {
        "en": "I remember nothing with the number {number} here.",
        "es": "No recuerdo aquí nada con el número {number}.",
    },
    "forgotten": {
        "en": "Forgotten:\n{lines}\n\n`/undo {event}` brings it back.",
        "es": "Olvidado:\n{lines}\n\n`/deshacer {event}` lo devuelve.",
    },
    "forgotten_several": {
        "en": "Forgotten:\n{lines}\n\n`/undo` brings them back, one at a time.",
        "es": "Olvidado:\n{lines}\n\n`/deshacer` los devuelve, de uno en uno.",
    },
    "forget_one": {
        "en": "Shall I forget this?\n{lines}\n\nAnswer *yes* or *no*.",
        "es": "¿Olvido esto?\n{lines}\n\nResponde *sí* o *no*.",
    },
    "forget_which": {
        "en": "Which of these shall I forget?\n{lines}\n\nAnswer with the number, with several, with *all* or *no*.",
        "es": "¿Cuál de estos olvido?\n{lines}\n\nResponde con el número, con varios, con *todos* o con *no*.",
    },
    "forget_said": {
        "en": "I have not noted that yet, but you said it: “{what}”. Shall I forget it? Answer *yes* or *no*.",
        "es": "Eso aún no lo he anotado, pero lo dijiste: «{what}». ¿Lo olvido? Responde *sí* o *no*.",
    },
    "forgotten_said": {
        "en": "Forgotten: I do not look at that message any more, and learn nothing from it.",
        "es": "Olvidado: ya no miro ese mensaje ni aprendo nada de él.",
    },
    "forget_everything": {
        "en": "I do not forget everything at one word. Tell me what it is about, such as `/forget my address`; "
        "`/memory` shows what is newest.",
        "es": "No lo olvido todo de golpe. Dime de qué se trata, por ejemplo `/olvida mi dirección`; "
        "`/memoria` muestra lo más reciente.",
    },
    "kept": {"en": "Good, I keep it.", "es": "Bien, lo conservo."},
    "no_question": {
        "en": "There is nothing open that I asked you.",
        "es": "No tengo ninguna pregunta abierta.",
    },
    "why_none": {
        "en": "I have not answered anything here yet.",
        "es": "Todavía no he respondido nada aquí.",
    },
    "why_nothing": {
        "en": "No memory stands behind my last answer (to {question}): only this conversation.",
        "es": "Detrás de mi última respuesta (a {question}) no hay ningún recuerdo: solo esta conversación.",
    },
    "why_some": {
        "en": "Behind my last answer (to {question}):\n{lines}",
        "es": "Detrás de mi última respuesta (a {question}):\n{lines}",
    },
    "why_more": {
        "en": "{count} more of my memories were in view, and have none of its words.",
        "es": "Tenía a la vista {count} recuerdos más, sin palabras en común.",
    },
    "why_line": {
        "en": "- #{number} “{what}” — {origin}, {age}{quote}",
        "es": "- #{number} «{what}» — {origin}, {age}{quote}",
    },
    "why_quote": {"en": ": you wrote “{said}”", "es": ": escribiste «{said}»"},
    "why_quote_else": {"en": ": somebody wrote “{said}”", "es": ": alguien escribió «{said}»"},
    "memory_none": {
        "en": "I remember nothing here yet.",
        "es": "Aquí todavía no recuerdo nada.",
    },
    "memory_some": {
        "en": "I remember {count} things here ({forms}). The newest:\n{lines}",
        "es": "Aquí recuerdo {count} cosas ({forms}). Lo más reciente:\n{lines}",
    },
    "memory_files": {
        "en": "They stand as Markdown in {folder}: what you change there, I take in.",
        "es": "Están como Markdown en {folder}: lo que cambies ahí, lo aprendo.",
    },
    "memory_hands": {
        "en": "`/forget NUMBER` makes me forget one, `/why` says what stood behind an answer.",
        "es": "`/olvida NÚMERO` hace que olvide uno, `/porque` dice qué había detrás de una respuesta.",
    },
    "undo_none": {
        "en": "There is nothing in this memory to undo.",
        "es": "No hay nada que deshacer en esta memoria.",
    },
    "undo_how": {
        "en": "Write `/undo`, or `/undo` and the number of a change.",
        "es": "Escribe `/deshacer`, o `/deshacer` y el número de un cambio.",
    },
    "lost_none": {
        "en": "No memory files were lost that I should ask you about.",
        "es": "No se han perdido ficheros de memoria por los que deba preguntarte.",
    },
    "lost_some": {
        "en": "{count} memory files were gone at once {age} ({where}), and I have written them again. Among what they "
        "said:\n{lines}\n\nIf you meant to delete them, say `/lost forget`; if not, `/lost keep`.",
        "es": "Desaparecieron {count} ficheros de memoria a la vez {age} ({where}), y los he vuelto a escribir. "
        "Entre lo que decían:\n{lines}\n\nSi querías borrarlos, di `/perdidos olvida`; si no, `/perdidos guarda`.",
    },
    "lost_kept": {"en": "Good, I keep all of it.", "es": "Bien, lo conservo todo."},
    "lost_forgotten": {
        "en": "Forgotten: {count} memories. `/undo {event}` brings all of them back.",
        "es": "Olvidados: {count} recuerdos. `/deshacer {event}` los devuelve todos.",
    },
    "lost_elsewhere": {
        "en": "What was lost belongs to other chats: say so there, or use `kenobot memory forget`.",
        "es": "Lo que se perdió es de otros chats: dilo allí, o usa `kenobot memory forget`.",
    },
    "undo_hindered": {"en": "I cannot undo that: {why}", "es": "No puedo deshacer eso: {why}"},
    "undone": {
        "en": "Undone:\n{lines}\n\n`/undo {event}` takes that back.",
        "es": "Deshecho:\n{lines}\n\n`/deshacer {event}` lo revierte.",
    },
    "is_back": {"en": "- #{number} “{what}” is remembered again", "es": "- vuelvo a recordar #{number} «{what}»"},
    "is_gone": {"en": "- #{number} “{what}” is not remembered any more", "es": "- ya no recuerdo #{number} «{what}»"},
    "is_so": {"en": "- #{number} says “{what}” again", "es": "- #{number} vuelve a decir «{what}»"},
    "line": {"en": "- #{number} “{what}”", "es": "- #{number} «{what}»"},
    "copies": {"en": "what repeats it: {count}", "es": "lo que lo repite: {count}"},
    "turns": {"en": "messages that told it: {count}", "es": "mensajes que lo contaban: {count}"},
    "along": {"en": "{line} (also {along})", "es": "{line} (también {along})"},
    "from_tag": {"en": "noted while we talked", "es": "anotado mientras hablábamos"},
    "from_extraction": {"en": "learned from what was said", "es": "aprendido de lo que se dijo"},
    "from_edit": {"en": "written into my files", "es": "escrito en mis archivos"},
    "from_command": {"en": "told me as an order", "es": "me lo ordenaron"},
    "from_sleep": {"en": "put together while at rest", "es": "reunido en reposo"},
    "from_import": {"en": "imported", "es": "importado"},
    "just_now": {"en": "just now", "es": "ahora mismo"},
    "ago": {"en": "{span} ago", "es": "hace {span}"},
}

MemorySentence = Literal[
    "remember_how", "known", "refused", "refused_secret", "learned", "learned_preference", "learned_pattern",
    "forget_how", "forget_none", "forget_gone", "forgotten", "forgotten_several", "forget_one", "forget_which",
    "forget_said", "forgotten_said", "forget_everything", "kept", "no_question", "why_none", "why_nothing", "why_some",
    "why_more", "why_line",
    "why_quote", "why_quote_else", "memory_none", "memory_some", "memory_files", "memory_hands", "undo_none",
    "lost_none", "lost_some", "lost_kept", "lost_forgotten", "lost_elsewhere",
    "undo_how", "undo_hindered", "undone", "is_back", "is_gone", "is_so", "line", "along", "copies", "turns",
    "from_tag", "from_extraction", "from_edit", "from_command", "from_sleep", "from_import", "just_now", "ago",
]  # fmt: skip

_UNITS: tuple[tuple[int, dict[Language, tuple[str, str]]], ...] = (
    (86_400, {"en": ("day", "days"), "es": ("día", "días")}),
    (3_600, {"en": ("hour", "hours"), "es": ("hora", "horas")}),
    (60, {"en": ("minute", "minutes"), "es": ("minuto", "minutos")}),
    (1, {"en": ("second", "seconds"), "es": ("segundo", "segundos")}),
)
_FORMS: dict[str, dict[Language, tuple[str, str]]] = {
    "note": {"en": ("note", "notes"), "es": ("nota", "notas")},
    "episode": {"en": ("episode", "episodes"), "es": ("episodio", "episodios")},
    "scratchpad": {"en": ("scratchpad", "scratchpads"), "es": ("borrador", "borradores")},
    "profile": {"en": ("profile", "profiles"), "es": ("perfil", "perfiles")},
    "procedure": {"en": ("procedure", "procedures"), "es": ("procedimiento", "procedimientos")},
    "entity": {"en": ("entity", "entities"), "es": ("entidad", "entidades")},
    "box": {"en": ("box", "boxes"), "es": ("caja", "cajas")},
    "summary": {"en": ("summary", "summaries"), "es": ("resumen", "resúmenes")},
    "question": {"en": ("open question", "open questions"), "es": ("pregunta abierta", "preguntas abiertas")},
}


def memory_text(sentence: MemorySentence, language: Language, **values: object) -> str:
    """One of these sentences in `language`, with `values` in their places."""
    text = _SENTENCES[sentence][language]
    return text.format(**values) if values else text


def duration_text(elapsed: timedelta, language: Language) -> str:
    """A stretch of time in its largest whole unit: "5 segundos", "1 day"."""
    seconds = max(0, int(elapsed.total_seconds()))
    size, names = next(((size, names) for size, names in _UNITS if seconds >= size), _UNITS[-1])
    count = seconds // size
    return f"{count} {names[language][count > 1]}"


def time_ago_text(elapsed: timedelta, language: Language) -> str:
    """How long ago, as people say it."""
    if elapsed < timedelta(seconds=1):
        return memory_text("just_now", language)
    return memory_text("ago", language, span=duration_text(elapsed, language))


def form_counts_text(counts: dict[str, int], language: Language) -> str:
    """How many of each form, in words."""
    return ", ".join(
        f"{count} {_FORMS[form][language][count != 1]}" for form, count in counts.items() if form in _FORMS
    )
