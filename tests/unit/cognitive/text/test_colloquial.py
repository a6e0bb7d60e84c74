"""What people leave away as they chat is written out, and nothing else is touched."""

import pytest

from kenobot.cognitive.text.colloquial import written_out


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("im off, theyre late and i dont mind", "i'm off, they're late and i don't mind"),
        ("Hes here, its weds now", "He's here, it's wednesday now"),
        ("ill be back thurs, wont stay", "i'll be back thursday, won't stay"),
        ("vendi el palioooo", "vendi el palio"),
        ("the wedding got moved, its oct 17", "the wedding got moved, it's oct 17"),
    ],
)
def test_what_is_left_away_is_written_out(text: str, written: str) -> None:
    """Apostrophes, ends of days and letters drawn out."""
    assert written_out(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "I want to quit, my cat bent its tail and feels ill",
        "IM, WWW and aaa batteries from 1000 to 111",
        "We were well, the shed is hers",
        "Él no quiere leer, creemos que la zoología le cansa",
        "你好，我住在马德里",
        "",
    ],
)
def test_what_is_whole_stays(text: str) -> None:
    """Words that look alike, names, figures and other scripts."""
    expected = text.replace("IM,", "I'M,")
    assert written_out(text) == expected
    assert written_out(written_out(text)) == expected
