"""Detect questions for what was so before, in Spanish and English; see `asked_past.toml`."""

import re
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.lexicon import join_phrases, load_tables
from kenobot.language.words import fold

_TABLES = load_tables(__package__, "asked_past.toml")
_PHRASES = join_phrases(_TABLES)
_ALWAYS, _BESIDE, _PAST = (
    lazy.regex(rf"(?<!\w)(?:{_PHRASES[name]})(?!\w)") for name in ("always", "beside_past", "past")
)
_ENDS = lazy.regex(rf"(?<!\w)(?:{_PHRASES['ends']})\W*\Z")
_PRESENT = tuple((lazy.regex(rf"(?<!\w){verb}(?!\w)"), forms) for verb, forms in _TABLES["present"].items())
_QUALIFIES = lazy.regex(rf"(?<!\w)(?:{_PHRASES['qualifies']})(?!\w) ?", re.IGNORECASE)
_LONGEST = 200  # characters of a question that is read


@lru_cache(64)
def asks_past(question: str) -> bool:
    """Return whether a question asks for what was so before and may have been replaced since."""
    plain = fold(question[:_LONGEST]).replace("’", "'")
    if _ALWAYS.search(plain) or _ENDS.search(plain):
        return True
    return _BESIDE.search(plain) is not None and _PAST.search(plain) is not None


def list_present_forms(question: str) -> str:
    """List the present forms of the verbs of a question, where these have another stem; "" without any."""
    plain = fold(question[:_LONGEST])
    return " ".join(forms for verb, forms in _PRESENT if verb.search(plain))


def without_past_words(question: str) -> str:
    """Return a question without the adjectives that only say that it asks for what was before: "my old address"."""
    return _QUALIFIES.sub("", question)
