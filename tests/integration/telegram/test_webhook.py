"""Updates that Telegram posts to the bot's HTTP server: genuine ones alone, confirmed once they are stored."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from kenobot.app.attach import check_hooks
from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.webhook import PATH
from kenobot.ports.errors import ConfigError, StoreError
from kenobot_testing.clock import EagerClock, ManualClock
from kenobot_testing.fake_channel import RecordingSink
from tests.integration.http.served import channel_of, served
from tests.integration.telegram.emulator import running_emulator
from tests.integration.telegram.standin import (
    DEADLINE,
    FAULTS,
    Answer,
    Box,
    FakeTelegram,
    channel_at,
    press,
    running,
    update,
)

BASE = "https://bot.example.org"


@asynccontextmanager
async def posted_to(
    telegram: FakeTelegram, channel: TelegramChannel, box: Box
) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str]]]:
    """Run a channel behind the HTTP server; the client posts as Telegram does, with the secret's header."""
    http = channel_of(ManualClock())
    http.others = {"telegram": channel}
    async with served(http, RecordingSink()) as client, running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.webhook_set.wait()
        await until_ready(client)
        (fields,) = [fields for method, fields in telegram.calls if method == "setWebhook"][:1]
        yield client, {"X-Telegram-Bot-Api-Secret-Token": fields["secret_token"]}


async def until_ready(client: httpx.AsyncClient) -> None:
    """Return once the channel knows that its webhook is set."""
    while (await client.get(PATH)).status_code != 403:
        await asyncio.sleep(0)


async def test_a_posted_update_is_confirmed_once_it_is_stored(telegram: FakeTelegram, clock: EagerClock) -> None:
    """One that is not is refused, so that Telegram posts it again; it is answered once however often it comes."""
    channel, box = channel_at(telegram.base_url, clock, webhook_url=BASE), Box()
    box.failures.append(StoreError("the disk is full"))
    async with posted_to(telegram, channel, box) as (client, secret):
        answers = [await client.post(PATH, json=update(5, "hello"), headers=secret) for _ in range(3)]
        pressed = await client.post(PATH, json=press(6), headers=secret)
    assert [answer.status_code for answer in answers] == [503, 200, 200]
    assert pressed.status_code == 200
    assert [inbound.text for inbound in box.inbounds] == ["hello", ""]
    assert "getUpdates" not in [method for method, _ in telegram.calls]


async def test_only_telegram_s_own_requests_are_read(telegram: FakeTelegram, clock: EagerClock) -> None:
    """Without the secret nothing is; what is no update goes to the dead letters and is confirmed."""
    channel, box = channel_at(telegram.base_url, clock, webhook_url=BASE), Box()
    async with posted_to(telegram, channel, box) as (client, secret):
        forged = [
            await client.post(PATH, json=update(1, "let me in")),
            await client.post(PATH, json=update(1, "let me in"), headers={"X-Telegram-Bot-Api-Secret-Token": "x"}),
            await client.get(PATH, headers=secret),
        ]
        odd = [
            await client.post(PATH, content=content, headers=secret) for content in (b"{", b'{"update_id": 9}', b"7")
        ]
        other = await client.post("/hooks/nobody", json={}, headers=secret)
    assert [answer.status_code for answer in forged] == [403, 403, 403]
    assert [answer.status_code for answer in odd] == [400, 200, 200]
    assert other.status_code == 404
    assert not box.inbounds


async def test_the_webhook_is_set_with_what_the_bot_reads(telegram: FakeTelegram, clock: EagerClock) -> None:
    """At the address of the settings, with the kinds of updates that polls ask for, and a secret that is no token."""
    channel, box = channel_at(telegram.base_url, clock, webhook_url=f"{BASE}/"), Box()
    async with posted_to(telegram, channel, box):
        pass
    (fields,) = [fields for method, fields in telegram.calls if method == "setWebhook"][:1]
    assert fields["url"] == BASE + PATH
    assert "message" in json.loads(fields["allowed_updates"])
    assert "drop_pending_updates" not in fields or fields["drop_pending_updates"] in ("False", "false")
    assert len(fields["secret_token"]) == 64


async def test_back_to_polling_loses_nothing(telegram: FakeTelegram, clock: EagerClock) -> None:
    """A webhook that a KenoBot set is removed by the bot; what waits at Telegram comes with the first poll."""
    telegram.webhook = BASE + PATH
    channel, box = channel_at(telegram.base_url, clock), Box()
    async with running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.idle.wait()
    methods = [method for method, _ in telegram.calls]
    assert methods.index("deleteWebhook") < len(methods) - 1
    assert not [fields for method, fields in telegram.calls if fields.get("drop_pending_updates") in ("True", "true")]


async def test_the_owner_is_told_when_telegram_cannot_reach_the_webhook(
    telegram: FakeTelegram, clock: EagerClock
) -> None:
    """And it is set again when another program took it away."""
    channel, box = channel_at(telegram.base_url, clock, webhook_url=BASE), Box()
    async with running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.webhook_set.wait()
        failure = {
            "last_error_date": int(clock.now().timestamp()) + 10_000_000,
            "last_error_message": "Connection refused",
        }
        telegram.webhook_failure = failure
        while not box.reports:
            await asyncio.sleep(0.001)
        telegram.webhook, telegram.webhook_failure = "", {}
        while not telegram.webhook:
            await asyncio.sleep(0.001)
    assert "Connection refused" in box.reports[0]
    assert telegram.webhook == BASE + PATH


_TOO_MANY = Answer(status=429, error="Too Many Requests", parameters={"retry_after": 3})


@pytest.mark.parametrize("fault", [FAULTS["502 with a page"], FAULTS["cut"], _TOO_MANY], ids=["502", "cut", "429"])
async def test_a_webhook_that_cannot_be_set_again_at_once_is_set_later(
    telegram: FakeTelegram, clock: EagerClock, fault: Answer
) -> None:
    """The channel goes on meanwhile; the owner is told once it stands again, and not before."""
    channel, box = channel_at(telegram.base_url, clock, webhook_url=BASE), Box()
    async with running(channel, box), asyncio.timeout(DEADLINE):
        await telegram.webhook_set.wait()
        telegram.answers("setWebhook", fault, fault)
        telegram.webhook = "https://another.program/hook"
        while not box.reports:
            await asyncio.sleep(0.001)
        assert telegram.webhook == BASE + PATH
    assert len([method for method, _ in telegram.calls if method == "setWebhook"]) == 4


def test_a_webhook_without_a_server_is_refused(clock: EagerClock) -> None:
    """Else the bot would wait for messages that can never come."""
    channel = channel_at("http://127.0.0.1:9/bot", clock, webhook_url=BASE)
    with pytest.raises(ConfigError, match="channel http"):
        check_hooks({"telegram": channel})
    check_hooks({"telegram": channel, "http": channel_of(clock)})
    check_hooks({"telegram": channel_at("http://127.0.0.1:9/bot", clock)})


async def test_a_server_that_nobody_here_wrote_posts_and_a_switch_loses_nothing(
    tmp_path: Path, clock: EagerClock
) -> None:
    """What waited before the webhook, what comes by it, and what came while the bot was away: each once, in order."""
    box, http = Box(), channel_of(ManualClock())
    with running_emulator(tmp_path, "--allow-insecure-loopback-webhooks") as emulator:
        await emulator.write(1, "before")
        async with served(http, RecordingSink()) as client, asyncio.timeout(DEADLINE):
            posted = channel_at(emulator.base_url, clock, webhook_url=str(client.base_url))
            http.others = {"telegram": posted}
            async with running(posted, box):
                await box.holds(1)
                await emulator.write(2, "by the webhook")
                await box.holds(2)
            await emulator.write(3, "while it was away")
        async with running(channel_at(emulator.base_url, clock), box), asyncio.timeout(DEADLINE):
            await box.holds(3)
    assert box.ids == ["1", "2", "3"]
    assert {record["status"] for record in emulator.records() if record.get("event") == "webhook"} == {200, 503}
