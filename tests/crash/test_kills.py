"""Real processes, really killed: no message is lost, and none is answered twice by the core.

The short form, which `make test` plays; `make crash` plays hundreds of kills, and the other faults, and prints a table.
"""

import asyncio
import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.integration.anthropic_standin import StandIn, last_words
from tests.integration.harness import OWNER, Bot, Telegram

KILLS = int(os.environ.get("KILLS", "4"))
MESSAGES_A_LIFE = 10
CHATS = 7
SEED = 20260214


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    async with Telegram() as server:
        yield server


@pytest.fixture
async def model() -> AsyncIterator[StandIn]:
    async with StandIn([]) as server:
        yield server


@pytest.fixture
async def bot(tmp_path: Path, telegram: Telegram, model: StandIn) -> AsyncIterator[Bot]:
    bot = Bot(tmp_path / "home", telegram, model.url)
    bot.configure(owners=tuple(str(int(OWNER) + number) for number in range(CHATS)))
    await bot.start()
    yield bot
    await bot.kill()


@dataclass(frozen=True)
class Ledger:
    """What the database says at the end."""

    inbox: dict[str, int]
    turns: int
    parts: dict[str, int]
    histories: dict[str, list[str]]


def ledger(home: Path) -> Ledger:
    with contextlib.closing(sqlite3.connect(home / "kenobot.db")) as connection:
        histories: dict[str, list[str]] = {}
        for session, text in connection.execute("SELECT session, text FROM message WHERE role = 'user' ORDER BY id"):
            histories.setdefault(session, []).append(text)
        return Ledger(
            inbox=dict(connection.execute("SELECT state, count(*) FROM inbox GROUP BY state").fetchall()),
            turns=connection.execute("SELECT count(*) FROM turn").fetchone()[0],
            parts=dict(connection.execute("SELECT state, count(*) FROM outbox GROUP BY state").fetchall()),
            histories=histories,
        )


@pytest.mark.crash
async def test_no_kill_loses_a_message_or_has_the_core_answer_twice(
    bot: Bot, telegram: Telegram, model: StandIn
) -> None:
    """After seeded kill -9s at random moments every message has been answered by exactly one turn, in order."""
    rng = Random(SEED)
    asked: dict[str, list[str]] = {}
    for life in range(KILLS):
        for number in range(MESSAGES_A_LIFE):
            chat = str(int(OWNER) + rng.randrange(CHATS))
            text = f"message {life}-{number}"
            asked.setdefault(chat, []).append(text)
            await telegram.say(text, chat, chat)
        await asyncio.sleep(rng.uniform(0.0, 0.25))
        await bot.kill()
        await bot.start()
    wanted = {(chat, f"ok: {text}") for chat, texts in asked.items() for text in texts}
    try:
        await telegram.until(lambda sent: wanted <= {(item.chat, item.text) for item in sent}, 60)
    except TimeoutError:
        pytest.fail(f"never sent: {wanted - set(telegram.counted())}; {ledger(bot.home)}; {''.join(bot.log[-30:])}")
    assert await bot.terminate() == 0

    total = KILLS * MESSAGES_A_LIFE
    found = ledger(bot.home)
    assert found.inbox == {"answered": total}
    assert found.turns == total
    assert found.parts == {"sent": total}
    assert found.histories == {f"telegram-{chat}": texts for chat, texts in asked.items()}
    counted = telegram.counted()
    assert set(counted) == wanted
    repeats = sum(times - 1 for times in counted.values())
    calls = Counter(last_words(body) for body in model.requests)
    print(
        f"\nkills {KILLS}, messages {total}, lost 0, answered twice by the core 0, "
        f"parts that Telegram got once more (killed between its answer and our record) {repeats}, "
        f"model calls repeated (killed while the model wrote) {sum(times - 1 for times in calls.values())}"
    )
    assert repeats <= KILLS * CHATS, "more than one part a chat and kill"


@pytest.mark.crash
@pytest.mark.parametrize("how", ["kill", "terminate"])
async def test_a_message_whose_turn_was_cut_is_answered_once_after_the_restart(
    bot: Bot, telegram: Telegram, model: StandIn, how: str
) -> None:
    """Ended while the model was writing, by SIGKILL or SIGTERM, the bot answers on the next start, exactly once."""
    model.script = [{"match": "slow one", "times": 1, "delay": 60, "reply": "too late"}]
    await telegram.say("slow one")
    async with asyncio.timeout(20):
        while not model.requests:
            await asyncio.sleep(0.02)
    if how == "kill":
        await bot.kill()
    else:
        assert await bot.terminate() == 0
    await bot.start()
    await telegram.say("and another")
    assert await telegram.replies(2) == ["ok: slow one", "ok: and another"]
    assert await bot.terminate() == 0
    found = ledger(bot.home)
    assert (found.inbox, found.turns, found.parts) == ({"answered": 2}, 2, {"sent": 2})


@pytest.mark.crash
async def test_sigterm_lets_a_turn_at_work_finish(bot: Bot, telegram: Telegram, model: StandIn) -> None:
    """Asked to stop while the model writes for a second, the bot still sends that answer and exits with 0."""
    model.script = [{"match": "short one", "delay": 1, "reply": "in time"}]
    await telegram.say("short one")
    async with asyncio.timeout(20):
        while not model.requests:
            await asyncio.sleep(0.02)
    assert await bot.terminate() == 0
    assert [item.text for item in telegram.sent] == ["in time"]
