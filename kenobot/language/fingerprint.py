"""Normalise texts, names and values, and compute the keys by which equal ones are found."""

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.lexicon import word_rows
from kenobot.language.words import fold

OWNER_SUBJECT = "owner"
"""The subject of records about the person whose memory it is."""

_JOINTS = lazy.regex(r"[\s_\-‐‑.·]+")
_ARTICLE = lazy.regex(r"^(?:the|an?|el|la|los|las|un|una)\s")
_SELF = frozenset(
    "owner user the-user i me myself yo usuario el-usuario usuaria la-usuaria dueño el-dueño dueña mi-dueño".split()
)

# Marks of prose only: signs such as + # % - carry meaning ("C" is not "C++", "5" is neither "-5" nor "~5").
_MARK = r"[\"“”„«»'‘’`´.,;:!?¡¿…()\[\]{}、。，！？；：「」『』（）*_~|]"
_PROSE_MARK = lazy.regex(rf"(?<!{_MARK}){_MARK}++(?=\s|$)|(?<!\S)(?:[\"“”„«»'‘’`´¡¿(\[{{「『（*|]|~~)+")
_MEANT = lazy.regex("[²³¹⁰-₟¼-¾⅐-↉]")  # NFKC makes 102 of 10² and 11/2 of 1½
_JOINED = lazy.regex(r"(?<=[^\W\d_])[-‐‑](?=[^\W\d_])")  # pour-over is pour over; in -5, 5-3 and A- it is a sign
_BLANKS = lazy.regex(r"\s+")


@lru_cache(512)  # a memory is compared with many others
def normalise(text: str) -> str:
    """Remove case, width, prose punctuation at word ends, blanks, and hyphens between letters. Idempotent."""
    text = _compatible(text).casefold()
    previous = None
    while previous != text:
        previous = text
        text = _BLANKS.sub(" ", _compatible(_JOINED.sub(" ", _PROSE_MARK.sub(" ", text)))).strip()
    return text


def _compatible(text: str) -> str:
    """Normalise to NFKC, but for raised and lowered digits and fractions."""
    if text.isascii():
        return text
    pieces = zip(_MEANT.split(text), [*_MEANT.findall(text), ""], strict=True)
    return "".join(unicodedata.normalize("NFKC", piece) + meant for piece, meant in pieces)


def key_about(subject: str, text: str) -> str:
    """Return the key of a text about a further subject."""
    return key_of(f"{subject}: {text}")


def key_of(text: str) -> str:
    """Hash a normalised text by SHA-256; texts made of punctuation only keep their own letters as key."""
    plain = normalise(text) or text.strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


# ── names and values ─────────────────────────────────────────────────────────────────────────────────────────────


def normalize_name(name: str) -> str:
    """Normalise to NFKC and lower case, words joined by hyphens; letters, digits and signs of every script stay."""
    plain = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    kept = "".join(
        char for char in plain if char.isalnum() or unicodedata.category(char)[0] in "MS" or char in " -_'.·#&"
    )
    return _JOINTS.sub("-", kept.strip()).strip("-")


def supersession_key(subject: str, attribute: str) -> str:
    """Return the key of an attribute of a subject, which has one value at a time."""
    return f"{normalize_name(subject)}::{normalize_name(attribute)}"


def attribute_line(attributes: Iterable[tuple[str, str]]) -> str:
    """Render attributes on one line, by name: names in lower case, both without blanks around them."""
    pairs = sorted((name.strip().lower(), value.strip()) for name, value in attributes)
    return "; ".join(f"{name}: {value}" for name, value in pairs)


def same_value(one: str, other: str) -> bool:
    """Return whether two values of an attribute are one, but for case, accents, marks, an article and the language."""
    return _plain_value(one) == _plain_value(other)


def is_same_or_more_exact(one: str, other: str) -> bool:
    """Return whether one value is the beginning of the other: Acme, and Acme Corp."""
    a, b = _plain_value(one).split(), _plain_value(other).split()
    return bool(a and b) and (a == b[: len(a)] or b == a[: len(b)])


def _plain_value(value: str) -> str:
    plain = fold(normalise(_ARTICLE.sub("", normalise(value))))
    whole, _, rest = plain.partition(", ")
    return f"{_NAMES.get(whole, whole)} {rest}".strip()


def _names() -> dict[str, str]:
    """Map each name that another language has for a place, a color or the like to the English one."""
    rows = (row.replace(", ", ",").split(",") for row in word_rows("names_by_language"))
    return {fold(name): fold(row[0]) for row in rows for name in row}


def is_owner(name: str) -> bool:
    """Return whether a name stands for the person whose memory it is."""
    return not name.strip() or normalize_name(name) in _SELF


def normalize_subject(name: str) -> str:
    """Normalise a name to the subject of a record: one spelling for every case and accent."""
    return OWNER_SUBJECT if is_owner(name) else fold(" ".join(name.split()))[:80]


_NAMES = _names()
