"""A correction reaches every text and every prompt: ten facts, four of them put right in four ways, two nights."""

import re
from pathlib import Path

import pytest

from kenobot.cognitive.memory import AdmitContext, Memory
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

SMALL = {"PromptLimits.history_min": 4, "PromptLimits.history_max": 12}
FACTS = {
    "en": [
        "My nephew Leo is seven, he is Carmen's son", "My dentist is Dr. Ruiz, in Calle Feria 12", "I live in Madrid",
        "I am allergic to penicillin", "The gate code is 1234", "My sister Carmen lives in Triana",
        "I play the cello on Thursdays", "The car is a grey Seat León", "My boss is called Arturo",
        "I prefer tea to coffee",
    ],
    "es": [
        "Mi sobrino Leo tiene siete años y es hijo de Carmen", "Mi dentista es el Dr. Ruiz, en la calle Feria 12",
        "Vivo en Madrid", "Soy alérgica a la penicilina", "El código del portal es 1234",
        "Mi hermana Carmen vive en Triana", "Toco el chelo los jueves", "El coche es un Seat León gris",
        "Mi jefe se llama Arturo", "Prefiero el té al café",
    ],
}  # fmt: skip
PAIRS = {
    "en": {"seven": "eight", "Ruiz": "Vega", "1234": "4471", "Thursdays": "Fridays"},
    "es": {"siete": "ocho", "Ruiz": "Vega", "1234": "4471", "jueves": "viernes"},
}
BY_WORDS = {"en": "I play the cello on Fridays now", "es": "Ahora toco el chelo los viernes"}
QUESTIONS = {
    "en": ["How old is Leo?", "Who is my dentist?", "What is the gate code?", "When do I play the cello?"],
    "es": ["¿Qué edad tiene Leo?", "¿Quién es mi dentista?", "¿Cuál es el código?", "¿Cuándo toco el chelo?"],
}


@pytest.mark.parametrize("language", ["en", "es"])
async def test_no_text_says_the_former_without_what_holds_now(tmp_path: Path, language: str) -> None:
    """By a command, the dashboard's way, a file and plain words: no memory, page or prompt keeps the old alone."""
    pairs, clock = PAIRS[language], EagerClock()
    async with Scene(tmp_path, ["OK."], clock=clock, environ=SMALL, extraction=True) as scene:
        for text in (*FACTS[language], *["ok"] * 8):
            await scene.say(text)
            clock.advance(60)
        clock.advance(6 * 86_400)
        await scene.app.background.sleep_worker.sleep("command")
        told, *_ = await _find(scene, "Leo")
        await scene.say(f"/correct {told[0]} {_put_right(told[1], pairs)}")
        dentist, *_ = await _find(scene, "Ruiz")
        occasion = AdmitContext(clock.now(), f"{clock.now():%Y-%m-%d}", "owner")
        await scene.app.database.write(
            lambda c: Memory.correct(c, dentist[0], _put_right(dentist[1], pairs), ALL_SCOPES, occasion)
        )
        await scene.app.memory_files.wait_caught_up()
        log = scene.home.memory / "2026-02-14.md"
        log.write_text(log.read_text("utf-8").replace("1234", "4471"), "utf-8")
        await scene.say(BY_WORDS[language])
        clock.advance(30 * 3600)
        await scene.app.background.sleep_worker.sleep("command")
        asked = len(scene.requests)
        for question in QUESTIONS[language]:
            await scene.say(question)
        live = await scene.rows("SELECT text FROM record WHERE status = 'active' AND form != 'box'")
        prompts = scene.requests[asked:]
        pages = [path.read_text("utf-8") for path in scene.home.memory.glob("week-*.md")]
    texts = [str(row[0]) for row in live]
    for former, now in pairs.items():
        assert any(now in text for text in texts), now
        for line in "\n".join([*texts, *prompts, *pages]).splitlines():
            assert former not in line or now in line, line
    assert all(now in page for page in pages for now in list(pairs.values())[:3])
    assert all("Triana" in page and "Arturo" in page for page in pages)


async def _find(scene: Scene, words: str) -> list[tuple[int, str]]:
    rows = await scene.rows("SELECT id, text FROM record WHERE status = 'active' AND form = 'note'")
    return [(int(str(row[0])), str(row[1])) for row in rows if words in str(row[1])]


def _put_right(text: str, pairs: dict[str, str]) -> str:
    return re.sub("|".join(pairs), lambda found: pairs[found[0]], text)
