"""Sentences end where people end them: not behind a title, an initial, what is cut short, or within a number."""

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.commands.natural_language import match_command
from kenobot.agent.commands.reminder_orders import match_order
from kenobot.language import sentence_content
from kenobot.language.sentences import LONGEST, find_breaks, split_sentences
from tests.cases import each

WHOLE = [
    "My dentist is Dr. Ruiz, in Calle Feria 12.", "La cita es con la Dra. Vega.", "my dentist is dr. ruiz",
    "Habla con el Sr. Pérez y la Sra. López.", "Mrs. Dalloway and Mr. Darcy came.", "I live near St. Mark's church.",
    "Come fruta, p. ej. manzanas.", "Come fruta, p.ej. manzanas.", "He likes fruit, e.g. apples, i.e. all of it.",
    "Our room is No. 5 on the left.", "Vivo en la Av. Libertad 3.", "J. R. Tolkien wrote it.",
    "The book by J.R.R. Tolkien is blue.", "It costs 3.5 euros.", "It begins at 8 p.m. on Monday.",
    "It begins at 8 p.m. Monday.", "Empieza a las 8 p.m. del lunes.", "See https://example.org/a.b?c=1. d for more.",
    "Viaja a EE. UU. en mayo.", "Lee la pág. 12 del libro.", "The U.S. team won.", "Trabaja en Acme S.A. de Madrid.",
    "Buy milk, eggs, etc. at the market.", "Vive en c/ Feria 12.",
]  # fmt: skip
SEVERAL = {
    "My dentist is Dr. Ruiz. He is nice.": 2,
    "It begins at 8 p.m. We eat first.": 2,
    "I live in madrid. my dog is called toby": 2,
    "Vive en Triana. Trabaja en Sevilla; tiene un perro.": 3,
    "He works at Acme Inc. She does not.": 2,
    "We grow vitamin-rich fruit. J. R. likes it!": 2,
    "No. That is wrong.": 2,
    "She moved to the U.S. The house is sold.": 2,
    "我住在北京。我喜欢茶！你呢？": 3,
    "هل أنت بخير؟ أنا في القاهرة": 2,
    "मैं दिल्ली में रहता हूँ। मुझे चाय पसंद है।": 2,
    "「はい。」と言った。今日は雨です。": 2,
    "Wait... What? Yes!": 3,
}  # fmt: skip
TEXTS = st.text(st.sampled_from("abAB .!?…;:。！？؟।\n\t\"'»)」,09é"), max_size=80) | st.lists(
    st.sampled_from([*WHOLE, *SEVERAL, "Dr.", "p.", "ej.", "8 p.m.", "No.", "J."]), max_size=5
).map(" ".join)


@each("text", WHOLE)
def test_what_is_cut_short_ends_no_sentence(text: str) -> None:
    """Titles, initials, abbreviations, numbers and times of day, in Spanish and English, leave a sentence whole."""
    if "org" not in text:
        assert split_sentences(text) == [text]
    assert text.startswith(sentence_content.sentences(text)[0])


@each("text, count", SEVERAL.items())
def test_sentences_end_in_every_script(text: str, count: int) -> None:
    """Stops of other scripts need no blank behind them; a word that may end a sentence does before a new one."""
    assert len([part for part in split_sentences(text) if part.strip()]) == count


@given(TEXTS)
def test_the_pieces_give_the_text_back(text: str) -> None:
    """Sentences and what lies between them, joined, are the text, and nothing but blanks and stops lies between."""
    pieces, start = list[str](), 0
    for first, last in find_breaks(text):
        assert start <= first <= last
        assert text[first:last].strip() in ("", ";")
        pieces += [text[start:first], text[first:last]]
        start = last
    assert "".join([*pieces, text[start:]]) == text
    shown = split_sentences(text)
    assert all(part in text for part in shown)
    kept = "".join("".join(part.split()) for part in shown)
    assert kept == "".join(text[:LONGEST].split()).replace(";", "") or ";" in text


def test_an_order_may_name_somebody_with_a_title() -> None:
    """A title's stop does not make two sentences of an order to remind or to forget."""
    now = datetime(2026, 2, 14, 12, tzinfo=ZoneInfo("UTC"))
    assert match_order("remind me to call Dr. Ruiz tomorrow at 5", now) is not None
    assert match_order("recuérdame llamar a la Dra. Vega mañana a las 5", now) is not None
    asked = match_command("forget that my dentist is Dr. Ruiz")
    assert asked is not None and "ruiz" in asked.topic.casefold()
    assert match_command("forget it. I have a new dentist") is None
