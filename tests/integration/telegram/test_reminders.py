"""Reminders on Telegram's emulator, as a real process that is down in between."""

from datetime import datetime
from pathlib import Path

from tests.integration.harness import OWNER, Bot, Telegram

_EVENING, _MORNING = "2026-02-14T18:00:00+00:00", "2026-02-15T08:00:02+00:00"


async def test_a_reminder_is_told_after_a_restart_and_done_by_its_button(tmp_path: Path) -> None:
    """Set in plain words one evening, told the next morning by another process, and pressed away."""
    async with Telegram() as telegram:
        telegram.now = lambda: datetime.fromisoformat(_EVENING).timestamp()
        bot = Bot(tmp_path / "home", telegram, "http://127.0.0.1:9", _EVENING)
        bot.configure()
        config = bot.home / "kenobot.toml"
        config.write_text(config.read_text().replace("name = 'anthropic'", "name = 'offline'"))
        try:
            await bot.start()
            await telegram.say("recuérdame mañana a las 8 llamar a Luis")
            told = "«llamar a Luis»: mañana, domingo 15 de febrero"
            await telegram.until(lambda sent: any(told in each.text for each in sent))
            await bot.terminate()
            bot.start_at = _MORNING
            await bot.start()
            await telegram.until(lambda sent: any(each.text == "⏰ llamar a Luis" for each in sent))
            [message] = [number for (_, number), text in telegram.stands.items() if text == "⏰ llamar a Luis"]
            await telegram.press(OWNER, message, "Hecho")
            await telegram.has("Hecho: «llamar a Luis».")
        finally:
            if bot.process is not None and bot.process.returncode is None:
                await bot.terminate()
