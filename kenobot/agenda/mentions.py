"""Compare words as they are said with those of a reminder or a wish: by their stems, in both languages."""

from kenobot.language.lexicon import STOPWORDS
from kenobot.language.words import search_stems, search_terms, words


def list_content_words(text: str) -> list[str]:
    """Return the words of a text that carry meaning."""
    return [word for word in words(text) if word not in STOPWORDS]


def mentions(text: str, named: str) -> bool:
    """Return whether a text has all words of `named` that carry meaning, in any form; False where there are none."""
    wanted, said = list_content_words(named), set(search_terms(text))
    return bool(wanted) and all(not said.isdisjoint(search_stems(word)) for word in wanted)
