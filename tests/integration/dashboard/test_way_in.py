"""The way into the dashboard: links, sessions, and what is kept out."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.storage import browser_sessions, state
from kenobot_dashboard.navigation import PAGES
from kenobot_testing.clock import ManualClock
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import BASE, make_link, owner, stranger, words_of
from tests.integration.http.bot import ServedBot, served_bot


def cookie_of(answer_cookie: str) -> str:
    """Return name and value of a Set-Cookie header."""
    return answer_cookie.partition(";")[0]


async def test_nobody_sees_a_page_without_a_session(bot: ServedBot) -> None:
    """Each page leads to the way in, a part of one says that it must be loaded anew, and a change is refused."""
    async with stranger(bot) as client:
        for page in PAGES:
            answer = await client.get(BASE + page.path)
            assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/login"), page
            part = await client.get(BASE + page.path, headers={"HX-Request": "true"})
            assert (part.status_code, part.headers["hx-refresh"], part.text) == (401, "true", "")
        assert (await client.post(f"{BASE}/logout")).status_code == 401
        assert "kenobot dashboard" in words_of((await client.get(f"{BASE}/login")).text)


async def test_a_link_opens_one_session_once(bot: ServedBot) -> None:
    """To look at it uses nothing up; of several browsers that press its button at once, one gets in."""
    link = await make_link(bot)
    async with stranger(bot) as client:
        for _ in range(2):
            assert (await client.get(f"{BASE}/login", params={"link": link})).status_code == 200
        answers = await asyncio.gather(*(client.post(f"{BASE}/login", data={"link": link}) for _ in range(4)))
    places = sorted(answer.headers["location"] for answer in answers)
    assert places == [f"{BASE}/", *[f"{BASE}/login?failed=true"] * 3]
    [cookie] = [answer.headers["set-cookie"] for answer in answers if "set-cookie" in answer.headers]
    assert {"HttpOnly", "SameSite=strict", f"Path={BASE}"} <= set(cookie.split("; "))


async def test_only_hashes_of_links_and_sessions_are_kept(bot: ServedBot) -> None:
    """Who reads the database gets in by nothing that stands there."""
    link = await make_link(bot)
    async with owner(bot) as browser:
        secret = next(iter(browser.client.cookies.values()))
        kept = await bot.app.database.read(
            lambda connection: [state.read_state(connection, f"dashboard:{kind}") for kind in ("links", "sessions")]
        )
        assert all(kept)
        assert link not in str(kept)
        assert secret not in str(kept)


async def test_a_session_that_a_browser_brings_to_the_way_in_is_ended(bot: ServedBot) -> None:
    """A login makes a new secret: neither a planted one nor the former one opens anything after it."""
    async with owner(bot) as browser:
        [(name, former)] = browser.client.cookies.items()
        answer = await browser.client.post(f"{BASE}/login", data={"link": await make_link(bot)})
        assert cookie_of(answer.headers["set-cookie"]) not in ("", f"{name}={former}")
        assert (await browser.client.get(f"{BASE}/")).status_code == 200
    async with stranger(bot) as other:
        for planted in (former, "planted", ""):
            assert (await other.get(f"{BASE}/", headers={"Cookie": f"{name}={planted}"})).status_code == 303


async def test_links_and_sessions_end_by_themselves(clocked_bot: ServedBot, clock: ManualClock) -> None:
    """A link after minutes, a session once it is idle for hours, and one in use after days; a live page is no use."""
    old = await make_link(clocked_bot)
    clock.advance(browser_sessions.LINK_MINUTES * 60 + 1)
    async with stranger(clocked_bot) as client:
        assert (await client.post(f"{BASE}/login", data={"link": old})).headers["location"].endswith("failed=true")
    async with owner(clocked_bot) as browser:
        almost = browser_sessions.IDLE - timedelta(minutes=1)
        clock.advance(almost.total_seconds())
        await browser.get("/")
        clock.advance(almost.total_seconds())
        await browser.get("/health/badge")
        clock.advance(120)
        await browser.get("/", code=303)
    async with owner(clocked_bot) as browser:
        for _ in range(browser_sessions.LONGEST // almost):
            clock.advance(almost.total_seconds())
            await browser.get("/")
        clock.advance(almost.total_seconds())
        await browser.get("/", code=303)


async def test_logging_out_ends_the_session_at_the_server(bot: ServedBot) -> None:
    """The secret opens nothing afterwards, also where a browser keeps it; another browser's goes on, unless all end."""
    async with owner(bot) as one, owner(bot) as other, owner(bot) as third:
        [(name, secret)] = one.client.cookies.items()
        await one.post("/logout")
        assert not one.client.cookies
        async with stranger(bot, Cookie=f"{name}={secret}") as kept:
            assert (await kept.get(f"{BASE}/")).status_code == 303
        await other.get("/")
        await other.post("/logout", everywhere="true")
        await third.get("/", code=303)


async def test_it_is_not_there_where_it_is_switched_off(tmp_path: Path) -> None:
    """Though it is installed; the REST API is."""
    async with served_bot(tmp_path, ScriptedProvider(["Noted."]), dashboard=False) as bot, stranger(bot) as client:
        for path in (BASE, f"{BASE}/", f"{BASE}/login"):
            assert (await client.get(path)).status_code == 404
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize("given", ["", "0" * 64, "ñ", "of another session"])
async def test_a_change_needs_the_token_of_its_session(bot: ServedBot, given: str) -> None:
    """None, a wrong one and another session's are refused, and change nothing."""
    async with owner(bot) as browser, owner(bot) as other:
        token = await other.csrf() if given == "of another session" else given
        answer = await browser.client.post(f"{BASE}/logout", data={"csrf": token})
        assert answer.status_code == 403
        await browser.get("/")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_site_s_page_changes_nothing(bot: ServedBot, headers: dict[str, str]) -> None:
    """Neither with the session nor at the way in."""
    async with owner(bot) as browser:
        data = {"csrf": await browser.csrf()}
        assert (await browser.client.post(f"{BASE}/logout", data=data, headers=headers)).status_code == 403
        link = {"link": await make_link(bot)}
        assert (await browser.client.post(f"{BASE}/login", data=link, headers=headers)).status_code == 403
        await browser.get("/")


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example", "192.168.1.5:8765", "10.0.0.1", "[::2]", "["]
)
async def test_a_name_that_is_not_ours_is_refused(bot: ServedBot, name: str) -> None:
    """A site that has its own name point to this machine reads nothing, and sends nothing."""
    async with owner(bot) as browser:
        for path in ("/", "/login", "/health"):
            assert (await browser.client.get(BASE + path, headers={"Host": name})).status_code == 421
        answer = await browser.client.post(f"{BASE}/login", data={"link": await make_link(bot)}, headers={"Host": name})
        assert answer.status_code == 421


@pytest.mark.parametrize("name", ["localhost:9000", "127.0.0.1", "[::1]:22", "LOCALHOST"])
async def test_names_of_this_machine_are_answered(bot: ServedBot, name: str) -> None:
    """With any port, as at the end of a tunnel."""
    async with stranger(bot) as client:
        assert (await client.get(f"{BASE}/login", headers={"Host": name})).status_code == 200


async def test_tries_to_get_in_are_limited(bot: ServedBot) -> None:
    """After ten wrong links in a minute, also a good one has to wait."""
    async with stranger(bot) as client:
        for _ in range(10):
            assert (await client.post(f"{BASE}/login", data={"link": "guess"})).status_code == 303
        answer = await client.post(f"{BASE}/login", data={"link": await make_link(bot)})
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1


async def test_every_answer_has_the_headers_that_guard_it(bot: ServedBot) -> None:
    """Pages, refusals and the way in; scripts and styles are kept for ever, the others never."""
    async with owner(bot) as browser:
        page = await browser.get("/")
        statics = set(re.findall(rf'(?:src|href)="({BASE}/static/[^"]+)"', page))
        assert len(statics) >= 4
        for path in ("/dashboard/", "/dashboard/login", "/dashboard/nothing", *statics):
            answer = await browser.client.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            kept = "immutable" if path in statics else "no-store"
            assert kept in answer.headers["cache-control"], path


@pytest.mark.parametrize("path", ["../style.css", "..%2f..%2ftexts.toml", "%2e%2e/login.py", "libraries.toml/..", "x"])
async def test_only_files_of_the_folder_are_sent(bot: ServedBot, path: str) -> None:
    """And each by the digest of its bytes."""
    async with stranger(bot) as client:
        answer = await client.get(f"{BASE}/static/0000000000000000/{path}")
        assert answer.status_code in (303, 404)
        assert "import" not in answer.text
