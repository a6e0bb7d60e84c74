"""Read which attribute of the speaker a question asks for, where there is only one answer."""

from kenobot.cognitive.text.lexicon import load_tables
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

_TABLES = load_tables("kenobot.cognitive.recall.question", "asked_attributes.toml")
_ASKED = {name: lazy.regex(rf"(?<!\w)(?:{'|'.join(patterns)})") for name, patterns in _TABLES.items()}
_LONGEST = 200  # characters of a question that is read


def asked_attribute(question: str) -> str:
    """Return the name of the speaker's attribute that a question asks for; "" for none."""
    plain = fold(question[:_LONGEST]).replace("’", "'")
    return next((name for name, asks in _ASKED.items() if asks.search(plain)), "")
