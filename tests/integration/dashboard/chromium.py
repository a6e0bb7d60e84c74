"""Chromium of this machine, driven over the pages as an owner would drive it."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.integration.dashboard.browser import BASE, make_link
from tests.integration.http.bot import ServedBot

if TYPE_CHECKING:
    from playwright.async_api import Page

WIDTHS = (360, 1280)
Theme = Literal["light", "dark"]
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60_000


def find_chromium() -> str:
    """Return the path of Chromium; skip the test where there is none, or nothing that drives it."""
    if find_spec("playwright") is None:
        pytest.skip("playwright is not installed: pip install 'kenobot[dev]'")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    return found


@asynccontextmanager
async def open_page(
    bot: ServedBot,
    *,
    width: int = 1280,
    language: str = "en",
    theme: Theme = "light",
    scripts: bool = True,
    logged_in: bool = True,
) -> AsyncIterator["Page"]:
    """Open a browser; fail at its end where a page wrote an error into its console, or asked another host."""
    path = find_chromium()
    from playwright.async_api import async_playwright

    problems: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = await browser.new_context(
            viewport={"width": width, "height": 800},
            locale=language,
            color_scheme=theme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        context.set_default_timeout(_SECONDS)
        page = await context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(bot.base) else problems.append(request.url))
        try:
            if logged_in:
                await page.goto(f"{bot.base}{BASE}/login?link={await make_link(bot)}")
                await page.click("button.primary")
                await page.wait_for_url(f"{bot.base}{BASE}/")
            yield page
        finally:
            await browser.close()
    assert not problems


async def keep_picture(page: "Page", name: str) -> None:
    """Keep a picture of the whole page in the folder that KENOBOT_PICTURES names, where it names one."""
    if folder := os.environ.get("KENOBOT_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        # Playwright would hide the caret by a style, which the policy of the pages forbids.
        await page.screenshot(path=Path(folder) / f"{name}.png", full_page=True, caret="initial")


async def find_violations(page: "Page") -> list[dict[str, Any]]:
    """Return what axe finds wrong with a page for people who use it in other ways, moderate findings included."""
    if find_spec("axe_playwright_python") is None:
        pytest.skip("axe is not installed: pip install 'kenobot[dev]'")
    await page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found: dict[str, Any] = await page.evaluate("axe.run()")
    return [
        {
            "id": each["id"],
            "nodes": [node["html"][:200] + " " + (node.get("failureSummary") or "")[:300] for node in each["nodes"]],
        }
        for each in found["violations"]
        if each["impact"] in ("moderate", "serious", "critical")
    ]


async def is_within_width(page: "Page") -> bool:
    """Return whether nothing of a page is wider than the window."""
    return bool(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
