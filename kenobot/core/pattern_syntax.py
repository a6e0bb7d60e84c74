"""What the owner may write in a pattern, as a tree.

`kenobot.core.pattern_set` says why not Python's `re`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

MAX_LENGTH = 200
_MOST_REPEATS = 50
_DEEPEST = 20
_COUNT = re.compile(r"\{(\d{1,4})(?:(,)(\d{0,4}))?\}")

Test = Callable[[str], bool]
AssertionKind = Literal["word edge", "no word edge", "line start", "line end"]


class InvalidPattern(ValueError):
    """A pattern that cannot be used; the text says why, as one plain clause."""


@dataclass(frozen=True, slots=True)
class CharTest:
    """One character that passes `test`, given in lower case."""

    test: Test


@dataclass(frozen=True, slots=True)
class Assertion:
    """A place between characters."""

    kind: AssertionKind


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One after the other."""

    items: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any of these."""

    items: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Repetition:
    """The same, `least` to `most` times; None for no limit."""

    item: "Tree"
    least: int
    most: int | None


Tree = CharTest | Assertion | Concatenation | Alternation | Repetition


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CLASSES: dict[str, Test] = {
    "d": str.isdecimal,
    "D": lambda char: not char.isdecimal(),
    "w": is_word,
    "W": lambda char: not is_word(char),
    "s": str.isspace,
    "S": lambda char: not char.isspace(),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_EDGES: dict[str, AssertionKind] = {"b": "word edge", "B": "no word edge"}
_SIMPLE: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse(pattern: str) -> Tree:
    """The tree of a pattern. Raises BadPattern."""
    if not pattern.strip():
        raise InvalidPattern("a pattern is empty")
    if len(pattern) > MAX_LENGTH:
        raise InvalidPattern(f'"{pattern[:20]}…" is longer than {MAX_LENGTH} characters')
    return _Reader(pattern).whole()


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0

    def whole(self) -> Tree:
        tree = self._choice()
        if self._at < len(self._text):
            raise self._bad("a ) without its (")
        return tree

    def _bad(self, problem: str) -> InvalidPattern:
        return InvalidPattern(f'"{self._text}" has {problem}')

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, what: str = "something") -> str:
        char = self._peek()
        if not char:
            raise self._bad(f"{what} without its end")
        self._at += 1
        return char

    def _choice(self) -> Tree:
        branches = [self._row()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._row())
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def _row(self) -> Tree:
        items: list[Tree] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._repeated(self._atom()))
        return Concatenation(tuple(items))

    def _repeated(self, item: Tree) -> Tree:
        """`item` with the repeat sign behind it; a ? that asks for the fewest makes no difference here."""
        char = self._peek()
        count = _COUNT.match(self._text, self._at)
        if char in _SIMPLE and char:
            (least, most), self._at = _SIMPLE[char], self._at + 1
        elif count:
            least = int(count[1])
            most = least if count[2] is None else int(count[3]) if count[3] else None
            self._at = count.end()
        else:
            return item
        if max(least, most or 0) > _MOST_REPEATS:
            raise self._bad(f"a repeat of more than {_MOST_REPEATS}")
        if most is not None and most < least:
            raise self._bad("a repeat whose end comes before its beginning")
        if isinstance(item, Assertion):
            raise self._bad("a repeated edge")
        if self._peek() == "?":
            self._at += 1
        if self._peek() in _SIMPLE and self._peek():
            raise self._bad("two repeat signs in a row")
        return Repetition(item, least, most)

    def _atom(self) -> Tree:
        char = self._take()
        if char == "(":
            return self._group()
        if char == "[":
            return CharTest(self._class())
        if char == "\\":
            return self._escape()
        if char == ".":
            return CharTest(lambda found: found != "\n")
        if char in "^$":
            return Assertion("line start" if char == "^" else "line end")
        if char in "*+?":
            raise self._bad(f"a {char} with nothing to repeat")
        return _letter(char)

    def _group(self) -> Tree:
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            raise self._bad("a (?…) other than (?:…), which is not supported")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._bad(f"groups more than {_DEEPEST} deep")
        tree = self._choice()
        if self._take("a (") != ")":
            raise self._bad("a ( without its end")
        self._depth -= 1
        return tree

    def _escape(self) -> Tree:
        char = self._take("a \\")
        if char in _CLASSES:
            return CharTest(_CLASSES[char])
        if char in _EDGES:
            return Assertion(_EDGES[char])
        return _letter(self._literal(char))

    def _literal(self, char: str) -> str:
        """What an escaped character stands for, where it is one character."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if is_word(char):
            raise self._bad(f"\\{char}, which is not supported")
        return char

    def _class(self) -> Test:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[Test] = []
        first = True
        while first or self._peek() != "]":
            first = False
            low = self._member(tests)
            if low is None:
                continue
            high: str | None = low
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                high = self._member(tests)
            if high is None or high < low:
                raise self._bad("a range in [ ] that ends before it begins")
            tests.append(_span(low, high))
        self._at += 1
        return lambda char: any(test(char) for test in tests) != negated

    def _member(self, tests: list[Test]) -> str | None:
        """The next character of a class; None for \\d and its like, which go to `tests`."""
        char = self._take("a [")
        if char != "\\":
            return char
        char = self._take("a [")
        if char in _CLASSES:
            tests.append(_CLASSES[char])
            return None
        return self._literal(char)


def _letter(char: str) -> CharTest:
    small = char.lower()
    return CharTest(lambda found: found == small)


def _span(low: str, high: str) -> Test:
    """Between two characters, upper and lower case being the same."""
    return lambda char: low <= char <= high or low <= char.upper() <= high
