"""The words of proposals, in the language that the owner's memories are in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TextLanguage = Literal["en", "es"]

_SAID: Mapping[str, Mapping[TextLanguage, tuple[str, ...]]] = {
    "internal": {
        "en": ("{count} mistakes of the same kind", "They were our own trouble. A rule from the last lesson:"),
        "es": ("{count} errores del mismo tipo", "Eran cosa nuestra. Una regla a partir de la última lección:"),
    },
    "configuration": {
        "en": ("{count} mistakes in settings", "Something was missing or wrong. A rule from the last lesson:"),
        "es": (
            "{count} errores de configuración",
            "Faltaba algo o estaba mal. Una regla a partir de la última lección:",
        ),
    },
    "outside": {
        "en": (
            "{count} failures from outside",
            "Networks or services failed. A second provider under provider.fallbacks would answer meanwhile.",
        ),
        "es": (
            "{count} fallos de fuera",
            "Han fallado redes o servicios. Un segundo proveedor en provider.fallbacks respondería mientras tanto.",
        ),
    },
    "corrections": {
        "en": (
            "“{name}” was put right {count} times",
            "What was remembered of it was out of date or wrong again and again. A rule would have it checked first.",
            "Before you rely on what you remember of “{name}”, ask whether it still holds.",
        ),
        "es": (
            "«{name}» se ha corregido {count} veces",
            "Lo que se recordaba de ello estaba desfasado o mal una y otra vez. Una regla haría comprobarlo antes.",
            "Antes de fiarte de lo que recuerdas de «{name}», pregunta si sigue siendo así.",
        ),
    },
    "violations": {
        "en": (
            "“{pattern}” was written {count} times though it is forbidden",
            "As an instruction, the rule may be followed better.",
            "Never write “{pattern}” or the same in other words.",
        ),
        "es": (
            "«{pattern}» se ha escrito {count} veces aunque está prohibido",
            "Como instrucción, la regla quizá se cumpla mejor.",
            "No escribas nunca «{pattern}» ni lo mismo con otras palabras.",
        ),
    },
    "excessive_hedging": {
        "en": ("{count} of {of} answers hedge a lot", "A preference would say so.", "Say plainly what you know."),
        "es": (
            "{count} de {of} respuestas dudan demasiado",
            "Una preferencia lo diría.",
            "Di con claridad lo que sabes.",
        ),
    },
    "high_repetition": {
        "en": ("{count} of {of} answers repeat themselves", "A preference would say so.", "Say each thing once."),
        "es": ("{count} de {of} respuestas se repiten", "Una preferencia lo diría.", "Di cada cosa una sola vez."),
    },
    "crowded": {
        "en": (
            "{count} of {of} times memories were left out for want of room",
            "A larger context.memory_tokens in kenobot.toml would show more of them.",
        ),
        "es": (
            "{count} de {of} veces han quedado fuera recuerdos por falta de sitio",
            "Un context.memory_tokens mayor en kenobot.toml mostraría más.",
        ),
    },
    "lost": {
        "en": (
            "Summaries of conversations lost {count} things",
            "A larger compaction.summary_tokens, or a model that reads conversations (extraction.enabled), would keep "
            "more of them.",
        ),
        "es": (
            "Los resúmenes de conversaciones han perdido {count} cosas",
            "Un compaction.summary_tokens mayor, o un modelo que lea las conversaciones (extraction.enabled), "
            "conservaría más.",
        ),
    },
}


@dataclass(frozen=True, slots=True)
class ProposalTexts:
    """What proposals say: title and text, and for some the line that approving writes down."""

    language: TextLanguage

    def errors(self, kind: str, count: int) -> tuple[str, str]:
        return self._two(kind, count=count)

    def outside(self, count: int) -> tuple[str, str]:
        return self._two("outside", count=count)

    def corrections(self, name: str, count: int) -> tuple[str, str, str]:
        return self._three("corrections", name=name, count=count)

    def violations(self, pattern: str, count: int) -> tuple[str, str, str]:
        return self._three("violations", pattern=pattern, count=count)

    def flaw(self, signal: str, count: int, of: int) -> tuple[str, str, str]:
        return self._three(signal, count=count, of=of)

    def crowded(self, count: int, of: int) -> tuple[str, str]:
        return self._two("crowded", count=count, of=of)

    def lost(self, count: int) -> tuple[str, str]:
        return self._two("lost", count=count)

    def _said(self, name: str, values: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(part.format(**values) for part in _SAID[name][self.language])

    def _two(self, kind: str, /, **values: object) -> tuple[str, str]:
        title, text = self._said(kind, values)
        return title, text

    def _three(self, kind: str, /, **values: object) -> tuple[str, str, str]:
        title, text, line = self._said(kind, values)
        return title, text, line


def proposal_texts(tongue: TextLanguage) -> ProposalTexts:
    """The words of a language."""
    return ProposalTexts(tongue)
