"""Spans of time and counts of memories, as the chat commands write them."""

from datetime import timedelta

from kenobot.core import texts
from kenobot.core.i18n import Language, Text

_UNITS = (
    (86_400, Text("day", "día"), Text("days", "días")),
    (3_600, Text("hour", "hora"), Text("hours", "horas")),
    (60, Text("minute", "minuto"), Text("minutes", "minutos")),
    (1, Text("second", "segundo"), Text("seconds", "segundos")),
)
_FORMS = {
    "note": (Text("note", "nota"), Text("notes", "notas")),
    "episode": (Text("episode", "episodio"), Text("episodes", "episodios")),
    "scratchpad": (Text("scratchpad", "borrador"), Text("scratchpads", "borradores")),
    "profile": (Text("profile", "perfil"), Text("profiles", "perfiles")),
    "procedure": (Text("procedure", "procedimiento"), Text("procedures", "procedimientos")),
    "entity": (Text("entity", "entidad"), Text("entities", "entidades")),
    "box": (Text("box", "caja"), Text("boxes", "cajas")),
    "summary": (Text("summary", "resumen"), Text("summaries", "resúmenes")),
    "question": (Text("open question", "pregunta abierta"), Text("open questions", "preguntas abiertas")),
}


def duration_text(elapsed: timedelta, language: Language) -> str:
    """Express a span of time in its largest whole unit: "5 segundos", "1 day"."""
    seconds = max(0, int(elapsed.total_seconds()))
    size, one, many = next((unit for unit in _UNITS if seconds >= unit[0]), _UNITS[-1])
    count = seconds // size
    return f"{count} {(many if count > 1 else one)(language)}"


def time_ago_text(elapsed: timedelta, language: Language) -> str:
    """Express how long ago a moment was."""
    if elapsed < timedelta(seconds=1):
        return texts.JUST_NOW(language)
    return texts.TIME_AGO(language, span=duration_text(elapsed, language))


def form_counts_text(counts: dict[str, int], language: Language) -> str:
    """Express how many memories of each form there are."""
    return ", ".join(
        f"{count} {_FORMS[form][count != 1](language)}" for form, count in counts.items() if form in _FORMS
    )
