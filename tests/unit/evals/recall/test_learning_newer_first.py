"""Learning when a newer statement comes before the older one that it may replace."""

import pytest

pytest.importorskip("numpy")

from bench import learn_newer_first, unknown
from kenobot.cognitive.recall.results.trace import AgePair
from kenobot.cognitive.recall.search.one_thing import FEATURE_NAMES
from kenobot.ports.recall import ItemKey


def _asked(at: int, source: str, *, replaces: bool) -> learn_newer_first.Asked:
    """Four items, the last newer than the first: it answers where it tells a change, else the third does."""
    order: list[ItemKey] = [("record", number) for number in range(4)]
    features = {"tells a change": float(replaces)}
    pair = AgePair(order[0], order[3], tuple(features.get(name, 0.5) for name in FEATURE_NAMES))
    answering = frozenset({order[3] if replaces else order[2]})
    return learn_newer_first.Asked(source, at % unknown.FOLDS, order, [pair], answering)


def test_what_replaces_comes_first_and_what_does_not_stays_behind() -> None:
    some = [_asked(at, "chats", replaces=at % 2 == 0) for at in range(60)]
    least, _ = learn_newer_first.choose_least(some)
    weights = learn_newer_first.learn(some)
    assert [each.gain(weights, least) for each in some] == [1, 0] * 30


def test_nothing_comes_first_where_the_notes_would_lose_by_it() -> None:
    some = [_asked(at, "chats", replaces=True) for at in range(20)]
    some += [_asked(at, "own", replaces=False) for at in range(200)]
    least, lines = learn_newer_first.choose_least(some)
    assert all("own +0 -0" in line for line in lines if line.startswith(f"{least:.2f}"))
