"""Tasks in the background on Telegram's emulator, as a real process: progress in one message, and its button."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.process import Bot
from tests.integration.providers.anthropic_standin import StandIn
from tests.integration.stand_in import OWNER, Telegram

pytestmark = pytest.mark.long

_CLOCK = [{"id": "t1", "name": "clock", "arguments": '{"zone": "Asia/Tokyo"}'}]
_SCRIPT: list[dict[str, Any]] = [
    {"match": "you are task 1,", "reply": "", "calls": _CLOCK},
    {"match": "you are task 2,", "reply": "", "delay": 60},
    {"match": "Asia/Tokyo", "reply": "Tokyo sleeps. <memory>Ana likes Tokyo</memory>", "delay": 0.5},
]


@pytest.mark.parametrize(
    ("order", "step", "result", "done", "cancel", "cancelled"),
    [
        (
            "Find out who is awake in Tokyo. Do that in the background.",
            "⏳ Task 1: Find out who is awake in Tokyo. Do that in the background.\nStep 1: clock",
            "Task 1 is done.\n\nTokyo sleeps.",
            "✅ Task 1 is done: Find out who is awake in Tokyo. Do that in the background.",
            "Cancel",
            "✖️ Task 2 is cancelled: Find out who is awake in Tokyo. Do that in the background.",
        ),
        (
            "Averigua quién está despierto en Tokio y hazlo en segundo plano.",
            "⏳ Tarea 1: Averigua quién está despierto en Tokio y hazlo en segundo plano.\nPaso 1: clock",
            "La tarea 1 está hecha.\n\nTokyo sleeps.",
            "✅ La tarea 1 está hecha: Averigua quién está despierto en Tokio y hazlo en segundo plano.",
            "Cancelar",
            "✖️ La tarea 2 está cancelada: Averigua quién está despierto en Tokio y hazlo en segundo plano.",
        ),
    ],
    ids=["en", "es"],
)
async def test_an_evening_with_tasks(
    tmp_path: Path, order: str, step: str, result: str, done: str, cancel: str, cancelled: str
) -> None:
    """One is done while the chat goes on, its message says how far it is; another is cancelled by its button."""
    async with Telegram() as telegram, StandIn(_SCRIPT) as model:
        bot = Bot(tmp_path / "home", telegram, model.url, extra='\n[tools]\nenabled = ["background", "clock"]\n')
        bot.configure()
        await bot.start()
        try:
            await telegram.say(order)
            await telegram.has(step)
            await telegram.has(result)
            await telegram.has(done)
            shown = next(place for place, text in telegram.stands.items() if text == done)
            assert telegram.buttons[shown] == {}
            await telegram.say(order)
            await telegram.until(lambda _: any(cancel in each for each in telegram.buttons.values()))
            await telegram.say("hello")
            await telegram.has("ok: hello")
            second = max(number for (_, number), labels in telegram.buttons.items() if cancel in labels)
            await telegram.press(OWNER, second, cancel)
            await telegram.has(cancelled)
            assert sum("Tokyo sleeps" in each.text for each in telegram.sent) == 1
        finally:
            await bot.terminate()
