"""`/start` greets, and `/new` begins a conversation: what was said is shown no more, what is remembered is."""

from pathlib import Path
from typing import Any

from kenobot.ports.channel import Capabilities
from tests.scene import Scene


async def test_a_new_conversation_knows_memory_and_not_what_was_said(tmp_path: Path) -> None:
    """Also after a restart; the command itself is no part of either."""
    replies = ["Nice. <memory>Ana's coat is green</memory>", "Fine."]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("My sister Ana has a green coat. The weather is awful")
        await scene.say("Still raining here")
        assert "new conversation begins" in await scene.say("/new")
        await scene.say("Hello again")
        assert "Ana's coat is green" in scene.requests[-1]
        assert "weather is awful" not in scene.requests[-1]
        assert "Still raining" not in scene.requests[-1]
        assert "not shown" not in scene.requests[-1]
        number = scene.channel.number
    async with Scene(tmp_path, ["Fine."]) as scene:
        scene.channel.number = number
        await scene.say("And again")
        assert "Hello again" in scene.requests[-1]
        assert "Still raining" not in scene.requests[-1]


async def test_a_summary_of_the_old_conversation_does_not_come_back(tmp_path: Path) -> None:
    """It is withdrawn, and the next one is made of the new conversation alone."""
    environ = {"PromptLimits.history_min": 4, "PromptLimits.history_max": 12}
    async with Scene(tmp_path, ["Fine."], environ=environ) as scene:
        for number in range(14):
            await scene.say(f"The zebra number {number} of the old zoo is called Zed{number} and eats only hay")
        assert await scene.rows("SELECT count(*) FROM record WHERE form = 'summary' AND status = 'active'") == [(1,)]
        assert "zebra" in scene.requests[-1]
        await scene.say("/nueva")
        await scene.say("Hello again")
        assert "zebra" not in scene.requests[-1]
        for number in range(14):
            await scene.say(f"The lion number {number} of the new zoo is called Leo{number} and eats only meat")
        [(summary,)] = await scene.rows("SELECT text FROM record WHERE form = 'summary' AND status = 'active'")
        assert "lion" in str(summary)
        assert "zebra" not in str(summary)
        assert "zebra" not in scene.requests[-1]


async def test_one_chat_begins_anew_and_no_other(tmp_path: Path) -> None:
    """What a guest does in their chat leaves the owner's as it is."""
    async with Scene(tmp_path, ["Fine."]) as scene:
        await scene.say("I am the owner of a canoe")
        await scene.say("I am a guest with a kayak", chat="2")
        await scene.say("/new", chat="2")
        await scene.say("hello", chat="2")
        assert "kayak" not in scene.requests[-1]
        await scene.say("hello")
        assert "canoe" in scene.requests[-1]


async def test_in_a_group_a_guest_ends_what_they_alone_wrote(tmp_path: Path) -> None:
    """What others wrote is the owner's to end, by their word or the button; the guest cannot press that."""
    group: dict[str, Any] = {"chat": "-7", "private": False}
    async with Scene(tmp_path, ["Fine."]) as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        await scene.say("the kayak is mine", user="2", **group)
        assert "new conversation begins" in await scene.say("/new", user="2", **group)
        await scene.say("nos vemos mañana donde está la canoa", user="2", **group)
        assert "kayak" not in scene.requests[-1]
        assert "le toca a mi dueño" in await scene.say("/nueva", user="3", **group)
        value = scene.buttons["Empezar de nuevo"]
        assert not await scene.put("", user="3", kind="action", target="1", value=value, **group)
        await scene.say("¿dónde nos vemos?", user="3", **group)
        assert "canoa" in scene.requests[-1]
        assert "conversación nueva" in await scene.say("", user="1", kind="action", target="1", value=value, **group)
        await scene.say("¿dónde?", user="3", **group)
        assert "canoa" not in scene.requests[-1]
        await scene.say("hola", user="2", **group)
        assert "conversación nueva" in await scene.say("/nueva", user="1", **group)


async def test_each_name_speaks_its_language(tmp_path: Path) -> None:
    """Where nothing else tells it: the further names too."""
    async with Scene(tmp_path, []) as scene:
        for number, name in enumerate(("new", "nueva", "reset", "nuevo", "cancel", "cancelar", "stop", "para")):
            answer = await scene.say(f"/{name}", chat=str(10 + number))
            spanish = answer.startswith(("Aquí empieza", "No hay nada en marcha"))
            assert spanish == (number % 2 == 1), answer


async def test_the_first_word_on_telegram_is_greeted(tmp_path: Path) -> None:
    """By name, with a button to what the bot can do; no model is asked."""
    async with Scene(tmp_path, []) as scene:
        scene.channel.capabilities = Capabilities(buttons=True, edits=True)
        assert (await scene.say("/start", user_name="Ana López")).startswith("Hello, Ana! I am KenoBot")
        assert "- `/remember`:" in await scene.press("What can you do?")
        assert (await scene.say("/empezar")).startswith("¡Hola! Soy KenoBot")
    async with Scene(tmp_path, [], default_language="es") as scene:
        assert (await scene.say("/start", chat="2")).startswith("¡Hola! Soy KenoBot")
        assert scene.requests == []
