"""What people or models may write, and what a browser may be made to send, breaks no page."""

import pytest

from kenobot_dashboard.navigation import PAGES
from tests.integration.dashboard.browser import BASE, owner
from tests.integration.http.bot import ServedBot

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}{% raw %}"
_FIELDS = ("q", "session", "cursor", "days", "status", "form", "subject", "source", "first", "last", "done", "event")
_FIELDS_OF_PAGES = (*_FIELDS, "kept", "pending", "state", "by", "happening", "limit", "detail", "section", "link")
_VALUES = (
    SCRIPT,
    "../../etc/passwd",
    "%00",
    "\x00",
    "-1",
    "9" * 30,
    "x" * 3000,
    "ñ" * 300,
)


async def test_no_field_of_a_page_breaks_it(bot: ServedBot) -> None:
    """Each page answers hostile values, is refused politely, or ignores them; none comes back as markup."""
    async with owner(bot) as browser:
        await browser.post("/memories", text=SCRIPT)
        await browser.post("/chat/send", text=SCRIPT)
        for page in PAGES:
            for value in _VALUES:
                answer = await browser.client.get(BASE + page.path, params=dict.fromkeys(_FIELDS_OF_PAGES, value))
                assert answer.status_code in (200, 404, 409, 422), (page.name, value)
                assert "<script>alert" not in answer.text, (page.name, value)
                assert "<img src=x" not in answer.text, (page.name, value)
                one = await browser.client.get(BASE + page.path, params={"q": value})
                assert one.status_code in (200, 404, 409, 422), (page.name, value)
                assert "<script>alert" not in one.text, (page.name, value)


async def test_what_was_written_by_others_is_text_on_every_page(bot: ServedBot) -> None:
    """A memory, a message and a reminder with markup, wherever they are shown."""
    async with owner(bot) as browser, await bot.client() as client:
        await browser.post("/memories", text=f"Somebody wrote {SCRIPT}")
        await browser.post("/chat/send", text=f"Look: {SCRIPT}")
        await client.post("/v1/schedule", json={"text": SCRIPT, "when": "tomorrow at 9 am"})
        for path in (*(page.path for page in PAGES), "/memories/1", "/why/1"):
            page = await browser.get(path)
            assert "<script>alert" not in page, path
            assert "<img src=x" not in page, path
            assert "49" not in page.partition("Somebody wrote")[2][:80], path


@pytest.mark.parametrize(
    "path", ["/memories/1/forget", "/memories/undo", "/nights/begin", "/nights/1/undo", "/chat/send", "/logout"]
)
async def test_nothing_changes_by_looking(bot: ServedBot, path: str) -> None:
    """A link or a picture that names the address of a change does nothing."""
    async with owner(bot) as browser:
        await browser.post("/memories", text="Allergic to penicillin.")
        answer = await browser.client.get(BASE + path)
        assert answer.status_code in (404, 405, 422)
        assert "penicillin" in await browser.read("/memories")


async def test_a_body_that_is_too_long_or_no_form_is_refused(bot: ServedBot) -> None:
    """And costs nothing but an answer."""
    async with owner(bot) as browser:
        token = await browser.csrf()
        long = await browser.client.post(f"{BASE}/memories", data={"csrf": token, "text": "x" * 400_000})
        assert long.status_code == 413
        odd = await browser.client.post(f"{BASE}/memories", content=b"\xff\xfe", headers={"Content-Type": "text/plain"})
        assert odd.status_code in (403, 422)
        parts: dict[str, tuple[str | None, bytes | str]] = {"csrf": (None, token), "text": ("name.txt", b"a file")}
        files = await browser.client.post(f"{BASE}/memories", files=parts)
        assert files.status_code == 422
        assert "Nothing is remembered yet" in await browser.read("/memories")
