"""Reminders on Telegram's emulator, as a real process that is down in between."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from tests.integration.process import Bot
from tests.integration.stand_in import OWNER, Telegram

pytestmark = pytest.mark.long

Step = tuple[str, str]
"""What the owner does, and a piece of what they read: words, a `[button]`, or "" for what comes by itself."""

DAYS_EN: Sequence[tuple[str, Sequence[Step]]] = (  # each by a process of its own, from Saturday, 14 February
    (
        "2026-02-14T18:00:00+00:00",
        (
            ("remind me tomorrow at 8 to call Luis", "“call Luis”: tomorrow, Sunday 15 February, 8:00"),
            ("move it to Monday", "“call Luis”: Monday 16 February, 8:00"),
            ("I promised to call Marta on Sunday", "I'll remember:"),
            ("/settings morning 8:30", "what your day holds: 08:30"),
        ),
    ),
    ("2026-02-15T08:29:58+00:00", (("", "This is your day:\nToday, Sunday 15 February\n- “I promised to call Marta"),)),
    ("2026-02-16T08:00:02+00:00", (("", "⏰ call Luis"), ("[In 1 h]", "today, Monday 16 February, 9:00"))),
    ("2026-02-16T09:00:10+00:00", (("", "⏰ call Luis"), ("[Done]", "Done: “call Luis”"))),
)
DAYS_ES: Sequence[tuple[str, Sequence[Step]]] = (
    (
        "2026-02-14T18:00:00+00:00",
        (
            ("recuérdame mañana a las 8 llamar a Luis", "«llamar a Luis»: mañana, domingo 15 de febrero, 8:00"),
            ("pásalo al lunes", "«llamar a Luis»: lunes 16 de febrero, 8:00"),
            ("prometí llamar a Marta el domingo", "Lo recordaré"),
            ("/ajustes mañana 8:30", "lo que trae tu día: 08:30"),
        ),
    ),
    ("2026-02-15T08:29:58+00:00", (("", "Este es tu día:\nHoy, domingo 15 de febrero\n- «prometí llamar a Marta"),)),
    ("2026-02-16T08:00:02+00:00", (("", "⏰ llamar a Luis"), ("[En 1 h]", "hoy, lunes 16 de febrero, 9:00"))),
    (
        "2026-02-16T09:00:10+00:00",
        (("", "⏰ llamar a Luis"), ("[Hecho]", "Hecho: «llamar a Luis»")),
    ),
)


async def _take(telegram: Telegram, does: str, reads: str, times: int) -> None:
    """Do a step, and wait until its words were read so many times."""
    if does.startswith("["):  # the answer takes the place of the message with the button
        message = max(number for (_, number), text in telegram.stands.items() if text.startswith("⏰"))
        await telegram.press(OWNER, message, does[1:-1])
        await telegram.until(lambda _: any(reads in text for text in telegram.stands.values()))
        return
    if does:
        await telegram.say(does)
    await telegram.until(lambda sent: sum(reads in each.text for each in sent) >= times)


@pytest.mark.parametrize("days", [DAYS_EN, DAYS_ES], ids=["en", "es"])
async def test_three_days_with_reminders(tmp_path: Path, days: Sequence[tuple[str, Sequence[Step]]]) -> None:
    """Set, moved, told by another process, snoozed and done; the morning word has the promise."""
    read = Counter[str]()
    async with Telegram() as telegram:
        bot = Bot(tmp_path / "home", telegram, "http://127.0.0.1:9", days[0][0])
        bot.configure()
        config = bot.home / "kenobot.toml"
        config.write_text(config.read_text().replace("name = 'anthropic'", "name = 'offline'"))
        for start, steps in days:
            bot.start_at = start
            telegram.now = lambda start=start: datetime.fromisoformat(start).timestamp()  # type: ignore[misc]
            await bot.start()
            try:
                for does, reads in steps:
                    read[reads] += 1
                    await _take(telegram, does, reads, read[reads])
            finally:
                await bot.terminate()
