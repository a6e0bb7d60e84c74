"""What the tour itself says, in both languages."""

from datetime import datetime

from kenobot.core.i18n import Language

_MONTHS: dict[Language, str] = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
_SENTENCES: dict[str, dict[Language, str]] = {
    "memory": {"en": "What the prompt shows of memory", "es": "Lo que el prompt muestra de la memoria"},
    "reply": {"en": "What the model replies, tags included", "es": "Lo que responde el modelo, con sus etiquetas"},
    "fits": {"en": "Patterns that fit", "es": "Patrones que encajan"},
    "fit": {
        "en": "{text}: {coverage:.2f} of its words × confidence {confidence:.2f} = {score:.2f}",
        "es": "{text}: {coverage:.2f} de sus palabras × confianza {confidence:.2f} = {score:.2f}",
    },
    "files": {"en": "What changed in ~/.kenobot/memory", "es": "Lo que cambió en ~/.kenobot/memory"},
    "same": {"en": "nothing", "es": "nada"},
    "new": {"en": "new", "es": "nuevo"},
    "changed": {"en": "changed", "es": "cambiado"},
    "gone": {"en": "gone", "es": "ya no está"},
    "moved": {"en": "moved, as it was", "es": "trasladado tal cual"},
    "cards": {"en": "besides, cards in facts/: {count}", "es": "además, fichas en facts/: {count}"},
    "sleep": {"en": "What sleep did, and why", "es": "Lo que hizo el sueño, y por qué"},
    "nights": {
        "en": "nights: {nights}, of which changed nothing: {quiet}",
        "es": "noches: {nights}; sin cambios: {quiet}",
    },
    "wrong": {"en": "Not as the story says", "es": "No es como cuenta la historia"},
    "next": {"en": "Enter: go on · q: end", "es": "Intro: seguir · q: terminar"},
    "over": {
        "en": "Everything was as the story says. Each change above can be taken back: `kenobot sleep undo`.",
        "es": "Todo fue como cuenta la historia. Cada cambio se puede deshacer: `kenobot sleep undo`.",
    },
    "home": {"en": "The bot's home is in {folder}.", "es": "La casa del bot está en {folder}."},
}


def label(name: str, language: Language, **values: object) -> str:
    """A sentence of the tour."""
    return _SENTENCES[name][language].format(**values)


def format_moment(moment: datetime, language: Language) -> str:
    """A moment as people write it."""
    month = _MONTHS[language].split()[moment.month - 1]
    written = f"{moment.day} de {month} de {moment.year}" if language == "es" else f"{moment.day} {month} {moment.year}"
    return f"{written}, {moment:%H:%M}"
