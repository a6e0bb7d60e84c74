"""Order what is found of one thing: once for what says the same, and the newer before the older that it may replace.

Without a model a statement that changes another one in words that no rule knows leaves both standing, and the older
one is often nearer to the question: it was told when the thing was new, by its full name. Whether the newer is rather
meant is a logistic regression over both (`newer_first.json`, made by `python -m bench.learn_newer_first`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources

from kenobot.cognitive.recall.results.memory import Excerpt, FoundItem, RecalledMemory
from kenobot.cognitive.recall.results.trace import AgePair
from kenobot.cognitive.recall.scoring.weights import weigh
from kenobot.cognitive.recall.search.on_show import content_words
from kenobot.core import lazy
from kenobot.language.references import tells_change
from kenobot.language.words import fold, head_and_tail, stems
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import ItemKey

FEATURE_NAMES = ("shared", "newer near", "older near", "apart", "figures", "tells a change", "place")

FIRST = 3
"""Items that may give way to a newer one."""

_SAME_WORDS = 0.8  # of a turn's words that a memory has which says the same: openings are left out of it
_MOST = 12  # items that are looked at
_MOST_SHARED = 3
_SECONDS = 19  # characters of a time to its second
_FIGURE = lazy.regex(r"\d")


def find_telling_memories(excerpts: Sequence[Excerpt], memories: Sequence[RecalledMemory]) -> dict[int, int]:
    """Return, by the ids of turns, the record of the first memory that says what a turn says, but for a few words."""
    told = [(each.record.id, content_words(f"{each.record.subject} {each.record.text}")) for each in memories]
    found: dict[int, int] = {}
    for excerpt in excerpts:
        said = content_words(head_and_tail(excerpt.turn.text))
        least = _SAME_WORDS * len(said)
        for number, known in told:
            if (shared := said & known) and len(shared) >= least:
                found[excerpt.turn.id] = number
                break
    return found


def newer_first(items: Sequence[FoundItem], pairs: Sequence[AgePair]) -> list[FoundItem]:
    """Put before each of the first items a newer one that is rather meant. pairs: of `age_pairs`."""
    weights = _load_weights()
    by_key = {each.key: each for each in items}
    return [by_key[key] for key in move_newer(list(by_key), pairs, weights, weights["least"])]


def move_newer(
    keys: Sequence[ItemKey], pairs: Sequence[AgePair], weights: Mapping[str, float], least: float
) -> list[ItemKey]:
    """Move the newer of each pair before the older one, of the first items, where its probability is `least`."""
    found = list(keys)
    for pair in pairs:
        at, place = found.index(pair.older), found.index(pair.newer)
        if at < FIRST and at < place and weigh(weights, FEATURE_NAMES, pair.features) >= least:
            found.insert(at, found.pop(place))
    return found


def age_pairs(items: Sequence[FoundItem]) -> list[AgePair]:
    """Return each of the first items with each newer one behind it, by the place of the newer.

    Questions, replies and talk of several people have no part in it, nor what was said in one message.
    """
    said = [_statement(each) for each in items[:_MOST]]
    return [
        AgePair(items[at].key, items[place].key, tuple(_features(older, newer, at, place)))
        for place, newer in enumerate(said)
        for at, older in enumerate(said[: min(place, FIRST)])
        if newer is not None and older is not None and newer.is_later_than(older)
    ]


@dataclass(frozen=True, slots=True)
class _Statement:
    """Statement of a person. near: to the question."""

    text: str
    at: str
    near: float
    stems: frozenset[str]
    messages: frozenset[int]

    def is_later_than(self, other: "_Statement") -> bool:
        return other.at < self.at and self.messages.isdisjoint(other.messages)


def _statement(item: FoundItem) -> _Statement | None:
    """Return what an item states of a person's own affairs; None for another."""
    if item.only_asks:
        return None
    text = fold(item.text)
    found = frozenset(stem for word in content_words(text) for stem in stems(word))
    if isinstance(item, RecalledMemory):
        record = item.record
        at, near = record.last_seen or record.created, item.relevance_parts.get("meaning", 0.0)
        return _Statement(text, at[:_SECONDS], near, found, frozenset(record.source_message_ids))
    if item.turn.role != "user" or item.turn.line.name:
        return None
    messages = frozenset[int]() if item.turn.inbox_id is None else frozenset({item.turn.inbox_id})
    return _Statement(text, item.turn.at[:_SECONDS], item.near or 0.0, found, messages)


def _features(older: _Statement, newer: _Statement, at: int, place: int) -> Iterator[float]:
    """Yield the values of `FEATURE_NAMES`."""
    yield min(_MOST_SHARED, len(older.stems & newer.stems))
    yield newer.near
    yield older.near
    yield (place - at) / _MOST
    yield float(_FIGURE.search(older.text) is not None and _FIGURE.search(newer.text) is not None)
    yield float(tells_change(newer.text))
    yield at / FIRST


@lru_cache(1)
def _load_weights() -> Mapping[str, float]:
    """Read the weights by feature and of "always", in log-odds, and the least probability that suffices."""
    text = resources.files(__package__).joinpath("newer_first.json").read_text("utf-8")
    found: Mapping[str, float] = json.loads(text)["weights"]
    return found
