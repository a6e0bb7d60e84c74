"""Judge which memory a message probably changes, where no rule is sure of it: for a question, never to end anything.

Which memory it would be is told by a softmax over all memories and "none", for the message and for each of its
sentences: what the words are (words, pairs of them and runs of letters, each by its hash), what each memory is, and
what both have to do with each other: shared words by how rare they are, each word of one beside each of the other,
kinds of values, names, how long ago the memory was told and when it is due. Its weights, one signed byte for each
hash, are `likely_change.bin`. Whether to ask is then told by a few signs of both (`change_signs`), weighed by a
logistic regression whose weights are `change_signs.json`. Both are learned by `python -m bench.learn_likely_change`.
"""

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property, lru_cache
from importlib import resources
from zlib import crc32

from kenobot.core import lazy
from kenobot.language.changes.change_signs import (
    Signs,
    compare,
    denies_unspaced,
    has_another_hour,
    is_of_another,
    is_opposite,
    is_plain_telling,
    is_telling,
    read_reserves,
    read_signs,
    says_again,
    tells_of_stranger,
)
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.lexicon import NEGATIONS, STOPWORDS
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.attribute_statements import gives_other_value
from kenobot.language.statements.worth_noting import feature_names
from kenobot.language.words import fold, search_stems, words
from kenobot.ports.frozen import dataclass

FILE = "likely_change.bin"
"""The weights of the softmax, beside this module."""

SIGNS_FILE = "change_signs.json"
"""The weights of the signs, beside this module."""

SIGNS_BOTH_FILE = "change_signs_both.json"
"""The same where the embedder's vectors tell as well; learned by `python -m bench.learn_change_meaning`."""

BUCKETS = 1 << 15
"""Hashes that features fall into, of the message and of its pairs with memories each."""

WORD_PAIRS = 1 << 16
"""Hashes that a word of the message beside one of a memory falls into."""

SCALE = 24.0
"""What a weight of one is stored as; a byte holds up to 127."""

ASKS_FROM = -0.1
"""Log odds of a change from which a question is worth its trouble: three of four are right, by writers kept aside."""

ASKS_FROM_BOTH = 0.15
"""The same, of the log odds where vectors tell as well."""

PAIR_WEIGHT = 0.3
"""Weight of a feature that a message and a memory have together."""

_LONGEST = 500  # characters of a text that are read
_SHORTEST = 8  # characters of a sentence that may tell of a change
_MOST_SENTENCES = 4
_MOST_WORDS = 24
_ALIKE = 4  # letters with which two words begin that may be one: Dani and Daniela
_PRONOUN = lazy.regex(r"\b(?:s?he|him|hers?|his|they|them|theirs?|it|its|les?|sus?|ellas?|ellos)\b")
_TIME = lazy.regex(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]m\b|\b\d{1,2} ?hs?\b|\b(?:a las?|at|from|till|hasta las?) \d{1,2}\b(?! de\b)"
    r"|\bhalf (?:past )?\w+|\by (?:media|cuarto)\b|o'clock|\bnoon\b|mediodia"
)
_MONEY = lazy.regex(
    r"[£$€]\d|\d ?(?:[£$€k]\b|€|euros?\b|pounds?\b|quid\b|bucks\b|pesos\b|lucas\b|mil\b|dollars\b|dolares\b|soles\b)"
    r"|\ba month\b|\bal mes\b"
)
_DAY = lazy.regex(
    rf"\b(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))}|today|tomorrow|yesterday|tonight|hoy|mañana|ayer)s?\b"
)
_DATE = lazy.regex(
    r"\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:el|dia|del) \d{1,2}\b"
    rf"|\b(?:{'|'.join(sorted(set(MONTHS) - {'may', 'march'}, key=len, reverse=True))})\b"
)
_CODE = lazy.regex(r"\b(?=\w*\d)(?=\w*[a-z])\w{4,}\b|\b\d{4,}\b")
_KINDS = {"time": _TIME, "money": _MONEY, "day": _DAY, "date": _DATE, "code": _CODE}
_FIRST_PAIR, _APART, _SHIFT, _MASK = 2 * BUCKETS, 40503, 8, WORD_PAIRS - 1
_VALUES = frozenset({"time", "money", "day", "date", "number"})
_CLAUSE_END = lazy.regex(r"[,;]\s|\s(?:but|sino|pero)\s")
_NUMBER = lazy.regex(r"(?<!\w)[£$€]?\d+(?:[.,:]\d+)*")
_NAME = lazy.regex(r"(?<=[^.!?\s] )[A-ZÁÉÍÓÚÑ][\w'-]+|\A[A-ZÁÉÍÓÚÑ][\w-]+(?='s)")


@dataclass(frozen=True, slots=True)
class StandingStatement:
    """Statement that memory holds, and a message may change. due: the day it is due, YYYY-MM-DD, "" for none.

    category: of the memory; see `kenobot.ports.memory`. names: of whom it tells, where its text has "she" or "le".
    """

    text: str
    due: str = ""
    category: str = "fact"
    names: str = ""

    @property
    def read_text(self) -> str:
        """The text up to where it is read, and the names."""
        text = self.text[:_LONGEST]
        return f"{text} ({self.names})" if self.names else text


@dataclass(frozen=True, slots=True)
class LikelyChange:
    """The statement that a message changes if it changes one. place: among those that were compared.

    telling: the sentence of the message that most probably does so. logit: of its odds against none; lead: of its
    probability over that of the next.
    """

    place: int
    telling: str
    logit: float
    lead: float


def find_changed(
    message: str,
    said: date,
    standing: Sequence[StandingStatement],
    meanings: Sequence[float] = (),
    leaning: float = 0.0,
) -> int | None:
    """Find the statement about which a person is to be asked, of those `standing`, oldest first. said: their day.

    meanings: of each statement the log odds by `change_meaning`, where all have vectors. leaning: log odds added for
    a person whose earlier answers were a yes.
    """
    if not standing or not is_telling(message):
        return None
    standing = with_names(standing)
    if is_plain_telling(message) and (plain := _find_plainly_changed(message, standing)) is not None:
        return plain
    likely = find_most_likely(message, said, standing, meanings)
    if likely is None:
        return None
    told, known = read_signs(likely.telling), read_signs(standing[likely.place].read_text)
    if says_again(told, known) or tells_of_stranger(likely.telling, told, known):
        return None
    signs = signs_of(likely, message, standing, meanings)
    logit = logit_of(signs, with_meaning=bool(meanings)) + leaning
    return likely.place if logit >= (ASKS_FROM_BOTH if meanings else ASKS_FROM) else None


def with_names(standing: Sequence[StandingStatement]) -> list[StandingStatement]:
    """Return statements, oldest first, in which one of "she" or "le" has the names of the one before it as well."""
    found: list[StandingStatement] = []
    names: frozenset[str] = frozenset()
    for each in standing:
        text = each.text[:_LONGEST]
        plain, people = fold(text), read_signs(text).people
        own = frozenset(name for name in people if not _PRONOUN.fullmatch(name))
        if names and (_PRONOUN.match(plain) or (not own and _PRONOUN.search(plain))):
            found.append(replace(each, names=" ".join(sorted(names))))
        else:
            found.append(each)
            names = own
    return found


def _find_plainly_changed(message: str, standing: Sequence[StandingStatement]) -> int | None:
    """Find the last statement of which a message denies the words, or tells another value."""
    said_alone = tellings(message)
    told = [read_signs(text) for text in dict.fromkeys((message[:_LONGEST], *map(_first_clause, said_alone)))]
    plain = (
        at
        for at, each in enumerate(standing)
        if any(_is_plainly_changed(one, read_signs(each.read_text)) for one in told)
        or denies_unspaced(message, each.text)
        or any(gives_other_value(telling, each.text) for telling in said_alone)
    )
    return max(plain, default=None)


def _first_clause(telling: str) -> str:
    """Return what a telling says before what it gives as the reason, or names instead."""
    return _CLAUSE_END.split(telling, maxsplit=1)[0]


def _is_plainly_changed(told: Signs, known: Signs) -> bool:
    return (is_opposite(told, known) or has_another_hour(told, known)) and not is_of_another(told, known)


def signs_of(
    likely: LikelyChange, message: str, standing: Sequence[StandingStatement], meanings: Sequence[float] = ()
) -> dict[str, float]:
    """Return the signs by which it is judged whether to ask, each with its value. meanings: see `find_changed`."""
    told, known = read_signs(likely.telling), read_signs(standing[likely.place].read_text)
    found = dict.fromkeys(compare(told, known), 1.0)
    found |= {f"reserve {name}": 1.0 for name in read_reserves(message)}
    found[f"among {_bin(len(standing), 2, 3, 5, 10, 30)}"] = 1.0
    if meanings:
        others = [each for at, each in enumerate(meanings) if at != likely.place]
        lead = meanings[likely.place] - max(others, default=meanings[likely.place])
        found |= {"meaning": _clip(meanings[likely.place], 6.0) / 2, "meaning lead": _clip(lead, 3.0) / 2}
    return {**found, "logit": _clip(likely.logit, 4.0) / 2, "lead": likely.lead}


def _clip(value: float, most: float) -> float:
    return max(-most, min(most, value))


def logit_of(signs: Mapping[str, float], *, with_meaning: bool) -> float:
    """Return the log odds by which a message with these signs changes the memory."""
    weights = _sign_weights(with_meaning)
    return sum(weights.get(name, 0.0) * value for name, value in signs.items())


def find_most_likely(
    message: str, said: date, standing: Sequence[StandingStatement], meanings: Sequence[float] = ()
) -> LikelyChange | None:
    """Find the statement that a message of the day `said` changes most probably; None where there is none at all.

    meanings: see `find_changed`.
    """
    if not standing:
        return None
    told = tellings(message)
    logits = [row for words_said in told for row in _logits(words_said, said, standing)]
    return choose(told, logits, len(standing), meanings)


def choose(told: Sequence[str], logits: Sequence[float], number: int, meanings: Sequence[float] = ()) -> LikelyChange:
    """Choose the most probable statement. logits: of each telling beside each of `number` statements.

    meanings: of each statement, or none; they choose with the words, and are no part of the odds.
    """
    most = max(0.0, *logits)
    exponents = [math.exp(logit - most) for logit in logits]
    odds = [sum(exponents[place::number]) for place in range(number)]
    none = math.exp(-most)
    both = [math.log(max(odd, 1e-9)) + more for odd, more in zip(odds, meanings or [0.0] * number, strict=True)]
    place = max(range(number), key=both.__getitem__)
    telling = max(range(len(told)), key=lambda at: exponents[at * number + place])
    whole = sum(odds) + none
    second = max((each for at, each in enumerate(odds) if at != place), default=0.0)
    return LikelyChange(place, told[telling], math.log(max(odds[place], 1e-9) / none), (odds[place] - second) / whole)


def _logits(telling: str, said: date, standing: Sequence[StandingStatement]) -> list[float]:
    weights, own = _weights(), telling_features(telling)
    shared = sum(weights[each] for each in own) / math.sqrt(len(own))
    pairs = pair_features(telling, said, standing)
    return [
        (
            shared
            + _of_memory(each.read_text)
            + PAIR_WEIGHT * sum(map(weights.__getitem__, pair))
            + _of_words(telling, each.read_text)
        )
        / SCALE
        for each, pair in zip(standing, pairs, strict=True)
    ]


def tellings(message: str) -> list[str]:
    """Return a message, and its sentences where it has several: a change may stand in one of them."""
    text = message[:_LONGEST].strip()
    sentences = [part for part in split_sentences(text) if len(part) >= _SHORTEST]
    return [text, *sentences[:_MOST_SENTENCES]] if len(sentences) > 1 else [text]


def telling_features(telling: str) -> frozenset[int]:
    """Return the hashes of what a telling is; each weighs one by the root of their number."""
    return frozenset(_hash(name) for name in feature_names(telling))


def memory_features(text: str) -> tuple[int, ...]:
    """Return the hashes of what a memory is, from `BUCKETS` on; each weighs a half by the root of their number."""
    read = _read(text)
    names = [*(f"n {max(found)}" for found in read.by_word.values()), *(f"of {kind}" for kind in read.kinds)]
    return tuple(BUCKETS + _hash(name) for name in names)


def pair_features(telling: str, said: date, standing: Sequence[StandingStatement]) -> Iterator[list[int]]:
    """Iterate over the hashes of each statement beside a telling, from `BUCKETS` on; each weighs `PAIR_WEIGHT`."""
    told = _read(telling)
    texts = [_read(each.read_text) for each in standing]
    counts = Counter(stem for text in texts for stem in text.stems)
    shared = [text.list_shared(told) for text in texts]
    weights = [
        sum(1 / max(1, min(counts[stem] for stem in text.by_word[word])) for word in found)
        for text, found in zip(texts, shared, strict=True)
    ]  # how much the words that both have tell: each counts by how few of the statements have it
    first, second, *_ = [*sorted(weights, reverse=True), 0.0]
    for at, (statement, text) in enumerate(zip(standing, texts, strict=True)):
        rival = second if weights[at] == first else first
        names = [
            *_share_words(told, text, len(shared[at]), weights[at], weights[at] - rival),
            *_values(told, text, min(len(shared[at]), 2)),
            f"pool {_bin(len(texts), 4, 7, 12, 25)}",
            f"newer {_bin(len(texts) - 1 - at, 1, 2, 4, 8, 16, 32)}",
            f"due {_days_until(statement.due, said)}",
            f"is {statement.category}",
        ]
        yield [BUCKETS + _hash(name) for name in names]


def word_pair_features(telling: str, text: str) -> list[int]:
    """Return the hashes of each word of a telling beside each of a memory; see `_of_words` for what they weigh."""
    known = _read(text).as_memory
    return [_FIRST_PAIR + ((one + other >> _SHIFT) & _MASK) for one in _read(telling).as_telling for other in known]


def _of_words(telling: str, text: str) -> float:
    """Add up what the words of both weigh; each pair one by the root of their number."""
    weights, places = _weights(), word_pair_features(telling, text)
    return sum(map(weights.__getitem__, places)) / math.sqrt(len(places))


class _Text:
    """A text by its words: folded, their stems, names, numbers, and the kinds of values that it has."""

    def __init__(self, text: str) -> None:
        self.plain = fold(text)
        named = (word for word in words(self.plain.replace("'s", "")) if word not in STOPWORDS | NEGATIONS)
        self.words = tuple(word for word in dict.fromkeys(named) if len(word) > 1 and not word[0].isdigit())[
            :_MOST_WORDS
        ]
        self.by_word = {word: frozenset(search_stems(word)) for word in self.words}
        self.stems = frozenset[str]().union(*self.by_word.values())
        self.begins = frozenset(word[:_ALIKE] for word in self.words if len(word) >= _ALIKE)
        self.numbers = frozenset(number.strip("£$€") for number in _NUMBER.findall(self.plain))
        self.names = frozenset(fold(name).removesuffix("'s") for name in _NAME.findall(text))
        kinds = {kind for kind, pattern in _KINDS.items() if pattern.search(self.plain)}
        self.kinds = frozenset({*kinds, *(["number"] if self.numbers else []), *(["name"] if self.names else [])})
        self.text = text

    @cached_property
    def as_memory(self) -> tuple[int, ...]:
        """Hash its words, and what kinds of values it has, for `word_pair_features`."""
        stems = (min(found) for found in self.by_word.values())
        return tuple(crc32(name.encode()) for name in (*stems, *(f"#{kind}" for kind in sorted(self.kinds)), "any"))

    @cached_property
    def as_telling(self) -> tuple[int, ...]:
        """Hash the same and the signs of a change; apart from those of memories."""
        stems, signs = (min(found) for found in self.by_word.values()), read_signs(self.text)
        names = [*stems, *(f"#{kind}" for kind in sorted(self.kinds)), f"own {signs.own_head}"]
        names += [*(f"cue {name}" for name in sorted(signs.cues)), *(f"doubt {name}" for name in sorted(signs.doubts))]
        return tuple(_APART * crc32(name.encode()) for name in names)

    def list_shared(self, other: "_Text") -> list[str]:
        """Return its words that another text has, too."""
        return [word for word, found in self.by_word.items() if not found.isdisjoint(other.stems)]


def _share_words(told: _Text, text: _Text, number: int, rarity: float, lead: float) -> Iterator[str]:
    of_told, of_text = number / max(1, len(told.words)), number / max(1, len(text.words))
    rare = _bin(rarity, 0.01, 0.34, 0.9, 1.4)
    yield f"shared {min(number, 4)}"
    yield f"of the message {_bin(of_told, 0.01, 0.15, 0.3, 0.5, 0.75)}"
    yield f"of the memory {_bin(of_text, 0.01, 0.15, 0.3, 0.5, 0.75)}"
    yield f"rare {_bin(rarity, 0.01, 0.1, 0.2, 0.34, 0.5, 0.9, 1.4, 2)}"
    yield f"shared {min(number, 3)} of {_bin(len(told.words), 4, 8, 12)}"
    yield f"of the memory {_bin(of_text, 0.01, 0.3, 0.5, 0.75)} rare {rare}"
    yield f"lead {_bin(lead, -1, -0.5, -0.2, -0.01, 0.01, 0.3, 0.6, 1)} {rarity > 0}"
    yield f"long {_bin(len(text.words), 2, 4, 7, 11)}"
    both = told.names & text.names
    yield f"names {min(len(both), 2)} {len(told.names) > len(both)} {bool(text.names)}"
    begun = len(told.begins & text.begins)
    yield f"begin alike {min(begun, 3)} {min(number, 3)}"
    if any(name in text.plain for name in told.names):
        yield "names it"


def _values(told: _Text, text: _Text, shared: int) -> Iterator[str]:
    same = told.numbers & text.numbers
    yield f"same numbers {min(len(same), 2)}"
    for kind in (*_VALUES, "code", "name"):
        yield f"{kind} {kind in told.kinds} {kind in text.kinds}"
        if kind in told.kinds and kind in text.kinds:
            yield f"both {kind} {shared}"
    if told.kinds & text.kinds & _VALUES and not same:
        yield f"another value {shared}"


def _days_until(due: str, said: date) -> str:
    try:
        days = (date.fromisoformat(due[:10]) - said).days if due else None
    except ValueError:
        days = None
    return "never" if days is None else str(_bin(days, -7, -1, 0, 1, 2, 7, 20))


def _bin(value: float, *edges: float) -> int:
    return bisect_right(edges, value)


@lru_cache(4096)
def _of_memory(text: str) -> float:
    """Yield the features of a memory by itself."""
    weights, places = _weights(), memory_features(text)
    return sum(weights[each] for each in places) / 2 / math.sqrt(max(1, len(places)))


@lru_cache(4096)
def _read(text: str) -> _Text:
    return _Text(text)


@lru_cache(16_384)
def _hash(name: str) -> int:
    return crc32(name.encode()) % BUCKETS


@lru_cache(1)
def _weights() -> tuple[int, ...]:
    data = resources.files(__package__).joinpath(FILE).read_bytes()
    return tuple(value - 256 if value > 127 else value for value in data)


@lru_cache(2)
def _sign_weights(with_meaning: bool) -> dict[str, float]:
    file = SIGNS_BOTH_FILE if with_meaning else SIGNS_FILE
    found: dict[str, float] = json.loads(resources.files(__package__).joinpath(file).read_text("utf-8"))
    return found
