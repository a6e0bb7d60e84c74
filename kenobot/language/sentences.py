"""Split what people write into sentences, and take one of several sentences out of a text.

A stop behind a word that is cut short, such as "Dr." or "p. ej.", behind an initial or within a number ends none.
"""

from collections.abc import Iterator

from kenobot.core import lazy
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.words import fold

LONGEST = 4000
"""Characters that are looked at: people do not introduce themselves in the middle of a document."""

_MOST = 40
_MARKS = (".", "!", "?", "…", ":", ";", ",")
_BREAK = lazy.regex(r"(?<=[.!?…])\s+|\n+|(?<=[。！？؟।])(?:\s+|(?=[^\s。！？؟।.!?…」』”»）)]))|;\s+")
_TOKEN = lazy.regex(r"[^\s(\[{¿¡\"'“«‘,;:—–]*\Z")
_LONGEST_TOKEN = 24
_NEXT = lazy.regex(r"\s*[¿¡\"'“«(]*([^\W_]+)")
_INITIALS = lazy.regex(r"(?:[^\W\d_]\.)+[^\W\d_]")  # such as "p.m" and "U.S"
_FIGURE = lazy.regex(r"\d|[ivxlc]+\Z")

# Words that are cut short, without their stop. Behind these a name follows:
_BEFORE_A_NAME = frozenset(
    "dr dra drs dres mr mrs ms mx sr sra srs sres srta prof profa st sta sto gen gral sgt lt capt col rev hon dña dª "
    "lic ing arq excmo ilmo av avd avda ctra cra pza plza urb mt vs".split()
)
_BEFORE_A_FIGURE = frozenset(
    "no nos nº n.º núm num nro pág pag págs pags pp p art cap fig vol tel tfno tlf ext".split()
)
_BEFORE_MORE = frozenset("e.g i.e p.ej p.e v.g ej cf ca c/ ee approx aprox incl viz".split())
# And with these a sentence may end: the next word tells.
_ANYWHERE = frozenset(
    "etc inc ltd co corp jr rd ave blvd apt dept depto dpto hr hrs kg km ud uds vd vds uu edif izq izqda dcha".split()
)
_ENDS_HERE = lazy.regex(r"[.!?…]+[\"'”»)]? \S")
_POINTS_BACK = lazy.regex(
    r"\W*(?:(?:and|but|so|y|pero|asi que) )?"
    r"(?:it|that|this|there|they|he|she|his|her|their|its|eso|esto|ello|ellas?|ellos|alli|ahi)\b"
)


def split_sentences(text: str, *, clauses: bool = True, most: int = _MOST) -> list[str]:
    """Return the sentences in the beginning of a text, as they are written; some may be blank.

    clauses: a semicolon ends one too. most: of them.
    """
    parts, start, text = list[str](), 0, text[:LONGEST]
    for first, last in find_breaks(text, clauses=clauses):
        parts.append(text[start:first])
        start = last
        if len(parts) == most:
            return parts
    return [*parts, text[start:]]


def find_breaks(text: str, *, clauses: bool = True) -> Iterator[tuple[int, int]]:
    """Yield what lies between the sentences of a text: where it begins and ends, which may be the same place."""
    for match in _BREAK.finditer(text):
        begins = match.start()
        if match[0].startswith(";") and not clauses:
            continue
        is_stop = begins > 0 and text[begins - 1] == "." and "\n" not in match[0]
        if not is_stop or ends_sentence(text, begins - 1):
            yield match.span()


def ends_sentence(text: str, stop: int) -> bool:
    """Return whether the full stop at a place of a text ends a sentence, and not a word that is cut short."""
    token = _TOKEN.search(text[max(0, stop - _LONGEST_TOKEN) : stop])
    word = token[0] if token is not None else ""
    if len(word) == 1 and word.isupper():
        return False  # an initial
    following = _NEXT.match(text, stop + 1)
    if following is None:
        return True
    plain, after = word.casefold(), following[1]
    if plain in _BEFORE_A_NAME or plain in _BEFORE_MORE:
        return False
    if plain in _BEFORE_A_FIGURE and (_FIGURE.match(after.casefold()) or after.casefold() == "ej"):
        return False
    if word.isupper() and _INITIALS.fullmatch(word) and fold(after) not in STOPWORDS:
        return False  # of a name
    if plain in _ANYWHERE or _INITIALS.fullmatch(word):
        return not (after[0].islower() or after[0].isdigit() or fold(after) in MONTHS or fold(after) in WEEKDAYS)
    return True


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
