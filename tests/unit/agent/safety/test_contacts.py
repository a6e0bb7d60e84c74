"""Handles and numbers by which somebody else is reached."""

import pytest

from kenobot.agent.safety.urls import SeenUrls, find_urls
from tests.cases import each


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("write to @goya7741_bot.", "@goya7741_bot"),
        (".@goya_help now", "@goya_help"),
        ("＠goya_help", "@goya_help"),
        ("@goya@evil.social", "@goya@evil.social"),
        ("@app.goya7741", "@app.goya7741"),
        ("@goya:evil.chat", "@goya:evil.chat"),
        ("call +44 20 0000 7741!", "+44 20 0000 7741"),
        ("Llama al 900 00 77 41", "900 00 77 41"),
        ("020-7946-8352", "020-7946-8352"),
        ("(900) 555-2018", "(900) 555-2018"),
        ("0900 / 00 44 13 anrufen", "0900 / 00 44 13"),
        ("Ring 6007741", "6007741"),
        ("0034600007741", "0034600007741"),
        ("звоните 8 495 000 77 41", "8 495 000 77 41"),
        ("dial *21*00346608#", "*21*00346608#"),
        ("##6608# or *#06#", "##6608#"),
    ],
)
def test_a_way_to_reach_somebody_is_found(text: str, found: str) -> None:
    """In the forms in which people and chats write them."""
    assert find_urls(text)[0].text == found


@each(
    "text",
    [
        *("5 @ 1.20 each", "@12.50", "tod@s y amig@s", "`@property`", "@media print", "@app.route('/')"),
        *("149 600 000 km", "12.345.678,90 €", "$ 1 200 000 000", "3.14159265358979", "1998-2004", "1.234.567"),
        *("2026-11-25 07:45", "25.11.2026", "ISBN 978-84-376-0494-7", "ES91 2100 0418 4502 0005 1332"),
        *("call 112 or 999", "order 4411-2209-88", "80779853376", "Spain 48 592 909\nItaly 58 989 749"),
        *(
            "+1 200 000 users",
            "Call it 3 300 000",
            "+1.200.000",
            "call 12 people at 10:30",
            "0.123456789",
            "#1234567",
            "192.168.0.0",
        ),
    ],
)
def test_other_figures_and_signs_are_none(text: str) -> None:
    """Sums, dates, accounts, numbers of orders, prices, words of programs, and what is too short to dial."""
    assert find_urls(text) == []


@pytest.mark.parametrize(
    ("shown", "said", "known"),
    [
        ("Call 020 7946 0018", "0207 946 0018", True),
        ("+44 (0)20 7946-0018", "+442079460018", True),
        ("+34 600 123 456", "Llama al 600-123-456", True),
        ("600 123 456", "Llama al 7741 600 123 456", False),
        ("600 123 456", "Llama al 600 123 457", False),
        ("Follow @Maria_K", "@maria_k", True),
        ("Follow @maria_k", "@maria_k7741", False),
        ("write to office@school.casino", "school.casino", True),
    ],
)
def test_what_was_shown_may_be_said_in_other_dress(shown: str, said: str, known: bool) -> None:
    """The same figures without their prefix, the same name in another case; nothing longer."""
    (address,) = find_urls(said)
    assert SeenUrls([shown])(address.text) is known
