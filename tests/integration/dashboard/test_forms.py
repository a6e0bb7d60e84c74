"""Forms that are refused lose nothing that was typed, and what cannot be undone is asked about once."""

import re

from tests.integration.dashboard.browser import BASE, Browser, owner, words_of
from tests.integration.http.bot import ServedBot

_MENU = 'aria-label="Pages"'


async def _send(browser: Browser, path: str, page: str, **fields: str) -> tuple[int, str]:
    """Send a form as from a page; status and HTML."""
    headers = {"Referer": f"{str(browser.client.base_url).rstrip('/')}{BASE}{page}"}
    data = {"csrf": await browser.csrf(), **fields}
    answer = await browser.client.post(BASE + path, data=data, headers=headers)
    return answer.status_code, answer.text


async def test_a_refused_form_comes_back_as_it_was_typed(bot: ServedBot) -> None:
    """With the menu, the rest of the page as it was, and the reason beside the field."""
    async with owner(bot) as browser:
        await browser.post("/memories", text="Carmen lives in Sevilla.")
        code, page = await _send(
            browser, "/reminders", "/reminders?state=all", form="add", text="buy <b>tea</b>", when="when it is nice"
        )
        assert code == 409
        assert _MENU in page
        assert 'value="buy &lt;b&gt;tea&lt;/b&gt;"' in page
        assert re.search(r'name="when"[^>]* value="when it is nice"[^>]* aria-invalid="true"', page)
        assert re.search(r'id="refused"[^>]*><span class="sentence">This time is not understood\.', page)
        assert re.search(r'state=all" aria-current="true"', page)

        code, page = await _send(browser, "/memories/1/correct", "/memories/1", form="correct", text="")
        assert code == 422
        assert '<details class="grow" open>' in page
        code, page = await _send(
            browser, "/settings/bot.timezone", "/settings/bot.timezone", form="change", value="Mars"
        )
        assert code == 409
        assert 'value="Mars"' in page
        code, page = await _send(browser, "/access/people", "/access", form="code", code="ABCD-1234")
        assert code == 404
        assert 'value="ABCD-1234"' in page
        assert _MENU in page


async def test_a_refused_button_says_why_on_its_page(bot: ServedBot) -> None:
    """And where no page is to be shown again, the error has the menu and a way back."""
    async with owner(bot) as browser:
        await browser.post("/memories", text="Carmen lives in Sevilla.")
        code, page = await _send(browser, "/mail/in-7/drop", "/mail")
        assert code == 404
        assert 'role="alert"' in page
        assert "<h1>Message queue</h1>" in page
        code, page = await _send(browser, "/reminders/7/cancel", "/nowhere")
        assert code == 404
        assert "<h1>Reminders and tasks</h1>" in page
        base = str(browser.client.base_url).rstrip("/") + BASE
        for foreign in (
            "//evil.example/",
            "/login",
            "/memories/1/forget",
            "/static/0/style.css",
            "/memories/%00?q=%ff",
        ):
            fields = {"csrf": await browser.csrf(), "event": "99"}
            headers = {"Referer": base + foreign}
            answer = await browser.client.post(f"{BASE}/memories/undo", data=fields, headers=headers)
            assert answer.status_code == 409
            assert "<h1>Memories</h1>" in answer.text
        lost = await browser.get("/nowhere", code=404)
        assert _MENU in lost
        assert "Carmen lives in Sevilla." in await browser.read("/memories")


async def test_a_banner_names_what_was_changed(bot: ServedBot) -> None:
    """Its button takes that back, and no address holds words of it."""
    async with owner(bot) as browser:
        await browser.post("/memories", text="Carmen lives in Sevilla.")
        forgotten = await browser.post("/memories/1/forget")
        assert "Sevilla" not in str(forgotten.url)
        notice = re.search(r'<div class="notice good".*?</div>', forgotten.text, re.DOTALL)
        assert notice is not None
        assert "Carmen lives in Sevilla." in words_of(notice[0])
        assert "Undo" in words_of(notice[0])
        async with owner(bot) as other:
            seen = await other.read(str(forgotten.url).partition(BASE)[2])
            assert "Carmen" not in seen


async def test_a_setting_goes_back_to_its_default(bot: ServedBot) -> None:
    """And its banner brings back what was set; words find it by its name, its meaning and its section."""
    async with owner(bot) as browser:
        changed = await browser.post("/settings/bot.name", value="Keno")
        assert "Undo" in words_of(changed.text)
        assert "Back to its default" in words_of(changed.text)
        reset = await browser.post("/settings/bot.name/reset")
        assert "Its default holds" in reset.text
        assert "Back to its default" not in words_of(reset.text)
        assert 'name="value" value="Keno"' in reset.text
        await browser.post("/settings/tools.enabled/reset", code=409)
        assert "/settings/bot.name" in await browser.get("/settings?q=NAME")
        assert "/settings/bot.name" not in await browser.get("/settings?q=nights")
        assert "/settings/sleep." in await browser.get("/settings?q=nights")
        assert "No setting has these words" in await browser.read("/settings?q=xyzzy")


async def test_what_cannot_be_undone_is_asked_about_once(bot: ServedBot) -> None:
    """By a second button, with what comes of it; it can be left without scripts."""
    async with owner(bot) as browser:
        await bot.key(name="phone")
        await bot.app.loop.dead_letter("telegram", "u1", '{"odd": true}', "it cannot be read")
        for path, action in (("/access", "/access/keys/revoke"), ("/mail", "/mail/in-1/drop")):
            page = await browser.get(path)
            asked = re.search(rf'<details class="confirm">.*?action="{BASE}{action}".*?</details>', page, re.DOTALL)
            assert asked is not None
            assert "undone" in words_of(asked[0]), path
            assert page.count(f'action="{BASE}{action}"') == 1
