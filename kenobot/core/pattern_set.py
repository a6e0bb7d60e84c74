"""The owner's own patterns, matched in linear time whatever they are.

Python's `re` backtracks: `(a+)+$` against forty letters takes years. So these patterns are no regular expressions of
`re` but of a language without what needs backtracking, and all of them together are one automaton that is built while
it is used, as in RE2. Where even that would take long it stops looking: a signal decides when a turn is read, never
whether.

What may be written: letters, `.`, `\\d \\w \\s` and their opposites, `\\b`, `[classes]`, `( )`, `|`, `^`, `$`, and
`* + ? {m,n}` up to 50 repeats. Upper and lower case are the same; `^` and `$` are the ends of a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kenobot.core.pattern_syntax import (
    Alternation,
    Assertion,
    AssertionKind,
    CharTest,
    Concatenation,
    InvalidPattern,
    Repetition,
    Test,
    Tree,
    is_word,
    parse,
)

__all__ = ["MAX_PATTERNS", "InvalidPattern", "PatternSet"]

MAX_PATTERNS = 50
_MOST_NODES = 4000
_MOST_MOVES = 10_000
_OTHER, _WORD, _LINE = 0, 1, 2


@dataclass(slots=True)
class _Node:
    kind: AssertionKind | Literal["char", "split", "match"]
    test: Test | None = None
    out: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _State:
    """Where the automaton may stand before a character, and what stood before that. A move to None is a match."""

    kernel: frozenset[int]
    before: int
    moves: "dict[str, _State | None]" = field(default_factory=dict)


class PatternSet:
    """All patterns at once. Raises BadPattern when one of them cannot be used."""

    def __init__(self, patterns: Sequence[str]) -> None:
        if len(patterns) > MAX_PATTERNS:
            raise InvalidPattern(f"there are more than {MAX_PATTERNS}")
        self._nodes: list[_Node] = []
        self._starts = [self._compile(parse(pattern), self._add("match")) for pattern in patterns]
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._moves = 0

    def search(self, text: str, steps: int) -> bool:
        """Whether any pattern fits anywhere in `text`. Visits no more than about `steps` nodes, then gives up."""
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
            moved = state.moves[char]
            if moved is None:
                return True
            state = moved
        return self._matches(self._closure(state, ""))

    @property
    def cached_moves(self) -> int:
        """How many moves from state to state are known at present."""
        return self._moves

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _state(self, kernel: frozenset[int], before: int) -> _State:
        if self._moves > _MOST_MOVES:
            self._states.clear()
            self._moves = 0
        return self._states.setdefault((kernel, before), _State(kernel, before))

    def _follow(self, closure: set[int], char: str) -> _State | None:
        if self._matches(closure):
            return None
        nodes = (self._nodes[at] for at in closure)
        kernel = frozenset(node.out[0] for node in nodes if node.test is not None and node.test(char))
        return self._state(kernel, _kind(char))

    def _matches(self, closure: set[int]) -> bool:
        return any(self._nodes[at].kind == "match" for at in closure)

    def _closure(self, state: _State, char: str) -> set[int]:
        """Every node that can be reached without reading, `char` being what comes next, "" the end."""
        after = _kind(char) if char else _LINE
        edge = (state.before == _WORD) != (after == _WORD)
        open_kinds = {"split", "word edge" if edge else "no word edge"}
        if state.before == _LINE:
            open_kinds.add("line start")
        if after == _LINE:
            open_kinds.add("line end")
        found: set[int] = set()
        waiting = [*self._starts, *state.kernel]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                if self._nodes[at].kind in open_kinds:
                    waiting.extend(self._nodes[at].out)
        return found

    # ── building ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, kind: AssertionKind | Literal["char", "split", "match"], *out: int, test: Test | None = None) -> int:
        if len(self._nodes) >= _MOST_NODES:
            raise InvalidPattern("with all their repeats they are too long")
        self._nodes.append(_Node(kind, test, list(out)))
        return len(self._nodes) - 1

    def _compile(self, tree: Tree, after: int) -> int:
        """Add the nodes of `tree`, which is followed by node `after`; returns where it begins."""
        match tree:
            case CharTest(test):
                return self._add("char", after, test=test)
            case Assertion(kind):
                return self._add(kind, after)
            case Concatenation(items):
                for item in reversed(items):
                    after = self._compile(item, after)
                return after
            case Alternation(items):
                return self._add("split", *(self._compile(item, after) for item in items))
            case Repetition(item, least, most):
                return self._repeat(item, least, most, after)

    def _repeat(self, item: Tree, least: int, most: int | None, after: int) -> int:
        start = after
        if most is None:
            start = self._add("split", after)
            self._nodes[start].out.append(self._compile(item, start))
        for _ in range((most or least) - least):
            start = self._add("split", after, self._compile(item, start))
        for _ in range(least):
            start = self._compile(item, start)
        return start


def _kind(char: str) -> int:
    if char == "\n":
        return _LINE
    return _WORD if is_word(char) else _OTHER
