"""Recognise relationships in questions ("my husband", "mi jefa", "la niña"), and the names in texts that tell one.

A memory tells it beside the relationship: "Mi novio se llama Íñigo", "my boss is Gwen", "Rashid leads us". Broader
words of a relationship count too: a boyfriend as a partner, a kid as a daughter.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kenobot.core import lazy
from kenobot.language.lexicon import load_tables
from kenobot.language.relatives import RELATIVE_WORDS
from kenobot.language.words import fold, head_and_tail, words
from kenobot.ports.frozen import dataclass

_OWN = r"(?:mi|mis|my|our|nuestro|nuestra|nuestros|nuestras)"
_ARTICLE = r"(?:the|el|la|los|las|al|del)"
_NEW = r"(?:\w+ )?"  # "my new boss", "mi nueva jefa"
_HAVE = r"(?:i have|we have|tengo|tenemos|i've got|we've got) (?:a|an|un|una) "
_SAYS = r"(?:se llama|es|is called|is named|called|named|is|ahora es|now is|is now|llamad[oa])"
_BY = r"(?:(?:el|la) (?:señora?|doctora?|profesora?) )?(?:(?:señora?|doctora?|don|doña) )?"
_NAME = r"((?:(?:Dr|Dra|Mr|Mrs|Ms|Sr|Sra)\.? )?[^\W\d_a-zà-ÿ][\w'’-]+(?: [^\W\d_a-zà-ÿ][\w'’-]+){0,2})"  # with capitals
_LEADS = "leads lead lidera dirige manda report dependo".split()
"""Verbs that tell a boss."""

_NO_NAME = frozenset("el la los las mi my the i we he she it they desde since on in at when cuando if si".split())
_ASKED = 3  # relationships of one message
_LONGEST, _LONGEST_TOLD = 2000, 400  # characters of a message, and of a memory, that are looked through


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship by its words. broader_words: of relationships that include it."""

    words: tuple[str, ...]
    broader_words: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        return "|".join(self.words)


_IN_OTHER_WORDS = {"boss": r"|\b(?:who do i report to|who(?:'s| is) in charge of (?:me|us)|who leads (?:me|us)|"
                   r"(?:de )?quien (?:dependo|me dirige|me manda|manda en mi|lleva mi))\b"}  # fmt: skip


@lru_cache(1)
def _relationships() -> tuple[tuple[Relationship, re.Pattern[str]], ...]:
    """Load the relationships of `relationships.toml`, each with the pattern of a message that speaks of it."""
    tables = load_tables(__package__, "relationships.toml")
    at_home, bare_words = frozenset(tables["at_home"].split()), frozenset(tables["bare"].split())
    found = []
    for own, broader in tables["bonds"]:
        name, *others = own.split()
        called = (*RELATIVE_WORDS.get(name, (name,)), *others)
        each = Relationship(tuple(word.replace("_", " ") for word in called), tuple(broader.split()))
        pattern = rf"\b{_OWN} {_NEW}(?:{each.pattern})\b(?!-| de piso)"
        if home := "|".join(at_home.intersection(each.words)):
            pattern += rf"|\b{_ARTICLE} (?:{home})\b(?! de | of )"
        if bare := "|".join(bare_words.intersection(each.words)):
            pattern += rf"|\b(?:{bare})\b"
        found.append((each, lazy.regex(pattern + _IN_OTHER_WORDS.get(each.words[0], ""))))
    return tuple(found)


@lru_cache(1)
def _any_word() -> re.Pattern[str]:
    """Compile the words of all relationships into one pattern."""
    return re.compile("|".join(re.escape(word) for each, _ in _relationships() for word in each.words))


def find_relationships(text: str) -> list[Relationship]:
    """Find the relationships of the asker that a message speaks of."""
    plain = fold(head_and_tail(text))
    held = _any_word().search(plain) is not None
    return [
        each
        for each, pattern in _relationships()
        # The words first: looking for one is many times as fast as looking for a pattern.
        if (each.words[0] in _IN_OTHER_WORDS or (held and any(word in plain for word in each.words)))
        and pattern.search(plain)
    ][:_ASKED]


def names_relationship(question: str) -> bool:
    """Return whether a question names a relationship, of whomever."""
    return bool(_relationships_in(fold(question[:_LONGEST])))


def names_same_relationship(question: str, text: str) -> bool:
    """Return whether a text names a relationship that a question names, or one as which the same person may be told."""
    meant = _relationships_in(fold(question[:_LONGEST]))
    if not meant:  # as of most questions
        return False
    said = {word for each in _relationships_in(fold(text[:_LONGEST])) for word in each.words}
    return any(said.intersection((*each.words, *each.broader_words)) for each in meant)


def names_other_relationship(question: str, text: str) -> bool:
    """Return whether a question names a relationship, of whomever, and a text only other ones."""
    meant = _relationships_in(fold(question[:_LONGEST]))
    if not meant:
        return False
    known = {word for each in _relationships_in(fold(text[:_LONGEST])) for word in each.words}
    return bool(known) and not any(known.intersection((*each.words, *each.broader_words)) for each in meant)


@lru_cache(256)  # one question beside each of the texts that may answer it
def _relationships_in(plain: str) -> tuple[Relationship, ...]:
    """Find the relationships of whomever in a folded text."""
    held = {each.removesuffix("'s") for each in words(plain)}
    return tuple([each for each, _ in _relationships() if not held.isdisjoint(each.words)])


def find_first_words(called: Sequence[str]) -> list[str]:
    """Return the words of which a text that names somebody of a relationship, called so, has at least one."""
    return [*(each.partition(" ")[0] for each in called), *(_LEADS if "boss" in called else ())]


def name_in(texts: Iterable[str], words: Sequence[str]) -> str:
    """Extract the name that the first of these texts gives to a relationship; "" when none does."""
    patterns = _telling("|".join(words), boss="boss" in words)
    for text in texts:
        for pattern in patterns:
            match = pattern.search(text, 0, _LONGEST_TOLD)
            if match is not None and fold(match[1].split()[0]) not in _NO_NAME:
                return match[1].removesuffix("'s").removesuffix("’s")
    return ""


def _telling(kind: str, *, boss: bool) -> list[re.Pattern[str]]:
    """Compile the patterns of a text that tells the name of a `kind`."""
    own = rf"(?i:{_OWN} {_NEW}(?:{kind}))\b"
    patterns = [
        rf"\b{own},?\s+(?i:{_SAYS}\s+)?{_BY}{_NAME}",
        rf"\b{own}(?: (?:de|del|of|from|at|in)(?: [a-zà-ÿ]\w*){{1,3}}?),?\s+(?i:{_SAYS}\s+)?{_BY}{_NAME}",
        rf"\b(?i:{_HAVE}{_NEW}(?:{kind}))\b[^.;]{{0,40}}?(?:,|(?i:called|named|que se llama|llamad[oa]))\s+{_NAME}",
        rf"\b(?i:{_ARTICLE} (?:{kind}))\b(?: (?:de|del|of|upstairs|downstairs|next)\b(?: [a-zà-ÿ]\w*){{0,3}}?)?"
        rf"(?:,| (?i:{_SAYS}))\s+{_BY}{_NAME}",
        rf"{_NAME} (?i:is|es)(?i: now| ahora)? (?i:{_OWN} {_NEW}(?:{kind}))\b",
    ]
    if boss:
        patterns += [rf"(?i:\b(?:dependo de|report to)) {_NAME}", rf"{_NAME} (?i:leads|lidera|dirige) "]
    return list(map(lazy.regex, patterns))
