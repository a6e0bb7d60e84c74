"""Mail of a host: taken in once, handed over in the platform's order, and answered by whoever holds the home."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import psycopg
import pytest
import pytest_asyncio
from procrastinate import App
from procrastinate.jobs import Status

from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import StoreFull, Unavailable
from kenobot_host import activation_rows, mail_rows
from kenobot_host.activation import HOMES, STALLED_SECONDS, Activation, open_engine
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.cell_clock import CellClock
from kenobot_host.hosted_telegram import HostedTelegram, Lease, MailSource
from kenobot_host.ingress import WebhookTaker
from kenobot_host.intake import pool_of
from kenobot_host.polling import BotPoller, read_updates, request_poll, take_in
from kenobot_host.schema_rows import upgrade_schema
from kenobot_testing.clock import EagerClock
from tests.hosting.chaos.platform import Platform
from tests.integration.telegram import standin
from tests.integration.telegram.standin import Answer, Box, FakeTelegram

ACCOUNT, HOME, OTHER = "100000001", 1, 2
TOKEN = f"{ACCOUNT}:{'A' * 35}"
BOT = mail_rows.Bot(ACCOUNT, TOKEN, "", "webhook", "ana_bot", HOME)


@pytest_asyncio.fixture
async def engine(database_url: str) -> AsyncIterator[App]:
    """The engine on a database with two homes, one of which has a chat of the bot and the other the rest."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        upgrade_schema(connection)
        connection.execute("INSERT INTO kenobot.home (home, name, schema) VALUES (1, 'ana', 1), (2, 'ben', 1)")
    engine = open_engine(database_url, 8)
    async with engine.open_async():
        async with pool_of(engine).connection() as connection:
            await mail_rows.set_bot(connection, BOT)
            await mail_rows.set_routes(connection, ACCOUNT, OTHER, ["20"])
        yield engine


def _update(number: int, chat: int = 10) -> dict[str, object]:
    message = {"message_id": number, "date": 1, "chat": {"id": chat, "type": "private"}, "text": f"m{number}"}
    return {"update_id": number, "message": message}


async def _mail(engine: App) -> list[tuple[int, int]]:
    async with pool_of(engine).connection() as connection:
        found = await connection.execute("SELECT update_id, home FROM kenobot.mail ORDER BY update_id")
        return [(number, home) for number, home in await found.fetchall()]


async def test_mail_goes_to_the_home_of_its_chat_and_has_it_opened(engine: App) -> None:
    """Each update is stored once, for the home that its chat belongs to, and each home waits to be opened once."""
    updates = read_updates([_update(7), _update(8, chat=20), _update(9)])
    for _ in range(2):
        await take_in(pool_of(engine), ACCOUNT, updates)
    assert await _mail(engine) == [(7, HOME), (8, OTHER), (9, HOME)]
    waiting = await engine.job_manager.list_jobs_async(queue=HOMES, status="todo")
    assert sorted(str(job.lock) for job in waiting) == ["home:1", "home:2"]


async def test_mail_is_handed_over_in_the_order_of_the_platform(engine: App) -> None:
    """A number that comes in late is handed over after all, and what is stored is deleted, no other."""
    pool, rung = pool_of(engine), asyncio.Event()
    source = MailSource(pool, BOT, HOME, rung)
    await take_in(pool, ACCOUNT, read_updates([_update(9)]))
    await take_in(pool, ACCOUNT, read_updates([_update(7)]))

    async def numbers(offset: int | None) -> list[object]:
        return [raw["update_id"] for raw in await source.get_updates(offset) if isinstance(raw, dict)]

    assert await numbers(None) == [7, 9]
    assert await numbers(None) == [7, 9], "what is not stored yet comes again"
    await take_in(pool, ACCOUNT, read_updates([_update(8)]))  # after the others were handed over
    assert await numbers(10) == [], "an offset says nothing of a lower number"
    assert await numbers(None) == [8]
    assert await _mail(engine) == [(8, HOME)]


async def test_mail_of_a_lower_number_waits_until_it_is_stored(engine: App) -> None:
    """A message after a quiet week that could not be stored at first is handed over again, not deleted as stored."""
    pool, box, rung = pool_of(engine), Box(), asyncio.Event()
    settings = TelegramSettings.model_validate({"token": TOKEN, "owners": [1], "base_url": "http://127.0.0.1:1/bot"})
    channel = HostedTelegram(settings, EagerClock(), MailSource(pool, BOT, HOME, rung), Lease(pool, ACCOUNT, _hold))

    async def come(number: int) -> None:
        await take_in(pool, ACCOUNT, read_updates([standin.update(number)]))
        rung.set()

    async with standin.running(channel, box), asyncio.timeout(20):
        await come(900)
        await box.holds(1)
        box.failures.append(StoreFull("disk.full"))
        await come(4)
        await box.holds(2)
        assert box.ids == ["900", "4"]
        while await _mail(engine):
            await asyncio.sleep(0.02)


async def test_only_genuine_posts_are_taken_in(engine: App) -> None:
    """A post without Telegram's secret is refused; one with it is confirmed once it is stored, and not twice."""
    async with Platform() as platform:
        async with pool_of(engine).connection() as connection:
            bot = mail_rows.Bot(ACCOUNT, TOKEN, platform.base_url, "webhook", "ana_bot", HOME)
            await mail_rows.set_bot(connection, bot)
        taker = WebhookTaker(pool_of(engine), SystemClock(), BotTokens(None), "http://127.0.0.1:1")
        await taker.look()
        secret = platform.hooks[TOKEN]
    assert secret not in TOKEN
    body, path = json.dumps(_update(7)), f"/hooks/telegram/{ACCOUNT}"
    genuine = {"X-Telegram-Bot-Api-Secret-Token": secret}
    transport = httpx.ASGITransport(app=taker.build_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://ingress") as client:

        async def post(text: str, headers: dict[str, str], to: str = path) -> int:
            return (await client.post(to, content=text, headers=headers)).status_code

        assert await post(body, {}) == 403
        assert await post(body, {"X-Telegram-Bot-Api-Secret-Token": "A" * 64}) == 403
        assert await post(body, genuine, path.replace(ACCOUNT, "9")) == 403
        assert await post("{", genuine) == 400
        assert await _mail(engine) == []
        assert [await post(body, genuine) for _ in range(2)] == [200, 200]
        assert await _mail(engine) == [(7, HOME)]


async def test_a_bot_is_polled_into_the_mail(engine: App) -> None:
    """What is handed over is stored before it is confirmed; the next poller waits, and one that lost its job ends."""
    async with Platform() as platform:
        async with pool_of(engine).connection() as connection:
            bot = mail_rows.Bot(ACCOUNT, TOKEN, platform.base_url, "poll", "", HOME)
            await mail_rows.set_bot(connection, bot)
            await request_poll(connection, ACCOUNT)
        worker = await engine.job_manager.register_worker()
        job = await engine.job_manager.fetch_job(queues=["bots"], worker_id=worker)
        assert job is not None
        released = asyncio.Event()
        poller = BotPoller(pool_of(engine), SystemClock(), BotTokens(None))

        async def holds(connection: psycopg.AsyncConnection) -> bool:
            return await activation_rows.holds(connection, job.id or 0, worker, job.attempts)

        polling = asyncio.create_task(poller.poll(ACCOUNT, released, holds))
        await platform.tell("hello", "10", TOKEN, posted=False)
        async with asyncio.timeout(20):
            while not await _mail(engine):
                await asyncio.sleep(0.02)
        (next_job,) = await engine.job_manager.list_jobs_async(queue="bots", status="todo")
        assert next_job.lock == f"bot:{ACCOUNT}"
        await engine.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
        async with asyncio.timeout(20):
            await platform.tell("more", "10", TOKEN, posted=False)  # ends the poll that is under way
            await polling  # which asks again whether it may


async def test_a_polled_bot_goes_on_from_a_lower_number(engine: App) -> None:
    """After a quiet week Telegram goes on from any number: a poll for the number before would have it forget these."""
    telegram, account = FakeTelegram(), standin.TOKEN.partition(":")[0]
    telegram.answers("getUpdates", Answer([_update(900)]), Answer([]), Answer([_update(4)]))
    async with standin.serve(telegram):
        async with pool_of(engine).connection() as connection:
            bot = mail_rows.Bot(account, standin.TOKEN, telegram.base_url, "poll", "", HOME)
            await mail_rows.set_bot(connection, bot)
        released = asyncio.Event()
        poller = BotPoller(pool_of(engine), SystemClock(), BotTokens(None))
        polling = asyncio.create_task(poller.poll(account, released, _hold))
        async with asyncio.timeout(20):
            await telegram.idle.wait()
        released.set()
        await polling
    assert telegram.offsets() == [None, "901", None, "5"]
    assert await _mail(engine) == [(4, HOME), (900, HOME)]


@pytest.mark.parametrize("move", [("-5", "migrate_to_chat_id", -1005), ("-1005", "migrate_from_chat_id", -5)])
async def test_a_group_that_becomes_a_supergroup_stays_with_its_home(engine: App, move: tuple[str, str, int]) -> None:
    """Whichever of the two groups tells of it; a supergroup that was given to a home by name stays there."""
    chat, field, other = move
    told = {"update_id": 7, "message": {"message_id": 7, "date": 1, "chat": {"id": int(chat)}, field: other}}
    async with pool_of(engine).connection() as connection:
        await mail_rows.set_routes(connection, ACCOUNT, OTHER, ["-5"])
    await take_in(pool_of(engine), ACCOUNT, read_updates([told, _update(8, chat=-1005)]))
    assert await _mail(engine) == [(7, OTHER), (8, OTHER)]
    async with pool_of(engine).connection() as connection:
        await mail_rows.set_routes(connection, ACCOUNT, HOME, ["-1005"])
    await take_in(pool_of(engine), ACCOUNT, read_updates([told | {"update_id": 9}, _update(10, chat=-1005)]))
    assert (await _mail(engine))[-1] == (10, HOME)


async def test_a_bot_whose_home_moves_rests(engine: App) -> None:
    """Nothing of it is confirmed, so that its platform keeps what comes; nor of one that is gone."""
    updates = read_updates([_update(7)])
    for trouble in ("UPDATE kenobot.home SET is_here = false WHERE home = 2", "DELETE FROM kenobot.bot"):
        async with pool_of(engine).connection() as connection:
            await connection.execute(trouble)
        taker = WebhookTaker(pool_of(engine), SystemClock(), BotTokens(None), "")
        await taker.look()
        transport = httpx.ASGITransport(app=taker.build_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://ingress") as client:
            assert (await client.post(f"/hooks/telegram/{ACCOUNT}", content="{}")).status_code == 403
        poller = BotPoller(pool_of(engine), SystemClock(), BotTokens(None))
        await poller.poll(ACCOUNT, asyncio.Event(), _hold)
    with pytest.raises(mail_rows.BotRests):
        await take_in(pool_of(engine), ACCOUNT, updates)
    async with pool_of(engine).connection() as connection:
        await mail_rows.set_bot(connection, BOT)
        await mail_rows.set_routes(connection, ACCOUNT, OTHER, ["10"])
    with pytest.raises(mail_rows.BotRests):
        await take_in(pool_of(engine), ACCOUNT, updates)
    assert await _mail(engine) == []


async def _hold(connection: psycopg.AsyncConnection) -> bool:
    del connection
    return True


async def test_a_worker_that_lost_its_home_sends_nothing(engine: App) -> None:
    """Before each message the job's row is asked; a worker that it no longer names sends nothing for the home."""
    pool = pool_of(engine)
    await take_in(pool, ACCOUNT, read_updates([_update(7)]))
    job = await engine.job_manager.fetch_job(queues=[HOMES], worker_id=await engine.job_manager.register_worker())
    assert job is not None
    held = Activation.of(HOME, job)

    async def holds(connection: psycopg.AsyncConnection) -> bool:
        return await activation_rows.holds(connection, held.job, held.worker, held.attempts)

    lease = Lease(pool, ACCOUNT, holds)
    await lease.await_turn()
    await engine.job_manager.retry_job(job)
    with pytest.raises(Unavailable):
        await lease.await_turn()


async def test_a_worker_that_sends_is_not_taken_for_silent(engine: App) -> None:
    """One that was kept from its heartbeat holds its home anew before it sends: nobody sends the same beside."""
    pool = pool_of(engine)
    await take_in(pool, ACCOUNT, read_updates([_update(7)]))
    worker = await engine.job_manager.register_worker()
    job = await engine.job_manager.fetch_job(queues=[HOMES], worker_id=worker)
    assert job is not None
    async with pool.connection() as connection:
        await connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")

    async def find_stalled() -> list[int | None]:
        stalled = await engine.job_manager.get_stalled_jobs(queue=HOMES, seconds_since_heartbeat=STALLED_SECONDS)
        return [each.id for each in stalled]

    assert await find_stalled() == [job.id]
    held = Activation.of(HOME, job)
    renew = partial(activation_rows.renew_lease, job=held.job, worker=held.worker, attempts=held.attempts)
    await Lease(pool, ACCOUNT, renew).await_turn()
    assert await find_stalled() == []


async def test_homes_go_by_the_clock_of_postgresql(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    """A worker whose machine is an hour ahead says so, and tells the same time as the others."""
    engine = open_engine(database_url, 2)
    async with engine.open_async():
        clock = CellClock(SystemClock(datetime.now(UTC) + timedelta(hours=1)))
        assert clock.now() - datetime.now(UTC) > timedelta(minutes=59)
        await clock.begin(pool_of(engine))
        assert abs(clock.now() - datetime.now(UTC)) < timedelta(minutes=1)
    assert "off by" in caplog.text


async def test_messages_of_a_bot_keep_their_pace(engine: App) -> None:
    """Each message takes the place behind the one before, whichever worker asks."""
    pauses = []
    for _ in range(3):
        async with pool_of(engine).connection() as connection:
            pauses.append(await mail_rows.take_pace(connection, ACCOUNT, 10.0))
    assert pauses[0] == 0
    assert 5 < pauses[1] <= 10 < pauses[2] <= 20
