"""What a statement claims, in Spanish and English, and what is left of it when one claim is no longer so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.claims import claims, mentions_value, remove_claims, remove_values, with_outdated_note
from kenobot.language.statements import attribute_statements
from kenobot.language.words import words

LEFT = [
    ("Me llamo Ana y vivo en Lyon", "Lyon", "Me llamo Ana"),
    ("Vivo en Lyon y me llamo Ana", "Lyon", "Me llamo Ana"),
    ("Me llamo Ana, vivo en Lyon y trabajo en Acme.", "Lyon", "Me llamo Ana y trabajo en Acme."),
    ("Me llamo Ana. Vivo en Lyon. Trabajo para el Dr. House.", "Lyon", "Me llamo Ana. Trabajo para el Dr. House."),
    ("Vivo en Lyon pero mi novia vive en París", "Lyon", "Mi novia vive en París"),
    ("Ana vive en Lyon y trabaja en Acme", "Lyon", "Ana trabaja en Acme"),
    ("El usuario vive en Lyon y trabaja para Acme", "Acme", "El usuario vive en Lyon"),
    ("Mi hermana se llama Eva y vive en Roma", "Roma", "Mi hermana se llama Eva"),
    ("Mi hermana Eva vive en Roma y trabaja de enfermera", "Roma", "Mi hermana Eva trabaja de enfermera"),
    ("Lucía odia las matemáticas pero le encanta dibujar", "matemáticas", "A Lucía le encanta dibujar"),
    ("My little brother Tom is 34 and lives in Leeds", "Leeds", "My little brother Tom is 34"),
    ("My wife's name is Eva and lives in Rome", "Eva", "My wife lives in Rome"),
    ("My name is Ana and I live in Lyon", "Lyon", "My name is Ana"),
    ("I live in Lyon and work at Acme", "Lyon", "I work at Acme"),
    ("I live in Lyon and I moved there in 2019, and my dog is called Toby", "Lyon", "My dog is called Toby"),
    ("User's name is Ana and lives in Lyon", "Ana", "User lives in Lyon"),
    ("User lives in Lyon, works at Acme and has two dogs", "Acme", "User lives in Lyon and has two dogs"),
    ("i live in lyon; i work at acme", "lyon", "i work at acme"),
]


@pytest.mark.parametrize(("text", "gone", "left"), LEFT)
def test_the_other_claims_stay(text: str, gone: str, left: str) -> None:
    """Each stands alone, with the subject that it had."""
    assert remove_values(text, [gone], []) == left


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("Vivo en Lyon y me encanta", "Lyon", []),
        ("Ana is a nurse who lives in Lyon", "Lyon", ["nurse"]),
        ("User's name is Ana and she lives in Lyon", "Ana", ["Lyon"]),
        ("Vivo con Ana y mi perro en Lyon", "Lyon", []),
        ("我叫安娜，住在里昂", "里昂", ["安娜"]),
        ("I live in Lyon", "Lyon", []),
    ],
)
def test_what_cannot_be_told_apart_is_not_cut(text: str, gone: str, kept: list[str]) -> None:
    """A claim that means nothing alone, or a value that would go with another: then there is no text without it."""
    assert remove_values(text, [gone], kept) is None


@pytest.mark.parametrize(
    "text",
    [
        "I like tea and coffee",
        "Vivo con Ana y mi perro",
        "We use Rust and Go, but not C++",
        "Mi hermano y mi hermana viven en Madrid",
        "Trabajo en Acme, como siempre",
        "Do you live in Lyon and work at Acme?",
        "I live in St. Louis",
        "",
        "   ",
        "👩‍👩‍👧 🎻",
        "ﬁnal y vivo en Lyon",
    ],
)
def test_one_statement_is_one_claim(text: str) -> None:
    """Words that are merely joined, a question, a name with a stop in it, letters that cannot be cut by."""
    assert [claim.standalone_text for claim in claims(text)] == [text.strip()]


def test_a_note_says_what_is_no_longer_so() -> None:
    """In the language of the text, and only of what it says."""
    assert with_outdated_note("Ana is a nurse who lives in Lyon", ["Lyon"], "en") == (
        "Ana is a nurse who lives in Lyon [no longer: Lyon]"
    )
    assert (
        with_outdated_note("Ana, enfermera de Lyon", ["Lyon", "Roma"], "es") == "Ana, enfermera de Lyon [ya no: Lyon]"
    )
    assert with_outdated_note("Ana, enfermera", ["Lyon"], "es") == "Ana, enfermera"


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("Ahora vivo en Madrid", "", "Madrid"),
        ("Now I live in Madrid", "", "Madrid"),
        ("Currently, the user lives in Madrid", "", "Madrid"),
        ("Hoy Ana vive en Madrid", "Ana", "Madrid"),
        ("Yayo vive en Madrid", "Yayo", "Madrid"),
    ],
)
def test_now_is_nobodys_name(text: str, subject: str, value: str) -> None:
    """A sentence that begins with it is about whom it would be about without it."""
    frame = attribute_statements.read_attribute(text)
    assert frame is not None
    assert (frame.subject, frame.attribute, frame.value) == (subject, "residence", value)


_ONES = ["Me llamo Ana", "I live in Lyon", "trabajo en Acme", "my dog is called Toby", "work at Acme", "vive en Roma"]
_JOINTS = [" y ", " and ", ", ", ". ", "; ", " pero ", "\n"]


@given(st.lists(st.tuples(st.sampled_from(_ONES), st.sampled_from(_JOINTS)), min_size=1, max_size=6) | st.text())
def test_claims_say_what_the_text_says(parts: list[tuple[str, str]] | str) -> None:
    """Taken apart and put together no word is lost; without a value none of the claims that told it is left."""
    text = parts if isinstance(parts, str) else "".join(f"{one}{joint}" for one, joint in parts)
    found = claims(text)
    joints = {"and", "but", "y", "e", "pero"}
    assert set(words(text)) - joints <= {word for claim in found for word in words(claim.text)} | joints
    left = remove_values(text, ["Lyon"], [])
    if mentions_value(text, "Lyon") and len(found) > 1 and left is not None:
        assert not mentions_value(left, "Lyon")
    assert remove_values(text, [], []) == text == remove_claims(text, ())
