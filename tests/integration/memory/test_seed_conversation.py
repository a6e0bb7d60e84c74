"""Seed 002's conversation of 14 February, through Telegram, a model, and back, with everything real but the two."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import KEY, OWNER, TOKEN, Telegram

pytestmark = pytest.mark.long

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


@dataclass(frozen=True)
class Told:
    """What is left of the conversation when the bot has ended: its home, its log, and the prompts."""

    home: Path
    log: str
    replies: list[str]
    prompts: list[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The conversation, and a question of the same person's other account."""
    async with Telegram() as telegram, StandIn([{"match": "webhooks de n8n usa", "reply": REPLY}]) as model:
        home = tmp_path_factory.mktemp("seed") / "home"
        bot = Bot(home, telegram, model.url, start_at="2026-02-14T14:30:00+00:00")
        bot.configure(owners=(OWNER, SECOND_ACCOUNT))
        await bot.start()
        try:
            await telegram.say(QUESTION)
            await telegram.replies(1)
            await telegram.say("Tengo un error 401 en un webhook de n8n", SECOND_ACCOUNT, SECOND_ACCOUNT)
            replies = await telegram.replies(2)
        finally:
            assert await bot.terminate() == 0
        return Told(home, "".join(bot.log), replies, [as_text(request) for request in model.requests])


def test_a_fact_told_on_telegram_is_on_disk_as_the_seed_shows_and_in_the_next_prompt(told: Told) -> None:
    """The chat gets clean text, the files are the seed's to the byte, and another chat's prompt has the fact."""
    assert told.replies[0] == CLEAN
    memory = told.home / "memory"
    assert (memory / "2026-02-14.md").read_text() == f"## 14:30 — {FACT}\n\n"
    assert (memory / f"chats/telegram-{OWNER}/2026-02-14.md").read_text() == f"## 14:30 — {EPISODE}\n\n"
    assert (memory / f"working/telegram-{OWNER}.md").read_text() == PAD

    prompt = told.prompts[1]
    assert FACT in prompt
    assert EPISODE not in prompt, "what belongs to one chat stays in it"
    assert "## Memory\n### Memory tags\n" in prompt


def test_no_secret_is_written_anywhere(told: Told) -> None:
    """Neither the bot token nor the API key is found in the home, in the logs or in what the model was sent."""
    places = {str(path): path.read_bytes() for path in told.home.rglob("*") if path.is_file()}
    places["the log"] = told.log.encode()
    places["the prompts"] = "".join(told.prompts).encode()
    assert all(len(places[name]) > 100 for name in ("the log", "the prompts"))
    for canary in (TOKEN.encode(), KEY.encode()):
        assert [place for place, content in places.items() if canary in content] == []


def as_text(body: dict[str, Any]) -> str:
    """A request's prompt as one text."""
    blocks = [block["text"] for block in body["system"]]
    for message in body["messages"]:
        blocks += [block["text"] for block in message["content"]]
    return "\n".join(blocks)
