"""Tell which lines of a text say what a memory said before, and put beside them what it says now.

A line keeps its words: what is added stands behind them, names the memory, and is found again by its number.
"""

from collections.abc import Iterator

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.number_words import read_number
from kenobot.language.words import stems, words
from kenobot.ports.frozen import dataclass

_DAY = lazy.regex(r"\d{4}-\d\d-\d\d")
_NOTE = lazy.regex(r" \((?:Now|Ahora): [^\n]* #(\d{1,15})\)\Z| \((?:No longer so|Ya no es así) #(\d{1,15})\)\Z")
_OPENING = lazy.regex(r" \((?:Now|Ahora): ")
_IN_PIECES = lazy.regex(r"^[a-z]$|['’.&/-]")  # a word whose pieces come too, and such a piece
_FEW, _MOST_OF = 3, 0.7  # words of which each must stand in a line; share of more
_KEPT = 1 / 3  # of the words that old and new share
_LONGEST = 200  # characters of what is put beside a line


@dataclass(frozen=True, slots=True)
class Replacement:
    """A memory that no longer says what it did. number: of the one that holds now; without one, of the former.

    current: what holds now; "" where nothing took its place. left: what the former still says, if a part ended.
    """

    former_number: int
    former: str
    number: int
    current: str = ""
    left: str = ""
    lang: str = ""


def says_former(text: str, former: str, current: str = "", left: str = "") -> bool:
    """Return whether a text says what `former` said and what holds now does not say, about the same thing."""
    said = set(_iterate_stems(text))
    if not said:
        return False
    before, now = dict.fromkeys(_iterate_content(former)), set(_iterate_stems(left or current))
    gone = [word for word in before if now.isdisjoint(word)]
    kept = [word for word in before if not now.isdisjoint(word)]
    found = sum(not said.isdisjoint(word) for word in gone)
    if not gone or found < (len(gone) if len(gone) <= _FEW else _MOST_OF * len(gone)):
        return False
    if kept and sum(not said.isdisjoint(word) for word in kept) < _KEPT * len(kept):
        return False
    held = {stem for word in before for stem in word}
    new = [word for word in _iterate_content(current) if held.isdisjoint(word)]
    return not new or any(said.isdisjoint(word) for word in new)


def update_line(line: str, change: Replacement) -> str:
    """Return a line with what a memory says now behind what it said before, and without what it said meanwhile."""
    plain, notes = line, list[tuple[int, str]]()
    while (found := _last_note(plain)) is not None:
        start, number = found
        notes.insert(0, (number, plain[start:]))
        plain = plain[:start]
    had = any(number in (change.former_number, change.number) for number, _ in notes)
    rest = [text for number, text in notes if number not in (change.former_number, change.number)]
    if change.current and not change.left and says_former(plain, change.current, change.former):
        return plain + "".join(rest)  # the line says what holds again
    if had or says_former(plain, change.former, change.current, change.left):
        rest.append(_write_note(change))
    return plain + "".join(rest)


def without_notes(line: str) -> str:
    """Return a line without what was put beside it."""
    while (found := _last_note(line)) is not None:
        line = line[: found[0]]
    return line


def _last_note(line: str) -> tuple[int, int] | None:
    """Find where the last note of a line begins, and the number of its memory."""
    if not (match := _NOTE.search(line)):
        return None
    if match[2]:
        return match.start(), int(match[2])
    return [each.start() for each in _OPENING.finditer(line)][-1], int(match[1])


def _write_note(change: Replacement) -> str:
    spanish = change.lang == "es"
    if not change.current:
        return f" ({'Ya no es así' if spanish else 'No longer so'} #{change.number})"
    text = " ".join(change.current.split())
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    return f" ({'Ahora' if spanish else 'Now'}: {_OPENING.sub(' ', short)} #{change.number})"


def _iterate_content(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the content words of a text, each as its stems; a number below a hundred as its value, however written."""
    for word in words(_DAY.sub(" ", text)):
        if word in STOPWORDS or _IN_PIECES.search(word):
            continue
        number = read_number(word) if word.isalnum() else 0
        yield (f"={number}",) if number > 1 or word.isdecimal() else stems(word)


def _iterate_stems(text: str) -> Iterator[str]:
    return (stem for word in _iterate_content(text) for stem in word)
