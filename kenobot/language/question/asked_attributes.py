"""Read which attribute of the speaker, or of somebody else, a question asks for, where there is only one answer.

And which texts tell such an attribute of their speaker in words that give no attribute: "my flat is number 12".
"""

import re
from collections.abc import Mapping

from kenobot.core import lazy
from kenobot.language.lexicon import join_phrases, load_tables
from kenobot.language.words import fold

_TABLES = load_tables("kenobot.language.question", "asked_attributes.toml")
_OWN, _OTHERS = (
    {name: lazy.regex(rf"(?<!\w)(?:{patterns})") for name, patterns in join_phrases(_TABLES, of_whom).items()}
    for of_whom in ("own", "others")
)
_TOLD = {name: lazy.regex(rf"(?:{patterns})") for name, patterns in join_phrases(_TABLES, "told").items()}
ASKED_ATTRIBUTES = frozenset(_OWN)
"""The names of the attributes that are read."""

_LONGEST = 200  # characters of a question that is read


def find_attribute(question: str) -> str:
    """Return the name of the speaker's attribute that a question asks for; "" for none."""
    return _first(_OWN, question)


def find_attribute_of_another(question: str) -> str:
    """Return the name of the attribute of somebody else that a question asks for; "" for none."""
    return _first(_OTHERS, question)


def tells_attribute(attribute: str, text: str) -> bool:
    """Return whether a text tells this attribute of its speaker."""
    pattern = _TOLD.get(attribute)
    return pattern is not None and pattern.match(fold(text[:_LONGEST]).replace("’", "'").lstrip(' ¡"“«')) is not None


def has_telling(attribute: str) -> bool:
    """Return whether there are words by which an attribute is told without a name for it."""
    return attribute in _TOLD


def _first(asked: Mapping[str, re.Pattern[str]], question: str) -> str:
    plain = fold(question[:_LONGEST]).replace("’", "'")
    return next((name for name, asks in asked.items() if asks.search(plain)), "")
