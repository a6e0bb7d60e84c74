"""The page *memories*: what an owner finds, changes and takes back there."""

import re

import pytest

from tests.integration.dashboard.browser import Browser, owner
from tests.integration.http.bot import ServedBot

SCRIPT = "<script>alert(1)</script> & \"quoted\" 'too'"


async def remember(browser: Browser, text: str) -> int:
    """Tell memory something on the page; the number of the memory."""
    answer = await browser.post("/memories", text=text)
    number = re.search(r"/memories/(\d+)", str(answer.url))
    assert number is not None
    return int(number[1])


async def test_a_memory_is_found_by_words_and_filters(bot: ServedBot) -> None:
    """A search says how well each fits and why; a filter that fits nothing says so."""
    async with owner(bot) as browser:
        assert "Nothing is remembered yet" in await browser.read("/memories")
        await remember(browser, "Carmen lives in Sevilla.")
        await remember(browser, "The dentist is Dr. Ruiz.")
        both = await browser.read("/memories")
        assert "Carmen lives in Sevilla." in both
        assert "The dentist is Dr. Ruiz." in both
        found = await browser.read("/memories?q=Where+does+Carmen+live")
        assert "Carmen lives in Sevilla." in found
        assert "fits " in found
        assert "Ruiz" not in found
        assert "hares words" in found
        day = f"{bot.app.clock.now():%Y-%m-%d}"
        for fitting in (
            "form=note",
            f"first={day}",
            f"last={day}",
            "source=command",
            "status=all",
            "q=Carmen&form=note",
        ):
            assert "Carmen lives in Sevilla." in await browser.read(f"/memories?{fitting}"), fitting
        for other in ("form=episode", "last=2020-01-01", "first=2099-01-01", "source=import", "status=forgotten"):
            assert "No memory fits" in await browser.read(f"/memories?{other}"), other
            assert "No memory fits" in await browser.read(f"/memories?q=Carmen&{other}"), other


async def test_a_correction_keeps_what_was_there_in_its_history(bot: ServedBot) -> None:
    """And its undo puts that back."""
    async with owner(bot) as browser:
        number = await remember(browser, "Carmen lives in Sevilla.")
        answer = await browser.post(f"/memories/{number}/correct", text="Carmen lives in Cádiz.")
        corrected = int(re.findall(r"/memories/(\d+)", str(answer.url))[0])
        page = await browser.read(f"/memories/{corrected}")
        assert "Carmen lives in Cádiz." in page
        assert f"before: Carmen lives in Sevilla. Memory {number}" in page
        assert f"now: Carmen lives in Cádiz. Memory {corrected}" in await browser.read(f"/memories/{number}")
        assert "told or corrected directly" in page
        assert "Cádiz" in await browser.read("/memories")
        assert "It is corrected." in answer.text
        event = re.search(r'name="event" value="(\d+)"', answer.text)
        assert event is not None
        await browser.post("/memories/undo", event=event[1])
        listed = await browser.read("/memories")
        assert "Sevilla" in listed
        assert "Cádiz" not in listed


async def test_what_was_forgotten_comes_back_by_its_undo(bot: ServedBot) -> None:
    """Also from the history of the memory, under its state among the forgotten."""
    async with owner(bot) as browser:
        number = await remember(browser, "Allergic to penicillin.")
        answer = await browser.post(f"/memories/{number}/forget")
        assert "It is forgotten" in answer.text
        assert "penicillin" not in await browser.read("/memories")
        page = await browser.get(f"/memories/{number}")
        assert "forgotten" in page
        event = re.findall(r'name="event" value="(\d+)"', page)[0]
        undone = await browser.post("/memories/undo", event=event, back=f"/memories/{number}")
        assert "It is undone." in undone.text
        assert "penicillin" in await browser.read("/memories")


async def test_what_is_refused_says_why_and_changes_nothing(bot: ServedBot) -> None:
    """The same words, none, too many, a memory that is not there, and an event that cannot be undone."""
    async with owner(bot) as browser:
        number = await remember(browser, "Carmen lives in Sevilla.")
        same = await browser.post(f"/memories/{number}/correct", text="Carmen lives in Sevilla.", code=409)
        assert "not corrected" in same.text.lower()
        await browser.post(f"/memories/{number}/correct", text="", code=422)
        await browser.post("/memories", text="x" * 4001, code=422)
        await browser.get("/memories/999999", code=404)
        await browser.get("/memories/99999999999999999999999", code=422)
        await browser.get("/memories/..%2f1", code=404)
        await browser.post("/memories/undo", event=10**12, code=409)
        await browser.post(f"/memories/{number + 5}/forget", code=404)
        await browser.get("/memories?first=2026-13-45", code=422)
        await browser.get("/memories?cursor=-1", code=422)
        await browser.get("/memories?status=nope", code=422)
        await browser.get(f"/memories?q={'x' * 2001}", code=422)
        assert "Sevilla" in await browser.read("/memories")


async def test_an_undo_leads_to_pages_of_the_dashboard_alone(bot: ServedBot) -> None:
    """Whatever address a form names."""
    async with owner(bot) as browser:
        for place in ("https://evil.example/", "//evil.example", "/../v1/memories", "javascript:x", "/\\evil.example"):
            number = await remember(browser, f"Something about {len(place)} things.")
            answer = await browser.post(f"/memories/{number}/forget")
            event = re.findall(r'name="event" value="(\d+)"', answer.text)[0]
            led = await browser.post("/memories/undo", event=event, back=place)
            assert re.fullmatch(r"/dashboard/memories/\d+", led.url.path), place
            assert led.url.host == "127.0.0.1"


@pytest.mark.parametrize("path", ["/memories", "/memories?q={0}", "/memories?subject={0}", "/memories/1"])
async def test_script_in_a_memory_or_a_field_is_shown_as_text(bot: ServedBot, path: str) -> None:
    """It reaches no page as markup."""
    async with owner(bot) as browser:
        await remember(browser, f"Somebody wrote {SCRIPT}")
        page = await browser.get(path.format("%3Cscript%3Ealert(1)%3C/script%3E%22%3E"))
        assert "<script>alert" not in page
        assert "alert(1)" in page


async def test_the_page_speaks_the_language_of_its_reader(bot: ServedBot) -> None:
    """By the browser's wish."""
    async with owner(bot, **{"Accept-Language": "es-ES,es;q=0.9"}) as browser:
        page = await browser.get("/memories")
        assert '<html lang="es">' in page
        assert "Buscar por significado y palabras" in page
        assert "Ningún recuerdo encaja" in await browser.read("/memories?form=episode")
