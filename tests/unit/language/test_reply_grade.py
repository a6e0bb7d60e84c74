"""What a reply looks like from outside."""

from typing import Any

import pytest

from kenobot.language.reply_grade import grade_reply
from kenobot.ports.turns import ReplyGrade
from tests.unit.postprocessors.recorded import recorded

PLAIN = "The kettle is on the stove and the tea is in the cupboard."


def test_a_plain_answer_is_good() -> None:
    """Nothing to remark on is a full score."""
    assert grade_reply(PLAIN, "Where is the tea?") == ReplyGrade("good", 1.0)


@pytest.mark.parametrize("reply", ["", " \n\t"])
def test_an_empty_reply_is_poor(reply: str) -> None:
    """Saying nothing is the one thing that is too short."""
    assert grade_reply(reply) == ReplyGrade("poor", 0.4, ("response_too_short",))


@pytest.mark.parametrize("reply", ["4", "Sí.", "👍"])
def test_one_sign_can_be_an_answer(reply: str) -> None:
    """A short question has a short answer."""
    assert grade_reply(reply, "2 + 2?").score == 1.0


def test_a_long_question_deserves_more_than_a_few_words() -> None:
    """A few words after a long question are a signal."""
    assert grade_reply("No.", "why " * 40).signals == ("response_shorter_than_expected",)


@pytest.mark.parametrize(
    "reply",
    [
        "Perhaps it is in the cupboard.",
        "I'm really not sure about the cupboard.",
        "I don't know, but it isn't certain at all.",
        "Quizás está en el armario.",
        "No estoy muy segura del armario.",
        "Parece que está en el armario.",
    ],
)
def test_one_hedge_is_mild(reply: str) -> None:
    """English and Spanish hedges are both heard."""
    assert grade_reply(reply) == ReplyGrade("good", 0.9, ("mild_hedging",))


def test_many_hedges_in_a_few_words_are_excessive() -> None:
    """Three hedges in a sentence cost more than one."""
    assert grade_reply("Maybe it is possibly in the cupboard, I guess.").signals == ("excessive_hedging",)


def test_many_hedges_in_a_long_text_are_mild() -> None:
    """A careful page may hedge now and then."""
    words = " ".join(f"{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10 % 10]}" for number in range(100))
    assert grade_reply(f"Maybe {words}. Perhaps {words}. Possibly {words}.").signals == ("mild_hedging",)


def test_the_same_words_again_and_again_are_repetition() -> None:
    """Repeating words within a stretch of text is a signal, in a long text too."""
    assert "high_repetition" in grade_reply("kettle stove kettle stove kettle stove kettle stove kettle").signals
    assert "high_repetition" in grade_reply("Put the kettle on the stove right now. " * 40).signals


def test_the_same_sentence_again_is_repetition() -> None:
    """A sentence that comes back word for word is a signal even when its words differ among themselves."""
    apples = "one lorry carries apples while seven ships bring pears through storms beyond winter harbours"
    sentence = f"{apples}, {apples[::-1]}."
    assert "high_repetition" in grade_reply(f"{sentence} {sentence} {sentence}").signals


def test_signals_add_up() -> None:
    """Several flaws cost more than one, and below the bar a reply is only fair."""
    reply = "Maybe kettle, maybe kettle, maybe kettle, kettle kettle kettle kettle kettle."
    result = grade_reply(reply)
    assert result == ReplyGrade("fair", 0.5, ("excessive_hedging", "high_repetition"))


def test_memories_that_left_no_word_are_unused() -> None:
    """A shown memory without a trace in the reply is a signal that costs nothing."""
    assert grade_reply(PLAIN, "", ["The user owns a bicycle"]) == ReplyGrade("good", 1.0, ("unused_memory",))


@pytest.mark.parametrize("shown", [[], ["likes TEA from a Kettle"], ["he is 42"]])
def test_memories_that_left_a_word_or_have_none_are_not_unused(shown: list[str]) -> None:
    """One content word in common is use enough, and without content words nothing can be said."""
    assert grade_reply(PLAIN, "", shown).signals == ()


def test_a_huge_reply_is_graded_by_its_beginning() -> None:
    """A megabyte takes no longer than a page."""
    assert grade_reply(PLAIN + " " * 30_000 + "maybe " * 100_000).signals == ()


@pytest.mark.parametrize("case", recorded("metacognition.self_monitor"))
def test_recorded_cases(case: dict[str, Any]) -> None:
    """The recorded replies get the grades they got."""
    given, expected = case["input"], case["expected"]
    result = grade_reply(given["response"] or "", given["context"].get("userMessage", ""))
    assert (result.quality, result.score, list(result.signals)) == (
        expected["quality"],
        expected["score"],
        expected["signals"],
    )
