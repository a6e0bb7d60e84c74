"""Classify the relation of two statements by their words: repeat, contradiction or independent.

Errs on the side of two records: a repeat has the same words but for empty ones, or goes on where the other ends; a
contradiction differs in nothing but the answer. Another negation, number, name or date is never a repeat.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kenobot.core import lazy
from kenobot.core.common_words import is_common_word
from kenobot.language.fingerprint import normalise
from kenobot.language.lexicon import word_set
from kenobot.language.relatives import calls_another
from kenobot.language.similarity import NEGATING_SIGNS, NEGATORS, is_negation, polarity_of
from kenobot.language.statements.number_values import differs_in_date, differs_in_number, is_weekday
from kenobot.language.words import fold
from kenobot.ports.memory import Relation

_LONGEST = 2000  # characters compared; what is longer is the same only when its key is

# Carry nothing that a repeat could lose.
_LIGHT = word_set("statement_light")
_SUPPORT = word_set("statement_support")  # what stands only beside a negation
_OWNER = word_set("statement_owner")
_ALIKE = {"am": "is", "are": "is", "have": "has", "soy": "es", "estoy": "esta", "tengo": "tiene", "i'm": "is"}
_CONTRACTED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
# After these a statement can go on and still say what it said before.
_GOING_ON = word_set("statement_going_on")
# These make another statement of what they stand in.
_CONDITIONS = word_set("statement_conditions")
_DATES = word_set("statement_dates")
_NUMBERS = word_set("statement_numbers")
_HOLDING = frozenset("is are am be es son ser and y e to of de from a at in en".split())
_HEAD_END = lazy.regex(r"[,;:.。，；]\s|\s(?:because|porque|since|ya que)\s", re.IGNORECASE)
_WORD = lazy.regex(r"[^\W\d_][\w'’.+#-]*")
_CODE = lazy.regex(r"[+#]")
_HALVES = frozenset({"am", "pm"})  # 9AM is no name
_SENTENCE_START = lazy.regex(r"(?:^|[.!?。！？\n]\s*)[\"“«(¡¿*_-]*\s*$")


@dataclass(frozen=True, eq=False)  # no slots: what few comparisons need is kept beside the fields
class Statement:
    """A parsed statement. folded: all its words. content: those in order, without negations and empty words.

    denied: words right after a negation. personal: it began with the owner.
    """

    text: str
    folded: tuple[str, ...]
    content: tuple[str, ...]
    negative: bool
    denied: frozenset[str]
    personal: bool

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(
            word for word in self.folded if word in _NUMBERS or (not word.isalpha() and any(map(str.isdigit, word)))
        )

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(word for word in self.folded if word in _DATES or word.rstrip("s") in _DATES)

    @cached_property
    def conditions(self) -> frozenset[str]:
        return _CONDITIONS.intersection(self.folded)

    @cached_property
    def _written(self) -> tuple[frozenset[str], str]:
        return _names(self.text)

    @property
    def names(self) -> frozenset[str]:
        return self._written[0]

    @property
    def first(self) -> str:
        """Return the first word, folded, where that is written like a name."""
        return self._written[1]

    @cached_property
    def caseless(self) -> bool:
        """Return whether it is in a script without capitals."""
        return not self.text.isascii() and any(unicodedata.category(char) == "Lo" for char in self.text)

    @cached_property
    def sides(self) -> Mapping[str, frozenset[bool]]:
        """Return the side taken on each topic."""
        return _sides(self.content)


def parse_statement(text: str) -> Statement:
    """Parse the beginning of `text`."""
    return _statement(text[:_LONGEST])


@lru_cache(1024)
def _statement(text: str) -> Statement:
    tokens = _tokens(text)
    folded = [fold(token) for token in tokens]
    negative = any(map(is_negation, folded))
    content: list[str] = []
    denied: set[str] = set()
    pending = False
    personal = False
    for token, plain in zip(tokens, folded, strict=True):
        if is_negation(plain):
            pending = True
            if rest := "".join(char for char in token if char not in NEGATING_SIGNS) if plain not in NEGATORS else "":
                content.append(rest)  # a script without blanks: the negation stood inside the sentence
            continue
        if plain in _LIGHT or (negative and plain in _SUPPORT):
            continue
        if not content and plain in _OWNER:
            personal = True
            continue
        content.append(_ALIKE.get(plain, token))
        if pending:
            denied.add(plain)
            pending = False
    return Statement(text, tuple(folded), tuple(content), negative, frozenset(denied), personal)


def relation(old: str, new: str) -> Relation:
    """Return how `new` relates to `old`, as far as their words alone tell."""
    one, other = parse_statement(old), parse_statement(new)
    if max(len(old), len(new)) > _LONGEST:
        return "independent"
    if same_words(one, other):
        return "repeat"
    if is_contrary(one, other):
        return "contradiction"
    head = parse_statement(_head(old))  # the newer one counts whole: "I didn't play football, it rained"
    ends = min(len(head.content), len(other.content)) >= 2 and is_contrary(head, other)
    return "contradiction" if ends else "independent"


def same_words(one: Statement, other: Statement) -> bool:
    """Return whether both say the same in the same words, or one goes on where the other ends."""
    if one.negative != other.negative or len(one.denied) != len(other.denied):
        return False
    short, long = sorted((one.content, other.content), key=len)
    personal = one.personal or other.personal
    if not short or not all(
        _is_same(a, b, personal and at == 0) for at, (a, b) in enumerate(zip(short, long, strict=False))
    ):
        return False
    tail = long[len(short) :]
    if not tail:
        return True
    fuller = one if len(one.content) > len(other.content) else other
    poorer = other if fuller is one else one
    adds = fuller.conditions - poorer.conditions or fuller.dates - poorer.dates
    return len(short) >= 2 and fold(tail[0]) in _GOING_ON and not adds


def is_contrary(one: Statement, other: Statement) -> bool:
    """Return whether two statements differ in polarity alone: one denies the other, or has an antonym."""
    if len(one.content) != len(other.content) or not one.content:
        return False
    flips = int(one.negative != other.negative)
    for a, b in zip(one.content, other.content, strict=True):
        if _is_same(a, b, agreeing=True):
            continue
        here, there = polarity_of(fold(a)), polarity_of(fold(b))
        if here is None or there is None or here.topic != there.topic:
            return False
        if here.is_second != there.is_second:
            if not here.contrary:
                return False
            flips += 1
    if one.negative and other.negative and one.denied != other.denied:
        return False
    return flips % 2 == 1


def repeat_veto(old: str, new: str, *, read: bool) -> str:
    """Return the reason why `new` cannot repeat `old`; "" for none.

    read: a reader of both calls them the same. Then additions pass; else any difference in names, numbers, dates or
    conditions is a veto.
    """
    one, other = parse_statement(old), parse_statement(new)
    if one.negative != other.negative or _singular(one.denied) != _singular(other.denied):
        return "one of them denies something"
    if calls_another(old, new):
        return "they tell of two people of one name"
    if any(other.sides.get(topic, taken) != taken for topic, taken in one.sides.items()):
        return "they say the opposite"
    for what, a, b in (("number", one.numbers, other.numbers), ("date", one.dates, other.dates)):
        if a != b and not (read and (a <= b or b <= a)):
            return f"they differ in a {what}"
    if read:
        return ""
    if one.conditions != other.conditions:
        return "they differ in a condition"
    firsts = {one.first, other.first} - {""} - _LIGHT - _OWNER  # words that begin the texts and may be names
    # A name that begins one of them stands within the other.
    here, there = one.names | ({one.first} & other.names), other.names | ({other.first} & one.names)
    if here != there or len(firsts) == 2:
        return "they differ in a name"
    if (one.caseless or other.caseless) and not same_words(one, other):
        return "they differ in words of a script without capitals"
    return ""


def tells_of_another(old: str, new: str) -> bool:
    """Return whether `new` has another name, number or date in the place of one of `old`: it is about something else.

    Words in small letters are no names, and what only leaves out or adds one, or writes it otherwise, may be the same.
    """
    if differs_in_number(old, new) or differs_in_date(old, new):
        return True
    one, other = parse_statement(old), parse_statement(new)
    here, there = set(one.folded), set(other.folded)
    firsts = {one.first, other.first} - {""} - _LIGHT - _OWNER
    others = {each for each in firsts if not is_common_word(each)} if len(firsts) == 2 else set[str]()
    mine, theirs = (
        {name for name in each.names | (others & {each.first}) if name not in _HALVES and not is_weekday(name)}
        for each in (one, other)
    )
    return bool(mine - theirs - there and theirs - mine - here)


def is_rearranged(old: str, new: str) -> bool:
    """Return whether two statements have the same words in another order: who flies from here to there, and back.

    What only begins with its other half says the same: the hint is a whale, a whale is the hint.
    """
    one, other = _weighty(parse_statement(old)), _weighty(parse_statement(new))
    if any(one[at:] + one[:at] == other for at in range(len(one))):
        return False
    names = parse_statement(old).names | parse_statement(new).names
    rest = [sorted(word for word in words if fold(word) not in names) for words in (one, other)]
    return (len(names) > 1 and rest[0] == rest[1]) or (len(one) > 2 and sorted(one) == sorted(other))


def is_richer(old: str, new: str) -> bool:
    """Return whether `new` says at least as much as `old`, in other words."""
    one, other = parse_statement(old), parse_statement(new)
    gained = len(set(other.content)) - len(set(one.content))
    return gained > 0 or (gained == 0 and not same_words(one, other))


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for token in normalise(text.replace("’", "'")).split():
        if token in _CONTRACTED:
            found += [_CONTRACTED[token], "not"]
        elif token.endswith("n't") and len(token) > 3:
            found += [token[:-3], "not"]
        else:
            found.append(token)
    return found


def _weighty(statement: Statement) -> tuple[str, ...]:
    """Return the words of a statement without those that only hold it together."""
    return tuple(word for word in statement.content if fold(word) not in _HOLDING)


def _head(text: str) -> str:
    """Return a statement without what is added after a pause."""
    match = _HEAD_END.search(text)
    return text[: match.start()] if match else text


def _is_same(one: str, other: str, agreeing: bool) -> bool:
    """Return whether two words are one, or, if `agreeing`, the same verb said of different persons: like and likes."""
    if one == other:
        return True
    if not agreeing or one[:1] != other[:1]:
        return False
    short, long = sorted((one, other), key=lambda word: (len(word), word))
    if len(short) < 2:
        return False
    if long in (f"{short}s", f"{short}es") or (short.endswith("y") and long == f"{short[:-1]}ies"):
        return True
    return (
        len(short) == len(long)
        and short[:-1] == long[:-1]
        and {short[-1], long[-1]} <= {"o", "e", "a"}
        and ("o" in (short[-1], long[-1]))
    )


def _singular(words: frozenset[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}


def _sides(content: Sequence[str]) -> dict[str, frozenset[bool]]:
    taken: dict[str, set[bool]] = {}
    for word in content:
        if found := polarity_of(fold(word)):
            taken.setdefault(found.topic, set()).add(found.is_second)
    return {topic: frozenset(sides) for topic, sides in taken.items()}


def _names(text: str) -> tuple[frozenset[str], str]:
    """Return what is written like a name, folded; and the first word if it is, because that may only be a beginning."""
    names: set[str] = set()
    first = ""
    for match in _WORD.finditer(text):
        if match[0].islower() and not _CODE.search(match[0]):
            continue  # as nearly every word is
        word = match[0].rstrip(".'’-").removesuffix("'s").removesuffix("’s")
        code = word[-1:] in "+#" and len(word) > 1
        if not (word[:1].isupper() or any(char.isupper() for char in word[1:]) or code) or word in ("I", "I'm"):
            continue
        if _SENTENCE_START.search(text, 0, match.start()) and word[1:] == word[1:].lower() and not code:
            first = first or fold(word)
        else:
            names.add(fold(word))
    return frozenset(names), first
