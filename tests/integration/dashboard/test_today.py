"""The page *today*: what waits for the owner, with the page that deals with it, and whose plans are whose."""

import json
import re
from datetime import timedelta
from pathlib import Path

from kenobot.gateway import pairing
from kenobot.ports.identity import user_scope
from kenobot.ports.provider import Reply, ToolCall
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import BASE, owner
from tests.integration.http.bot import ServedBot, served_bot
from tests.integration.http.test_owner_api import put_secret
from tests.memory_rows import put_record

SCRIPT = "<script>alert(1)</script>"
_RULE = '[provider]\nname = "openai"\n[[tools.rules]]\ntool = "clock"\ndecision = "ask"\n'


async def test_what_waits_leads_to_its_page(tmp_path: Path) -> None:
    """A call that asks for a yes, a stranger and a message that was given up: each link shows it there."""
    put_secret(tmp_path)
    provider = ScriptedProvider(
        [Reply("", "tool_use", calls=(ToolCall("c", "clock", {}),)), "May I?"], repeat_last=True
    )
    async with served_bot(tmp_path, provider, config=_RULE) as bot, owner(bot) as browser, await bot.client() as client:
        assert "Nothing waits for you." in await browser.read("/")
        await client.post("/v1/conversations/c1/messages", json={"text": "what time is it?"})
        await bot.app.loop.dead_letter("http", "1", f"{{{SCRIPT}", "it cannot be read")
        at = bot.app.clock.now()
        stranger = pairing.Stranger("http", "eve", "chat", SCRIPT, "en")
        code = pairing.new_code(lambda most: 1)
        await bot.app.database.write(lambda connection: pairing.request_pairing(connection, stranger, code, at))
        page = await browser.get("/")
        assert SCRIPT not in page
        shown = {
            "Calls of tools that ask for your yes: 1": "May this run?",
            "People who wait to be let in: 1": "eve",
            "Messages that were given up: 1": "given up",
        }
        for text, there in shown.items():
            path = re.search(rf'href="{BASE}([^"]+)">{re.escape(text)}', page)
            assert path is not None, text
            assert there in await browser.read(path[1].partition("#")[0])


async def test_plans_of_others_stand_apart_under_their_names(bot: ServedBot) -> None:
    """What a guest has to do is not among what the owner has to do."""
    at = bot.app.clock.now()
    due = json.dumps({"due": f"{at + timedelta(days=1):%Y-%m-%d}"})
    for text, scope in (("I have to pay the rent.", "owner"), ("I have to feed the cat.", user_scope("http", "bob"))):
        await bot.app.database.write(
            lambda connection, text=text, scope=scope: put_record(  # type: ignore[misc]
                connection, text, at=at, category="commitment", attributes=due, scope=scope
            )
        )
    async with owner(bot) as browser:
        own, _, others = (await browser.read("/")).partition("Of other people: 1")
        assert "pay the rent" in own
        assert "feed the cat" not in own
        assert "feed the cat. bob" in others
