"""A question for what was so before is answered by what memory replaced, with until when it was so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.ports.plugin import PluginContext
from kenobot.providers.offline import plugin
from kenobot_testing.clock import EagerClock
from tests.scene import Scene

REPLACED = "### Replaced since"


def offline(home: Path) -> Scene:
    clock = EagerClock()
    provider = plugin.build(plugin.settings(), PluginContext(home, clock, "KenoBot"))
    return Scene(home, provider=provider, clock=clock, extraction=True)


async def tell(scene: Scene, *told: str) -> None:
    """Tell one thing a day."""
    assert isinstance(scene.clock, EagerClock)
    for text in told:
        await scene.say(text)
        scene.clock.advance(days=1)


async def say_in_group(scene: Scene, who: str, text: str) -> str:
    return await scene.say(text, chat="-5", user={"Eva": "1", "Luis": "2"}[who], user_name=who, private=False)


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            ("I live in Madrid", "I live in Valencia now", "I live in Bilbao now"),
            "where did I live before Bilbao?",
            (
                "- “I live in Bilbao now” (2026-02-16)",
                "- “I live in Valencia now” (2026-02-15, until 2026-02-16)",
                "- “I live in Madrid” (2026-02-14, until 2026-02-15)",
            ),
        ),
        (
            ("Vivo en Madrid", "Ahora vivo en Valencia", "Ahora vivo en Bilbao"),
            "¿dónde vivía antes?",
            (
                "- «Ahora vivo en Bilbao» (2026-02-16)",
                "- «Ahora vivo en Valencia» (2026-02-15, hasta el 2026-02-16)",
                "- «Vivo en Madrid» (2026-02-14, hasta el 2026-02-15)",
            ),
        ),
        (
            ("I'm vegetarian", "I'm not vegetarian anymore"),
            "was I vegetarian before?",
            ("- “I'm not vegetarian anymore” (2026-02-15)", "- “I'm vegetarian” (2026-02-14, until 2026-02-15)"),
        ),
        (
            ("Mi jefa es Marta", "Ahora mi jefe es Luis"),
            "¿quién era mi jefe antes?",
            ("- «Ahora mi jefe es Luis» (2026-02-15)", "- «Mi jefa es Marta» (2026-02-14, hasta el 2026-02-15)"),
        ),
        (
            ("My sister Ana lives in Madrid", "My sister Ana lives in Paris now"),
            "where did my sister Ana live before?",
            (
                "- “My sister Ana lives in Paris now” (2026-02-15)",
                "- “My sister Ana lives in Madrid” (2026-02-14, until 2026-02-15)",
            ),
        ),
        (
            ("Mi hermana Ana vive en Madrid y trabaja en Acme", "Mi hermana Ana vive ahora en París"),
            "¿dónde vivía Ana antes?",
            (
                "- «Mi hermana Ana vive ahora en París» (2026-02-15)",
                "- «Mi hermana Ana vive en Madrid y trabaja en Acme» (2026-02-14, en parte hasta el 2026-02-15)",
            ),
        ),
    ],
)
async def test_what_was_replaced_is_told_with_its_end(
    tmp_path: Path, told: Sequence[str], question: str, answer: Sequence[str]
) -> None:
    """Behind what holds now, in the language of the question, and for such a question alone."""
    async with offline(tmp_path) as scene:
        await tell(scene, *told)
        assert tuple((await scene.say(question)).splitlines()[1:]) == tuple(answer)
        assert answer[-1] not in await scene.say("what do you know about me?")


@pytest.mark.parametrize(
    ("talk", "question"),
    [
        (("My sister is called Eva", "no, my sister is called Ana, not Eva"), "what was my sister's name before?"),
        (("My boss is Eva", "no, my boss is Ana"), "who was my boss before?"),
        (("Mi jefa es Eva", "no, mi jefa es Ana, no Eva"), "¿quién era mi jefa antes?"),
        (("My sister is called Eva", "/correct 1 My sister is called Ana"), "what was my sister's name before?"),
        (("My sister is called Ana", "My sister is called Eva now", "/undo"), "what was my sister's name before?"),
        (
            ("I live in Eva", "I live in Ana now", "I live in Eva now", "/forget 3", "I live in Ana now"),
            "where did I live before?",
        ),
    ],
)
async def test_what_was_never_so_or_is_forgotten_is_not_told(
    tmp_path: Path, talk: Sequence[str], question: str
) -> None:
    """What was corrected as wrong, taken back, or forgotten, also in the words of a memory before."""
    async with offline(tmp_path) as scene:
        await tell(scene, *talk)
        answer = await scene.say(question)
        assert "Ana" in answer
        assert "Eva" not in answer.replace("not Eva", "").replace("no Eva", "")


async def test_it_is_not_claimed_that_it_was_so_where_nobody_said_that_it_changed(tmp_path: Path) -> None:
    """A line that is rewritten in a file may have been wrong all along: it is told before, in both languages."""
    async with offline(tmp_path) as scene:
        assert isinstance(scene.clock, EagerClock)
        (scene.home.memory / "MEMORY.md").write_text("- I live in Madrid\n", "utf-8")
        await scene.memory_files.sync_in()
        scene.clock.advance(days=1)
        text = scene.read("MEMORY.md")
        (scene.home.memory / "MEMORY.md").write_text(text.replace("Madrid", "Bilbao"), "utf-8")
        await scene.memory_files.sync_in()
        scene.clock.advance(days=1)
        assert "“I live in Madrid” (2026-02-14, told before, replaced on 2026-02-15)" in await scene.say(
            "where did I live before?"
        )
        assert "«I live in Madrid» (2026-02-14, dicho antes, sustituido el 2026-02-15)" in await scene.say(
            "¿dónde vivía antes?"
        )


async def test_an_old_value_is_no_other_thing(tmp_path: Path) -> None:
    """The answer does not say that it was told of something near only."""
    async with offline(tmp_path) as scene:
        await tell(scene, "My phone number is 600111222", "My phone number is now 600333444")
        answer = await scene.say("what was my old phone number?")
        assert answer.startswith("This is what I remember")
        assert "600111222” (2026-02-14, until 2026-02-15)" in answer


async def test_nobody_elses_past_is_told_in_a_group(tmp_path: Path) -> None:
    """Each is told of what they said before themselves, and of nothing that another member did."""
    async with offline(tmp_path) as scene:
        await say_in_group(scene, "Eva", "I live in Madrid")
        await say_in_group(scene, "Eva", "I live in Valencia now")
        await say_in_group(scene, "Luis", "My boss is Marta")
        await say_in_group(scene, "Luis", "My boss is Rosa now")
        assert "Madrid" in await say_in_group(scene, "Eva", "where did I live before?")
        assert "Madrid" not in await say_in_group(scene, "Luis", "where did I live before?")
        assert "Madrid" not in await say_in_group(scene, "Luis", "where did Eva live before?")
        assert "Marta" in await say_in_group(scene, "Luis", "who was my boss before?")
        assert "Marta" not in await say_in_group(scene, "Eva", "who was my boss before?")


@pytest.mark.parametrize(
    ("told", "ordinary", "question", "former"),
    [
        (
            ("I live in Madrid", "I live in Valencia now", "I live in Bilbao now"),
            "where do I live?",
            "where did I live before Bilbao?",
            (
                "- I live in Valencia now _(2026-02-15, until 2026-02-16)_",
                "- I live in Madrid _(2026-02-14, until 2026-02-15)_",
            ),
        ),
        (
            ("Vivo en Madrid", "Ahora vivo en Valencia", "Ahora vivo en Bilbao"),
            "¿dónde vivo?",
            "dónde vivía antes de Bilbao",
            (
                "- Ahora vivo en Valencia _(2026-02-15, until 2026-02-16)_",
                "- Vivo en Madrid _(2026-02-14, until 2026-02-15)_",
            ),
        ),
    ],
)
async def test_a_model_is_shown_it_in_a_new_conversation(
    tmp_path: Path, told: Sequence[str], ordinary: str, question: str, former: Sequence[str]
) -> None:
    """Below a heading of its own, also where the prompt shows all that holds now; no ordinary question shows it."""
    async with offline(tmp_path) as scene:
        await tell(scene, *told)
    async with Scene(tmp_path, ["ok"]) as scene:
        scene.channel.number = 100  # what was said before had these
        assert isinstance(scene.clock, EagerClock)
        scene.clock.advance(days=3)
        await scene.say("/new")
        await scene.say(ordinary)
        assert REPLACED not in scene.requests[-1]
        assert "Madrid" not in scene.requests[-1]
        await scene.say(question)
        shown = scene.requests[-1].partition(REPLACED)[2].splitlines()
        assert tuple(line for line in shown if line.startswith("- ")) == tuple(former)


async def test_a_model_in_a_group_is_shown_nobody_elses(tmp_path: Path) -> None:
    """The prompt of one member's question says of no other member what they said before."""
    async with offline(tmp_path) as scene:
        for text in ("I live in Madrid", "I live in Valencia now"):
            await say_in_group(scene, "Eva", text)
    async with Scene(tmp_path, ["ok"]) as scene:
        scene.channel.number = 100  # what was said before had these
        await say_in_group(scene, "Eva", "/new")
        await say_in_group(scene, "Luis", "where did Eva live before?")
        assert REPLACED not in scene.requests[-1]
        await say_in_group(scene, "Eva", "where did I live before?")
        assert "- I live in Madrid _(2026-02-14, until 2026-02-14)_" in scene.requests[-1].partition(REPLACED)[2]


async def test_a_name_told_before_is_not_taken_for_the_name(tmp_path: Path) -> None:
    """The last name that holds is told, whatever is quoted beside it."""
    async with offline(tmp_path) as scene:
        await tell(scene, "My name is Laura", "My name is Lara now")
        assert "Lara" in await scene.say("what's my name? what was it before?")
