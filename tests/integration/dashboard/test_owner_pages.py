"""The pages timeline, people, reminders, tools, mail, settings and access: what an owner sees and does there."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kenobot.gateway import pairing
from kenobot.ports.messages import Inbound
from kenobot.ports.provider import Reply, ToolCall
from kenobot.storage import api_keys
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.dashboard.browser import Browser, owner
from tests.integration.http.bot import ServedBot, served_bot
from tests.integration.http.test_owner_api import put_secret
from tests.memory_rows import put_record
from tests.waiting import until

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
_RULE = '[provider]\nname = "openai"\n[[tools.rules]]\ntool = "clock"\ndecision = "ask"\n'


async def test_the_timeline_tells_and_takes_back(bot: ServedBot) -> None:
    """By period and kind; a day before all of it was empty, today is not."""
    async with owner(bot) as browser:
        assert "Nothing happened to memory" in await browser.read("/timeline")
        await browser.post("/memories", text="Carmen lives in Sevilla.")
        assert "learned: 1" in await browser.read("/timeline?by=day")
        assert "Carmen lives in Sevilla." in await browser.read("/timeline?happening=learned")
        assert "Carmen" not in await browser.read("/timeline?happening=forgotten")
        assert "Carmen" not in await browser.read("/timeline?first=2020-01-01&last=2020-01-02")
        today = f"{bot.app.clock.now():%Y-%m-%d}"
        assert "Carmen lives in Sevilla." in await browser.read(f"/timeline/then?day={today}")
        assert "Nothing was remembered yet" in await browser.read("/timeline/then?day=2020-01-01")
        event = re.findall(r'name="event" value="(\d+)"', await browser.get("/timeline"))[0]
        undone = await browser.post("/memories/undo", event=event, back="/timeline")
        assert undone.url.path == "/dashboard/timeline"
        assert "It is undone." in undone.text
        assert "Carmen" not in await browser.read("/memories")
        undoing = re.findall(r'name="event" value="(\d+)"', await browser.get("/timeline"))
        assert set(undoing) - {event}  # the undo itself can be taken back
        assert event not in undoing
        for wrong in ("by=year", "first=2026-13-45", "happening=nope", "cursor=-1", f"subject={'x' * 201}"):
            await browser.get(f"/timeline?{wrong}", code=422)
        await browser.get("/timeline/then?day=soon", code=422)
        await browser.get("/timeline/then?day=9999-12-31")


async def test_people_and_topics_are_listed_and_drawn(bot: ServedBot) -> None:
    """The list says what the graph does; it can be narrowed to one subject."""
    async with owner(bot) as browser:
        assert "Nothing is remembered yet" in await browser.read("/people")
        await browser.post("/memories", text="Carmen lives in Sevilla.")
        await browser.post("/memories", text="I like green tea.")
        page = await browser.read("/people")
        assert "carmen" in page.lower()
        graph = (await browser.client.get("/dashboard/people/graph?detail=memories")).json()
        assert {node["label"] for node in graph["nodes"]} >= {"Carmen lives in Sevilla.", "I like green tea."}
        subjects = {node["label"] for node in graph["nodes"] if node["kind"] == "subject"}
        one = (subjects - {"owner"}).pop()
        narrow = (await browser.client.get(f"/dashboard/people/graph?detail=memories&subject={one}")).json()
        assert [node["label"] for node in narrow["nodes"] if node["kind"] == "memory"] == ["Carmen lives in Sevilla."]
        await browser.get("/people?detail=all", code=422)


async def test_reminders_are_set_and_cancelled(bot: ServedBot) -> None:
    """In words or by day and hour; what is no time is refused with what to do."""
    async with owner(bot) as browser:
        assert "No reminder is set" in await browser.read("/reminders")
        await browser.post("/reminders", text="water the plants", when="in two days at 9 am")
        added = await browser.post("/reminders", text="call Luis", day="2099-12-24", hour="20:00")
        assert "The reminder is set." in added.text
        page = await browser.get("/reminders")
        assert "water the plants" in page
        number = re.findall(r"/reminders/(\d+)/cancel", page)[0]
        cancelled = await browser.post(f"/reminders/{number}/cancel")
        assert "The reminder is cancelled." in cancelled.text
        assert "call Luis" not in await browser.read("/reminders")
        assert "call Luis" in await browser.read("/reminders?state=all")
        restored = await browser.post(f"/reminders/{number}/restore")
        assert "The reminder is set again." in restored.text
        assert "call Luis" in await browser.read("/reminders")
        await browser.post(f"/reminders/{number}/restore", code=409)
        for alone in ({"day": "2099-01-01"}, {"hour": "23:59"}):
            fields: dict[str, Any] = {"text": f"at {alone}", **alone}
            await browser.post("/reminders", **fields)
        assert "Thursday 1 January 2099" in await browser.read("/reminders")
        for wrong in ({}, {"when": "the plants"}, {"day": "2099-13-01", "hour": "08:00"}):
            fields = {"text": "x", **wrong}
            await browser.post("/reminders", code=409 if "when" in wrong else 422, **fields)
        await browser.post("/reminders", text="x", when="tomorrow at 8", day="2099-12-24", code=422)
        await browser.post("/reminders/999/cancel", code=404)


async def test_a_promise_is_noted_as_done_and_open_again(bot: ServedBot) -> None:
    """Once; the notice offers the way back."""
    async with owner(bot) as browser:
        at = bot.app.clock.now()
        due = json.dumps({"due": f"{at + timedelta(days=1):%Y-%m-%d}"})
        await bot.app.database.write(
            lambda connection: put_record(
                connection, "I have to pay the rent.", at=at, category="commitment", attributes=due
            )
        )
        page = await browser.get("/reminders")
        numbers = re.findall(r"/promises/(\d+)/done", page)
        assert numbers
        done = await browser.post(f"/reminders/promises/{numbers[0]}/done")
        assert "It is noted as done." in done.text
        assert "pay the rent" not in await browser.read("/reminders")
        event = re.findall(r'name="event" value="(\d+)"', done.text)[0]
        await browser.post("/memories/undo", event=event, back="/reminders")
        assert "pay the rent" in await browser.read("/reminders")


async def test_a_call_is_allowed_by_a_button_of_the_page(tmp_path: Path) -> None:
    """It is then made in its chat, and stands among what tools did; what is always allowed can be withdrawn."""
    replies: list[str | Reply] = [Reply("", "tool_use", calls=(ToolCall("c", "clock", {}),)), "May I?", "So it is."]
    put_secret(tmp_path)
    provider = ScriptedProvider(replies, repeat_last=True)
    async with served_bot(tmp_path, provider, config=_RULE) as bot, owner(bot) as browser, await bot.client() as client:
        assert "Nothing waits for you." in await browser.read("/tools")
        await client.post("/v1/conversations/c1/messages", json={"text": "what time is it?"})
        page = await browser.get("/tools")
        assert "May this run?" in page
        number = re.findall(r"/tools/questions/(\d+)", page)[0]
        await browser.post(f"/tools/questions/{number}", answer="maybe", code=422)
        allowed = await browser.post(f"/tools/questions/{number}", answer="always")
        assert "Allowed for good." in allowed.text
        await until(lambda: bot.app.loop.unfinished_count == 0)
        page = await browser.get("/tools")
        assert "Nothing waits for you." in page
        grant = re.findall(r"/tools/grants/(\d+)/withdraw", page)[0]
        await browser.post(f"/tools/grants/{grant}/withdraw")
        assert "No call is allowed for good." in await browser.read("/tools")
        await browser.post(f"/tools/questions/{number}", answer="yes", code=404)


async def test_a_skill_is_read_before_it_is_trusted(bot: ServedBot) -> None:
    """Its files are shown as text; the form carries the hash of what was shown."""
    folder = bot.app.home.skills / "tea"
    folder.mkdir(parents=True)
    text = f"---\nname: tea\ndescription: How to make tea\n---\nBoil water. {SCRIPT}\n"
    (folder / "SKILL.md").write_text(text, "utf-8")
    async with owner(bot) as browser:
        assert "not trusted yet" in await browser.read("/tools")
        page = await browser.get("/tools/skills/tea")
        assert "Boil water." in page
        assert "<script>alert" not in page
        seen = re.findall(r'name="seen" value="([^"]+)"', page)[0]
        (folder / "SKILL.md").write_text(text.replace("Boil", "Freeze"), "utf-8")
        await browser.post("/tools/skills/tea/trust", seen=seen, code=409)
        seen = re.findall(r'name="seen" value="([^"]+)"', await browser.get("/tools/skills/tea"))[0]
        trusted = await browser.post("/tools/skills/tea/trust", seen=seen)
        assert "The skill is trusted." in trusted.text
        await browser.post("/tools/skills/tea/withdraw")
        assert "not trusted yet" in await browser.read("/tools")
        await browser.get("/tools/skills/..%2fidentity", code=404)


async def test_a_dead_letter_is_retried_and_dropped(bot: ServedBot) -> None:
    """By its number; what is on its way needs nothing."""
    async with owner(bot) as browser:
        assert "Nothing is stuck" in await browser.read("/mail")
        await bot.app.loop.dead_letter("http", "1", f"{{{SCRIPT}", "it cannot be read")
        page = await browser.get("/mail?state=dead")
        assert "given up" in page
        assert "<script>alert" not in page
        number = re.findall(r"/mail/(in-\d+)/drop", page)[0]
        assert f"/mail/{number}/retry" not in page
        dropped = await browser.post(f"/mail/{number}/drop")
        assert "It is dropped." in dropped.text
        await browser.post(f"/mail/{number}/retry", code=404)
        await browser.post("/mail/in-0/drop", code=422)
        await browser.get("/mail?state=lost", code=422)


async def test_a_setting_is_changed_by_the_same_rules_as_on_the_command_line(bot: ServedBot) -> None:
    """A wrong value says why; what may run, open or reveal anything names the command instead of a field."""
    async with owner(bot) as browser:
        assert "settings/bot.language" in await browser.get("/settings")
        changed = await browser.post("/settings/bot.language", value="es")
        assert "It is changed" in changed.text
        assert "runs with: auto" in await browser.read("/settings")
        wrong = await browser.post("/settings/bot.language", value="klingon", code=409)
        assert "bot.language" in wrong.text
        assert "a whole number from -1 to 23" in await browser.read("/settings/sleep.hour")
        about = await browser.read("/settings/bot.language")
        assert "Takes" in about
        page = await browser.get("/settings/channels.enabled")
        assert "kenobot config set channels.enabled" in page
        assert 'name="value"' not in page
        await browser.post("/settings/channels.enabled", value="[]", code=409)
        await browser.get("/settings/bot.nothing", code=404)
        await browser.post("/settings/bot.name", value=SCRIPT)
        assert "<script>alert" not in await browser.get("/settings")
        assert "<script>alert" not in await browser.get("/settings/bot.name")
    async with owner(bot, **{"Accept-Language": "es"}) as browser:
        assert "Cómo se llama el bot." in await browser.read("/settings/bot.name")


async def test_people_are_let_in_turned_away_and_put_out(bot: ServedBot) -> None:
    """A stranger's name is shown as text; an id of a platform may hold anything."""
    at, codes = bot.app.clock.now(), [pairing.new_code(lambda most, n=n: n) for n in range(2)]  # type: ignore[misc]
    names = (("eve", "Eve"), ("@x/y:z?#é", SCRIPT))
    for (user, name), fresh in zip(names, codes, strict=True):
        stranger = pairing.Stranger("http", user, "chat", name, "en")
        await bot.app.database.write(
            lambda connection, s=stranger, c=fresh: pairing.request_pairing(connection, s, c, at)  # type: ignore[misc]
        )
    async with owner(bot) as browser:
        page = await browser.get("/access")
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "@x/y:z?#é" in page
        away = await browser.post("/access/waiting/turn-away", channel="http", user="@x/y:z?#é")
        assert "Their code is void." in away.text
        answer = await browser.client.post(
            "/dashboard/access/people",
            data={"csrf": await browser.csrf(), "code": codes[0].formatted},
            follow_redirects=True,
        )
        assert "They are let in" in answer.text
        await until(lambda: bot.app.access.lets_in("http", "eve"))
        await browser.post("/access/people/put-out", channel="http", user="eve")
        await until(lambda: not bot.app.access.lets_in("http", "eve"))
        await browser.post("/access/people/put-out", channel="http", user="bob", code=409)
        await browser.post("/access/people/put-out", channel="http", user="nobody", code=404)


async def test_a_key_is_revoked_on_its_page(bot: ServedBot) -> None:
    """It opens nothing from then on."""
    async with owner(bot) as browser:
        assert "No program has a key" in await browser.read("/access")
        await bot.key(name="my phone / tablet")
        assert "my phone / tablet" in await browser.read("/access")
        revoked = await browser.post("/access/keys/revoke", name="my phone / tablet")
        assert "opens nothing any more" in revoked.text
        assert await bot.app.database.read(api_keys.list_keys) == []
        await browser.post("/access/keys/revoke", name="my phone / tablet", code=404)


async def _write_everywhere(bot: ServedBot, browser: Browser) -> None:
    """Put markup into what people and models can write."""
    await browser.post("/memories", text=f"Somebody wrote {SCRIPT}")
    await browser.post("/reminders", text=SCRIPT, when="in two days at 9 am")
    await bot.app.loop(
        Inbound("http", "x1", "owner", "owner", SCRIPT, bot.app.clock.now(), user_name=SCRIPT, trace="a" * 16)
    )
    await bot.app.loop.wait_idle()


@pytest.mark.parametrize(
    "path", ["/timeline", "/timeline?subject={0}", "/people", "/people?subject={0}", "/reminders", "/mail", "/tools"]
)
async def test_markup_in_what_others_write_is_shown_as_text(bot: ServedBot, path: str) -> None:
    """On every one of these pages, also where an address brings it."""
    async with owner(bot) as browser:
        await _write_everywhere(bot, browser)
        page = await browser.get(path.format("%3Cscript%3Ealert(1)%3C/script%3E"))
        assert "<script>alert" not in page
        assert "<img src" not in page
