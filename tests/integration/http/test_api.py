"""The REST API of a whole bot: what each key sees and does, over a real connection."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kenobot.app.attach import attach_bot
from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.wiring import build_watch
from kenobot.ports.errors import ConfigError
from kenobot.ports.provider import Delta, Request, Usage
from kenobot.storage import erasure
from kenobot_http.api.scopes import Scope
from kenobot_testing.scripted import ScriptedProvider
from tests.integration.http.bot import ServedBot, served_bot
from tests.integration.http.served import channel_of, signed


def last_words(request: Request) -> str:
    """Return the words of the person: the first block of the last message; its time is the last one."""
    return request.messages[-1].text_blocks[0].text


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[ServedBot]:
    """A bot that repeats what it is told."""
    provider = ScriptedProvider(lambda request: f"You said: {last_words(request)}", repeat_last=True)
    async with served_bot(tmp_path, provider) as served:
        yield served


async def send(client: httpx.AsyncClient, text: str, chat: str = "c1", **headers: str) -> httpx.Response:
    """Send a message and wait for the answer."""
    return await client.post(f"/v1/conversations/{chat}/messages", json={"text": text}, headers=headers)


async def test_each_of_many_concurrent_calls_gets_its_own_answer(bot: ServedBot) -> None:
    """Also in one conversation, whose turns come one after the other."""
    async with await bot.client() as client:
        calls = [send(client, f"number {number}", f"c{number % 3}") for number in range(12)]
        answers = await asyncio.gather(*calls)
        assert [answer.status_code for answer in answers] == [200] * 12
        assert [answer.json()["answer"] for answer in answers] == [f"You said: number {each}" for each in range(12)]
        assert {answer.json()["state"] for answer in answers} == {"answered"}
        kept = await client.get(f"/v1/messages/{answers[0].json()['id']}")
        assert kept.json() == answers[0].json()


async def test_a_request_sent_again_is_done_once(bot: ServedBot) -> None:
    """The same key brings the same answer, at once and later; with another request it is refused."""
    async with await bot.client() as client:
        name = {"Idempotency-Key": "order-1"}
        first, again = await asyncio.gather(send(client, "hello", **name), send(client, "hello", **name))
        later, other = await send(client, "hello", **name), await send(client, "another", **name)
        assert first.json() == again.json() == later.json()
        assert other.status_code == 409
        said = await client.get("/v1/conversations/c1/messages")
        assert [each["text"] for each in said.json()["items"]] == ["You said: hello", "hello"]
        made = [await client.post("/v1/memories", json={"text": "Ana likes tea"}, headers=name) for _ in range(2)]
        assert made[0].json() == made[1].json()
        assert made[0].json()["action"] == "created"


async def test_an_id_belongs_to_one_message_also_when_two_come_at_once(bot: ServedBot) -> None:
    """One is answered; another under its key is told so, and under its id of the webhook is a repeat."""
    async with await bot.client() as client:
        name = {"Idempotency-Key": "order-2"}
        answers = await asyncio.gather(*(send(client, f"number {number}", **name) for number in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
        assert (await send(client, "number 0", "c2", **name)).status_code == 409
        posts = [{"message": text, "id": "7", "chat_id": "c1"} for text in ("one", "two", "one")]
        taken = [await client.post("/webhook", **signed(bot.app.clock, each)) for each in posts]
        assert [answer.status_code for answer in taken] == [200, 409, 409]
        assert len((await client.get("/v1/conversations/c1/messages")).json()["items"]) == 4


class Hesitating:
    """Writes an answer in three pieces, each when it is told to."""

    name = "hesitating"

    def __init__(self) -> None:
        self.steps = [asyncio.Event() for _ in range(3)]

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        for step, text in zip(self.steps, ("Once upon ", "a time there ", "was a bot."), strict=True):
            await step.wait()
            yield Delta(text=text)
        yield Delta(stop_reason="end_turn", usage=Usage(), model="m")


async def test_an_answer_is_followed_while_it_is_written(tmp_path: Path) -> None:
    """What has been shown and the rest add up to the stored answer, which is the last event."""
    provider = Hesitating()
    async with served_bot(tmp_path, provider) as bot, await bot.client() as client:
        shown, events = "", list[tuple[str, Any]]()
        body, headers = {"text": "tell me"}, {"Accept": "text/event-stream"}
        path = "/v1/conversations/c1/messages"
        async with client.stream("POST", path, json=body, headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = json.loads(line.removeprefix("data: "))
                    events.append((name, data))
                    if name == "draft":
                        shown = shown[: data["keep"]] + data["text"]
                    done = {"Once upon": 1, "Once upon a time there": 2}.get(shown, 0)
                    for step in provider.steps[: done + 1]:
                        step.set()
        assert [name for name, _ in events][:3] == ["message", "draft", "draft"]
        assert events[-1][0] == "answer"
        assert events[-1][1]["answer"] == "Once upon a time there was a bot."
        assert not bot.channel.calls.has_followers


async def test_a_caller_who_waits_too_short_fetches_the_answer(tmp_path: Path) -> None:
    """202 says that it is stored; the message tells its state."""
    provider = Hesitating()
    async with served_bot(tmp_path, provider) as bot, await bot.client() as client:
        sent = await client.post("/v1/conversations/c1/messages?wait=0", json={"text": "tell me"})
        assert (sent.status_code, sent.json()["state"], sent.json()["answer"]) == (202, "pending", "")
        for step in provider.steps:
            step.set()
        await bot.app.loop.wait_idle()
        await bot.app.delivery.queue.wait_idle()
        kept = (await client.get(f"/v1/messages/{sent.json()['id']}")).json()
        assert (kept["state"], kept["answer"]) == ("answered", "Once upon a time there was a bot.")


async def test_commands_answer_too_and_what_is_forgotten_is_shown_no_more(bot: ServedBot) -> None:
    """An answer to a command is kept like any other; a forgotten turn's is not."""
    async with await bot.client() as client:
        remembered = await send(client, "/remember The alarm is set at noon")
        kept = (await client.get(f"/v1/messages/{remembered.json()['id']}")).json()
        assert "noon" in kept["answer"]
        told = (await send(client, "The alarm is set at noon")).json()["id"]
        (memory,) = (await client.get("/v1/memories")).json()["items"]
        assert (await client.delete(f"/v1/memories/{memory['id']}")).status_code == 200
        lines = (await client.get("/v1/conversations/c1/messages")).json()["items"]
        assert not [line for line in lines if "noon" in line["text"]]
        assert "noon" not in (await client.get(f"/v1/messages/{told}")).json()["answer"]
        assert "noon" not in (await client.get("/v1/conversations/c1/why")).text


async def test_memory_is_seen_corrected_forgotten_and_undone(bot: ServedBot) -> None:
    """Each change says which event undoes it."""
    async with await bot.client() as client:
        made = (await client.post("/v1/memories", json={"text": "I live in Madrid"})).json()
        corrected = (await client.put(f"/v1/memories/{made['memory']}", json={"text": "I live in Lyon"})).json()
        assert corrected["action"] == "replaced"
        found = (await client.get("/v1/recall", params={"q": "where do I live?"})).json()
        assert [item["text"] for item in found["items"]] == ["I live in Lyon"]
        assert found["items"][0]["why"]["score"] > 0
        steps = (await client.get(f"/v1/memories/{made['memory']}/history")).json()
        assert steps[0]["kind"] == "superseded"
        assert steps[0]["current"] == {"record": corrected["memory"], "text": "I live in Lyon"}
        made_anew = (await client.get(f"/v1/memories/{corrected['memory']}/history")).json()[-1]
        assert made_anew["former"] == [{"record": made["memory"], "text": "I live in Madrid"}]
        undone = await client.post("/v1/undo", json={"event": corrected["event"]})
        assert undone.status_code == 200
        live = [item["text"] for item in (await client.get("/v1/memories")).json()["items"]]
        assert live == ["I live in Madrid"]
        gone = (await client.delete(f"/v1/memories/{made['memory']}")).json()
        assert (await client.get("/v1/memories")).json()["items"] == []
        assert (await client.delete(f"/v1/memories/{made['memory']}")).status_code == 409
        await client.post("/v1/undo", json={})
        assert [item["id"] for item in (await client.get("/v1/memories")).json()["items"]] == [gone["memory"]]
        why = (await client.get(f"/v1/memories/{made['memory']}")).json()
        assert (why["text"], why["source"], why["origin"]) == ("I live in Madrid", "command", "command")
        reasons = [step["reason"] for step in (await client.get(f"/v1/memories/{made['memory']}/history")).json()]
        assert "the owner said so" in reasons


async def test_a_guest_s_key_reaches_nothing_of_the_owner(bot: ServedBot) -> None:
    """Neither memory nor conversations nor messages, also under the owner's names for them."""
    async with await bot.client() as owner, await bot.client("bob") as bob:
        secret = (await owner.post("/v1/memories", json={"text": "The safe is behind the mirror"})).json()["memory"]
        said = (await send(owner, "my secret plan")).json()
        await send(bob, "hello from bob")
        seen = [
            await bob.get(path)
            for path in (
                "/v1/memories",
                "/v1/recall?q=safe mirror plan",
                "/v1/conversations",
                "/v1/conversations/c1/messages",
            )
        ]
        assert all(answer.status_code == 200 for answer in seen)
        assert not any("mirror" in json.dumps(each.json().get("items")) for each in seen)
        assert not any("secret" in answer.text for answer in seen)
        refused = [
            await bob.get(f"/v1/memories/{secret}"),
            await bob.get(f"/v1/messages/{said['id']}"),
            await bob.get(f"/v1/conversations/{said['session']}/messages"),
            await bob.get(f"/v1/conversations/{said['session']}/why"),
            await bob.put(f"/v1/memories/{secret}", json={"text": "x"}),
            await bob.delete(f"/v1/memories/{secret}"),
        ]
        assert [answer.status_code for answer in refused] == [404] * 6
        closed = [await bob.get(path) for path in ("/v1/health", "/v1/cost", "/v1/mail", "/v1/sleep", "/v1/metrics")]
        assert [answer.status_code for answer in closed] == [403] * 5
        theirs = (await owner.get("/v1/conversations")).json()["items"]
        assert len(theirs) == 2


async def test_a_key_opens_its_scopes_alone_and_only_while_it_is_good(bot: ServedBot) -> None:
    """Without a key, with a wrong or a revoked one: 401; with another scope: 403."""
    scopes: tuple[Scope, ...] = ("memory",)
    async with await bot.client(scopes=scopes) as reader, httpx.AsyncClient(base_url=bot.base) as nobody:
        assert (await reader.get("/v1/memories")).status_code == 200
        assert (await reader.post("/v1/memories", json={"text": "x"})).status_code == 403
        assert (await send(reader, "hello")).status_code == 403
        for header in ("", "Bearer", "Bearer kb_wrong", "Basic kb_wrong"):
            answer = await nobody.get("/v1/memories", headers={"Authorization": header} if header else {})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert (await nobody.get("/healthz")).json() == {"status": "ok"}
        await bot.app.database.write(lambda connection: connection.execute("DELETE FROM api_key"))
        assert (await reader.get("/v1/memories")).status_code == 401


async def test_no_header_makes_room_under_a_limit(tmp_path: Path) -> None:
    """A key's requests are counted whatever address a header claims; Retry-After says when to come again."""
    async with served_bot(tmp_path, ScriptedProvider(), requests_per_minute=5) as bot, await bot.client() as client:
        answers = [
            await client.get(
                "/v1/memories", headers={"X-Forwarded-For": f"10.0.0.{number}", "Forwarded": "for=1.1.1.1"}
            )
            for number in range(7)
        ]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        assert int(answers[-1].headers["retry-after"]) > 0
        assert (await client.get("/healthz")).status_code == 200


async def test_lists_come_in_pages_that_miss_nothing(bot: ServedBot) -> None:
    """Each row once, the newest first, also when more is added meanwhile."""
    async with await bot.client() as client:
        names = [f"fact {word} stands alone" for word in ("alpha", "bravo", "cargo", "delta", "eagle")]
        for text in names:
            await client.post("/v1/memories", json={"text": text})
        seen, cursor = list[str](), ""
        while True:
            page = (await client.get("/v1/memories", params={"limit": 2, "cursor": cursor})).json()
            seen += [item["text"] for item in page["items"]]
            await client.post("/v1/memories", json={"text": f"later thing number {len(seen)} arrived"})
            if not (cursor := page["next"]):
                break
        assert seen == names[::-1]
        assert (await client.get("/v1/memories", params={"cursor": "nonsense!"})).status_code == 422


async def test_what_came_to_no_end_is_listed_and_tried_again(bot: ServedBot) -> None:
    """A letter is retried, or dropped, by its number."""
    async with await bot.client() as client:
        await bot.app.loop.dead_letter("telegram", "7", "unreadable", "broken")
        (letter,) = (await client.get("/v1/mail")).json()
        assert (letter["state"], letter["text"]) == ("dead", "unreadable")
        assert (await client.post(f"/v1/mail/{letter['id']}/retry")).status_code == 409
        assert (await client.delete(f"/v1/mail/{letter['id']}")).json() == {"id": letter["id"], "done": "dropped"}
        assert (await client.delete(f"/v1/mail/{letter['id']}")).status_code == 404


async def test_figures_for_programs_and_for_prometheus(bot: ServedBot) -> None:
    """Health, cost and the text format with a line a figure."""
    async with await bot.client() as client:
        await send(client, "hello")
        health = (await client.get("/v1/health")).json()
        assert (health["channels"], health["messages"]["answered"]) == (["http"], 1)
        assert (await client.get("/v1/cost")).json()["rows"][0]["calls"] == 1
        text = (await client.get("/v1/metrics")).text
        assert 'kenobot_messages{state="answered"} 1' in text.splitlines()
        assert "kenobot_model_calls_total 1" in text.splitlines()


async def test_health_and_the_server_tell_the_same_state(bot: ServedBot) -> None:
    """Well: 200; degraded: 200 and the word; unhealthy: 503. What is wrong is for keys alone."""
    app = bot.app
    watch = app.watch = build_watch(app, lambda: (ChannelState("irc", "failed", "no such server"),))
    app.channel_states = lambda: (ChannelState("http", "serving"),)
    async with await bot.client() as client, httpx.AsyncClient(base_url=bot.base) as nobody:
        await send(client, "hello")
        assert (await nobody.get("/healthz")).json() == {"status": "ok"}
        for _ in range(2):
            await watch.look()
        answer = await nobody.get("/healthz")
        assert (answer.status_code, answer.json()) == (503, {"status": "unhealthy"})
        health = (await client.get("/v1/health")).json()
        assert (health["state"], health["causes"][0]["subject"]) == ("unhealthy", "irc")
        text = (await client.get("/v1/metrics")).text.splitlines()
        assert 'kenobot_health{state="unhealthy"} 1' in text
        assert 'kenobot_health_cause{check="channel",subject="irc",level="unhealthy"} 1' in text
        assert "kenobot_answers 1" in text
        status = (await client.get("/v1/status")).json()
        assert status["channels"] == [{"name": "http", "state": "serving", "reason": "", "silent_seconds": None}]
        assert (await nobody.get("/v1/status")).status_code == 401


async def test_a_night_begins_when_it_is_asked_for(bot: ServedBot) -> None:
    """Its report can be read afterwards, and before it is said that there was none yet."""
    async with await bot.client() as client:
        before = await client.get("/v1/sleep", headers={"Accept-Language": "fr, es-MX;q=0.9, en;q=0.5"})
        assert before.headers["content-type"] == "application/problem+json"
        detail = "aún no ha habido ninguna noche: POST /v1/sleep empieza una"
        assert before.json() == {
            "type": "urn:kenobot:api.no_night",
            "title": "no se encontró",
            "status": 404,
            "detail": detail,
            "error": detail,
            "key": "api.no_night",
            "values": {},
        }
        assert (await client.get("/v1/sleep?run=9")).json()["key"] == "api.no_such_night"
        assert (await client.post("/v1/sleep")).json() == {"state": "begun"}
        await bot.app.background.sleep_worker.wait_requested()
        report = (await client.get("/v1/sleep")).json()
        assert (report["state"], report["cause"]) == ("finished", "request")


async def test_the_webhook_and_the_api_share_the_bot(bot: ServedBot) -> None:
    """A signed message of the owner's is in the conversation that a key reads; a stranger's is not taken."""
    clock = bot.app.clock
    async with await bot.client() as client:
        taken = await client.post("/webhook", **signed(clock, {"message": "hello", "chat_id": "c1"}))
        assert taken.json() == {"response": "You said: hello", "status": "ok"}
        lines = (await client.get("/v1/conversations/c1/messages")).json()["items"]
        assert [line["text"] for line in lines] == ["You said: hello", "hello"]
        refused = await client.post("/webhook", **signed(clock, {"message": "hello", "user": "eve"}))
        assert refused.status_code == 403


async def test_a_stop_lets_the_answers_under_way_through(tmp_path: Path) -> None:
    """Who waits gets the answer; who comes then is not taken."""
    provider = Hesitating()
    async with served_bot(tmp_path, provider) as bot, await bot.client() as client:
        waiting = asyncio.create_task(send(client, "tell me"))
        while not bot.app.loop.unfinished_count:
            await asyncio.sleep(0)
        stopping = asyncio.create_task(bot.stop_serving())
        for step in provider.steps:
            step.set()
        assert (await waiting).json()["answer"] == "Once upon a time there was a bot."
        await stopping
        with pytest.raises(httpx.TransportError):
            await client.get("/healthz")


@pytest.mark.parametrize(("guarded", "settings"), [(False, {}), (True, {"webhook_secret": "a secret of the webhook"})])
async def test_an_open_address_needs_a_key_or_a_secret(tmp_path: Path, guarded: bool, settings: dict[str, Any]) -> None:
    """Without either the bot does not start, and says what to do."""
    async with served_bot(tmp_path, ScriptedProvider()) as bot:
        open_to_all = channel_of(bot.app.clock, host="0.0.0.0", **({"webhook_secret": ""} | settings))
        attach_bot(bot.app, open_to_all)
        assert open_to_all.backend is not None
        if guarded:
            await open_to_all.backend.check_exposed()
        else:
            with pytest.raises(ConfigError, match="kenobot http key add"):
                await open_to_all.run(bot.app.loop)
            await bot.key()
            await open_to_all.backend.check_exposed()


async def test_an_answer_survives_a_restart(tmp_path: Path) -> None:
    """The next run knows the message by its number and by its Idempotency-Key, and answers it no second time."""
    name = {"Idempotency-Key": "once"}
    first = ScriptedProvider(["the only answer"])
    async with served_bot(tmp_path, first) as bot, await bot.client() as client:
        secret = client.headers["authorization"]
        sent = (await send(client, "tell me", **name)).json()
    async with served_bot(tmp_path, ScriptedProvider()) as bot, await bot.client() as client:
        client.headers["authorization"] = secret
        kept = await client.get(f"/v1/messages/{sent['id']}")
        again = await send(client, "tell me", **name)
        assert kept.json() == again.json() == sent
        assert sent["answer"] == "the only answer"


async def test_what_is_erased_stands_in_no_kept_answer(bot: ServedBot) -> None:
    """A list of memories that a command answered with is blanked too."""
    async with await bot.client() as client:
        await client.post("/v1/memories", json={"text": "The alarm is set at noon"})
        listed = (await send(client, "/memory")).json()
        assert "noon" in listed["answer"]
        await bot.app.database.write(
            lambda connection: erasure.erase_turns(connection, (), ["The alarm is set at noon"], "owner")
        )
        assert (await client.get(f"/v1/messages/{listed['id']}")).json()["answer"] == ""


async def test_reminders_are_added_listed_and_cancelled(bot: ServedBot) -> None:
    """One sent again is added once; what is no time is refused with what to do."""
    async with await bot.client() as client:
        name = {"Idempotency-Key": "tea"}
        body = {"text": "call Luis", "at": "2099-12-24T20:00"}
        first, again = [await client.post("/v1/schedule", json=body, headers=name) for _ in range(2)]
        assert first.json() == again.json()
        assert first.json()["state"] == "active"
        for more in (
            {"when": "in two days at 8 am"},
            {"cron": "0 9 * * 1-5"},
            {"rule": "FREQ=DAILY", "zone": "Asia/Tokyo"},
        ):
            assert (await client.post("/v1/schedule", json={"text": "x"} | more)).status_code == 200
        listed = (await client.get("/v1/schedule", params={"limit": 2})).json()
        assert [each["zone"] for each in listed["items"]] == ["Asia/Tokyo", None]
        rest = (await client.get("/v1/schedule", params={"cursor": listed["next"]})).json()["items"]
        assert rest[-1]["text"] == "call Luis"
        ended = await client.delete(f"/v1/schedule/{first.json()['id']}")
        assert ended.json()["state"] == "cancelled"
        assert len((await client.get("/v1/schedule")).json()["items"]) == 3
        assert len((await client.get("/v1/schedule", params={"state": "all"})).json()["items"]) == 4
        for body, status in (
            ({"text": "x"}, 409),
            ({"text": ""}, 422),
            ({"text": "x", "at": "2099-01-01", "cron": "* * * * *"}, 409),
            ({"text": "x", "when": "tomorrow at 5"}, 409),
            ({"text": "x", "when": "the plants"}, 409),
            ({"text": "x", "at": "2001-01-01T00:00"}, 409),
            ({"text": "x", "at": "0001-01-01T00:00+14:00"}, 409),
            ({"text": "x", "rule": "FREQ=NEVER"}, 409),
        ):
            refused = await client.post("/v1/schedule", json=body)
            assert (refused.status_code, bool(refused.json()["error"])) == (status, True), body


async def test_a_guests_key_has_its_own_reminders(bot: ServedBot) -> None:
    """It neither sees nor ends those of others; the owner's sees all."""
    async with await bot.client() as owner, await bot.client("bob") as bob:
        mine = (await owner.post("/v1/schedule", json={"text": "mine", "at": "2099-12-24T20:00"})).json()
        theirs = (await bob.post("/v1/schedule", json={"text": "theirs", "at": "2099-12-24T20:00"})).json()
        assert [each["text"] for each in (await bob.get("/v1/schedule")).json()["items"]] == ["theirs"]
        assert (await bob.delete(f"/v1/schedule/{mine['id']}")).status_code == 404
        assert len((await owner.get("/v1/schedule")).json()["items"]) == 2
        assert (await owner.delete(f"/v1/schedule/{theirs['id']}")).status_code == 200
    async with await bot.client(scopes=("messages",)) as other:
        assert (await other.get("/v1/schedule")).status_code == 403
