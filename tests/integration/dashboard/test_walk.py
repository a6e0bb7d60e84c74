"""An owner who is given nothing but the address finds what the dashboard is for, by what can be read on it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.dashboard.browser import BASE, make_link
from tests.integration.dashboard.chromium import find_chromium, open_page
from tests.integration.dashboard.lived_in import QUESTION, lived_in_bot
from tests.integration.http.bot import ServedBot

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.long


async def _follow(page: "Page", name: str) -> None:
    """Follow the first link of this name that can be seen."""
    await page.get_by_role("link", name=name).first.click()
    await page.wait_for_load_state()


async def _log_in(bot: ServedBot, page: "Page") -> None:
    """Come by the bare address, read what to do there, and do it: run the command and open the link that it prints."""
    await page.goto(f"{bot.base}{BASE}")
    assert "kenobot dashboard" in await page.inner_text("main")
    await page.goto(f"{bot.base}{BASE}/login?link={await make_link(bot)}")
    await page.get_by_role("button", name="Open").click()
    await page.wait_for_url(f"{bot.base}{BASE}/")


async def test_a_stranger_to_the_pages_does_what_they_are_for(tmp_path: Path) -> None:
    """They say why the bot answered as it did yesterday, correct a memory, undo a night, and find the day's cost."""
    find_chromium()
    async with lived_in_bot(tmp_path) as bot, open_page(bot, logged_in=False) as page:
        await _log_in(bot, page)

        # Why did it answer so yesterday?
        await _follow(page, "Chat")
        said = page.get_by_role("listitem").filter(has_text="Carmen lives in Triana, a neighbourhood")
        assert "yesterday" in await said.inner_text()
        await said.get_by_role("link", name="why?").click()
        assert QUESTION in await page.inner_text("main")
        behind = page.get_by_role("region", name="Memories behind the answer")
        reason = await behind.inner_text()
        assert "Carmen, the sister, lives in Triana" in reason
        assert "always in sight" in reason

        # Correct what it said.
        await behind.get_by_role("link", name="Carmen, the sister, lives in Triana").first.click()
        await _follow(page, "on the river")
        await page.get_by_text("Correct", exact=True).click()
        await page.get_by_label("What is true instead").fill("Carmen, the sister, lives in Cádiz.")
        await page.get_by_role("button", name="Put this in its place").click()
        await page.get_by_role("status").filter(has_text="It is corrected.").wait_for()
        assert "lives in Cádiz" in await page.inner_text("main")

        # Take back the last night.
        await _follow(page, "Today")
        await page.get_by_role("region", name="Last night").get_by_role("link").click()
        await page.locator("summary").get_by_text("Take all of it back").click()
        await page.get_by_role("button", name="Take all of it back").click()
        await page.get_by_role("status").filter(has_text="taken back").wait_for()
        assert "taken back" in await page.inner_text("main")

        # What does today cost?
        await _follow(page, "Cost")
        cost = await page.get_by_role("region", name="Today").inner_text()
        assert re.search(r"\$0\.0[1-9]", cost), cost
        assert "calls: " in cost
