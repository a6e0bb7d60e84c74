"""What a line that a person adds leaves as it is, whatever rules read in it."""

import pytest

from tests.unit.cognitive.mirror.house import LOG, House

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


@pytest.mark.parametrize(("one", "other"), [*PAIRS, ("I live in Paris", "I live in Oslo"), ("Soy Ana", "Me llamo Eva")])
@pytest.mark.parametrize("above", [True, False])
async def test_a_line_that_is_left_in_its_file_stays(house: House, one: str, other: str, *, above: bool) -> None:
    """Whatever is added above or below it: its owner has just seen it."""
    old = await house.learn(one, core=True, flush=True)
    lines = [f"- {other}", f"- {one}"] if above else [f"- {one}", f"- {other}"]
    house.write("MEMORY.md", "\n".join(lines) + "\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "\n".join(lines) + "\n"
    assert (await house.record(old)).status == "active"
    assert sorted(await house.texts()) == sorted((one, other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_a_line_ends_nothing_in_another_file_by_what_rules_read(house: House, one: str, other: str) -> None:
    """The line of the day's log stays as well."""
    await house.learn(one, flush=True)
    house.write("MEMORY.md", f"- {other}\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert one in house.text(LOG)
    assert sorted(await house.texts()) == sorted((one, other))


async def test_a_changed_line_takes_the_place_of_what_it_said_alone(house: House) -> None:
    """The line beside it stays, also where both now give values of one thing."""
    await house.learn("I live in Paris", core=True)
    await house.learn("I work at Acme", core=True, flush=True)
    house.edit("MEMORY.md", "I work at Acme", "I live in Lyon")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert house.text("MEMORY.md") == "- I live in Paris\n- I live in Lyon\n"
