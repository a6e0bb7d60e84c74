"""Topic files and legacies of another system: what people put there, and how it ages."""

from pathlib import Path

from tests.unit.cognitive.mirror.house import House
from tests.unit.cognitive.mirror.lists.decay_nights import night

TOPIC = (
    "# Moving house\n\nThe van is rented for the 3rd.\nIt has two seats.\n\n- boxes come from Ikea\n\n```\ncode\n```\n"
)


async def test_a_topic_file_is_taken_in_and_ages_by_its_date(house: House) -> None:
    """Its paragraphs and items are known of that day; the file stays as it is until the day is over, then leaves."""
    path = "2026-02-10-moving.md"
    house.write(path, TOPIC)
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    live = await house.live()
    assert [(record.text, record.day) for record in live] == [
        ("The van is rented for the 3rd.\nIt has two seats.", "2026-02-10"), ("boxes come from Ikea", "2026-02-10"),
    ]  # fmt: skip
    assert house.text(path) == TOPIC
    await night(house, 20)
    assert house.text(path) == TOPIC
    await night(house, 10)
    assert path not in house.files()
    assert house.text(f"archive/{path}") == TOPIC
    assert {"boxes come from Ikea", live[0].text} <= set(await house.texts())


async def test_a_topic_file_follows_what_is_known(house: House) -> None:
    """A line its owner changes supersedes; one they take out was only shown there; what the bot learns shows."""
    path = "2026-02-10-moving.md"
    house.write(path, "- the van is blue\n- boxes come from Ikea\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    van = (await house.live())[0].id
    house.write(path, "- the van is blue\n")
    await house.mirror.sync_in()
    assert "boxes come from Ikea" in await house.texts()
    await house.learn("the van is red", replaces=van, flush=True)
    await house.mirror.sync_out()
    house.edit(path, "the van is", "our van is")
    await house.mirror.sync_in()
    assert sorted(await house.texts()) == ["boxes come from Ikea", "our van is red"]


async def test_a_legacy_file_is_read_once_and_put_away(house: House) -> None:
    """The remainder of another memory: its facts are known from today, the file itself is in the archive."""
    house.write("MEMORY-legacy.md", "# Old\n- the gym closes at ten\n")
    (house.root / "archive").mkdir()
    house.write("archive/MEMORY-legacy.md", "another one\n")
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    assert await house.texts() == ["the gym closes at ten"]
    assert house.text("archive/MEMORY-legacy-2.md") == "# Old\n- the gym closes at ten\n"
    assert house.text("archive/MEMORY-legacy.md") == "another one\n"
    assert "MEMORY-legacy.md" not in house.files()


async def test_a_secret_in_a_topic_file_stays_with_its_owner(house: House) -> None:
    """Memory refuses it, and the file is put away with it as it is."""
    house.write("x-legacy.md", "- my key is sk-ant-api03-" + "a1B2" * 20 + "\n- likes tea\n")
    await house.mirror.sync_in()
    assert await house.texts() == ["likes tea"]
    assert "sk-ant" in house.text("archive/x-legacy.md")


async def test_an_archive_that_is_a_link_is_left_alone(house: House, tmp_path: Path) -> None:
    """Nothing is written to where a link leads; the log stays where it is, and the owner is told."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    await house.learn("one", flush=True)
    (house.root / "archive").symlink_to(elsewhere)
    house.write("x-legacy.md", "- likes tea\n")
    await house.mirror.sync_in()
    await night(house, 30)
    assert list(elsewhere.iterdir()) == []
    assert "x-legacy.md" in house.files()
    assert house.mirror.problems
