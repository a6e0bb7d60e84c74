"""A bot that has lived for two weeks: talk, memories, nights, costs, mail that failed, people and keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from kenobot.gateway import pairing
from kenobot.ports.provider import Delta, Request, Usage
from kenobot_testing.clock import ManualClock
from tests.integration.dashboard.browser import owner
from tests.integration.http.bot import ServedBot, served_bot

DAYS = 14
LAST_DAY = datetime(2026, 11, 20, 15, 10, tzinfo=UTC)
QUESTION = "Which neighbourhood does Carmen live in?"
_CONFIG = """
[bot]
timezone = "Europe/Madrid"
[budget]
daily_usd = 0.05
monthly_usd = 2.0
"""
_TALK: tuple[tuple[str, str], ...] = (
    (
        "My sister Carmen lives in Triana, and her son Leo is seven.",
        "Noted."
        "<memory>Carmen, the sister, lives in Triana, a neighbourhood of Sevilla.</memory>"
        "<memory>Leo is Carmen's son and is seven.</memory>",
    ),
    (
        "I work as an editor at a small press in Madrid.",
        "Good to know.<memory>Works as an editor at a small press in Madrid.</memory>",
    ),
    (
        "I am allergic to penicillin.",
        "I shall keep that in mind.<memory>Allergic to penicillin.</memory>",
    ),
    (
        "I have to send the tax papers by Friday.",
        "All right.<memory>Has to send the tax papers.</memory>",
    ),
    (
        "My dentist is Dr. Ruiz, in Calle Feria 12.",
        "Noted.<memory>The dentist is Dr. Ruiz, in Calle Feria 12.</memory>",
    ),
    (
        "I prefer tea to coffee in the afternoon.",
        "Tea it is.<user-update>Prefers tea to coffee in the afternoon.</user-update>",
    ),
    (
        "The boiler was serviced by Gas Natural; the next time is in October.",
        "Noted.<memory>The boiler was serviced by Gas Natural; the next service is in October.</memory>",
    ),
    (
        "I play the cello on Thursdays.",
        "How lovely.<memory>Plays the cello on Thursdays.</memory>",
    ),
    (
        "Ana wants to visit in January, with her two dogs.",
        "Noted.<memory>Ana wants to visit in January, with her two dogs.</memory>",
    ),
    (
        "I promised Marta to call her this week.",
        "I shall remember.<memory>Promised Marta to call her this week.</memory>",
    ),
    (
        "The car is a grey Seat León.",
        "Noted.<memory>The car is a grey Seat León.</memory>",
    ),
    (
        "Leo had his birthday: he is eight now.",
        "Congratulations.<memory>Leo is eight.</memory>",
    ),
    (QUESTION, "Carmen lives in **Triana**, a neighbourhood of Sevilla."),
    (
        "Write me a list of what to pack for the mountains.",
        "Here it is:\n\n- boots\n- a map\n- a warm jacket\n\n```\nweather --in Gredos\n```",
    ),
)


class Talker:
    """Answers as the talk has it, and anything else with a short word, each after a second or more."""

    name = "anthropic"

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        last = request.messages[-1].text if request.messages else ""
        answer = next((reply for asked, reply in _TALK if asked in last), "Very well.")
        self._clock.advance(1 + len(last) % 7 / 4)
        for word in answer.split(" "):
            yield Delta(text=f"{word} ")
        yield Delta(
            stop_reason="end_turn",
            usage=Usage(2400 + 31 * len(last), 90 + len(answer), 1800, 0),
            model="claude-sonnet-4-5",
        )


@asynccontextmanager
async def lived_in_bot(folder: Path, *, port: int = 0) -> AsyncIterator[ServedBot]:
    """Run a bot that has lived two weeks, whose time stands still in the afternoon of `LAST_DAY`."""
    clock = ManualClock(LAST_DAY - timedelta(days=DAYS - 1))
    async with served_bot(folder, Talker(clock), clock=clock, config=_CONFIG, port=port) as bot:
        await _live(bot, clock)
        yield bot


async def _live(bot: ServedBot, clock: ManualClock) -> None:
    async with await bot.client() as client, await bot.client("bob") as guest:
        for day, (said, _) in enumerate(_TALK):
            for text in (said, "Thank you.") if day % 3 == 0 else (said,):
                await client.post("/v1/conversations/dashboard/messages", json={"text": text})
                clock.advance(90)
            await guest.post("/v1/conversations/home/messages", json={"text": f"I have to water plant {day} tomorrow."})
            if day < DAYS - 1:
                clock.advance(13 * 3600 - 300)
                await client.post("/v1/sleep")
                while (
                    not (nights := (await client.get("/v1/nights")).json())
                    or nights[0]["state"] == "running"
                    or len(nights) <= day
                ):
                    await asyncio.sleep(0.01)
                clock.advance(LAST_DAY.timestamp() - (DAYS - 2 - day) * 86_400 - clock.now().timestamp())
        await client.post("/v1/schedule", json={"text": "water the plants", "when": "tomorrow at 9 am"})
        await client.post("/v1/schedule", json={"text": "cello lesson", "when": "every Thursday at 18:00"})
    await _leave_work(bot)


async def _wait_for_night(client: httpx.AsyncClient, number: int) -> None:
    """Return once so many nights are over."""
    while True:
        nights = (await client.get("/v1/nights")).json()
        if len(nights) >= number and all(each["state"] != "running" for each in nights):
            return
        await asyncio.sleep(0.01)


async def _leave_work(bot: ServedBot) -> None:
    """Leave something of each kind that waits for the owner."""
    at = bot.app.clock.now()
    await bot.app.loop.dead_letter("telegram", "u1", '{"update_id": 7, "odd": true}', "it cannot be read")
    stranger = pairing.Stranger("http", "eva", "chat", "Eva", "es")
    code = pairing.new_code(lambda most: 1)
    await bot.app.database.write(lambda connection: pairing.request_pairing(connection, stranger, code, at))
    await bot.key(name="phone")
    async with owner(bot) as browser:
        await browser.post("/memories/1/correct", text="Carmen, the sister, lives in Triana, on the river.")
