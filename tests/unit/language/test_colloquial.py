"""What people leave away as they chat is written out, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.colloquial import write_out


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("im off, theyre late and i dont mind", "i'm off, they're late and i don't mind"),
        ("Hes here, its weds now", "He's here, it's wednesday now"),
        ("ill be back thurs, wont stay", "i'll be back thursday, won't stay"),
        ("vendi el palioooo", "vendi el palio"),
        ("the wedding got moved, its oct 17", "the wedding got moved, it's oct 17"),
        ("so ill be late on weds at 5", "so i'll be late on wednesday at 5"),
        ('he said "im off", but im not', 'he said "im off", but i\'m not'),
    ],
)
def test_what_is_left_away_is_written_out(text: str, written: str) -> None:
    """Apostrophes, ends of days and letters drawn out."""
    assert write_out(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "I want to quit, my cat bent its tail and feels ill",
        "IM, WWW and aaa batteries from 1000 to 111",
        "My sister weds in May, as is her wont, and Jony Ive comes",
        "My mother fell ill just before Easter and was ill never before",
        "See https://im.example.com/dont/weds?its=im, write to im@dont.org or to @im, type `dont im`",
        "«im» y el siglo xviii, de enrique viii a alfonso xiii",
        "seee you soooon, goood coffeee, me tooo, vapaaaika",
        "Aaron, Lloyd, Isaac y Leeroy van a cooperar; wed, sat and sun",
        "Ich wohne im Norden und arbeite im Krankenhaus",
        "la maison dont je parle, avec Marie",
        "dałem im książki",
        "We were well, the shed is hers",
        "Él no quiere leer, creemos que la zoología le cansa",
        "你好，我住在马德里",
        "",
    ],
)
def test_what_is_whole_stays(text: str) -> None:
    """Words that look alike, names, figures and other scripts."""
    assert write_out(text) == text


@given(st.text(st.sampled_from("im ivewdstlaoou.,'\"`/ñé"), max_size=60))
def test_what_is_written_out_is_whole(text: str) -> None:
    """To write it out again changes nothing, and nothing but letters of a day is longer by more than apostrophes."""
    written = write_out(text)
    assert write_out(written) == written
