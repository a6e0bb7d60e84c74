"""Fold texts to what they look like, and find markup in them in any disguise.

The one normalisation for all that must not pass for a tag or for the runtime's border: letters of full width, of
mathematics and of other scripts, marks, invisible characters, entities, padding, hyphens and brackets of any kind.
"""

import html
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import takewhile
from typing import Final

from kenobot.core import lazy

_DATA: Final = tomllib.loads(resources.files(__package__).joinpath("lookalikes.toml").read_text("utf-8"))
_DRAWN_AS: Final = {look: plain for plain, looks in _DATA["drawn_as"].items() for look in looks}
_WRITTEN_AS: Final = _DATA["written_as"]

# Characters without width or ink: controls, zero-width and direction marks, fillers, the empty Braille pattern,
# variation selectors, the Tags block.
INVISIBLE: Final = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
# Also dropped: ligatures and squared words, because normalising makes four to eighteen letters of each; and lone
# surrogates with what stands in for them, because a reply has lost its own by now.
_DROPPED = lazy.regex(f"[{INVISIBLE}\u3300-\u3357\ufdf0-\ufdff\ud800-\udfff\ufffd]")
_NO_CONTROLS: Final = dict.fromkeys([*range(9), *range(14, 32), 127])
# Letters of the Tags block are ASCII that models read and people do not see.
_TAGS_BLOCK: Final = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_IN_TAGS_BLOCK = lazy.regex("[\U000e0020-\U000e007e]")
# What becomes a bracket or begins an entity.
_MAY_OPEN = lazy.regex(
    f"[<&＜﹤≮＆﹠\u2329\ufe3d\ufe3f{re.escape(''.join(_DATA['drawn_as']['<']))}\U000e0020-\U000e007e]"
)
_REFERENCE = lazy.regex(r"(&(?:#[0-9]++|#[xX][0-9a-fA-F]++|[a-zA-Z][a-zA-Z0-9]{1,31}+);?)")
_ZEROS = lazy.regex(r"#([xX]?)0+(?=[0-9a-fA-F])")
_LONGEST_REFERENCE: Final = 40
_UNWRAPPINGS: Final = 3
_FEW: Final = 100  # characters that are replaced one after the other, which is quicker than a table
_PADDING = lazy.regex(r"[^\w>]")  # before a name
# Between the letters of a name; signs that stand for a letter are no padding.
_BETWEEN: Final = r"[\s\-_.,:;'\"`´*~^&%#=?()\[\]{}/\\·•…]{0,3}+"


def fold(text: str) -> str:
    """Fold `text` to what it looks like: entities resolved, nothing invisible, no marks, one case, single blanks."""
    for _ in range(_UNWRAPPINGS):
        text = _without_disguise(text)
        wrapped, text = text, _unescape(text)
        if text == wrapped:
            break
    else:
        text = _without_disguise(text)
    return " ".join(text.casefold().split())


def readings(text: str) -> Iterator[str]:
    """Yield the text as people see it and, where it has such, with the letters that only models see."""
    yield text
    if _IN_TAGS_BLOCK.search(text):
        yield text.translate(_TAGS_BLOCK)


def count_dropped(text: str) -> int:
    """Count the runs of characters that folding drops."""
    return len(re.findall(f"{_DROPPED.pattern}+", text))


def may_hold_markup(text: str) -> bool:
    """Return whether `text` has a character that a tag may begin with, in any disguise."""
    return _MAY_OPEN.search(text) is not None


def markup_pattern(names: Iterable[str], end: str = r"(?![\w-])") -> re.Pattern[str]:
    """Compile the pattern of an opening bracket and one of `names` in a folded text; each name is a group.

    end: what has to follow.
    """
    return _markup_pattern(tuple(names), end)


@lru_cache(maxsize=16)
def _markup_pattern(names: tuple[str, ...], end: str) -> re.Pattern[str]:
    letters = [name.replace("-", "") for name in names]
    if not letters:
        return lazy.regex("(?!)")
    spelled = "|".join(f"({_BETWEEN.join(map(_letter_pattern, name))})" for name in letters)
    # The first letter sorts out nearly every bracket.
    firsts = re.escape("".join(sorted({each[0] for name in letters for each in _spellings(name[0])})))
    return lazy.regex(rf"<[^\w<>]*+(?=[{firsts}])(?:{spelled}){end}")


def defuse(text: str, pattern: re.Pattern[str]) -> str:
    """Replace the brackets of what `pattern` finds, in any disguise, by `[` and `]`; all the rest stays."""
    if not may_hold_markup(text):
        return text
    text = _defuse(text, text, pattern)
    return _defuse(text, text.translate(_TAGS_BLOCK), pattern) if _IN_TAGS_BLOCK.search(text) else text


def _defuse(text: str, reading: str, pattern: re.Pattern[str]) -> str:
    """Replace in `text` the brackets of what a reading of it, letter for letter, shows."""
    if not pattern.search(fold(reading)):
        return text
    folded, origins = _fold_with_origins(reading)
    pieces, at, end = [], 0, 0
    for match in pattern.finditer(folded):
        # With what stands before it a replaced bracket would be padding after one more.
        places = list(takewhile(lambda each: _PADDING.match(folded, each), range(match.start() - 1, end - 1, -1)))[::-1]
        end = match.end()
        for place in (*places, match.start(), end - 1):
            if folded[place] in "<>":
                pieces += [text[at : origins[place]], "[" if folded[place] == "<" else "]"]
                at = origins[place + 1]
    return "".join([*pieces, text[at:]])


def _fold_with_origins(text: str) -> tuple[str, list[int]]:
    """Fold `text`, and tell where in it every character of the result begins; last, where the text ends."""
    chars = [(char, at) for at, char in enumerate(text)]
    for _ in range(_UNWRAPPINGS):
        looks = [(look, at) for char, at in chars for look in _without_disguise(char)]
        chars = list(_unescape_chars(looks))
        if chars == looks:
            break
    else:
        chars = [(look, at) for char, at in chars for look in _without_disguise(char)]
    folded: list[str] = []
    origins: list[int] = []
    for char, at in chars:
        if not (char.isspace() and folded and folded[-1] == " "):
            folded.append(" " if char.isspace() else char.casefold())
            origins.append(at)
    return "".join(folded), [*origins, len(text)]


def _unescape_chars(chars: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Resolve HTML entities; all characters of one begin where it does."""
    at = 0
    for number, piece in enumerate(_REFERENCE.split("".join(char for char, _ in chars))):
        if number % 2:
            yield from ((char, chars[at][1]) for char in _resolve_reference(piece))
        else:
            yield from chars[at : at + len(piece)]
        at += len(piece)


def _spellings(letter: str) -> list[str]:
    """List all that a letter of a name may be written with in a folded text."""
    return [letter, *_WRITTEN_AS.get(letter, ())]


def _letter_pattern(letter: str) -> str:
    spellings = _spellings(letter)
    several = "|".join(re.escape(each) for each in spellings if len(each) > 1)
    one = f"[{re.escape(''.join(each for each in spellings if len(each) == 1))}]"
    return f"(?:{one}|{several})" if several else one


def _without_disguise(text: str) -> str:
    if text.isascii():
        return text.translate(_NO_CONTROLS)
    looks = {char: look for char in set(text) if (look := _look(char)) != char}
    if len(looks) > _FEW:
        return text.translate({ord(char): look for char, look in looks.items()})
    for char, look in looks.items():  # no look holds another character of these
        text = text.replace(char, look)
    return text


@lru_cache(maxsize=4096)
def _look(char: str) -> str:
    """Return the look of a character: no marks, one case, an ASCII character for its look-alike; "" for nothing."""
    if _DROPPED.match(char):
        return ""
    if char.isascii():
        return char  # its case may be that of an entity's name
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    looks = (
        _DRAWN_AS.get(each, each)
        for each in plain
        if not (unicodedata.combining(each) or unicodedata.category(each) == "Me" or _DROPPED.match(each))
    )
    return unicodedata.normalize("NFC", "".join(looks))  # Korean syllables stay whole


def _unescape(text: str) -> str:
    """Resolve HTML entities, each kind once, because html.unescape() is slow."""
    if "&" not in text:
        return text
    pieces = _REFERENCE.split(text)
    resolved = {reference: _resolve_reference(reference) for reference in set(pieces[1::2])}
    pieces[1::2] = [resolved[reference] for reference in pieces[1::2]]
    return "".join(pieces)


def _resolve_reference(reference: str) -> str:
    if len(reference) > _LONGEST_REFERENCE:
        # A number that is no character without its zeros either; of thousands of digits Python makes no number at all.
        reference = _ZEROS.sub(r"#\1", reference)[:_LONGEST_REFERENCE]
    return html.unescape(reference)
