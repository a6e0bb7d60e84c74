"""A value that a model names or that rules read in words stands beside others, unless there is one at a time."""

import json
from pathlib import Path

import pytest

from kenobot_testing.clock import EagerClock
from tests.scene import Scene
from tests.unit.cognitive.background.extraction_talk import NEUTRAL, Minds

LIVE = "SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode') ORDER BY id"

PAIRS = [
    ("My mother is called Rosa", "My mother is Spanish"),
    ("Mi madre se llama Rosa", "Mi madre es Española"),
    ("My birthday is 3 May", "My birthday is on Saturday"),
    ("Yoga is on Monday", "Yoga is at 18:00"),
    ("Pilates es el lunes", "Pilates es el jueves"),
    ("I live in Paris", "I moved to Madrid in 2010"),
    ("I work at Acme", "I work at Beta on weekends"),
    ("My phone is 600111222", "My phone is a Pixel 8"),
    ("Mi médico es Ruiz", "Mi médico es Vegano"),
]


async def live(scene: Scene) -> list[object]:
    return [row[0] for row in await scene.rows(LIVE)]


def read(said: str) -> str:
    """What a model that extracts makes of messages "TEXT | attribute: value": no verdict on anything."""
    facts = []
    for line in said.splitlines():
        text, mark, value = line.lstrip("> ").partition(" | ")
        if mark and "assistant" not in text:
            name, _, held = value.partition(": ")
            facts.append(
                {"text": text.split(": ", 1)[-1].split(") ", 1)[-1], "attributes": {name: held}, "confidence": 0.95}
            )
    return json.dumps({"facts": facts})


async def tell(scene: Scene, *messages: str) -> list[object]:
    """Say messages, each read by the model before the next; return what is remembered."""
    for text in messages:
        await scene.say(text)
        for neutral in NEUTRAL:
            await scene.say(neutral)
        await scene.app.background.extraction.drain()
    return await live(scene)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The user is allergic to peanuts | food allergies: peanuts",
            "Allergic to penicillin | food allergies: penicillin",
        ),
        ("El usuario toma ramipril | medicación: ramipril", "El usuario toma metformina | medicación: metformina"),
        ("The user plays piano | instrument: piano", "The user plays the cello | instrument: cello"),
        ("El hijo del usuario es Leo | hijos: Leo", "La hija del usuario es Mía | hijos: Mía"),
        ("The user lives in Oslo | city: Oslo", "The user lived in Rome until 2015 | city: Rome"),
        ("The user works at Acme | employer: Acme", "The user also works at Beta on weekends | employer: Beta"),
    ],
)
async def test_a_model_ends_nothing_by_a_name_alone(tmp_path: Path, one: str, other: str) -> None:
    """Two of a kind are remembered, whatever the model calls what they are values of."""
    async with Scene(tmp_path, provider=Minds(read), extraction=True) as scene:
        texts = [each.partition(" | ")[0] for each in (one, other)]
        assert [text for text in await tell(scene, one, other) if text in texts] == texts


async def test_a_model_tells_a_move(tmp_path: Path) -> None:
    """Where the person lives now takes the place of where they lived."""
    async with Scene(tmp_path, provider=Minds(read), extraction=True) as scene:
        found = await tell(scene, "I live in Oslo | city: Oslo", "I moved to Paris | city: Paris")
        assert found == ["I moved to Paris"]


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_a_command_ends_nothing_by_what_rules_read(tmp_path: Path, one: str, other: str) -> None:
    """Both are remembered, and none is told to be gone."""
    async with Scene(tmp_path, ["OK."]) as scene:
        await scene.say(f"/remember {one}")
        assert one not in await scene.say(f"/remember {other}")
        assert await live(scene) == [one, other]


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_a_tag_ends_nothing_by_what_rules_read(tmp_path: Path, one: str, other: str) -> None:
    """Both are remembered, as the reply says nothing of an end."""
    clock = EagerClock()
    async with Scene(tmp_path, [f"Noted. <memory>{text}</memory>" for text in (one, other)], clock=clock) as scene:
        for text in (one, other):
            await scene.say(text)
            clock.advance(60)
        assert await live(scene) == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Paris", "I live in Oslo"),
        ("Me llamo Ana", "Me llamo Eva"),
        ("My birthday is 3 May", "My birthday is 4 May"),
        ("My phone number is 600111222", "My phone number is 600333444"),
        ("El código del portal es 1234", "El código del portal ahora es 4471"),
        ("Yoga is on Monday", "Yoga is on Thursday now"),
    ],
)
@pytest.mark.parametrize("by", ["/remember {}", "<memory>{}</memory>"])
async def test_what_there_is_one_of_is_told_anew(tmp_path: Path, one: str, other: str, by: str) -> None:
    """By a command or a tag; the same statement with a word of change as well."""
    clock, texts = EagerClock(), (one, other)
    async with Scene(tmp_path, [by.format(text) for text in texts], clock=clock) as scene:
        for text in texts:
            await scene.say(by.format(text) if by.startswith("/") else text)
            clock.advance(60)
        assert await live(scene) == [other]
