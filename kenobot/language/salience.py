"""Find what stands out in a text."""

from kenobot.language.lexicon import phrases
from kenobot.language.words import fold

_SIGNS = ("error", "success", "correction", "new", "preference", "lesson")


_PATTERNS = {name: phrases(f"salience_{name}") for name in _SIGNS}


def salience_signs(text: str) -> tuple[str, ...]:
    """Return what stands out in `text`: error, success, correction, new, preference, lesson; each once."""
    folded = fold(text)
    return tuple(name for name, pattern in _PATTERNS.items() if pattern.search(folded))
