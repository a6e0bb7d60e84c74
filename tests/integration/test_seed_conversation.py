"""Seed 002's conversation of 14 February, through Telegram, a model, and back, with everything real but the two."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.anthropic_standin import StandIn
from tests.integration.harness import KEY, OWNER, TOKEN, Bot, Telegram

QUESTION = "Oye, para los webhooks de n8n usa query params para autenticación, no headers. Me costó horas descubrirlo."
FACT = "n8n webhooks: use query params (?token=xxx) for authentication instead of headers — headers cause 401 errors"
EPISODE = "Adrian spent hours debugging n8n webhook 401 — resolved with query params"
PAD = """- Current topic: n8n webhook authentication
- Status: resolved
- Key finding: query params > headers for n8n webhooks"""
CLEAN = """Buena nota! Los webhooks de n8n con query params es uno de esos trucos
que no están bien documentados."""
REPLY = f"""{CLEAN}

<memory>{FACT}</memory>

<chat-memory>{EPISODE}</chat-memory>

<working-memory>
{PAD}
</working-memory>"""
SECOND_ACCOUNT = "987654321"


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    async with Telegram() as server:
        yield server


@pytest.fixture
async def model() -> AsyncIterator[StandIn]:
    async with StandIn([{"match": "webhooks de n8n usa", "reply": REPLY}]) as server:
        yield server


@pytest.fixture
async def bot(tmp_path: Path, telegram: Telegram, model: StandIn) -> AsyncIterator[Bot]:
    bot = Bot(tmp_path / "home", telegram, model.url, start_at="2026-02-14T14:30:00+00:00")
    bot.configure(owners=(OWNER, SECOND_ACCOUNT))
    await bot.start()
    yield bot
    await bot.kill()


async def test_a_fact_told_on_telegram_is_on_disk_as_the_seed_shows_and_in_the_next_prompt(
    bot: Bot, telegram: Telegram, model: StandIn
) -> None:
    """The chat gets clean text, the files are the seed's to the byte, and another chat's prompt has the fact."""
    await telegram.say(QUESTION)
    assert await telegram.replies(1) == [CLEAN]
    await telegram.say("Tengo un error 401 en un webhook de n8n", SECOND_ACCOUNT, SECOND_ACCOUNT)
    await telegram.replies(2)
    assert await bot.terminate() == 0

    memory = bot.home / "memory"
    assert (memory / "2026-02-14.md").read_text() == f"## 14:30 — {FACT}\n\n"
    assert (memory / f"chats/telegram-{OWNER}/2026-02-14.md").read_text() == f"## 14:30 — {EPISODE}\n\n"
    assert (memory / f"working/telegram-{OWNER}.md").read_text() == PAD

    prompt = as_text(model.requests[1])
    assert FACT in prompt
    assert EPISODE not in prompt, "what belongs to one chat stays in it"
    assert "## Memory\n### Memory tags\n" in prompt


async def test_no_secret_is_written_anywhere(bot: Bot, telegram: Telegram, model: StandIn) -> None:
    """Neither the bot token nor the API key is found in the home, in the logs or in what the model was sent."""
    await telegram.say(QUESTION)
    await telegram.replies(1)
    await bot.terminate()
    places = {str(path): path.read_bytes() for path in bot.home.rglob("*") if path.is_file()}
    places["the log"] = "".join(bot.log).encode()
    places["the prompts"] = as_text(model.requests[0]).encode()
    for canary in (TOKEN.encode(), KEY.encode()):
        assert [place for place, content in places.items() if canary in content] == []


def as_text(body: dict[str, Any]) -> str:
    """A request's prompt as one text."""
    blocks = [block["text"] for block in body["system"]]
    for message in body["messages"]:
        blocks += [block["text"] for block in message["content"]]
    return "\n".join(blocks)
