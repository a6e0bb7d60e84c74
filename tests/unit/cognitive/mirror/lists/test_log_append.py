"""A day's log grows by what is new: it is not written anew, and a half-written end is nobody's edit."""

from pathlib import Path
from typing import Any

import pytest

from kenobot.storage import disk
from tests.unit.cognitive.mirror.house import ENTRY, LOG, House


def inode(house: House) -> int:
    return (house.root / LOG).stat().st_ino


async def test_a_new_fact_is_appended_to_the_file_that_is_there(house: House) -> None:
    await house.learn("one", flush=True)
    before = inode(house)
    await house.learn("zwei — dos", flush=True)
    await house.learn("三つ\n## 10:00 — no entry", flush=True)
    assert inode(house) == before
    assert house.text(LOG) == ENTRY("one") + ENTRY("zwei — dos") + ENTRY("三つ\n\\## 10:00 — no entry")
    await house.mirror.sync_in()
    assert await house.texts() == ["one", "zwei — dos", "三つ\n## 10:00 — no entry"]


async def test_a_fact_that_changed_lays_the_log_out_anew(house: House) -> None:
    one = await house.learn("one", flush=True)
    await house.learn("two", flush=True)
    await house.learn("one and a half", replaces=one)
    await house.learn("three", flush=True)
    assert house.text(LOG) == ENTRY("one and a half") + ENTRY("two") + ENTRY("three")


@pytest.mark.parametrize("kept", [0, 1, 9, 10, 11, 14, 15])
async def test_a_crash_in_the_middle_of_an_append_is_no_edit(
    house: House, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there of the new line is no fact of the owner's, and the whole line stands there after the next start."""
    await house.learn("one", flush=True)

    def torn(target: str, file: disk.PendingFile) -> Any:
        with Path(target).open("ab") as log:
            log.write(file.text.encode()[:kept])
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "_write_one", torn)
        await house.learn("two words", flush=True)
    events = await house.count_events()
    await house.restart().start()
    assert house.text(LOG) == ENTRY("one") + ENTRY("two words")
    assert (await house.count_events(), await house.texts()) == (events, ["one", "two words"])


async def test_a_file_that_is_replaced_during_an_append_keeps_its_owners_words(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor puts another file in the place of the one that is being appended to."""
    await house.learn("one", flush=True)
    look_older = disk._look_older

    def saved(descriptor: int) -> None:
        monkeypatch.setattr(disk, "_look_older", look_older)
        other = house.root / "saved.tmp"
        other.write_text(ENTRY("one") + "## 15:00 — mine\n\n")
        other.replace(house.root / LOG)
        look_older(descriptor)

    monkeypatch.setattr(disk, "_look_older", saved)
    await house.learn("two", flush=True)
    assert house.text(LOG) == ENTRY("one") + "## 15:00 — mine\n\n" + ENTRY("two")
    assert await house.texts() == ["one", "two", "mine"]
