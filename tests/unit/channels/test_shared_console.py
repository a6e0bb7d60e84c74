"""One conversation on several screens: an answer counts as sent once one of them has shown it."""

import asyncio

import pytest

from kenobot.channels.shared_console import SharedConsole
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import MessagePart, Outbound
from tests.waiting import until

PART = Outbound(1, "console", "local", MessagePart("hi"), "")


class Screen:
    """shows: set once it shows what it is given. broken: it never will."""

    def __init__(self, *, broken: bool = False, shows_drafts: bool = False) -> None:
        self.shows = asyncio.Event()
        self.shows_drafts = shows_drafts
        self.broken = broken
        self.shown: list[int] = []
        self.notices: list[str] = []

    async def send(self, outbound: Outbound) -> str:
        await self.shows.wait()
        if self.broken:
            raise Unavailable("gone")
        self.shown.append(outbound.id)
        return "id"

    async def typing(self, chat: str, thread: str = "") -> None:
        self.notices.append("…")

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        self.notices.append(f"{draft}: {text}")

    async def print_notice(self, text: str) -> None:
        self.notices.append(text)


def shared(*screens: Screen) -> SharedConsole:
    console = SharedConsole()
    for screen in screens:
        console.add(screen)
    return console


async def test_one_screen_that_shows_it_is_enough() -> None:
    """The slow one shows it later; a broken one does not matter."""
    slow, broken, quick = Screen(), Screen(broken=True), Screen()
    broken.shows.set()
    quick.shows.set()
    console = shared(slow, broken, quick)
    assert await console.send(PART) == "id"
    assert (slow.shown, quick.shown) == ([], [1])
    slow.shows.set()
    await until(lambda: bool(slow.shown))


async def test_where_no_screen_shows_it_it_is_not_sent() -> None:
    """Nor where there is none."""
    broken = Screen(broken=True)
    broken.shows.set()
    for console in (shared(broken), shared()):
        with pytest.raises(Unavailable):
            await console.send(PART)


async def test_giving_up_leaves_nothing_behind() -> None:
    """Delivery waits a minute, then tries again."""
    slow = Screen()
    sending = asyncio.create_task(shared(slow).send(PART))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    slow.shows.set()
    await asyncio.sleep(0)
    assert slow.shown == []


async def test_notices_and_typing_are_on_every_screen() -> None:
    """But not what a screen has said itself."""
    one, other = Screen(), Screen()
    console = shared(one, other)
    await console.typing("local")
    await console.print_notice("> hola", but=one)
    assert (one.notices, other.notices) == (["…"], ["…", "> hola"])
    console.remove(one)
    console.remove(other)
    assert not console.is_seen


async def test_a_reply_is_drawn_where_it_can_be_taken_away_again() -> None:
    """On terminals; where there is none, none is asked for."""
    terminal, pipe = Screen(shows_drafts=True), Screen()
    console = shared(terminal, pipe)
    assert console.capabilities.drafts
    await console.draft("local", "7", "Hel")
    assert (terminal.notices, pipe.notices) == (["7: Hel"], [])
    console.remove(terminal)
    assert not console.capabilities.drafts
