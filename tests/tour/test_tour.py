"""The scripted first hours, in real terminals and on Telegram's emulator, come to what docs/tour.md shows."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.tour.play import PAGE, hours, part_of_page, play
from tests.tour.screen import Screen
from tests.tour.terminal import Terminal

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", hours())
def test_the_page_shows_what_a_first_hour_is_like(name: str, tmp_path: Path) -> None:
    """Played again, an hour gives the very same transcript; otherwise `python -m tests.tour` writes the page anew."""
    assert asyncio.run(play(hours()[name], tmp_path)) == part_of_page(PAGE, name), "run: python -m tests.tour"


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("one\r\ntwo", ["one", "two"]),
        ("old\rnew", ["new"]),
        ("older\r\x1b[Knew", ["new"]),
        ("> typed\r\n\x1b[AUP", ["UPtyped", ""]),
        ("a\r\nb\r\nc\x1b[2A\r\x1b[J", [""]),
        ("\x1b[1;36mbold\x1b[0m\x1b[?25h", ["bold"]),
        ("\x1b]0;title\x07text", ["text"]),
        ("\x1b[5Cx", ["     x"]),
    ],
)
def test_the_screen_shows_what_a_terminal_would(written: str, lines: list[str]) -> None:
    """Wherever what a program writes is cut into pieces."""
    for cut in range(len(written) + 1):
        screen = Screen()
        screen.feed(written[:cut])
        screen.feed(written[cut:])
        assert screen.lines == lines


async def test_a_command_has_a_terminal_of_its_own(tmp_path: Path) -> None:
    """It is asked, answers what is typed, and ends with its code."""
    script = "read -p 'Name: ' name; echo Hello $name; test -t 0 && exit 3"
    terminal = await Terminal.start(["bash", "-c", script], os.environ, str(tmp_path))
    await terminal.asks()
    terminal.type("Ana")
    assert (await terminal.ends(), terminal.screen.lines[1]) == (3, "Hello Ana")
