"""Pages name chats, people, sums and days as their reader does."""

from kenobot_http.channel import HttpChannel
from tests.integration.dashboard.browser import BASE, owner
from tests.integration.http.bot import ServedBot


async def test_chats_and_people_have_names(bot: ServedBot) -> None:
    """On the pages that list them; a session's id is on none."""
    assert isinstance(bot.channel, HttpChannel)
    async with owner(bot) as browser, await bot.client("bob") as guest:
        await browser.post("/chat/send", text="Where does Carmen live?")
        await guest.post("/v1/conversations/home/messages", json={"text": "I have to water the plants tomorrow."})
        for page in ("/chat", "/why", "/health", "/cost"):
            said = await browser.read(page)
            assert "bob (the web)" in said, page
            assert "http-bob" not in said, page
        assert "bob (la web)" in (await browser.client.get(f"{BASE}/why", headers={"Accept-Language": "es"})).text


async def test_memories_are_found_by_the_names_in_them(bot: ServedBot) -> None:
    """By subject where it is one, else by the text; days in the wrong order are put right."""
    async with owner(bot) as browser:
        for text in ("Carmen lives in Sevilla.", "Allergic to penicillin."):
            await browser.post("/memories", text=text)
        assert "Carmen lives" in await browser.read("/memories?subject=carmen")
        assert "penicillin" not in await browser.read("/memories?subject=carmen")
        assert "penicillin" in await browser.read("/memories?subject=you")
        assert "Carmen lives" in await browser.read("/memories?first=2099-01-01&last=2020-01-01")


async def test_a_day_is_told_by_what_it_was_spent_on(clocked_bot: ServedBot) -> None:
    """And an answer tells its own cost."""
    async with owner(clocked_bot) as browser:
        await browser.post("/chat/send", text="Where does Carmen live?")
        today = f"{clocked_bot.app.clock.now():%Y-%m-%d}"
        assert f"day={today}" in await browser.get("/cost")
        assert "are of" in await browser.read(f"/cost?day={today}")
        assert "replies" in await browser.read(f"/cost?day={today}")
        assert "replies" not in await browser.read("/cost?day=2020-01-01")
        assert "Cost $0.00" in await browser.read("/why/1")


async def test_the_bare_address_leads_to_the_pages(bot: ServedBot) -> None:
    """To the way in, for who has no session."""
    async with owner(bot) as browser:
        answer = await browser.client.get("/", follow_redirects=True)
        assert answer.status_code == 200
        assert str(answer.url).endswith(f"{BASE}/")
