"""Lines that say what a memory said before keep their words, with what holds now behind them."""

from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.changes.former_words import Replacement, says_former, update_line, without_notes
from tests.cases import each

SEVEN, EIGHT = "Leo is Carmen's son and is seven", "Leo is Carmen's son and is eight"
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=60)


SAYS = [
    ("2026-11-07 My nephew Leo is seven", SEVEN, EIGHT),
    ("Leo is 7 and goes to school", SEVEN, EIGHT),
    ("Mi sobrino Leo tiene siete años", "Leo tiene 7 años", "Leo tiene 8 años"),
    ("2026-03-01 ahora vivo en Madrid", "Vivo en Madrid", "Vivo en Valencia"),
    ("the gate code is 1234", "The code of the gate is 1234", "The code of the gate is 4471"),
    ("My dentist is Dr. Ruiz", "The dentist is Dr. Ruiz", "The dentist is Dr. Vega"),
    ("I play tennis on Mondays", "I play tennis on Mondays", ""),
]
SILENT = [
    ("2026-11-07 Leo came to dinner", SEVEN, EIGHT),
    ("Marta is seven", SEVEN, EIGHT),
    ("Leo is eight now, he was seven", SEVEN, EIGHT),
    ("The shop opens on day 2026-11-07", SEVEN, EIGHT),
    ("I flew to Madrid", "Vivo en Madrid", "Vivo en Valencia"),
    ("", SEVEN, EIGHT),
    ("I like tennis", "I play tennis on Mondays", ""),
    (SEVEN, SEVEN, SEVEN),
]


@each("text, former, current, expected", [(*case, True) for case in SAYS] + [(*case, False) for case in SILENT])
def test_what_says_the_former(text: str, former: str, current: str, expected: bool) -> None:
    """The words that changed must stand in the line, about the same thing, in Spanish and English, figures or words."""
    assert says_former(text, former, current) is expected


def test_what_holds_now_stands_behind_the_words_and_is_replaced_in_its_turn() -> None:
    """A second correction takes the place of the first; its undo takes it away; the words themselves stay."""
    said = "- 2026-11-07 My nephew Leo is seven"
    once = update_line(said, Replacement(1, SEVEN, 57, EIGHT, lang="en"))
    assert once == f"{said} (Now: {EIGHT} #57)"
    assert update_line(once, Replacement(1, SEVEN, 57, EIGHT, lang="en")) == once
    nine = EIGHT.replace("eight", "nine (almost)")
    twice = update_line(once, Replacement(57, EIGHT, 58, nine, lang="es"))
    assert twice == f"{said} (Ahora: {nine} #58)"
    assert without_notes(twice) == said
    assert update_line(update_line(twice, Replacement(58, nine, 57, EIGHT)), Replacement(57, EIGHT, 1, SEVEN)) == said


def test_what_ended_and_what_lost_a_part() -> None:
    """Without anything in its place a line says that it is no longer so; a part that ended is told by the whole."""
    gone = update_line("I play tennis on Mondays", Replacement(4, "I play tennis on Mondays", 4))
    assert gone == "I play tennis on Mondays (No longer so #4)"
    assert update_line("Leo is seven", Replacement(1, SEVEN, 9, "Leo turned eight", "Leo is Carmen's son")) == (
        "Leo is seven (Now: Leo turned eight #9)"
    )
    assert update_line("Leo is Carmen's son", Replacement(1, SEVEN, 9, "Leo turned eight", "Leo is Carmen's son")) == (
        "Leo is Carmen's son"
    )


@given(line=TEXTS, former=TEXTS, current=TEXTS)
def test_the_words_of_a_line_stay(line: str, former: str, current: str) -> None:
    """Whatever was corrected, a line begins with its own words, and a second time adds nothing."""
    change = Replacement(1, former, 2, current)
    after = update_line(line, change)
    assert after.startswith(without_notes(line))
    assert update_line(after, change) == after
