"""A browser without scripts: a client that keeps cookies, fills in forms and reads pages."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape

import httpx

from kenobot.storage import browser_sessions
from tests.integration.http.bot import ServedBot

BASE = "/dashboard"
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL)


async def make_link(bot: ServedBot) -> str:
    """Make the secret of a link, as `kenobot dashboard` does."""
    at = bot.app.clock.now()
    return await bot.app.database.write(lambda connection: browser_sessions.make_link(connection, at))


@asynccontextmanager
async def stranger(bot: ServedBot, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    """Open a browser without a session."""
    async with httpx.AsyncClient(base_url=bot.base, headers=headers, timeout=60, trust_env=False) as client:
        yield client


@asynccontextmanager
async def owner(bot: ServedBot, **headers: str) -> AsyncIterator["Browser"]:
    """Open a browser with a session."""
    async with stranger(bot, **headers) as client:
        answer = await client.post(f"{BASE}/login", data={"link": await make_link(bot)})
        assert answer.status_code == 303
        yield Browser(client)


class Browser:
    """The owner's browser."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str, *, code: int = 200) -> str:
        """Open a page; its HTML."""
        answer = await self.client.get(BASE + path)
        assert answer.status_code == code, answer.text
        return answer.text

    async def read(self, path: str, *, code: int = 200) -> str:
        """Open a page; its words, as a person reads them."""
        return words_of(await self.get(path, code=code))

    async def csrf(self) -> str:
        """Return the token that the forms of this session hold."""
        found = _CSRF.search(await self.get("/"))
        assert found is not None
        return found[1]

    async def post(self, path: str, *, code: int = 200, **fields: object) -> httpx.Response:
        """Send a form of a page, and follow where it leads."""
        data = {"csrf": await self.csrf(), **{name: str(value) for name, value in fields.items()}}
        answer = await self.client.post(BASE + path, data=data, follow_redirects=True)
        assert answer.status_code == code, answer.text
        return answer


def words_of(html: str) -> str:
    """Return the text of a page on one line."""
    return " ".join(unescape(_TAGS.sub(" ", html)).split())
