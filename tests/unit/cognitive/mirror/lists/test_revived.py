"""What was forgotten and stands in a file again is asked about, and believed only by an answer."""

import pytest

from kenobot.cognitive.control import forget as forgetting
from kenobot.cognitive.control import revived_lines
from kenobot.ports.memory_files import RevivedLine, RevivedLines
from kenobot.storage.scopes import ALL_SCOPES
from tests.unit.cognitive.mirror.house import ENTRY, LOG, House


async def question(house: House) -> RevivedLines | None:
    return await house.database.read(revived_lines.open_question)


async def sync(house: House) -> None:
    """Look and write, after which looking again changes nothing."""
    await house.mirror.sync_in()
    await house.mirror.sync_out()
    events = await house.count_events()
    assert await house.mirror.sync_in() == 0 and await house.count_events() == events


@pytest.mark.parametrize("path", ["MEMORY.md", LOG, "ref-home.md", "2026-02-10-topic.md", "identity/preferences.md"])
@pytest.mark.parametrize("by", ["chat", "file"])
async def test_a_line_of_an_older_tree_is_asked_about(house: House, path: str, by: str) -> None:
    """Nothing is remembered by it, and it does not stay in the file; the rest of the file does."""
    line = "## 9:05 — {}\n\n" if path == LOG else "- learned: {}\n" if "pref" in path else "- {}\n"
    house.write(path, line.format("the gym closes at ten") + line.format("stays"))
    await sync(house)
    gym, _ = await house.live()
    older = house.text(path)
    if by == "chat" or "topic" in path:
        await house.forget(gym.id)
    else:
        house.write(path, line.format("stays"))
    await sync(house)
    house.clock.advance(10)
    house.write(path, older)
    await sync(house)
    assert await house.texts() == ["stays"]
    assert "gym" not in house.text(path) and "stays" in house.text(path)
    held = await question(house)
    assert held is not None and (held.where, held.lines) == (path, (RevivedLine("owner", gym.id),))
    record = await house.database.write(lambda c: revived_lines.restore_line(c, held.lines[0], house.occasion("owner")))
    assert record is not None and (record.id, record.trust, record.status) == (gym.id, gym.trust, "active")
    await sync(house)
    assert sorted(await house.texts()) == ["stays", "the gym closes at ten"]


async def test_it_is_asked_about_once_until_it_is_answered(house: House) -> None:
    """However often the tree is put back; after an answer, anew."""
    gym = await house.learn("the gym closes at ten", flush=True)
    await house.forget(gym)
    await sync(house)
    for _ in range(2):
        house.write(LOG, ENTRY("the gym closes at ten"))
        await sync(house)
        held = await question(house)
        assert held is not None and len(held.lines) == 1
        await house.database.write(lambda c, held=held: revived_lines.mark_announced(c, held))  # type: ignore[misc]
    held = await question(house)
    assert held is not None and held.told
    await house.database.write(revived_lines.resolve)
    house.write(LOG, ENTRY("the gym closes at ten"))
    await sync(house)
    held = await question(house)
    assert held is not None and not held.told


async def test_a_corrected_line_put_back_to_forgotten_words_revives_nothing(house: House) -> None:
    """Neither is what stood there now replaced by them in its history."""
    old = await house.learn("Ana lives in Paris", core=True, flush=True)
    await house.forget(old)
    new = await house.learn("Ana lives in Bilbao", core=True, flush=True)
    house.write("MEMORY.md", "- Ana lives in Paris\n")
    await sync(house)
    assert await house.texts() == []
    assert [(await house.record(n)).status for n in (old, new)] == ["forgotten", "forgotten"]
    assert await question(house) is not None


async def test_what_was_erased_comes_back_no_more_easily(house: House) -> None:
    """Its line goes, and its owner is asked; their yes lets it be remembered as their word."""
    gym = await house.learn("the gym closes at ten", core=True, flush=True)
    plan = await house.database.read(lambda c: forgetting.plan_purge(c, gym, ALL_SCOPES))
    assert plan is not None
    await house.database.write(lambda c: forgetting.purge(c, plan, house.occasion("owner")))
    await sync(house)
    house.write("MEMORY.md", "# Me\n- the gym closes at ten\n")
    await sync(house)
    assert (await house.texts(), house.text("MEMORY.md")) == ([], "# Me\n")
    held = await question(house)
    assert held is not None and held.lines == (RevivedLine("owner", 0, "the gym closes at ten"),)
    record = await house.database.write(lambda c: revived_lines.restore_line(c, held.lines[0], house.occasion("owner")))
    assert record is not None and record.trust == "owner"


@pytest.mark.parametrize("target", ["MEMORY.md", "2026-02-12.md"])
async def test_a_line_cut_in_one_save_and_put_elsewhere_in_the_next_has_moved(house: House, target: str) -> None:
    """Nobody is asked: it is the same record, in its new place."""
    gym = await house.learn("the gym closes at ten", trust="forward")
    await house.learn("stays", flush=True)
    before = house.text(LOG)
    house.write(LOG, ENTRY("stays"))
    await sync(house)
    assert await house.texts() == ["stays"]
    house.clock.advance(60)
    cut = before.replace(ENTRY("stays"), "")
    house.write(target, cut if target[0] == "2" else f"- {cut.partition(' — ')[2].strip()}\n")
    await sync(house)
    assert await question(house) is None
    assert {r.text: (r.id, r.trust) for r in await house.live()}["the gym closes at ten"] == (gym, "forward")
    assert house.text(LOG) == ENTRY("stays") and "gym" in house.text(target)


async def test_a_line_put_elsewhere_long_after_it_was_cut_is_asked_about(house: House) -> None:
    """By then it was forgotten, and comes from an older copy as likely as from the owner."""
    await house.learn("the gym closes at ten", flush=True)
    house.write(LOG, "")
    await sync(house)
    house.clock.advance(2 * 3600)
    house.write("MEMORY.md", "- the gym closes at ten\n")
    await sync(house)
    assert await house.texts() == []
    assert await question(house) is not None


async def test_an_earlier_wording_of_what_was_forgotten_is_asked_about(house: House) -> None:
    """An older tree says it as it was before it was corrected; what is wanted back is what was forgotten."""
    await house.learn("the gym closes at tne", flush=True)
    house.edit(LOG, "tne", "ten")
    await sync(house)
    (gym,) = await house.live()
    await house.forget(gym.id)
    await sync(house)
    house.write(LOG, ENTRY("the gym closes at tne"))
    await sync(house)
    assert await house.texts() == []
    held = await question(house)
    assert held is not None and held.lines == (RevivedLine("owner", gym.id),)


async def test_an_earlier_wording_put_elsewhere_soon_after_the_line_was_cut_is_the_owners_word(house: House) -> None:
    """They have moved it and taken its correction back: what they wrote stands, and nobody is asked."""
    await house.learn("the gym closes at ten", core=True, flush=True)
    house.edit("MEMORY.md", "ten", "eleven")
    await sync(house)
    house.write("MEMORY.md", "# Me\n")
    await sync(house)
    house.clock.advance(60)
    house.write(LOG, ENTRY("the gym closes at ten"))
    await sync(house)
    assert (await house.texts(), house.text(LOG)) == (["the gym closes at ten"], ENTRY("the gym closes at ten"))
    assert await question(house) is None


async def test_an_earlier_wording_of_what_is_believed_is_the_owners_word(house: House) -> None:
    """A correction taken back by hand is a correction."""
    await house.learn("the gym closes at ten", flush=True)
    house.edit(LOG, "ten", "eleven")
    await sync(house)
    house.edit(LOG, "eleven", "ten")
    await sync(house)
    assert await house.texts() == ["the gym closes at ten"]
    assert await question(house) is None
