"""In which language the bot answers: that of the talk, until a message is clearly of the other."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.core.i18n import Language
from kenobot.ports.plugin import PluginContext
from kenobot.providers.offline import plugin
from kenobot.providers.offline.phrases import PHRASES
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

_OF_NEITHER = (
    "no", "no problem", "no, 5pm", "Pizza Friday", "error: timeout", "no wait, Max", "buy: tomatoes, rice",
    "todo: call bank, pay gas bill", "hotel Max", "final", "animal",
)  # fmt: skip


def scene(home: Path, **environ: str) -> Scene:
    clock = EagerClock()
    provider = plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))
    return Scene(home, provider=provider, clock=clock, extraction=True, environ=environ)


@pytest.mark.parametrize(
    ("own", "greeting", "also", "other"),
    [
        ("en", "Hi, I'm Rob", ("me too", "call me when you can"), "¿dónde vivo?"),
        ("es", "Hola, soy Ana", ("yo también", "todo: llamar al banco", "pizza viernes"), "where do I live?"),
    ],
    ids=["en", "es"],
)
async def test_short_messages_keep_the_language_of_the_talk(
    tmp_path: Path, own: Language, greeting: str, also: Sequence[str], other: str
) -> None:
    """However many there are; a clear sentence of the other language switches at once."""
    switched: Language = "es" if own == "en" else "en"
    begins = tuple(phrase[switched].split("{")[0] for phrase in PHRASES.values())
    async with scene(tmp_path) as house:
        for text in (greeting, *_OF_NEITHER, *also):
            assert not (await house.say(text)).startswith(begins), text
        assert (await house.say(other)).startswith(PHRASES["nothing"][switched])
        assert (await house.say("no")).startswith(PHRASES["ready"][switched])


async def test_the_language_set_is_that_of_every_reply(tmp_path: Path) -> None:
    """Whatever a message is written in."""
    async with scene(tmp_path, KENOBOT_BOT__LANGUAGE="es") as house:
        await house.say("Hi, I'm Rob")
        assert (await house.say("where do I live?")).startswith(PHRASES["nothing"]["es"])
