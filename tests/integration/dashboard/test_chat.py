"""The page *chat*: files that come with a message, and what an answer did."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kenobot.gateway.bot_messages import BotMessenger
from kenobot.ports.provider import Reply, ToolCall
from kenobot.ports.signals import MESSAGE_QUARANTINED
from kenobot_http.uploads import MOST_BYTES, MOST_FILES
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import BASE, Browser, owner, stranger
from tests.integration.dashboard.chromium import find_chromium, find_violations, is_within_width, open_page
from tests.integration.http.bot import ServedBot, served_bot
from tests.integration.http.test_owner_api import put_secret

if TYPE_CHECKING:
    from playwright.async_api import FilePayload

SCRIPT = "<script>alert(1)</script>"
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
_WITH_TOOLS = '[provider]\nname = "openai"\n'
Files = list[tuple[str, tuple[str, bytes, str]]]


async def _send(browser: Browser, text: str, files: Files, *, code: int = 200, csrf: str = "") -> str:
    """Send a message with files by the form, without scripts, and return the page that follows."""
    data = {"csrf": csrf or await browser.csrf(), "text": text}
    answer = await browser.client.post(f"{BASE}/chat/send", data=data, files=files, follow_redirects=True)
    assert answer.status_code == code, answer.text
    return answer.text


async def _announce(bot: ServedBot, browser: Browser, size: int) -> str:
    """Announce a body of so many bytes, send none of it, and return the first line of the answer."""
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    port = int(bot.base.rpartition(":")[2])
    lines = (
        f"POST {BASE}/chat/send HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Cookie: {cookie}",
        "Content-Type: multipart/form-data; boundary=b",
        f"Content-Length: {size}",
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    told = await reader.readline()
    writer.close()
    return told.decode()


async def test_a_document_is_read_and_shown_in_the_talk(tmp_path: Path) -> None:
    """The model is shown what stands in it; the page shows its name, and its content on request, as text."""
    provider = ScriptedProvider(["It says plum."], repeat_last=True)
    async with served_bot(tmp_path, provider) as bot, owner(bot) as browser:
        page = await _send(
            browser, "Read this.", [("files", (f"../{SCRIPT}.txt", f"plum {SCRIPT}".encode(), "text/plain"))]
        )
        assert "plum" in str(provider.requests[-1].messages)
        assert "It says plum." in page
        assert '<details class="file">' in page
        assert SCRIPT not in page
        assert "../" not in page
        assert "[sent a file" not in page


async def test_a_picture_is_shown_to_the_owner_alone(tmp_path: Path) -> None:
    """A message may be a picture and nothing else; whoever has no session is not sent it, nor anything else of the
    folder."""
    async with served_bot(tmp_path, ScriptedProvider(["Nice."], repeat_last=True)) as bot, owner(bot) as browser:
        page = await _send(browser, "", [("files", ("cat.png", PICTURE, "image/png"))])
        digest = re.findall(r"/chat/pictures/([0-9a-f]{64})", page)[0]
        path = f"{BASE}/chat/pictures/{digest}"
        answer = await browser.client.get(path)
        assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, "image/png", PICTURE)
        async with stranger(bot) as client:
            assert (await client.get(path)).status_code == 303
        (bot.app.home.media / ("0" * 64)).write_bytes(b"another's")
        await browser.get(f"/chat/pictures/{'0' * 64}", code=404)
        await browser.get("/chat/pictures/..%2fkenobot.toml", code=404)


async def test_what_is_too_much_is_refused_in_words_and_nothing_is_said(bot: ServedBot) -> None:
    """Too large a file, too many of them, and a message of nothing; a stranger's is not even read."""
    async with owner(bot) as browser:
        large = ("files", ("large.bin", b"x" * (MOST_BYTES + 1), "application/octet-stream"))
        assert "too" in await _send(browser, "look", [large], code=413)
        many = [("files", (f"{n}.txt", b"x", "text/plain")) for n in range(MOST_FILES + 1)]
        await _send(browser, "look", many, code=413)
        await _send(browser, " ", [], code=422)
        await _send(browser, "x" * 20_001, [], code=422)
        await _send(browser, "look", [("files", ("a.txt", b"x", "text/plain"))], code=403, csrf="0" * 64)
        assert "413" in await _announce(bot, browser, 10**12)
        async with stranger(bot) as client:
            answer = await client.post(f"{BASE}/chat/send", files=[large])
            assert answer.status_code == 401
        assert "Nothing was said here yet" in await browser.read("/chat")
        assert not [*bot.app.home.media.glob("*")]


async def test_a_command_and_its_answer_stay_in_sight(bot: ServedBot) -> None:
    """Though neither is a part of the conversation that the model is shown."""
    async with owner(bot) as browser:
        await _send(browser, "Hello", [])
        await _send(browser, "/remind in two days at 9 am to water the plants", [])
        said = await browser.read("/chat")
        assert said.index("Hello") < said.index("/remind in two days") < said.index("I'll remind you of")


async def test_what_an_answer_did_is_told_on_request(tmp_path: Path) -> None:
    """What its tags stored, what was forgotten and scheduled by the message, and that another one did nothing."""
    replies: list[str | Reply] = [
        f"Noted.<memory>Carmen lives in Sevilla {SCRIPT}</memory>",
        "Nothing new.",
        Reply(
            "",
            "tool_use",
            calls=(ToolCall("c", "remind", {"text": "water the plants", "when": "in two days"}),),
        ),
        "I shall.",
    ]
    put_secret(tmp_path)
    provider = ScriptedProvider(replies, repeat_last=True)
    async with served_bot(tmp_path, provider, config=_WITH_TOOLS) as bot, owner(bot) as browser:
        await _send(browser, "Remember where Carmen lives.", [])
        await _send(browser, "How are you?", [])
        await _send(browser, "The plants look dry, and tomorrow morning I am here.", [])
        turns = sorted(set(map(int, re.findall(r"/chat/acts/(\d+)", await browser.get("/chat")))))
        first, second, third = turns
        assert "stored Carmen lives in Sevilla" in await browser.read(f"/chat/acts/{first}")
        assert SCRIPT not in await browser.get(f"/chat/acts/{first}")
        assert "It stored, changed and scheduled nothing." in await browser.read(f"/chat/acts/{second}")
        page = await browser.read(f"/chat/acts/{third}")
        assert "scheduled water the plants" in page
        assert "used the tool remind" in page
        assert "stored Carmen lives in Sevilla" in await browser.read(f"/why/{first}")
        await browser.get("/chat/acts/999", code=404)


@pytest.mark.long
async def test_a_notice_is_shown_in_an_open_page(bot: ServedBot) -> None:
    """Without a reload, once, in the place of what an empty page says, also after an answer came in between."""
    find_chromium()
    async with open_page(bot, width=360) as page:
        await page.goto(f"{bot.base}{BASE}/chat")
        await page.get_by_text("Nothing was said here yet").wait_for()
        while not bot.channel.arrivals.is_read:
            await asyncio.sleep(0.01)
        await _say(bot, "The **kettle** boils.")
        await page.locator("#log strong").get_by_text("kettle").wait_for()
        assert not await page.get_by_text("Nothing was said here yet").is_visible()
        await page.fill("#text", "Thank you.")
        await page.press("#text", "Enter")
        await page.get_by_role("link", name="what did it do?").wait_for()
        await _say(bot, "The soup is ready.")
        await page.get_by_text("The soup is ready.").wait_for()
        assert await page.locator("#log .line").count() == 4
        assert await find_violations(page) == []
        await page.reload()
        assert await page.locator("#log .line").count() == 4


@pytest.mark.long
async def test_files_and_what_an_answer_did_are_live(tmp_path: Path) -> None:
    """A file is sent with its message, the field is empty again, and one click tells what the answer stored."""
    find_chromium()
    replies = ["Noted.<memory>Carmen lives in Sevilla.</memory>", "Nothing new."]
    provider = ScriptedProvider(replies, repeat_last=True)
    async with served_bot(tmp_path, provider) as bot, open_page(bot, width=360) as page:
        await page.goto(f"{bot.base}{BASE}/chat")
        picture: FilePayload = {"name": "cat.png", "mimeType": "image/png", "buffer": PICTURE}
        await page.set_input_files("#files", files=[picture])
        await page.fill("#text", "Look where Carmen lives.")
        await page.press("#text", "Enter")
        acts = page.get_by_role("link", name="what did it do?")
        await acts.wait_for()
        assert "cat.png" in await page.inner_text("#log")
        assert await page.input_value("#files") == ""
        await acts.click()
        await page.wait_for_selector(".acts")
        assert "stored Carmen lives in Sevilla." in " ".join((await page.inner_text(".acts")).split())
        assert page.url.endswith("/chat")
        assert await is_within_width(page)
        assert await find_violations(page) == []
        await page.reload()
        assert await page.locator("#log img").evaluate("image => image.getAttribute('src')")
        large: FilePayload = {
            "name": "large.bin",
            "mimeType": "application/octet-stream",
            "buffer": b"x" * (MOST_BYTES + 1),
        }
        await page.set_input_files("#files", files=[large])
        await page.get_by_role("button", name="Send").click()
        assert "more than 20 MB" in await page.evaluate("document.getElementById('files').validationMessage")
        assert await page.locator("#log .line").count() == 2


async def test_what_the_bot_says_of_its_own_accord_arrives_in_an_open_page(bot: ServedBot) -> None:
    """A notice comes by the page's stream, once, also where the stream was broken off; a stranger has none."""
    async with owner(bot) as browser:
        await _send(browser, "Hello", [])
        path = re.findall(r'hx-sse:connect="([^"]+)"', await browser.get("/chat"))[0]
        async with browser.client.stream("GET", path) as stream:
            pieces = stream.aiter_text()
            await _say(bot, "The *kettle* boils.")
            piece = await _read_piece(pieces)
            assert "<em>kettle</em>" in piece
        seen = re.findall(r"^id: (\d+)$", piece, re.MULTILINE)[0]
        await _say(bot, "The soup is ready.")
        async with browser.client.stream("GET", path, headers={"Last-Event-ID": seen}) as stream:
            piece = await _read_piece(stream.aiter_text())
            assert "soup" in piece
            assert "kettle" not in piece
        page = await browser.read("/chat")
        assert page.index("Hello") < page.index("kettle") < page.index("soup")
        async with stranger(bot) as client:
            assert (await client.get(path)).status_code == 303


async def test_an_open_page_does_not_hold_up_the_end_of_the_bot(bot: ServedBot) -> None:
    """Its stream ends at once, though nothing is sent."""
    async with owner(bot) as browser, browser.client.stream("GET", f"{BASE}/chat/live?after=0") as stream:
        reading = asyncio.create_task(anext(stream.aiter_text(), "over"))
        while not bot.channel.arrivals.is_read:
            await asyncio.sleep(0)
        stopping = asyncio.create_task(bot.stop_serving())
        assert await asyncio.wait_for(reading, 30) == "over"
        await stopping


async def test_an_alert_reaches_an_owner_who_writes_on_this_page_alone(bot: ServedBot) -> None:
    """What came before their first words waits for them, and is told once, in its order, with its time."""
    for channel in ("matrix", "irc"):
        await bot.app.bus.emit(MESSAGE_QUARANTINED, "test", "t", channel=channel, reason="no")
        await _settle(bot)
    async with owner(bot) as browser:
        assert "matrix" not in await browser.read("/chat")
        async with await bot.client() as program:
            await program.post("/v1/conversations/notes/messages", json={"text": "hello, how are you?"})
        await _settle(bot)
        page = await browser.read("/chat")
        assert page.index("matrix") < page.index("irc")
        assert page.count("Since 20") == 2
        await bot.app.bus.emit(MESSAGE_QUARANTINED, "test", "t", channel="xmpp", reason="no")
        await _settle(bot)
        page = await browser.read("/chat")
        assert page.index("irc") < page.index("xmpp")
        assert page.count("Since 20") == 2
        async with await bot.client() as program, await bot.client("bob") as guest:
            told = (await program.get("/v1/notices", params={"limit": 2})).json()
            assert ["xmpp" in told["items"][0]["text"], "irc" in told["items"][1]["text"]] == [True, True]
            rest = (await program.get("/v1/notices", params={"cursor": told["next"]})).json()
            assert ["matrix" in each["text"] for each in rest["items"]] == [True]
            assert rest["items"][0]["conversation"] == "dashboard"
            assert (await guest.get("/v1/notices")).json()["items"] == []


async def test_another_chat_says_who_wrote_and_what_the_bot_told_there(bot: ServedBot) -> None:
    """A guest is called by name, not "you"; a reminder is shown in the chat in which it was told."""
    async with owner(bot) as browser, await bot.client("bob") as guest:
        body = {"text": "Good evening", "name": "Bob Berry"}
        session = (await guest.post("/v1/conversations/home/messages", json=body)).json()["session"]
        await _say(bot, "Bob, the cello lesson begins.", "bob/home")
        page = await browser.read(f"/chat?session={session}")
        assert "Good evening Bob Berry" in page
        assert "cello lesson" in page
        assert "you today" not in page
        assert "cello lesson" not in await browser.read("/chat")
        await _say(bot, "Only told.", "empty")
        assert "Only told." in await browser.read("/chat?session=http-empty")
        await browser.get("/chat?session=http-nothing", code=404)


async def _say(bot: ServedBot, text: str, chat: str = "dashboard") -> None:
    """Have the bot say something of its own accord in a chat, by default that of the page."""
    await BotMessenger(bot.app.database, bot.app.clock, {"http": bot.channel}, bot.app.delivery).send(
        "http", chat, text
    )


async def _settle(bot: ServedBot) -> None:
    await bot.app.bus.drain()
    await bot.app.owner_alerts.under_way.wait_idle()
    await bot.app.delivery.queue.wait_idle()


async def _read_piece(pieces: AsyncIterator[str]) -> str:
    """Read the next event of a stream."""
    text = ""
    async with asyncio.timeout(30):
        while "\n\n" not in text.replace(": waiting\n\n", ""):
            text += await anext(pieces)
    return text
