"""Every page of the dashboard in a real browser: in both languages, at both widths, light and dark."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kenobot.ports.provider import Delta, Request, Usage
from kenobot_dashboard.navigation import PAGES
from kenobot_dashboard.wording import Texts
from tests.integration.dashboard.browser import BASE, owner
from tests.integration.dashboard.chromium import (
    WIDTHS,
    Theme,
    find_violations,
    is_within_width,
    keep_picture,
    open_page,
)
from tests.integration.http.bot import ServedBot, served_bot

pytestmark = pytest.mark.long

LONG = "Pneumonoultramicroscopicsilicovolcanoconiosis" * 6


class Talker:
    """Answers in some pieces, with formatting."""

    name = "talker"

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        for piece in ("Carmen lives in ", "**Sevilla**", ", with her son ", "<b>Leo</b>."):
            yield Delta(text=piece)
        yield Delta(stop_reason="end_turn", usage=Usage(1200, 40, 900, 0), model="claude-sonnet-4-5")


@pytest.fixture
async def lived_in(tmp_path: Path) -> AsyncIterator[ServedBot]:
    """A bot with memories, answers, a reminder and a night."""
    async with served_bot(tmp_path, Talker()) as bot, owner(bot) as browser:
        for text in (
            "Carmen lives in Sevilla.",
            "Carmen has a son called Leo.",
            f"Ana wrote {LONG}",
            "<i>Allergic</i> to nuts.",
        ):
            await browser.post("/memories", text=text)
        await browser.post("/memories/1/correct", text="Carmen lives in Sevilla, in Triana.")
        for text in ("Where does Carmen live?", "I have to call the dentist tomorrow."):
            await browser.post("/chat/send", text=text)
        async with await bot.client() as client:
            await client.post("/v1/schedule", json={"text": "water the plants", "when": "in two days at 9 am"})
        await browser.post("/nights/begin")
        while "finished" not in await browser.read("/nights"):
            pass
        yield bot


def paths_of(bot: ServedBot) -> dict[str, str]:
    """Return the pages to look at, by name: those of the navigation, and one of each that these lead to."""
    listed = {page.name: page.path for page in PAGES}
    return listed | {
        "search": "/memories?q=Where+does+Carmen+live",
        "memory": "/memories/2",
        "reply": "/why/1",
        "night": "/nights/1",
        "absence": "/why?q=Carmen",
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("width", WIDTHS)
async def test_each_page_is_readable_by_everybody(lived_in: ServedBot, width: int, language: str, theme: Theme) -> None:
    """Within the window's width, in the reader's language, with nothing that axe finds wrong."""
    async with open_page(lived_in, width=width, language=language, theme=theme) as page:
        for name, path in paths_of(lived_in).items():
            answer = await page.goto(f"{lived_in.base}{BASE}{path}")
            assert answer is not None
            assert answer.status == 200, name
            await page.wait_for_selector(".state .dot")  # which htmx brings
            assert await page.get_attribute("html", "lang") == language
            assert await is_within_width(page), name
            assert await find_violations(page) == [], name
            await keep_picture(page, f"{name}-{language}-{theme}-{width}")


async def test_each_page_is_readable_without_scripts(lived_in: ServedBot) -> None:
    """And says the same: the navigation of a narrow window opens, a message is sent and answered."""
    async with open_page(lived_in, width=360, scripts=False) as page:
        for name, path in paths_of(lived_in).items():
            await page.goto(f"{lived_in.base}{BASE}{path}")
            assert await page.locator("main h1").count() == 1, name
        await page.click(".menu > summary")
        await page.click(".menu nav >> text=Chat")
        await page.fill("#text", "And Leo?")
        await page.click("button:has-text('Send')")
        assert "And Leo?" in await page.inner_text("#log")
        assert await page.locator("#log strong:has-text('Sevilla')").count() >= 1


async def test_an_answer_is_shown_while_it_is_written(lived_in: ServedBot) -> None:
    """Enter sends; the field is empty again, and what is markup in an answer is text."""
    async with open_page(lived_in) as page:
        await page.goto(f"{lived_in.base}{BASE}/chat")
        before = await page.locator("#log .line").count()
        await page.fill("#text", "<u>Where</u> does she live?")
        await page.press("#text", "Enter")
        await page.wait_for_selector(f"#log .line >> nth={before + 1}")
        await page.wait_for_selector("#log .line.assistant:last-child a:has-text('why?')")
        assert await page.input_value("#text") == ""
        said = await page.inner_text("#log")
        assert "<u>Where</u> does she live?" in said
        assert "<b>Leo</b>" in said
        await page.click("#log .line.assistant:last-child a:has-text('why?')")
        await page.wait_for_url("**/why/*")
        assert "<u>Where</u>" in await page.inner_text("main")


async def test_a_search_narrows_while_it_is_typed(lived_in: ServedBot) -> None:
    """Its address can be kept, and going back works."""
    async with open_page(lived_in) as page:
        await page.goto(f"{lived_in.base}{BASE}/memories")
        await page.fill("#q", "Where does Carmen live?")
        await page.wait_for_url("**/memories?q=Where*")
        await page.wait_for_selector("#results >> text=fits")
        assert "Sevilla" in await page.inner_text("#results")
        await page.click("form details > summary")
        await page.select_option("select[name=form]", "episode")
        await page.wait_for_selector("#results .empty")
        await page.reload()
        assert await page.input_value("#q") == "Where does Carmen live?"
        assert await page.locator("#results .empty").count() == 1


async def test_an_owner_corrects_forgets_and_takes_back_by_keyboard(lived_in: ServedBot) -> None:
    """From the skip link on, without a mouse."""
    async with open_page(lived_in) as page:
        await page.goto(f"{lived_in.base}{BASE}/memories/2")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.className") == "skip"
        await page.keyboard.press("Enter")
        await page.focus("summary.button")
        await page.keyboard.press("Enter")
        await page.fill("textarea[name=text]", "Carmen has a daughter called Lea.")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".notice.good")
        assert "daughter" in await page.inner_text(".lead")
        await page.focus(".notice button")
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".notice.good >> text=undone")
        await page.goto(f"{lived_in.base}{BASE}/memories")
        said = await page.inner_text("#results")
        assert "son called Leo" in said
        assert "daughter" not in said


async def test_a_night_is_taken_back_after_it_was_asked_about(lived_in: ServedBot) -> None:
    """And says so on its page, which has no such button any more."""
    async with open_page(lived_in, language="es") as page:
        await page.goto(f"{lived_in.base}{BASE}/nights/1")
        await page.click(".confirm > summary")
        await page.click("button.danger")
        await page.wait_for_selector(".notice >> text=deshecha")
        assert await page.locator(".confirm").count() == 0


async def test_the_way_in_is_readable_by_everybody(lived_in: ServedBot) -> None:
    """With and without a link, and after one that opens nothing; so is a page that is not there."""
    async with open_page(lived_in, width=360, logged_in=False) as page:
        for name, path in (
            ("login", "/login"),
            ("login-link", "/login?link=x"),
            ("login-failed", "/login?failed=true"),
        ):
            await page.goto(f"{lived_in.base}{BASE}{path}")
            assert await is_within_width(page)
            assert await find_violations(page) == [], name
            await keep_picture(page, name)


def test_each_page_has_a_heading_of_its_own() -> None:
    """In either language."""
    for language in ("en", "es"):
        names = [Texts(page.name, language)("nav") for page in PAGES]
        assert len(set(names)) == len(names)
