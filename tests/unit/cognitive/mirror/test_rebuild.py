"""Memory made again from its files alone."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kenobot.cognitive.mirror import rebuild
from kenobot.cognitive.mirror.rebuild import RebuildReport
from kenobot.ports.errors import ConfigError
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot_testing.clock import START
from tests.scene import Scene
from tests.unit.cognitive.mirror.lists.decay_nights import put
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house

TEA = Candidate("note", "owner", "Adrian likes green tea", source="extraction", evidence=(7, 9))


@asynccontextmanager
async def without_database(house: CardHouse, folder: Path) -> AsyncIterator[CardHouse]:
    """Another house with a copy of this one's tree, and an empty database."""
    await house.tree.sync_out()
    shutil.copytree(house.root, folder / "memory", symlinks=True)
    async with open_card_house(folder, start=house.clock.now()) as other:
        yield other


async def made_again(house: CardHouse, **more: bool) -> RebuildReport:
    return await house.database.write(
        lambda c: rebuild.rebuild(c, house.root, house.clock.now(), replace_all=more.get("replace_all", False),
                                  dry_run=more.get("dry_run", False))
    )  # fmt: skip


def bare(records: list[Record]) -> list[Record]:
    """Records without the number of the last event, which is a new one's."""
    return [record._replace(changed_event=0) for record in records]


async def links(house: CardHouse) -> list[tuple[object, ...]]:
    return await house.database.read(lambda c: c.execute("SELECT * FROM link ORDER BY src, dst, type").fetchall())


async def test_the_same_memory_comes_back(cards: CardHouse, tmp_path: Path) -> None:
    """Records of every scope, form and status with all they carry, and their links; nothing changes at the start."""
    first = await cards.tell(TEA)
    await cards.tell(replace(TEA, text="We decided to use Zig", category="decision", subject="KenoBot", tags=("lang",)))
    liked = await cards.learn("Likes short answers", category="preference")
    await put(cards, liked, "reinforced", {"mentions": 5, "use_count": 7})
    await cards.learn("I live in Madrid", core=True)
    chat = await cards.learn("The club meets on Friday", "chat:c", form="episode")
    await cards.learn("step 2", "chat:c", form="scratchpad", slot="working", trust="guest")
    await cards.learn("about the club", "chat:c", form="profile", slot="context")
    await cards.learn("我喜欢喝茶 🙂\n- C++\n---\nالقهوة", "user:u", trust="guest")
    await cards.learn("Adrian likes white tea now", replaces=first)
    await cards.forget(chat)
    async with without_database(cards, tmp_path / "new") as other:
        report = await made_again(other)
        assert not report.problems
        assert bare(await other.everything()) == bare(await cards.everything())
        assert await links(other) == await links(cards)
        assert (report.records, report.links) == (len(await cards.everything()), len(await links(cards)))
        assert report.by_scope["chat:c"] == sum(record.scope == "chat:c" for record in await cards.everything())
        await other.tree.start()
        assert bare(await other.everything()) == bare(await cards.everything())
        assert other.files() == cards.files()
        events = await other.count_events()
        assert await other.sync() == 0
        assert await other.count_events() == events


async def test_new_turns_are_no_evidence_for_old_records(cards: CardHouse, tmp_path: Path) -> None:
    """Records name the turns that told them; their numbers are not given out again, nor those of events."""
    await cards.tell(TEA)
    last = await cards.count_events()
    async with without_database(cards, tmp_path / "new") as other:
        await made_again(other)

        def next_turn(connection: Connection) -> int:
            cursor = connection.execute(
                "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace) "
                "VALUES ('c', '1', '1', 'c-1', 'u', 'x', '', '', '')"
            )
            return cursor.lastrowid or 0

        assert await other.database.write(next_turn) > 9
        assert await other.count_events() > last


async def test_memory_that_is_there_is_not_thrown_away_unasked(cards: CardHouse) -> None:
    """Nothing is changed, and the sentence says how to ask for it; asked for, memory is as the files say."""
    number = await cards.tell(TEA)
    await cards.database.write(lambda c: c.execute("UPDATE record SET text = 'damaged' WHERE id = ?", (number,)))
    with pytest.raises(ConfigError, match=r"the database holds 1 record\. .* kenobot memory rebuild --replace"):
        await made_again(cards)
    assert (await cards.record(number)).text == "damaged"
    report = await made_again(cards, replace_all=True)
    assert report.written
    assert (await cards.record(number)).text == TEA.text


async def test_a_dry_run_changes_nothing(cards: CardHouse, tmp_path: Path) -> None:
    """It reports what would be done, to the same figures."""
    await cards.tell(TEA)
    async with without_database(cards, tmp_path / "new") as other:
        would = await made_again(other, dry_run=True)
        assert await other.everything() == []
        assert would == replace(await made_again(other), written=False)


async def test_what_fails_leaves_nothing_half_done(cards: CardHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one transaction: the old memory is there if the new one cannot be written whole."""
    await cards.tell(TEA)
    before = await cards.everything()

    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(rebuild, "_recognise", broken)
    with pytest.raises(RuntimeError):
        await made_again(cards, replace_all=True)
    assert await cards.everything() == before


async def test_what_cannot_be_read_is_named_and_left_alone(cards: CardHouse, tmp_path: Path) -> None:
    """Everything else comes back; a card counts for the scope of its folder only."""
    tea = await cards.tell(TEA)
    guest = await cards.tell(replace(TEA, text="Guests like juice", scope="user:u", trust="guest"))
    zig = await cards.tell(replace(TEA, text="We use Zig at work", subject="Zig"))
    async with without_database(cards, tmp_path / "new") as other:
        other.edit(other.card(zig), "\n---\n\nWe", "\n\nWe")
        broken = other.text(other.card(zig))
        stolen = other.card(tea).rpartition("/")[0] + "/stolen.md"
        path = other.card(guest)
        (other.root / path).rename(other.root / stolen)
        (other.root / other.card(tea)).with_name("a copy.md").write_text(other.text(other.card(tea)))
        report = await made_again(other)
        assert [record.id for record in await other.everything() if record.form != "box"] == [tea]
        assert len([problem for problem in report.problems if "leads nowhere" not in problem]) == 3
        assert any("has no end" in problem for problem in report.problems)
        assert any(
            "it is of the scope user:u, and stands in a folder of owner" in problem for problem in report.problems
        )
        assert any("is a card of the same record" in problem for problem in report.problems)
        await other.tree.start()
        assert other.text(other.card(zig)) == broken
        assert [r.text for r in await other.live() if r.trust == "owner" and r.text == "Guests like juice"] == []


async def test_a_persons_edits_count(cards: CardHouse, tmp_path: Path) -> None:
    """Of a card that was edited since it was written, what it says now; of the other files, their new lines."""
    number = await cards.tell(TEA)
    await cards.learn("fine", core=True)
    async with without_database(cards, tmp_path / "new") as other:
        other.edit(other.card(number), "likes green", "likes white")
        other.write("MEMORY.md", "- fine\n- mine\n")
        other.write("facts/2026-02-14/mine.md", "A card of my own")
        await made_again(other)
        await other.tree.start()
        assert sorted(await other.texts()) == ["A card of my own", "Adrian likes white tea", "fine", "mine"]
        assert (await other.record(number)).text == "Adrian likes white tea"


async def test_what_was_forgotten_does_not_come_back(cards: CardHouse, tmp_path: Path) -> None:
    """Neither from preferences.md nor from a log that was not written again before the end."""
    gone = await cards.learn("Likes long answers", category="preference")
    line = await cards.learn("The club meets on Friday")
    await cards.tree.sync_out()
    log, preferences = cards.text("2026-02-14.md"), cards.text("identity/preferences.md")
    assert "long answers" in preferences and "club" in log
    await cards.forget(gone)
    await cards.forget(line)
    await cards.tree.sync_out()
    async with without_database(cards, tmp_path / "new") as other:
        other.write("2026-02-14.md", log)
        other.write("identity/preferences.md", preferences)
        await made_again(other)
        await other.tree.start()
        assert await other.texts() == []
        assert "2026-02-14.md" not in other.files()


async def test_progress_is_told(cards: CardHouse) -> None:
    """From nothing to all."""
    await cards.tell(TEA)
    told: list[tuple[int, int]] = []
    found, _ = rebuild.read_record_files(cards.root, lambda done, of: told.append((done, of)))
    assert told[0] == (0, 1) and told[-1] == (1, 1) and len(found) == 1


# ── a home whose database is gone ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("left", [None, b""])
async def test_a_lost_database_is_not_begun_anew(tmp_path: Path, left: bytes | None) -> None:
    """Missing or of no bytes beside memories: the sentence names the way back. Nothing is created."""
    async with open_card_house(tmp_path) as house:
        await house.tell(TEA)
        rebuild.require_memory(house.root, tmp_path / "kenobot.db")
    database = tmp_path / "kenobot.db"
    database.unlink()
    if left is not None:
        database.write_bytes(left)
    with pytest.raises(ConfigError, match="kenobot memory rebuild"):
        rebuild.require_memory(tmp_path / "memory", database)
    assert database.exists() == (left is not None)


async def test_an_empty_database_beside_memories_is_not_gone_on_with(tmp_path: Path) -> None:
    """One that was just created, or left by a rebuild that failed, knows no more than a missing one."""
    async with open_card_house(tmp_path) as house:
        await house.tell(TEA)
    (tmp_path / "kenobot.db").unlink()
    await Database.open(tmp_path / "kenobot.db", tmp_path / "backups").close()
    with pytest.raises(ConfigError, match="is empty or missing"):
        rebuild.require_memory(tmp_path / "memory", tmp_path / "kenobot.db")


def test_a_new_home_may_begin(tmp_path: Path) -> None:
    """Without cards there is nothing to lose: what a person wrote into MEMORY.md is taken in at the start."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("- mine\n")
    rebuild.require_memory(tmp_path / "memory", tmp_path / "kenobot.db")


async def test_the_bot_does_not_start_without_its_memory(tmp_path: Path) -> None:
    """It would answer as somebody who knows nothing; made again from its files, it starts and knows."""
    async with Scene(tmp_path, ["Noted. <memory>Ana likes tea</memory>"]) as scene:
        await scene.say("Ana likes tea")
        home = scene.home
    for path in home.path.glob("kenobot.db*"):
        path.unlink()
    home.database.write_bytes(b"")
    with pytest.raises(ConfigError, match="kenobot memory rebuild"):
        async with Scene(tmp_path):
            pass
    assert home.database.read_bytes() == b""
    database = Database.open(home.database, home.backups)
    await database.write(lambda c: rebuild.rebuild(c, home.memory, START))
    await database.close()
    async with Scene(tmp_path, ["Tea."]) as scene:
        scene.channel.number = 1000
        await scene.say("What does Ana like?")
        assert "Ana likes tea" in scene.requests[-1]
