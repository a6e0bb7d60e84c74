"""Split what people write into sentences, and take one of several sentences out of a text."""

from kenobot.core import lazy
from kenobot.language.words import fold

LONGEST = 4000
"""Characters that are looked at: people do not introduce themselves in the middle of a document."""

_MOST = 40
_MARKS = (".", "!", "?", "…", ":", ";", ",")
_END = lazy.regex(  # not after an abbreviation or an initial
    r"(?<=[.!?…])(?<!\b[A-Z]\.)(?<!\b(?:St|Dr|Mr|Ms|Sr|vs)\.)(?<!\b(?:Mrs|Dra|Sra|Avd)\.)\s+|\n+|;\s+"
)
_ENDS_HERE = lazy.regex(r"[.!?…]+[\"'”»)]? \S")
_POINTS_BACK = lazy.regex(
    r"\W*(?:(?:and|but|so|y|pero|asi que) )?"
    r"(?:it|that|this|there|they|he|she|his|her|their|its|eso|esto|ello|ellas?|ellos|alli|ahi)\b"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences in the beginning of a text, as they are written; some may be blank."""
    return _END.split(text[:LONGEST])[:_MOST]


def points_back(sentence: str) -> bool:
    """Return whether a sentence begins with a word for what the one before it names."""
    return _POINTS_BACK.match(fold(sentence)) is not None


def begins_with(text: str, sentence: str) -> bool:
    """Return whether a text is a sentence and, behind its end, more."""
    plain, first = fold(text), fold(sentence).rstrip(" .!?…")
    return plain.startswith(first) and _ENDS_HERE.match(plain, len(first)) is not None


def without_sentence(text: str, sentence: str) -> str:
    """Return a text without one of its sentences; "" where nothing is left, or the text has no such sentence."""
    before, found, after = text.partition(sentence)
    if not found:
        return ""
    kept = [part for part in (before.strip(), after.lstrip(" .,;:!…\n").strip()) if part]
    return " ".join([*(part if part.endswith(_MARKS) else f"{part}." for part in kept[:-1]), *kept[-1:]])
