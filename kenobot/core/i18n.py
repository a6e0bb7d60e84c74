"""English and Spanish: guess a text's language, and say a sentence in either."""

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Literal, NamedTuple

from kenobot.core import lazy
from kenobot.core.attachment_words import without_attachments

Language = Literal["en", "es"]

_WORD = lazy.regex(r"[^\W\d_]+")
_TABLES = tomllib.loads(resources.files(__package__).joinpath("i18n.toml").read_text("utf-8"))
_ENGLISH, _SPANISH = (frozenset(_TABLES["function_words"][language].split()) for language in ("en", "es"))
_SPANISH_SIGNS = lazy.regex(r"[ñ¿¡]|\b(?:he|has|ha|hemos|han) \w+[aií]do\b", re.IGNORECASE)  # "he" is English as well


def guess_language(text: str, default: Language = "en") -> Language:
    """Guess the language of `text` by its function words; `default` on a tie."""
    return told_language(text) or default


def told_language(text: str) -> Language | None:
    """Tell the language of `text` by its function words; None on a tie."""
    text = without_attachments(text[:2000])
    words = [word.lower() for word in _WORD.findall(text)]
    spanish = sum(word in _SPANISH for word in words) + 2 * bool(_SPANISH_SIGNS.search(text))
    english = sum(word in _ENGLISH for word in words)
    if spanish == english:
        return None
    return "es" if spanish > english else "en"


def terminal_language(environment: Mapping[str, str]) -> Language:
    """Return the language of a terminal by its locale; English for any but a Spanish one."""
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    return "es" if locale.lower().startswith("es") else "en"


class Text(NamedTuple):
    """A sentence in both languages; `{name}` marks a place for a value."""

    en: str
    es: str

    def __call__(self, language: Language, **values: object) -> str:
        """Translate into `language` and fill in `values`."""
        text = self.es if language == "es" else self.en
        return text.format(**values) if values else text


_PROBLEMS = tuple(Text(**problem) for problem in _TABLES["problem"])


def translate_problem(text: str, language: Language) -> str:
    """Translate the text of a health problem; one without a translation stays as it is."""
    return known_problem(text, language) or text


def known_problem(text: str, language: Language) -> str | None:
    """Translate the text of a problem that the catalogue has; None for any other."""
    for english, spanish in _PROBLEMS:
        if match := re.fullmatch(re.escape(english).replace(r"\{\}", "(.+)"), text):
            return spanish.format(*match.groups()) if language == "es" else text
    return None
