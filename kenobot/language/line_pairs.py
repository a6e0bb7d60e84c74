"""Pair the lines of all files that were edited in one save: what stayed, moved, changed, came and went. Pure.

Lines that say the same are paired first, in their own file and then across files; of the rest those that are most
alike, in their own file before others. A line is taken for a corrected one only when its record stands nowhere else:
what stands in some file was not rewritten.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from kenobot.language.fingerprint import key_of
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass

_COMPARED = 2_000  # characters of a line that tell what it is like
_PIECE = 3  # characters
_RAREST = 12  # pieces of a line by which lines like it are looked up
_SHARED_BY = 50  # lines with a piece; a more common one finds nothing
_CLOSEST = 8  # lines that are compared with one

Origin = Literal["kept", "changed", "moved", "copied", "rewritten"]
"""How a line came: it stood here as it is, or in other words; it stood in another file, or in several of which one
or more still show it; or it stood in another file in other words."""
Place = tuple[int, int]
"""A file and a line, by their positions."""


@dataclass(frozen=True, slots=True)
class FileLines:
    """Lines of an edited file. old: records, None for none, and words as noted. new: words as found.

    scope: whose file it is: lines move within a scope. whole: the file is one text, whatever it says. chunks: the text
    as found, cut. places: for each new line, the chunk that it stands in. marked: records that are noted as what others
    said.
    """

    path: str
    scope: str
    old: Sequence[tuple[int | None, str]]
    new: Sequence[str]
    whole: bool = False
    chunks: Sequence[str] = ()
    places: Sequence[int] = ()
    marked: Collection[int] = frozenset()

    @property
    def change_count(self) -> int:
        """Count roughly the lines that came and went."""
        return len({text for _, text in self.old}.symmetric_difference(self.new))


@dataclass(frozen=True, slots=True)
class LineEdits:
    """Edits of the lines of one file.

    origins: for new lines, how they came and the record that stood there; a line without any was added. removed:
    records that went from here and stand nowhere. left: those that stand elsewhere, with the file. gone_from: for
    records changed here, the files of the save that show them no more. touched: lines that came or went.
    """

    origins: dict[int, tuple[Origin, int | None]] = field(default_factory=dict)  # bounded: the lines of a file; turn
    removed: tuple[int, ...] = ()
    left: dict[int, str] = field(default_factory=dict)  # bounded: the lines of a file; turn
    gone_from: dict[int, list[str]] = field(default_factory=dict)  # bounded: the lines of a save; turn
    touched: int = 0


def likeness(one: str, other: str) -> float:
    """Measure how alike two lines are by the pieces of their words, from 0 to 1, in every script; symmetric."""
    return _dice(_pieces(one), _pieces(other))


def pair_lines(files: Sequence[FileLines], alike_from: float, copies: Mapping[int, Collection[str]]) -> list[LineEdits]:
    """Tell for each file what became of its lines.

    alike_from: likeness from which on a line is taken for a corrected one. copies: records that their owner put into
    several files, edited or not, and these files: each copy counts for itself.
    """
    pairs = _Pairs(files, copies)
    pairs.match_same(lambda text: text, across=False)
    pairs.match_same(key_of, across=True)
    pairs.match_alike(alike_from)
    return pairs.result()


class _Pairs:
    """Pairs of old and new lines, of which those without a partner are loose."""

    def __init__(self, files: Sequence[FileLines], copies: Mapping[int, Collection[str]]) -> None:
        self._files = files
        self._copies = copies
        edited = {file.path for file in files}
        unedited = {record: [path for path in paths if path not in edited] for record, paths in copies.items()}
        self._standing = {record: paths[0] for record, paths in unedited.items() if paths}  # where one still stands
        self._origins: list[dict[int, tuple[Origin, int | None]]] = [{} for _ in files]
        # bounded: the lines of a save; turn
        self._cut: list[set[int]] = [set() for _ in files]  # records of which a copy went from a file to another
        self._paired: set[Place] = set()  # bounded: the lines of a save; turn
        self._old = [(at, i) for at, file in enumerate(files) for i in range(len(file.old))]
        self._new = [(at, j) for at, file in enumerate(files) for j in range(len(file.new))]

    def _record(self, old: Place) -> int | None:
        return self._files[old[0]].old[old[1]][0]

    def _pair(self, old: Place, new: Place, *, same: bool) -> None:
        record = self._record(old)
        moved: Origin = "copied" if record in self._copies else "moved"
        how: Origin = ("kept" if same else "changed") if old[0] == new[0] else moved if same else "rewritten"
        self._origins[new[0]][new[1]] = (how, record)
        self._paired.add(old)
        if how == "copied" and record is not None:
            self._cut[old[0]].add(record)
        path = self._files[new[0]].path
        if record is not None and same and (how == moved or path in self._copies.get(record, ())):
            self._standing.setdefault(record, path)

    def _loosen(self) -> None:
        self._old = [place for place in self._old if place not in self._paired]
        self._new = [(at, j) for at, j in self._new if j not in self._origins[at]]

    def _home(self, at: int, *, across: bool) -> Hashable:
        """Name what the lines of a file are compared within: the file itself, or all lists of its scope."""
        return self._files[at].scope if across and not self._files[at].whole else at

    def match_same(self, said: Callable[[str], str], *, across: bool) -> None:
        """Pair loose lines that say the same, in order; in the same file first."""
        loose: dict[tuple[Hashable, str], deque[Place]] = defaultdict(deque)
        for at, i in self._old:
            record, text = self._files[at].old[i]
            if record is not None or not across:
                loose[self._home(at, across=across), said(text)].append((at, i))
        for at, j in self._new if loose else ():
            text = self._files[at].new[j]
            if found := loose.get((self._home(at, across=across), said(text))):
                old = next((place for place in found if place[0] == at), found[0])
                found.remove(old)
                self._pair(old, (at, j), same=old[0] != at or self._files[at].old[old[1]][1] == text)
        self._loosen()

    def match_alike(self, least: float) -> None:
        """Pair loose lines that are most alike; the record of a line that was a copy, or still stands beside it, is no
        line's origin.
        """
        for across in (False, True):
            without = [{None, *self._standing, *self._list_kept(at)} for at in range(len(self._files))]
            olds = [place for place in self._old if self._record(place) not in without[place[0]]]
            came: set[Place] = set()
            for _, _, old, new in sorted(self._pair_alike(olds, least, across=across)):
                if old not in self._paired and new not in came:
                    self._pair(old, new, same=False)
                    came.add(new)
            self._loosen()

    def _pair_alike(
        self, olds: Sequence[Place], least: float, *, across: bool
    ) -> Iterator[tuple[float, int, Place, Place]]:
        """Yield pairs of loose lines that are alike, with what sorts the best first: likeness, then nearness."""
        before, after = defaultdict[Hashable, list[Place]](list), defaultdict[Hashable, list[Place]](list)
        for places, by_home in ((olds, before), (self._new, after)):
            for place in places:
                by_home[self._home(place[0], across=across)].append(place)
        for home, candidates in before.items():
            index = _PieceIndex([self._files[at].old[i][1] for at, i in candidates])
            for new in after[home]:
                if self._files[new[0]].whole:  # whatever the one text says now, it takes the place of what it said
                    yield 0.0, 0, candidates[0], new
                    continue
                for number, alike in index.find_closest(self._files[new[0]].new[new[1]], least):
                    yield -alike, abs(candidates[number][1] - new[1]), candidates[number], new

    def result(self) -> list[LineEdits]:
        """Tell what became of each file's lines."""
        found: list[LineEdits] = []
        gone_from = self._find_gone()
        for at, file in enumerate(self._files):
            gone = [i for i in range(len(file.old)) if (at, i) not in self._paired]
            records = [record for record in dict.fromkeys(file.old[i][0] for i in gone) if record is not None]
            ended = {record for how, record in self._origins[at].values() if how == "changed"}
            kept = self._list_kept(at)
            lives = {*self._standing, *ended, *kept}
            went = self._cut[at].union(records).difference(kept)
            found.append(
                LineEdits(
                    origins=self._origins[at],
                    removed=tuple(r for r in records if r not in lives),
                    left={r: self._standing[r] for r in sorted(went) if self._standing.get(r, file.path) != file.path},
                    gone_from={r: gone_from[r] for r in ended if r is not None},
                    touched=max(len(file.old), len(file.new)) - len(kept),
                )
            )
        return found

    def _list_kept(self, at: int) -> list[int | None]:
        return [record for how, record in self._origins[at].values() if how == "kept"]

    def _find_gone(self) -> dict[int, list[str]]:
        """Find for each record the files that show it no more."""
        found = defaultdict[int, list[str]](list)
        for at, file in enumerate(self._files):
            kept = set(self._list_kept(at))
            for record in dict.fromkeys(record for record, _ in file.old):
                if record is not None and record not in kept:
                    found[record].append(file.path)
        return found


class _PieceIndex:
    """Finds the texts most like one without comparing it with all of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._pieces = [_pieces(text) for text in texts]
        self._with: dict[str, list[int]] = defaultdict(list)  # bounded: the pieces of the lines of a save; turn
        for number, pieces in enumerate(self._pieces):
            for piece in pieces:
                self._with[piece].append(number)

    def find_closest(self, text: str, least: float) -> Iterator[tuple[int, float]]:
        """Yield the closest texts, by number, that are alike at least so much."""
        pieces = _pieces(text)
        known = sorted((len(self._with[piece]), piece) for piece in pieces if piece in self._with)
        shared: Counter[int] = Counter()
        for _, piece in known[:_RAREST]:
            shared.update(self._with[piece][:_SHARED_BY])
        for number, _ in shared.most_common(_CLOSEST):
            alike = _dice(pieces, self._pieces[number])
            if alike >= least:
                yield number, alike


def _pieces(text: str) -> frozenset[str]:
    """Cut the words that mean something, with a blank at both ends, into pieces of three characters."""
    said = words(text[:_COMPARED])
    meant = [word for word in said if word not in STOPWORDS] or said or [fold(text[:_COMPARED])]
    padded = [f" {word} " for word in meant]
    return frozenset(word[at : at + _PIECE] for word in padded for at in range(max(1, len(word) - _PIECE + 1)))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
