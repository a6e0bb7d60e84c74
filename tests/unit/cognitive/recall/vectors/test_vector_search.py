"""Vectors in memory: what is at hand is bounded, what is found is within reach, and odd ones break nothing."""

import pytest

np = pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.cognitive.policy import DEFAULT  # noqa: E402
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration  # noqa: E402
from kenobot.cognitive.recall.vectors.texts import VectorKey, passage_text, query_text  # noqa: E402
from kenobot.cognitive.recall.vectors.vector_search import VectorIndex, decode_vectors, encode_vector, have_unit_length  # noqa: E402 - needs numpy
from tests.unit.cognitive.recall.house import relevant  # noqa: E402

WIDE = SimilarityCalibration(unrelated=0.0, answer=0.5, apart=0.0, alike=0.9)


def test_what_is_at_hand_is_bounded() -> None:
    """The vectors of the last few hundred texts of each kind; the one that was not asked for the longest goes."""
    meaning = VectorIndex(("m",))
    row = np.ones(4, np.float32)
    for number in range(DEFAULT.meaning.cached_texts + 50):
        meaning.cache("m", "query", [f"text {number}"], [row])
        assert meaning.get_cached("m", "query", "text 0") is not None, "what is asked for stays"
    assert meaning.get_cached("m", "query", "text 1") is None
    assert meaning.get_cached("m", "query", f"text {DEFAULT.meaning.cached_texts + 49}") is not None
    assert meaning.get_cached("m", "passage", "text 0") is None
    meaning.clear_cache()
    assert meaning.get_cached("m", "query", "text 0") is None


def test_nothing_is_found_before_it_is_known_what_cosines_mean() -> None:
    """And nothing by a vector of another size, which another release of a model may give."""
    meaning = VectorIndex(("m",))
    meaning.put("record", "m", [VectorKey(1, "owner", "owner")], np.array([[1, 0, 0, 0]], np.float32))
    meaning.cache("m", "query", ["cat", "odd"], [[1, 0, 0, 0], [1, 0]])
    meaning.cache("m", "passage", ["cat", "odd"], [[1, 0, 0, 0], [1, 0]])
    assert relevant(meaning, "cat", None) == {}
    meaning.set_calibration("m", WIDE)
    assert relevant(meaning, "cat", None) == {1: 1.0}
    assert meaning.similar_records("cat", None, 5) == [1]
    assert relevant(meaning, "odd", None) == {}
    assert meaning.similar_records("odd", None, 5) == []
    assert meaning.accepts("m", 4)
    assert not meaning.accepts("m", 2)


def test_scopes_are_kept_apart() -> None:
    """Nobody finds what is not theirs, however near."""
    meaning = VectorIndex(("m",))
    meaning.set_calibration("m", WIDE)
    rows = np.tile(np.array([[0.6, 0.8, 0, 0]], np.float32), (3, 1))
    meaning.put("record", "m", [VectorKey(1, "owner"), VectorKey(2, "user:a"), VectorKey(3, "chat:c")], rows)
    meaning.put("turn", "m", [VectorKey(7, "chat:c"), VectorKey(8, "chat:d")], rows[:2])
    meaning.cache("m", "query", ["cat"], [rows[0]])
    assert set(relevant(meaning, "cat", ("owner", "chat:c"))) == {1, 3}
    assert set(relevant(meaning, "cat", ("owner", "chat:c"), turns=True)) == {7}
    assert relevant(meaning, "cat", ()) == {}
    assert set(relevant(meaning, "cat", None)) == {1, 2, 3}


def test_what_is_wanted_in_any_case_is_compared() -> None:
    """Also where so many others are nearer that it would not be among them."""
    meaning = VectorIndex(("m",))
    meaning.set_calibration("m", WIDE)
    rows = np.zeros((100, 4), np.float32)
    rows[:, 0] = 1
    rows[99] = [0.6, 0.8, 0, 0]
    meaning.put("record", "m", [VectorKey(number, "owner") for number in range(100)], rows)
    meaning.cache("m", "query", ["cat"], [rows[0]])
    assert 99 not in relevant(meaning, "cat", None)
    assert relevant(meaning, "cat", None, also=[99, 12345])[99] == pytest.approx(0.4667, abs=0.02)


def test_vectors_are_stored_as_they_are() -> None:
    """Of records in 32 bits, of turns in 16, which is near enough; what is no vector of length 1 is told from it."""
    row = np.array([0.6, 0.8, 0, 0], np.float32)
    assert decode_vectors([encode_vector(row), encode_vector(row)]).tolist() == [row.tolist()] * 2
    assert np.allclose(decode_vectors([encode_vector(row, half=True)], half=True), row, atol=1e-3)
    odd = np.array([row, row * 2, row * 0, [np.nan] * 4, [np.inf, 0, 0, 0]], np.float32)
    assert have_unit_length(odd) == [True, False, False, False, False]


def test_of_long_texts_the_telling_parts_count() -> None:
    """Of a passage the beginning, of a message both ends; blanks and breaks do not matter."""
    policy = DEFAULT.meaning
    assert passage_text(" a \n b ", policy) == query_text(" a \n b ", policy) == "a b"
    assert len(passage_text("word " * 9999, policy)) <= policy.passage_chars
    asked = query_text("Hello! " + "so it was " * 500 + "where is my key?", policy)
    assert asked.startswith("Hello!")
    assert asked.endswith("where is my key?")
    assert len(asked) <= policy.query_chars + 3
