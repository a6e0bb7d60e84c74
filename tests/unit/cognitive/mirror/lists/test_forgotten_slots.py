"""What a crash kept us from noting: a slot's text that stands in its file and is forgotten before anybody looks."""

from pathlib import Path

import pytest

from tests.unit.cognitive.mirror.house import open_house

PATHS = {"working": "working/telegram-1.md", "week:2026-W07": "week-2026-W07.md"}


@pytest.mark.parametrize("before", [None, "the first text"], ids=["new", "replaced"])
@pytest.mark.parametrize("slot", PATHS)
async def test_it_does_not_come_back_as_a_persons_word(slot: str, before: str | None, tmp_path: Path) -> None:
    """Neither when the record was new nor when only its text was; the file says nothing of it any more."""
    working = slot == "working"
    async with open_house(tmp_path) as house:
        scope = "chat:telegram-1" if working else "owner"
        await house.mirror.start()
        for text in filter(None, (before, "the last text")):
            form = "scratchpad" if working else "summary"
            number = await house.learn(text, scope, form=form, slot=slot, flush=text == before)  # type: ignore[arg-type]
        house.write(PATHS[slot], "the last text")  # as it was written, and then the process died
        await house.forget(number)
        await house.restart().start()
        assert await house.texts(scope) == []
        assert PATHS[slot] not in house.files()


async def test_what_a_person_writes_there_is_theirs(tmp_path: Path) -> None:
    """Another text than ours is a new one, though the one before it is forgotten."""
    async with open_house(tmp_path) as house:
        await house.mirror.start()
        number = await house.learn("ours", "chat:telegram-1", form="scratchpad", slot="working", flush=True)
        house.write(PATHS["working"], "theirs")
        await house.forget(number)
        await house.restart().start()
        assert await house.texts("chat:telegram-1") == ["theirs"]
