"""Names of skills, as the specification takes them. Pure."""

import unicodedata

from kenobot.core import lazy

LONGEST_NAME = 64
_WORD = lazy.regex(r"[a-z0-9]+")


def is_name(name: str) -> bool:
    """Return whether the specification takes this name: letters of any script, but for upper case."""
    plain = 0 < len(name) <= LONGEST_NAME and name == unicodedata.normalize("NFKC", name) and name == name.lower()
    return plain and all(part.isalnum() for part in name.split("-"))


def spell_name(said: str) -> str:
    """Spell a name as the specification wants it, as far as that takes no guess."""
    said = unicodedata.normalize("NFKC", said).strip().lower()
    return "-".join(said.replace("_", " ").replace("-", " ").split())


def name_of(text: str, fallback: str) -> str:
    """Make a name out of the words of a text in lower case; `fallback` where it has none in Latin letters."""
    name = ""
    bare = (char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    for word in _WORD.findall("".join(bare)):
        longer = f"{name}-{word}" if name else word
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    return name or fallback
