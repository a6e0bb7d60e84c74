"""Find the memories that a person means, by words, number or key. For what must not guess: forgetting, correcting."""

import math
from collections.abc import Sequence
from functools import partial

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.candidates.by_words import LexicalHit, search_records
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.remember.extract.known_memories import NearSearch
from kenobot.cognitive.store import records
from kenobot.language.fingerprint import key_of, normalise
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.number_words import parse_number
from kenobot.language.words import fold, stems, words
from kenobot.ports.memory_changes import AmbiguousReference
from kenobot.ports.recall import MatchedMemory, Matches
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names

_NEAR = 50
_FRESH = 300  # newest records that an index may not know yet
_SHOWN = 5
_ALL = 1.0  # of words that say little: "the van", which is a verb in Spanish
_BEGINNING = 3  # letters
_ROUNDING = 1e-9
_POLICY = DEFAULT.control


def find_memories(connection: Connection, text: str, reach: Scopes, *, search: NearSearch | None = None) -> Matches:
    """Find the live records within `reach` that `text` may mean, the likeliest first.

    Words count by their stems, function words do not, but for a text that has no others. Without an index the newest
    records are compared.
    """
    wanted = _words(text)
    least = _POLICY.match_from_share if any(word not in STOPWORDS for word in words(text)) else _ALL
    said = normalise(text)
    numbers = list(search(connection, text, reach, _NEAR)) if search else []
    numbers += _compare(connection, wanted, reach, _FRESH if search else _POLICY.max_records_compared)
    numbers += records.ids_with_key_prefix(connection, key_of(text), reach, _NEAR)
    found: list[MatchedMemory] = []
    for record in records.by_ids(connection, list(dict.fromkeys(numbers)), reach).values():
        if record.status != "active" or record.form == "summary":  # what it tells, the memories it is made of say
            continue
        exact = bool(said) and said == normalise(record.text)
        share = 1.0 if exact else _share(wanted, record.text)
        if share >= least:
            found.append(MatchedMemory(record, share, exact))
    found.sort(key=lambda meant: (not meant.exact, -meant.overlap, len(meant.record.text), -meant.record.id))
    return Matches(found[: _POLICY.max_offered])


def index_search(index: SideIndex) -> NearSearch:
    """Search an index as it stands: for use within a transaction, of which it must not learn yet."""

    def search(connection: Connection, text: str, reach: Scopes, limit: int) -> Sequence[int]:
        return search_index(index, text, reach, limit)

    return search


def search_index(index: SideIndex, text: str, reach: Scopes, limit: int) -> Sequence[int]:
    """Find the live records within `reach` that share most words with a text, the best first."""
    none: list[LexicalHit] = []
    found = index.read(partial(search_records, scopes=scope_names(reach), text=text, policy=DEFAULT.recall), none)
    return [each.id for each in found[:limit]]


def word_overlap(request: str, text: str) -> float:
    """Measure how much of what a request says a text says: 0 to 1."""
    return _share(_words(request), text)


class OverlapSieve:
    """Measure texts against the words of a request, by their letters first, which is cheap.

    least: the share of the request's words that a text has to say.
    """

    def __init__(self, request: str, least: float) -> None:
        self._wanted = _words(request)
        self._least = least
        self._most_missed = len(self._wanted) - math.ceil(least * len(self._wanted) - _ROUNDING)
        self._beginnings = [tuple(_beginning(stem) for stem in word) for word in self._wanted]

    def measure(self, text: str) -> float:
        """Measure as `word_overlap` does; 0 for a text that says less than the least share."""
        folded, missed = fold(text), 0
        for word in self._beginnings:
            if not any(beginning in folded for beginning in word):
                missed += 1
                if missed > self._most_missed:
                    return 0.0
        share = _share(self._wanted, text)
        return share if share >= self._least else 0.0


def _words(text: str) -> list[tuple[str, ...]]:
    """Split a request into content words, by their stems; all words when there are none."""
    every = list(dict.fromkeys(words(text)))
    return [stems(word) for word in every if word not in STOPWORDS] or [stems(word) for word in every]


def _beginning(stem: str) -> str:
    """Return letters that each word with this stem has.

    A stemmer changes the end of a word, most of a short one, and letters such as ё.
    """
    return stem[:_BEGINNING] if stem.isascii() and len(stem) > _BEGINNING else stem[:1]


def _share(wanted: Sequence[tuple[str, ...]], text: str) -> float:
    first = {stem[0] for word in wanted for stem in word}  # no stem begins with another letter than its word
    said = {stem for word in words(text) if word[0] in first for stem in stems(word)}
    return sum(bool(said.intersection(word)) for word in wanted) / len(wanted) if wanted else 0.0


def _compare(connection: Connection, wanted: Sequence[tuple[str, ...]], reach: Scopes, newest: int) -> list[int]:
    """Rank the newest live records by how much of `wanted` they say; letter by letter first, which is cheap."""
    beginnings = [tuple(stem[:3] for stem in word) for word in wanted]
    ranked = []
    for number, text in records.iterate_newest_live(connection, reach, newest):
        folded = fold(text)
        hits = sum(any(beginning in folded for beginning in word) for word in beginnings)
        if wanted and hits / len(wanted) >= _POLICY.match_from_share:
            ranked.append((-hits, -number))
    return [-number for _, number in sorted(ranked)[:_NEAR]]


def resolve_reference(connection: Connection, text: str, reach: Scopes, *, live: bool = False) -> Record:
    """Find the record within `reach` that `text` names: by number, whole key, or an unambiguous beginning of that.

    live: only what is remembered now can be meant. Nothing is guessed: raises AmbiguousReference.
    """
    wanted = text.strip()
    if not wanted:
        raise AmbiguousReference("memory.unnamed")
    number = parse_number(wanted)
    if number is not None:
        record = records.get(connection, number, reach)
        if record is not None and (record.status == "active" or not live):
            return record
        if wanted.startswith("#") or len(wanted) < _POLICY.shortest_prefix:
            raise _no_match(wanted, record)
    if len(wanted) < _POLICY.shortest_prefix:
        raise AmbiguousReference("memory.short_name", wanted=repr(wanted), shortest=_POLICY.shortest_prefix)
    numbers = records.ids_with_key_prefix(connection, wanted, reach, _SHOWN + 1)
    by_id = records.by_ids(connection, numbers, reach)
    candidates = [by_id[number] for number in numbers]
    exact = [record for record in candidates if record.key == wanted]
    named = exact or candidates
    fitting = [record for record in named if record.status == "active"] or ([] if live else named)
    if not fitting:
        raise _no_match(wanted, candidates[0] if len(candidates) == 1 else None)
    if len(fitting) > 1:
        several = ", ".join(f"#{record.id}" for record in fitting[:_SHOWN])
        raise AmbiguousReference("memory.ambiguous", wanted=repr(wanted), several=several)
    return fitting[0]


def _no_match(wanted: str, record: Record | None) -> AmbiguousReference:
    if record is not None:
        return AmbiguousReference("memory.not_live", wanted=repr(wanted), record=record.id, status=record.status)
    return AmbiguousReference("memory.not_found", wanted=repr(wanted))
