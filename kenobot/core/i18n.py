"""English and Spanish: guess a text's language, and say a sentence in either."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import NamedTuple

from kenobot.core import lazy
from kenobot.core.attachment_words import without_attachments
from kenobot.ports import sentences

Language = sentences.Language

_WORD = lazy.regex(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_TABLES = tomllib.loads(resources.files(__package__).joinpath("i18n.toml").read_text("utf-8"))
_TELLS, _HINTS = 2, 1  # points of a word of one language alone, and of one that is in names of the other as well
_SURE = 2  # points that tell a language
_QUOTED = lazy.regex(r"“[^”\n]*”|«[^»\n]*»|\"[^\"\n]*\"")


def _load_points(language: Language) -> dict[str, int]:
    table = _TABLES["words"][language]
    return {**dict.fromkeys(table["hints"].split(), _HINTS), **dict.fromkeys(table["tells"].split(), _TELLS)}


_ENGLISH, _SPANISH = _load_points("en"), _load_points("es")
_SPANISH_SIGNS = lazy.regex(  # "he" is English as well
    r"[¿¡]|\b(?:he|has|ha|hemos|han) (?:l[oae]s? )?\w+(?:[aií]do|ech[oa]|[eu][ser]to)\b"
    r"|\w[áéíóú]\w{0,4}(?<=[aeiouáéíóú])(?:me|nos|[mts]el[oa]s?)\b"  # "léeme", "mándamelo"
    r"|\bno (?:me|te|le|se|lo|la|nos) \w|\bpor favor\b|\b(?:ja){2,}|\w{2,}(?:ción|[áéí]is)\b",
    re.IGNORECASE,
)


def guess_language(text: str, default: Language = "en") -> Language:
    """Guess the language of `text` by its function words; `default` where they do not tell."""
    return find_language(text) or default


def find_language(text: str) -> Language | None:
    """Tell the language of `text` by its function words; None where they are of neither, or of both alike.

    What it quotes is in whatever language it was said.
    """
    return _find_language(text[:2000])


@lru_cache(256)  # several parts of a turn ask about its message
def _find_language(text: str) -> Language | None:
    text = _QUOTED.sub(" ", without_attachments(text))
    words = {word.lower() for word in _WORD.findall(text.replace("’", "'"))}
    spanish = sum(_SPANISH.get(word, 0) for word in words) + _TELLS * bool(_SPANISH_SIGNS.search(text))
    spanish += _HINTS * ("ñ" in text.lower())
    english = sum(_ENGLISH.get(word, 0) for word in words)
    if spanish == english or max(spanish, english) < _SURE:
        return None
    return "es" if spanish > english else "en"


def talk_language(said: Iterable[str], replies: Iterable[str]) -> Language | None:
    """Tell the language of a talk by what a person said, else by what was answered, both newest first; None without."""
    return next(filter(None, map(find_language, chain(said, replies))), None)


def terminal_language(environment: Mapping[str, str]) -> Language:
    """Return the language of a terminal by its locale; English for any but a Spanish one."""
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    return "es" if locale.lower().startswith("es") else "en"


class Text(NamedTuple):
    """A sentence in both languages; `{name}` marks a place for a value."""

    en: str
    es: str

    def __call__(self, language: Language, **values: object) -> str:
        """Translate into `language` and fill in `values`, of which sentences and errors are worded in it as well."""
        text = self.es if language == "es" else self.en
        if not values:
            return text
        keyed = sentences.Sentence | sentences.Worded
        worded = {name: v.render(language) if isinstance(v, keyed) else v for name, v in values.items()}
        return text.format(**worded)
