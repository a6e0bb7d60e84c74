"""Edits of what stands in several files at once."""

import pytest

from kenobot.cognitive.store.change import change
from kenobot.ports.memory_changes import ChangeContext
from tests.unit.cognitive.mirror.house import LOG, House

ARCHIVED = "archive/2025-11-03.md"
TOPIC = "2026-02-10-moving.md"


async def both_ways(house: House) -> None:
    for _ in range(2):
        await house.mirror.sync_in()
        await house.mirror.sync_out()


@pytest.mark.parametrize("home", ["", "# Home\n\n", "- the boiler is out of order\n"])
async def test_a_copy_that_is_corrected_while_its_home_goes_stays_where_it_is(house: House, home: str) -> None:
    """The corrected words belong where they stand, whatever has become of the line that they were copied from."""
    house.write("ref-home.md", "- the boiler was repaired by Luis\n")
    await both_ways(house)
    house.write(ARCHIVED, "## 9:05 — the boiler was repaired by Luis\n\n")
    await both_ways(house)
    house.edit(ARCHIVED, "Luis", "Luis and Ana")
    house.write("ref-home.md", home)
    await both_ways(house)
    assert house.text(ARCHIVED) == "## 9:05 — the boiler was repaired by Luis and Ana\n\n"
    assert house.text("ref-home.md") == home
    assert "the boiler was repaired by Luis" not in await house.texts()


async def test_a_copy_corrected_in_another_file_leaves_the_home_of_the_fact_as_it_is(house: House) -> None:
    """Where the line that it was copied from still stands, that one goes on in its own words."""
    house.write("ref-home.md", "- the boiler was repaired by Luis\n")
    await both_ways(house)
    house.write(ARCHIVED, "## 9:05 — the boiler was repaired by Luis\n\n")
    await both_ways(house)
    house.edit(ARCHIVED, "Luis", "Luis and Ana")
    await both_ways(house)
    assert house.text("ref-home.md") == "- the boiler was repaired by Luis\n"
    assert house.text(ARCHIVED) == "## 9:05 — the boiler was repaired by Luis and Ana\n\n"


@pytest.mark.parametrize("source", [TOPIC, "2026-02-10.md"])
async def test_a_line_of_a_topic_file_and_its_log_are_one(house: House, source: str) -> None:
    """Memory shows in the log what its owner wrote into a topic file: either place corrects both."""
    house.write(TOPIC, "- the van is rented for the 3rd\n")
    await both_ways(house)
    house.edit(source, "the 3rd", "the 5th")
    await both_ways(house)
    assert await house.texts() == ["the van is rented for the 5th"]
    assert (house.text(TOPIC), house.text("2026-02-10.md").count("5th")) == ("- the van is rented for the 5th\n", 1)


async def test_a_line_that_its_owner_put_into_memory_md_and_a_topic_file_is_two(house: House) -> None:
    """What was copied by hand counts for itself: correcting one leaves the other."""
    house.write(TOPIC, "- the van is rented for the 3rd\n")
    await both_ways(house)
    house.write("MEMORY.md", "- the van is rented for the 3rd\n")
    await both_ways(house)
    house.edit(TOPIC, "the 3rd", "the 5th")
    await both_ways(house)
    assert house.text("MEMORY.md") == "- the van is rented for the 3rd\n"
    assert house.text(TOPIC) == "- the van is rented for the 5th\n"
    assert LOG not in house.files()


async def test_one_of_two_equal_lines_of_a_file_is_corrected_or_deleted_alone(house: House) -> None:
    """The other goes on saying what it says."""
    house.write(LOG, "## 9:05 — the van is blue\n\n## 9:05 — the van is blue\n\n")
    await both_ways(house)
    house.write(LOG, "## 9:05 — the van is blue and old\n\n## 9:05 — the van is blue\n\n")
    await both_ways(house)
    assert sorted(await house.texts()) == ["the van is blue", "the van is blue and old"]
    house.write(LOG, "## 9:05 — the van is blue\n\n## 9:05 — the van is blue\n\n")
    await both_ways(house)
    house.write(LOG, "## 9:05 — the van is blue\n\n")
    await both_ways(house)
    assert await house.texts() == ["the van is blue"]
    assert house.text(LOG) == "## 9:05 — the van is blue\n\n"


@pytest.mark.parametrize("how", ["forgotten", "corrected"])
async def test_what_the_bot_forgets_or_corrects_goes_from_every_file_that_shows_it(house: House, how: str) -> None:
    """Also from the log of a fact that sleep promoted some nights ago, and from where its owner copied it."""
    known = await house.learn("Ana lives in Paris", flush=True)
    house.write("2026-02-12.md", "## 9:05 — Ana lives in Paris\n\n")
    await both_ways(house)
    act = ChangeContext(house.clock.now(), "sleep", "a night")
    record = await house.record(known)
    await house.database.write(lambda c: change(c, record, "promoted", {"tier": "core"}, act))
    await both_ways(house)
    assert all("Paris" in house.text(path) for path in ("MEMORY.md", LOG, "2026-02-12.md"))
    if how == "forgotten":
        await house.forget(known)
    else:
        await house.learn("Ana lives in Bilbao", core=True, replaces=known)
    await house.mirror.sync_out()
    assert not [path for path in house.files() if "Paris" in house.text(path)]
