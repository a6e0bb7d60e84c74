"""Tell whether a message wants something done in the background, in plain Spanish or English.

Precision before recall: pictures, stories and music have a background as well.
"""

import re
from typing import Final

from kenobot.core import lazy
from kenobot.core.i18n import Language
from kenobot.language.lexicon import load_tables
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass

_TABLES = load_tables(__package__, "background_words.toml")
_CUES: Final[tuple[str, ...]] = tuple(_TABLES["cues"])
_LONGEST: Final = 4000  # characters
_LONGEST_ALONE: Final = 100
_TAIL: Final = r"(?:,? (?:please|thanks|thank you|for me|por favor|porfa|gracias))*"


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of a language. whole: a sentence. begin: a message. end: a message that comes without a picture."""

    language: Language
    whole: re.Pattern[str]
    begin: re.Pattern[str]
    end: re.Pattern[str]

    @classmethod
    def of(cls, language: Language) -> "_Phrases":
        table = _TABLES[language]
        lead = table["lead"]
        return cls(
            language,
            lazy.regex(f"{lead}(?:{'|'.join(table['whole'])}){_TAIL}"),
            lazy.regex(f"{lead}{table['begin']}.*"),
            lazy.regex(f"{lead}{table['verbs']}\\b.* {table['end']}{_TAIL}"),
        )


_PHRASES: Final = (_Phrases.of("en"), _Phrases.of("es"))
_SENTENCE = lazy.regex(r"[.!?;:…]+[)\"'”»]*\s+|[\r\n]+|,? (?:and|y|but|pero) (?=(?:please )?(?:do|run|haz))| [-–—] |, ")


def is_only_background(text: str) -> bool:
    """Return whether a message says nothing but that something is to be done in the background."""
    plain = fold(text).replace("’", "'").strip(" \t\r\n¡¿.!?…") if len(text) <= _LONGEST_ALONE else ""
    return any(each.whole.fullmatch(plain) for each in _PHRASES)


def asks_for_background(text: str, *, has_pictures: bool = False) -> Language | None:
    """Return the language in which a message wants what it says, or what was said before, done in the background.

    None where it does not want that.
    """
    if len(text) > _LONGEST:
        return None
    plain = fold(text)
    if not any(cue in plain for cue in _CUES) or plain.lstrip().startswith((">", '"', "“", "«")):
        return None
    plain = plain.replace("’", "'").strip(" \t\r\n¡¿")
    sentences = [part.strip(" ¡¿.!?…") for part in _SENTENCE.split(plain)]
    first, whole = plain.splitlines()[0], " ".join(plain.split()).rstrip(" .!?…")
    for each in _PHRASES:
        if any(each.whole.fullmatch(part) for part in sentences):
            return each.language
        if not has_pictures and (each.begin.fullmatch(first) or each.end.fullmatch(whole)):
            return each.language
    return None
