"""When two texts are the same words."""

import pytest

from kenobot.language.fingerprint import attribute_line, key_of, normalise
from tests.cases import each
from tests.cost import assert_linear


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea", "i like TEA"),
        ("I like tea", "  I  like\n\ttea.  "),
        ("I like tea", "I like tea!!!"),
        ("I like tea", "**I like tea**"),
        ("I like tea", "“I like” (tea)"),
        ("¿Le gusta el té?", "le gusta el té"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("ＫＥＮＯ １２", "keno 12"),
        ("我喜欢茶。", "我喜欢茶"),
        ("～～ 「お茶」", "～～ お茶"),
        ("أحب الشاي.", "أحب الشاي"),
        ("~~old~~ plan", "old plan"),
    ],
)
def test_the_same_words_have_the_same_key(one: str, other: str) -> None:
    """Case, width, blanks and the punctuation of prose do not change what is said."""
    assert key_of(one) == key_of(other)


@each(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C", "C#"),
        ("NET", ".NET"),
        ("5", "-5"),
        ("5 km", "~5 km"),
        ("5", "5%"),
        ("5", "$5"),
        ("1.5", "15"),
        ("10² m", "102 m"),
        ("H₂O", "H2O costs 2"),
        ("1½ kg", "11⁄2 kg"),
        ("a < b", "a > b"),
        ("id", "_id"),
        ("@ana", "ana"),
        ("año", "ano"),
        ("我喜欢茶", "我喜欢咖啡"),
        ("أحب الشاي", "أحب القهوة"),
        ("🐦", "🐧"),
        ("👍", "👍🏽"),
        ("❤", "💔"),
        ("!", "?"),
        ("node.js", "node js"),
        ("I like tea", "I don't like tea"),
    ],
)
def test_other_words_have_another_key(one: str, other: str) -> None:
    """Signs, digits and letters of every script carry meaning."""
    assert key_of(one) != key_of(other)


@pytest.mark.parametrize("text", ["AI", "Π", "茶", "ش", "🐦", "C++", "-5", "...", "?!", "*"])
def test_nothing_normalises_to_the_key_of_nothing(text: str) -> None:
    """Even marks alone have a key of their own."""
    assert key_of(text) != key_of("")
    assert key_of(text) == key_of(f"  {text} ")


@pytest.mark.parametrize(
    "text",
    ["." * 20_000 + "a", "a" + "." * 20_000 + "a", "(.a" * 7_000, "(" * 20_000 + "a", ". " * 10_000, "a² " * 7_000],
)
def test_a_hostile_text_costs_linear_time(text: str) -> None:
    """Marks without end do not hold up the writer."""
    assert_linear(key_of, text)


def test_lone_surrogates_have_a_key() -> None:
    """What no UTF-8 holds is no reason to fail."""
    assert key_of("half \ud83d") != key_of("half")
    assert normalise("half \ud83d") == "half \ud83d"


def test_attributes_on_one_line_are_trimmed_and_in_order() -> None:
    """Names in lower case, values as they are but for the blanks around them."""
    assert attribute_line([(" City ", "Jaén "), ("age", " 3"), ("BAZ", "Qux")]) == "age: 3; baz: Qux; city: Jaén"
