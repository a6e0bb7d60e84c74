"""Vectors in memory: what is at hand is bounded, what is found is within reach, and odd ones break nothing."""

import pytest

np = pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.cognitive.policy import DEFAULT  # noqa: E402
from kenobot.cognitive.recall.vectors.calibration import Scale  # noqa: E402
from kenobot.cognitive.recall.vectors.texts import Spot, passage_of, query_of  # noqa: E402
from kenobot.cognitive.recall.vectors.vector_search import Meaning, rows_of, sound, stored  # noqa: E402 - needs numpy

WIDE = Scale(unrelated=0.0, answer=0.5, apart=0.0, alike=0.9)


def test_what_is_at_hand_is_bounded() -> None:
    """The vectors of the last few hundred texts of each kind; the one that was not asked for the longest goes."""
    meaning = Meaning(("m",))
    row = np.ones(4, np.float32)
    for number in range(DEFAULT.meaning.kept + 50):
        meaning.keep("m", "query", [f"text {number}"], [row])
        assert meaning.at_hand("m", "query", "text 0") is not None, "what is asked for stays"
    assert meaning.at_hand("m", "query", "text 1") is None
    assert meaning.at_hand("m", "query", f"text {DEFAULT.meaning.kept + 49}") is not None
    assert meaning.at_hand("m", "passage", "text 0") is None
    meaning.forget_texts()
    assert meaning.at_hand("m", "query", "text 0") is None


def test_nothing_is_found_before_it_is_known_what_cosines_mean() -> None:
    """And nothing by a vector of another size, which another release of a model may give."""
    meaning = Meaning(("m",))
    meaning.put_records("m", [Spot(1, "owner", "owner")], np.array([[1, 0, 0, 0]], np.float32))
    meaning.keep("m", "query", ["cat", "odd"], [[1, 0, 0, 0], [1, 0]])
    meaning.keep("m", "passage", ["cat", "odd"], [[1, 0, 0, 0], [1, 0]])
    assert meaning.records("cat", None) == {}
    meaning.settle_scale("m", WIDE)
    assert meaning.records("cat", None) == {1: 1.0}
    assert meaning.alike("cat", None, 5) == [1]
    assert meaning.records("odd", None) == {}
    assert meaning.alike("odd", None, 5) == []
    assert meaning.fits("m", 4)
    assert not meaning.fits("m", 2)


def test_scopes_are_kept_apart() -> None:
    """Nobody finds what is not theirs, however near."""
    meaning = Meaning(("m",))
    meaning.settle_scale("m", WIDE)
    rows = np.tile(np.array([[0.6, 0.8, 0, 0]], np.float32), (3, 1))
    meaning.put_records("m", [Spot(1, "owner"), Spot(2, "user:a"), Spot(3, "chat:c")], rows)
    meaning.put_turns("m", [Spot(7, "chat:c"), Spot(8, "chat:d")], rows[:2])
    meaning.keep("m", "query", ["cat"], [rows[0]])
    assert set(meaning.records("cat", ("owner", "chat:c"))) == {1, 3}
    assert set(meaning.turns("cat", ("owner", "chat:c"))) == {7}
    assert meaning.records("cat", ()) == {}
    assert set(meaning.records("cat", None)) == {1, 2, 3}


def test_what_is_wanted_in_any_case_is_compared() -> None:
    """Also where so many others are nearer that it would not be among them."""
    meaning = Meaning(("m",))
    meaning.settle_scale("m", WIDE)
    rows = np.zeros((100, 4), np.float32)
    rows[:, 0] = 1
    rows[99] = [0.6, 0.8, 0, 0]
    meaning.put_records("m", [Spot(number, "owner") for number in range(100)], rows)
    meaning.keep("m", "query", ["cat"], [rows[0]])
    assert 99 not in meaning.records("cat", None)
    assert meaning.records("cat", None, also=[99, 12345])[99] == pytest.approx(0.4667, abs=0.02)


def test_vectors_are_stored_as_they_are() -> None:
    """Of records in 32 bits, of turns in 16, which is near enough; what is no vector of length 1 is told from it."""
    row = np.array([0.6, 0.8, 0, 0], np.float32)
    assert rows_of([stored(row), stored(row)]).tolist() == [row.tolist()] * 2
    assert np.allclose(rows_of([stored(row, half=True)], half=True), row, atol=1e-3)
    odd = np.array([row, row * 2, row * 0, [np.nan] * 4, [np.inf, 0, 0, 0]], np.float32)
    assert sound(odd) == [True, False, False, False, False]


def test_of_long_texts_the_telling_parts_count() -> None:
    """Of a passage the beginning, of a message both ends; blanks and breaks do not matter."""
    policy = DEFAULT.meaning
    assert passage_of(" a \n b ", policy) == query_of(" a \n b ", policy) == "a b"
    assert len(passage_of("word " * 9999, policy)) <= policy.passage
    asked = query_of("Hello! " + "so it was " * 500 + "where is my key?", policy)
    assert asked.startswith("Hello!")
    assert asked.endswith("where is my key?")
    assert len(asked) <= policy.query + 3
