"""What people or models may write, and what a browser may be made to send, breaks no page."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from kenobot.gateway import pairing
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import Reply, Request, ToolCall
from kenobot_dashboard.guard import HeaderGuard
from kenobot_dashboard.navigation import PAGES
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import BASE, Browser, owner
from tests.integration.http.bot import ServedBot, served_bot
from tests.integration.http.test_owner_api import put_secret

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


_HOSTILE_ANSWER = (
    f'{SCRIPT} [a link](javascript:alert(1)) [another](https://x.example/"onmouseover=alert(1)) ![p](https://x.example/p)'
    f"<memory>The model wrote {SCRIPT}</memory><user-update>{SCRIPT}</user-update>"
)
_LINK = re.compile(rf'(?:href|hx-get|data-source)="({BASE}(?!/static/)[^"]*)"')
_MOST_PAGES = 400
_RULE = '[provider]\nname = "openai"\n[[tools.rules]]\ntool = "clock"\ndecision = "ask"\n'


class _Tags(HTMLParser):
    """Collects the tags of a page that none of our templates has."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_ours = all(values.get(name, BASE).startswith(BASE) for name in ("src", "hx-get", "hx-post", "action"))
        leads = values.get("href", BASE).strip().lower()
        leads_well = leads.startswith((BASE, "#", "https://", "http://"))
        is_bare = tag == "script" and "src" not in values
        if not is_ours or not leads_well or is_bare or any(name.startswith(("on", "style")) for name in values):
            self.foreign.append(self.get_starttag_text() or tag)


def _answer(request: Request) -> str | Reply:
    """Call a tool with markup for the first message, and answer the others with all that a model can write."""
    if "time" in request.messages[-1].text:
        return Reply(SCRIPT, "tool_use", calls=(ToolCall("c", "clock", {"zone": SCRIPT}),))
    return _HOSTILE_ANSWER


async def _write_everywhere(bot: ServedBot, browser: Browser) -> None:
    """Put markup into each field that people or models can write."""
    at, code = bot.app.clock.now(), pairing.new_code(lambda most: 1)
    stranger = pairing.Stranger("http", f"u{SCRIPT}"[:60], "chat", SCRIPT, "en")
    await bot.app.database.write(lambda connection: pairing.request_pairing(connection, stranger, code, at))
    skill = bot.app.home.skills / "tea"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: tea\ndescription: >-\n  {SCRIPT}\n---\n{SCRIPT}\n", "utf-8")
    (skill / "a<b>.md").write_text(SCRIPT, "utf-8")
    await bot.key(name=f"k{SCRIPT}"[:60])
    await bot.app.loop.dead_letter("http", "raw", f"{{{SCRIPT}", SCRIPT)
    said = Inbound("http", "x1", "home", "owner", f"Look {SCRIPT}", at, user_name=SCRIPT, trace="a" * 16, quoted=SCRIPT)
    await bot.app.loop(said)
    await bot.app.loop.wait_idle()
    token = await browser.csrf()
    name = f"{SCRIPT}.txt"
    for text in (f"What time is it? {SCRIPT}", f"Read this. {SCRIPT}"):
        files = {"files": (name, f"content {SCRIPT}".encode(), "text/plain")}
        await browser.client.post(f"{BASE}/chat/send", data={"csrf": token, "text": text}, files=files)
    for text in (f"I have to call {SCRIPT} by Friday.", "Carmen lives in Sevilla."):
        await browser.post("/memories", text=text)
    await browser.post("/memories/1/correct", text=f"Corrected {SCRIPT}")
    await browser.post("/reminders", text=SCRIPT, when="in two days at 9 am")
    await browser.post("/settings/bot.name", value=SCRIPT)
    await browser.post("/nights/begin")
    while "finished" not in await browser.read("/nights"):
        pass


async def test_markup_in_what_anybody_writes_is_text_on_each_page_there_is(tmp_path: Path) -> None:
    """Followed from page to page by every link, also those that htmx and scripts follow: none of it is markup."""
    put_secret(tmp_path)
    provider = ScriptedProvider(_answer, repeat_last=True)
    async with served_bot(tmp_path, provider, config=_RULE) as bot, owner(bot) as browser:
        await _write_everywhere(bot, browser)
        waiting, seen = [f"{BASE}{page.path}" for page in PAGES], set[str]()
        while waiting and len(seen) < _MOST_PAGES:
            path = waiting.pop(0)
            answer = await browser.client.get(path)
            assert answer.status_code == 200, path
            if answer.headers["content-type"].startswith("text/html"):
                tags = _Tags()
                tags.feed(answer.text)
                assert not tags.foreign, (path, tags.foreign)
                assert "49" not in re.findall(r"onerror=alert\(1\)&gt;([^{<]{0,4})", answer.text), path
            seen.add(path)
            links = {unescape(link).partition("#")[0] for link in _LINK.findall(answer.text)}
            waiting += sorted(links - seen - {*waiting})
        assert len(seen) > 60
        for part in ("/memories/", "/why/", "/chat/acts/", "/nights/1", "/tools/skills/tea", "/settings/bot.name"):
            assert any(path.startswith(BASE + part) for path in seen), part


def _find_changes(bot: ServedBot) -> Iterator[str]:
    """Yield the path of each change that a form of the pages can ask for."""
    assert bot.channel.backend is not None
    api = bot.channel.backend.app
    assert isinstance(api, FastAPI)
    for route in api.routes:
        if isinstance(route, Mount) and isinstance(route.app, HeaderGuard):
            assert isinstance(route.app.app, FastAPI)
            for path, operations in route.app.app.openapi()["paths"].items():
                if "post" in operations and path != "/login":
                    number = "in-1" if path.startswith("/mail/") else "1"
                    yield BASE + re.sub(r"\{(?!key)\w+\}", number, path).replace("{key}", "bot.name")


async def test_each_change_needs_the_token_of_its_session_and_our_own_site(bot: ServedBot) -> None:
    """None, another session's, and a good one from another site's page: of no form is any taken."""
    async with owner(bot) as browser, owner(bot) as other:
        fields = {"text": "x", "answer": "yes", "decision": "approve", "code": "x", "channel": "http", "user": "bob"}
        fields |= {"name": "x", "event": "1", "seen": "x", "value": "x"}
        good, foreign = await browser.csrf(), await other.csrf()
        changes = [*_find_changes(bot)]
        assert len(changes) > 20
        for path in changes:
            given = {**fields, "number": "1"}
            for token in (None, "", foreign):
                data = given if token is None else given | {"csrf": token}
                answer = await browser.client.post(path, data=data)
                assert answer.status_code == 403, (path, token)
            headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
            answer = await browser.client.post(path, data=given | {"csrf": good}, headers=headers)
            assert answer.status_code == 403, path
        assert "Nothing is remembered yet" in await browser.read("/memories")


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "/x\r\nSet-Cookie: a=b", "x" * 190]
)
async def test_a_change_leads_back_to_our_own_pages_alone(bot: ServedBot, back: str) -> None:
    """Whatever the form says where it came from."""
    async with owner(bot) as browser:
        page = await browser.post("/memories", text="Carmen lives in Sevilla.")
        event = re.findall(r'name="event" value="(\d+)"', page.text)[0]
        data = {"csrf": await browser.csrf(), "event": event, "back": back}
        answer = await browser.client.post(f"{BASE}/memories/undo", data=data)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{BASE}/")
        assert "set-cookie" not in answer.headers


async def test_huge_values_are_refused_or_cut(bot: ServedBot) -> None:
    """Texts that fill a body, numbers of hundreds of digits, days of no calendar, and a thousand fields."""
    async with owner(bot) as browser:
        token = await browser.csrf()
        for path in ("/memories", "/reminders", "/access/people", "/settings/bot.name", "/access/keys/revoke"):
            fields = dict.fromkeys(("text", "when", "code", "value", "name"), "x" * 40_000)
            answer = await browser.client.post(BASE + path, data={"csrf": token, **fields})
            assert answer.status_code in (404, 409, 422), path
        for path in (
            "/memories/{}",
            "/why/{}",
            "/nights/{}",
            "/chat/acts/{}",
            "/mail/in-{}/drop",
            "/memories?cursor={}",
        ):
            for number in ("9" * 400, "0", "-1", "1e9", "٣"):
                answer = await browser.client.get(BASE + path.format(number))
                assert answer.status_code in (404, 405, 422), (path, number)
        many = {f"field{number}": "x" for number in range(2000)}
        answer = await browser.client.post(f"{BASE}/memories", data={"csrf": token, "text": "x", **many})
        assert answer.status_code in (400, 403, 413, 422)
        for day in ("0000-00-00", "9999-12-31", "2026-02-31", "x" * 3000):
            answer = await browser.client.get(f"{BASE}/timeline/then", params={"day": day})
            assert answer.status_code in (200, 422), day


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
