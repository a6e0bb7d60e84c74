"""Dialogues in which one thing ends, or none: what they do to memories that stand."""

from pathlib import Path

from kenobot_evals.life.harm import Dialogue, HarmScore, load_harm, play, play_in_a_home

ENDS = Dialogue("es", ("apunta que entro a trabajar a las 7 y media", "desde mañana entro a trabajar a las 13"), ends=1)
PART = Dialogue(
    "en", ("My yoga is on Mondays with Ruth", "yoga has moved to Tuesdays from now on"), ends=1, rest="with Ruth"
)
REMARK = Dialogue("en", ("My sister lives in Leeds", "it rained all day"))


async def test_a_change_is_applied_by_a_truthful_yes() -> None:
    """What the message makes untrue is over in the end, and nothing else is."""
    score = HarmScore("alone")
    await play(ENDS, score)
    assert (score.changes, score.held, score.with_answers, score.harm) == (1, 1, 1, 0)


async def test_a_memory_without_the_value_that_ended_is_applied() -> None:
    """Its other words may stay, as far as they hold."""
    score = HarmScore("alone")
    await play(PART, score)
    assert (score.held, score.with_answers, score.harm) == (1, 1, 0)


async def test_one_home_counts_the_memories_of_all_dialogues() -> None:
    """Each message before the last ones is told first; none of them is lost."""
    score = HarmScore("in a home")
    await play_in_a_home([ENDS, REMARK], score)
    assert (score.dialogues, score.told, score.kept, score.messages, score.harm) == (2, 2, 2, 4, 0)


async def test_what_ends_though_it_still_holds_is_harm() -> None:
    """A memory that the dialogue does not end is gone: it is told with its words."""
    score = HarmScore("alone")
    await play(Dialogue("en", ("I live in Paris", "I live in Lyon now")), score)
    assert score.harm == 1
    assert "I live in Paris" in score.faults[0]


def test_dialogues_are_read_from_files(tmp_path: Path) -> None:
    """Without `ends` nothing ends; `rest` is what stays true of the message that ends."""
    path = tmp_path / "some.toml"
    path.write_text(
        '[[dialogue]]\nsays = ["a", "b"]\n[[dialogue]]\nlanguage = "es"\nsays = ["c, d", "e"]\nends = 1\nrest = "d"\n'
    )
    assert load_harm([path]) == [Dialogue("en", ("a", "b")), Dialogue("es", ("c, d", "e"), 1, "d")]
