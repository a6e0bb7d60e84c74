"""Find the count that a sentence changes by a sum: of 45, "two closed, so 43".

The sum must come out exactly, and what is counted must be the same as far as the sentence says. Money is no count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS, load_phrases, word_rows
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

_PHRASES = load_phrases("kenobot.cognitive.remember.extract", "counts.toml")
_NUMBERS = {
    word: at
    for at, row in enumerate((*word_rows("counts"), *word_rows("counts_above")), 1)
    for word in row.split()
    if word not in ("a", "an", "few")
} | {"another": 1, "uno": 1, "otro": 1, "otra": 1}
_NUMBER = rf"(?<![\w£$€.,:/-])(?:\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})(?![\w%€$£:/-]|[.,]\d)"
_TOKEN = lazy.regex(_NUMBER)
_SUM = lazy.regex(
    rf"(?<!\w)(?:{_PHRASES['before']})(?:[ ,]+(?:{_PHRASES['between']}))*[ ,]+(?P<now>{_NUMBER})"
    rf"|(?P<left>{_NUMBER})(?: \w+)? (?:{_PHRASES['behind']})(?!\w)"
)
_BREAK = lazy.regex(r"[,.;:!?)(]|\s-\s")
_NO_THING = frozenset(_PHRASES["no_thing"].split("|"))
_FOR_NOW = lazy.regex(rf"(?<!\w)(?:{_PHRASES['for_now']})(?!\w)")
_MEASURE = lazy.regex(_PHRASES["measures"])
_MOST = 3  # numbers of a sentence that tells a sum
_YEAR = lazy.regex(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class CountChange:
    """The statement whose count changes, by its place, and its words with the new one."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class _Count:
    """A number of things: its value, the word behind it that says of what, "" for none, and where it stands."""

    value: int
    of: str
    start: int
    end: int


def may_change_count(sentence: str) -> bool:
    """Return whether a sentence tells a number, and what is left or made by it."""
    return _sums(_plain(sentence)) is not None


def changed_count(sentence: str, known: Sequence[str]) -> CountChange | None:
    """Return the one count of `known` that a sentence changes; None where none is surely meant."""
    plain = _plain(sentence)
    read = _sums(plain)
    if read is None or _FOR_NOW.search(plain, read[1].end):
        return None
    by, now = read
    told = _stems(sentence)
    found: list[tuple[bool, int, _Count]] = []
    for place, statement in enumerate(known):
        counts = [each for each in _counts(_plain(statement)) if each.of and abs(each.value - now.value) == by.value]
        if len(counts) != 1 or len(_plain(statement)) != len(statement):
            continue
        same = bool(_stems(counts[0].of) & told)
        if same or not _counts_another(by, now, statement):
            found.append((same, place, counts[0]))
    named = [each for each in found if each[0]] or found
    if len({fold(known[place]) for _, place, _ in named}) != 1:
        return None
    _, place, count = named[-1]
    old, new = known[place], sentence[now.start : now.end]
    return CountChange(place, f"{old[: count.start]}{new}{old[count.end :]}")


def _counts_another(by: _Count, now: _Count, statement: str) -> bool:
    """Return whether a sentence says what it counts, and that is nothing of a statement."""
    has = _stems(statement)
    return any(
        not _stems(each.of) & has
        for each in (by, now)
        if each.of and (each is now or each.of.endswith("s") or each.value == 1) and each.of not in _NO_THING
    )


def _sums(plain: str) -> tuple[_Count, _Count] | None:
    """The number by which a folded sentence changes a count, and what the count is then."""
    counts = _counts(plain)
    if not 1 < len(counts) <= _MOST:
        return None
    for match in _SUM.finditer(plain):
        at = match.start("now") if match["now"] else match.start("left")
        now = next((each for each in counts if each.start == at), None)
        others = [each for each in counts if each is not now and each.end <= at]
        if now is not None and len(others) == 1 and others[0].value:
            return others[0], now
    return None


def _counts(plain: str) -> list[_Count]:
    """The numbers of a folded text that count something."""
    found = []
    for match in _TOKEN.finditer(plain):
        behind = words(_BREAK.split(plain[match.end() :], maxsplit=1)[0])[:4]
        of = next((word for word in behind if word not in _NO_THING), "")
        if _MEASURE.fullmatch(of) or _YEAR.fullmatch(match[0]):
            continue
        value = int(match[0]) if match[0].isdigit() else _NUMBERS[match[0]]
        noun = "" if of in STOPWORDS or of in NEGATIONS or of in _NUMBERS or of.isdigit() else of
        found.append(_Count(value, noun, match.start(), match.end()))
    return found


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in words(text) if word not in STOPWORDS for stem in stems(word))


def _plain(text: str) -> str:
    return fold(text).replace("’", "'")
