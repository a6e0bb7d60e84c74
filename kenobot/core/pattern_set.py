"""Match the owner's own patterns in linear time, whatever they are.

Python's `re` backtracks: `(a+)+$` against forty letters takes years. These patterns leave out what needs backtracking,
and all of them together are one automaton, determinised while it runs, as in RE2. A search that would still take long
gives up: a match decides when a turn is extracted, never whether.

The syntax: letters, `.`, `\\d \\w \\s` and their opposites, `\\b \\B`, `[classes]`, `( )`, `|`, `^`, `$`, and
`* + ? {m,n}` up to 50 repeats. Upper and lower case are the same; `^` and `$` are the ends of a line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from kenobot.core import lazy

MAX_PATTERNS = 50
MAX_LENGTH = 200
_MOST_NODES = 4000
_MOST_MOVES = 10_000
_MOST_REPEATS = 50
_DEEPEST = 20
_OTHER, _WORD, _LINE = 0, 1, 2  # kinds of characters; the ends of the text count as line ends

CharTest = Callable[[str], bool]
"""Tests a character, given in lower case."""
NodeKind = Literal["char", "split", "match", "word edge", "no word edge", "line start", "line end"]
Fragment = Callable[[int], int]
"""Adds the nodes of a piece of a pattern, to be followed by a given node; returns the node where they begin."""


class InvalidPattern(ValueError):
    """A pattern that cannot be used; the message says why, as one plain clause."""


@dataclass(slots=True)
class _Node:
    kind: NodeKind
    test: CharTest | None = None
    # bounded: 4,000 nodes; test_what_cannot_be_used_is_refused_in_plain_words
    out: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _State:
    """The nodes that wait for the next character, and the kind of the one before. A move to None is a match."""

    kernel: frozenset[int]
    before: int
    # bounded: 10,000 moves between states; test_states_are_forgotten
    moves: "dict[str, _State | None]" = field(default_factory=dict)


class PatternSet:
    """The automaton of all patterns. Raises InvalidPattern when one of them cannot be used."""

    def __init__(self, patterns: Sequence[str]) -> None:
        if len(patterns) > MAX_PATTERNS:
            raise InvalidPattern(f"there are more than {MAX_PATTERNS}")
        self._nodes: list[_Node] = []  # bounded: 4,000 nodes; test_what_cannot_be_used_is_refused_in_plain_words
        self._starts = [_Compiler(pattern, self._nodes).compile() for pattern in patterns]
        # bounded: 10,000 moves between states; test_states_are_forgotten
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._moves = 0

    def search(self, text: str, steps: int) -> bool:
        """Return whether any pattern matches anywhere in `text`; gives up after visiting about `steps` nodes."""
        if not self._starts:
            return False
        state = self._state(frozenset(), _LINE)
        for char in text.lower():
            if char not in state.moves:
                closure = self._closure(state, char)
                steps -= len(closure)
                if steps < 0:
                    return False
                state.moves[char] = self._follow(closure, char)
                self._moves += 1
            following = state.moves[char]
            if following is None:
                return True
            state = following
        return self._matches(self._closure(state, ""))

    def _state(self, kernel: frozenset[int], before: int) -> _State:
        if self._moves > _MOST_MOVES:
            self._states.clear()
            self._moves = 0
        return self._states.setdefault((kernel, before), _State(kernel, before))

    def _follow(self, closure: set[int], char: str) -> _State | None:
        if self._matches(closure):
            return None
        nodes = (self._nodes[number] for number in closure)
        kernel = frozenset(node.out[0] for node in nodes if node.test is not None and node.test(char))
        return self._state(kernel, _char_kind(char))

    def _matches(self, closure: set[int]) -> bool:
        return any(self._nodes[number].kind == "match" for number in closure)

    def _closure(self, state: _State, char: str) -> set[int]:
        """Return every node that can be reached without reading; `char` is the next character, "" at the end."""
        after = _char_kind(char) if char else _LINE
        open_kinds: set[NodeKind] = {"split", "line start"} if state.before == _LINE else {"split"}
        open_kinds |= {"line end"} if after == _LINE else set()
        open_kinds.add("word edge" if (state.before == _WORD) != (after == _WORD) else "no word edge")
        reached: set[int] = set()
        waiting = [*self._starts, *state.kernel]
        while waiting:
            number = waiting.pop()
            if number not in reached:
                reached.add(number)
                if self._nodes[number].kind in open_kinds:
                    waiting.extend(self._nodes[number].out)
        return reached


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _char_kind(char: str) -> int:
    if char == "\n":
        return _LINE
    return _WORD if _is_word(char) else _OTHER


_CLASSES: dict[str, CharTest] = {
    "d": str.isdecimal,
    "D": lambda char: not char.isdecimal(),
    "w": _is_word,
    "W": lambda char: not _is_word(char),
    "s": str.isspace,
    "S": lambda char: not char.isspace(),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_EDGES: dict[str, NodeKind] = {"^": "line start", "$": "line end", "\\b": "word edge", "\\B": "no word edge"}
_SIMPLE_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT = lazy.regex(r"\{(\d{1,4})(?:(,)(\d{0,4}))?\}")


class _Compiler:
    """Compile one pattern, by recursive descent, into nodes of the automaton."""

    def __init__(self, pattern: str, nodes: list[_Node]) -> None:
        self._text = pattern
        self._nodes = nodes
        self._at = 0
        self._depth = 0

    def compile(self) -> int:
        """Add the nodes of the pattern; returns the first. Raises InvalidPattern."""
        if not self._text.strip():
            raise InvalidPattern("a pattern is empty")
        if len(self._text) > MAX_LENGTH:
            raise InvalidPattern(f'"{self._text[:20]}…" is longer than {MAX_LENGTH} characters')
        whole = self._choice()
        if self._at < len(self._text):
            raise self._bad("a ) without its (")
        return whole(self._add("match"))

    def _add(self, kind: NodeKind, *out: int, test: CharTest | None = None) -> int:
        if len(self._nodes) >= _MOST_NODES:
            raise InvalidPattern("with all their repeats they are too long")
        self._nodes.append(_Node(kind, test, list(out)))
        return len(self._nodes) - 1

    def _bad(self, problem: str) -> InvalidPattern:
        return InvalidPattern(f'"{self._text}" has {problem}')

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, opening: str = "something") -> str:
        char = self._peek()
        if not char:
            raise self._bad(f"{opening} without its end")
        self._at += 1
        return char

    def _choice(self) -> Fragment:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda after: self._add("split", *(branch(after) for branch in branches))

    def _sequence(self) -> Fragment:
        items: list[Fragment] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._item())

        def add(after: int) -> int:
            for item in reversed(items):
                after = item(after)
            return after

        return add

    def _item(self) -> Fragment:
        """Parse an atom with the repeat sign behind it, if any; a ? for the fewest makes no difference here."""
        char = self._take()
        edge = _EDGES.get(char + self._peek() if char == "\\" else char)
        self._at += edge is not None and char == "\\"
        item: Fragment = self._atom(char) if edge is None else partial(self._add, edge)
        char, count = self._peek(), _COUNT.match(self._text, self._at)
        if char in _SIMPLE_REPEATS:
            (least, most), self._at = _SIMPLE_REPEATS[char], self._at + 1
        elif count:
            least, self._at = int(count[1]), count.end()
            most = least if count[2] is None else int(count[3]) if count[3] else None
        else:
            return item
        if max(least, most or 0) > _MOST_REPEATS:
            raise self._bad(f"a repeat of more than {_MOST_REPEATS}")
        if most is not None and most < least:
            raise self._bad("a repeat whose end comes before its beginning")
        if edge is not None:
            raise self._bad("a repeated edge")
        self._at += self._peek() == "?"
        if self._peek() in _SIMPLE_REPEATS:
            raise self._bad("two repeat signs in a row")
        return partial(self._repeat, item, least, most)

    def _repeat(self, item: Fragment, least: int, most: int | None, after: int) -> int:
        start = after
        if most is None:
            start = self._add("split", after)
            self._nodes[start].out.append(item(start))
        for _ in range((most or least) - least):
            start = self._add("split", after, item(start))
        for _ in range(least):
            start = item(start)
        return start

    def _atom(self, char: str) -> Fragment:
        match char:
            case "(":
                return self._group()
            case "[":
                return self._char(self._class())
            case ".":
                return self._char(lambda found: found != "\n")
            case "*" | "+" | "?":
                raise self._bad(f"a {char} with nothing to repeat")
            case "\\":
                escaped = self._take("a \\")
                return self._char(_CLASSES.get(escaped) or self._literal(escaped).lower().__eq__)
            case _:
                return self._char(char.lower().__eq__)

    def _char(self, test: CharTest) -> Fragment:
        return lambda after: self._add("char", after, test=test)

    def _group(self) -> Fragment:
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            raise self._bad("a (?…) other than (?:…), which is not supported")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._bad(f"groups more than {_DEEPEST} deep")
        group = self._choice()
        if self._take("a (") != ")":
            raise self._bad("a ( without its end")
        self._depth -= 1
        return group

    def _literal(self, escaped: str) -> str:
        """Return the character that an escape other than a class stands for."""
        if escaped in _CONTROLS:
            return _CONTROLS[escaped]
        if _is_word(escaped):
            raise self._bad(f"\\{escaped}, which is not supported")
        return escaped

    def _class(self) -> CharTest:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[CharTest] = []
        while not tests or self._peek() != "]":
            low = self._member()
            if not isinstance(low, str):
                tests.append(low)
                continue
            high: str | CharTest = low
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                high = self._member()
            if not isinstance(high, str) or high < low:
                raise self._bad("a range in [ ] that ends before it begins")
            tests.append(partial(_is_between, low, high))
        self._at += 1
        return lambda char: any(test(char) for test in tests) != negated

    def _member(self) -> str | CharTest:
        """Return the next character of a class, or the test of one like \\d."""
        char = self._take("a [")
        if char != "\\":
            return char
        escaped = self._take("a [")
        return _CLASSES.get(escaped) or self._literal(escaped)


def _is_between(low: str, high: str, char: str) -> bool:
    return low <= char <= high or low <= char.upper() <= high
