"""What an expert adds to the rules is measured through the passes of sleep, on data that says what is right."""

from collections import Counter
from dataclasses import replace

from bench.experts import Data, judge_errors, judge_pairs, load


def test_every_kind_is_there_in_the_same_number_of_both_languages() -> None:
    """No text stands twice, so an answer belongs to one entry."""
    data = load()
    texts = [*(text for one, other, _ in data.pairs for text in (one, other)), *(text for text, _ in data.errors)]
    assert len(set(texts)) == len(texts)
    assert Counter(kind for *_, kind in data.pairs) == {"repeat": 16, "contradiction": 10, "independent": 14}
    assert set(Counter(kind for _, kind in data.errors).values()) == {8}


async def test_a_careful_model_adds_to_the_rules() -> None:
    """What it says of an error stands; pairs that have nothing to do with each other stay apart with and without it."""
    data = replace(load(), pairs=(*load().pairs[:4], *load().pairs[26:30]), errors=load().errors[:40:5])
    asked = await judge_errors(data, "none", asked=True)
    assert all(set(counts) == {True} for counts in asked.values())
    for with_model in (False, True):
        pairs = await judge_pairs(data, "none", asked=with_model)
        assert pairs["independent"] == {True: 4}


async def test_a_wrong_verdict_counts_as_wrong() -> None:
    """The figure can fall: it is read from what stands in memory afterwards."""
    data = Data(
        [("I like green tea", "I like green tea a lot", "independent")], [("Error: our parser crashed", "user")]
    )
    assert await judge_errors(data, "none", asked=False) == {"user": {False: 1}}
