"""Cards, a file a record: what stands in one, and what becomes of files that come, go and move."""

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kenobot.cognitive.mirror.records import record_file_rows
from kenobot.cognitive.mirror.records.record_files import RecordFiles
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import FilesPolicy
from kenobot.cognitive.store.events import add_event
from kenobot.ports.memory import Candidate
from kenobot.storage import disk
from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.house import TODAY
from tests.unit.cognitive.mirror.records.record_file_samples import ANA, TEA, steady
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse, open_card_house

# ── what a card is ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_record_has_a_card_that_people_can_read(cards: CardHouse) -> None:
    """Named by kind, time and a hash, with what is known of it as front matter and its text below."""
    number = await cards.tell(replace(ANA, text="Ana lives in Lyon\n---\nid: 99"))
    path = cards.card(number)
    assert re.fullmatch(rf"facts/{TODAY}/fact-20260214T143000Z-[0-9a-f]{{10}}\.md", path)
    text = cards.text(path)
    assert text.startswith(f"---\nid: {number}\nform: note\ncategory: fact\nscope: owner\nsubject: ")
    assert '\nattributes: {"city": "Lyon"}\ntags: ["friends"]\npinned: false\n' in text
    assert text.endswith("\n---\n\nAna lives in Lyon\n---\nid: 99\n")
    assert (cards.root / path).stat().st_mode & 0o777 == 0o600
    await steady(cards)


async def test_every_scope_keeps_its_cards_to_itself(cards: CardHouse) -> None:
    """A chat's and a guest's stand in their own folders, also what was forgotten of them."""
    chat = await cards.tell(replace(TEA, scope="chat:c", form="episode"))
    guest = await cards.tell(replace(TEA, scope="user:u", trust="guest"))
    assert cards.card(chat).startswith(f"chats/c/facts/{TODAY}/")
    assert cards.card(guest).startswith(f"users/u/facts/{TODAY}/")
    await cards.forget(guest)
    await cards.tree.sync_out()
    assert cards.card(guest).startswith(f"users/u/archive/facts/{TODAY}/")


async def test_what_is_no_longer_believed_stands_in_the_archive(cards: CardHouse) -> None:
    """The hot folders hold what is alive, and nothing twice; undoing brings the card back."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    await cards.forget(number)
    await cards.tree.sync_out()
    assert cards.card(number) == f"archive/{path}"
    assert "\nstatus: forgotten\n" in cards.text(f"archive/{path}")
    assert not (cards.root / path).exists()
    await steady(cards)


async def test_a_purged_record_leaves_no_card_even_if_it_was_edited(cards: CardHouse) -> None:
    """What is erased for good is erased here, too, with the artifact that quotes it and the box that listed it."""
    number = await cards.tell(
        Candidate("note", "owner", "We decided to use Zig", category="decision", source="extraction")
    )
    await cards.tell(Candidate("note", "owner", "Zig compiles fast", source="extraction"))
    assert any(path.startswith("artifacts/") for path in cards.files())
    cards.edit(cards.card(number), "We decided", "We have decided")

    def purge(connection: Connection) -> None:
        connection.execute("DELETE FROM link WHERE src = ? OR dst = ?", (number, number))
        connection.execute("DELETE FROM record WHERE id = ?", (number,))
        add_event(connection, cards.clock.now(), "owner", "purged", record=number)

    await cards.database.write(purge)
    await cards.sync()
    assert not [path for path in cards.files() if "decided" in cards.text(path)]


# ── files that come, go and move ─────────────────────────────────────────────────────────────────────────────────


async def test_a_deleted_card_is_forgotten(cards: CardHouse) -> None:
    """Reversibly: it stands in the archive, and can be moved back out of it."""
    number, other = await cards.tell(TEA), await cards.tell(ANA)
    path = cards.card(number)
    (cards.root / path).unlink()
    assert await cards.sync() == 1
    assert ((await cards.record(number)).status, (await cards.record(other)).status) == ("forgotten", "active")
    assert cards.card(number) == f"archive/{path}"
    await steady(cards)
    (cards.root / path).parent.mkdir(parents=True, exist_ok=True)
    (cards.root / f"archive/{path}").rename(cards.root / path)
    await cards.sync()
    assert (await cards.record(number)).status == "active"
    assert cards.card(number) == path
    await steady(cards)


async def test_many_deleted_at_once_are_a_loss(cards: CardHouse) -> None:
    """A folder that was lost, or a good part of it, is written again, and the owner is told."""
    numbers = [await cards.tell(replace(TEA, text=f"Fact number {n} about {n * 7919}")) for n in range(12)]
    paths = [cards.card(number) for number in numbers]
    before = {path: cards.text(path) for path in paths}
    for path in paths[:4]:
        (cards.root / path).unlink()
    assert await cards.sync() == 0
    assert {path: cards.text(path) for path in paths} == before
    assert [problem for problem in cards.tree.problems if "4 memory files are gone at once" in problem]
    for path in paths:
        (cards.root / path).unlink()
    (cards.root / paths[0]).parent.rmdir()
    await cards.again().start()
    assert {path: cards.text(path) for path in paths} == before
    for path in paths[:2]:
        (cards.root / path).unlink()
    assert await cards.sync() == 2


async def test_a_card_of_a_persons_own_is_taken_in(cards: CardHouse) -> None:
    """With front matter or without; the file is the record's card from then on, under the name that it was given."""
    cards.write(
        f"facts/{TODAY}/mine.md",
        "---\ncategory: decision\nsubject: KenoBot\ntags: [v2]\nmood: good\n---\nShip it in May",
    )
    cards.write("facts/2026-01-01/other.md", "Chihiro trinkt keinen Kaffee\n")
    assert await cards.sync() == 2
    by_text = {record.text: record for record in await cards.live()}
    mine = by_text["Ship it in May"]
    assert (mine.category, mine.source, mine.trust, json.loads(mine.tags)) == ("decision", "edit", "owner", ["v2"])
    assert cards.card(mine.id) == f"facts/{TODAY}/mine.md"
    assert "\nmood: good\n" in cards.text(f"facts/{TODAY}/mine.md")
    assert by_text["Chihiro trinkt keinen Kaffee"].day == "2026-01-01"
    await steady(cards)


async def test_a_renamed_or_moved_card_is_the_same_record(cards: CardHouse) -> None:
    """Within its scope: nothing is forgotten, nothing learned, and it stays where the person put it."""
    number = await cards.tell(TEA)
    await cards.tell(ANA)
    path = cards.card(number)
    (cards.root / path).rename(cards.root / f"facts/{TODAY}/my tea.md")
    events = await cards.count_events()
    assert await cards.sync() == 0
    assert cards.card(number) == f"facts/{TODAY}/my tea.md"
    (cards.root / "facts/2026-02-01").mkdir()
    (cards.root / f"facts/{TODAY}/my tea.md").rename(cards.root / "facts/2026-02-01/tea.md")
    assert await cards.sync() == 0
    assert cards.card(number) == "facts/2026-02-01/tea.md"
    assert await cards.count_events() == events
    await steady(cards)


async def test_a_card_moved_to_another_scope_changes_hands(cards: CardHouse) -> None:
    """It is forgotten where it was, and the owner's word where it is."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    (cards.root / f"chats/c/facts/{TODAY}").mkdir(parents=True)
    (cards.root / path).rename(cards.root / f"chats/c/facts/{TODAY}/tea.md")
    await cards.tell(ANA)
    await cards.sync()
    await cards.sync()
    assert (await cards.record(number)).status == "forgotten"
    assert await cards.texts("chat:c") == [TEA.text]


async def test_a_copy_changes_nothing(cards: CardHouse) -> None:
    """The owner is told, and the copy is left where it is."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    cards.write(f"facts/{TODAY}/copy.md", cards.text(path))
    events = await cards.count_events()
    await cards.sync()
    assert await cards.count_events() == events
    assert [problem for problem in cards.tree.problems if "copy.md: it is a copy of another file" in problem]
    await steady(cards)


async def test_links_and_folders_in_a_cards_place_are_left_alone(cards: CardHouse, tmp_path: Path) -> None:
    """Nothing is read through them and nothing written."""
    number, other = await cards.tell(TEA), await cards.tell(ANA)
    target = tmp_path / "elsewhere.md"
    target.write_text("I am somebody else's file")
    (cards.root / cards.card(number)).unlink()
    path = f"facts/{TODAY}/link.md"
    (cards.root / path).symlink_to(target)
    (cards.root / f"facts/{TODAY}/folder.md").mkdir()
    (cards.root / "facts/2026-02-02").symlink_to(tmp_path)
    await cards.sync()
    assert await cards.texts() == [ANA.text]
    assert (await cards.record(other)).status == "active"
    assert target.read_text() == "I am somebody else's file"
    assert [problem for problem in cards.tree.problems if "link.md is not a plain file" in problem]


async def test_boxes_and_artifacts_are_read_only(cards: CardHouse) -> None:
    """An edit of them changes nothing in memory, is reported, and no byte of an artifact's is written over."""
    number = await cards.tell(
        Candidate("note", "owner", "We decided to use Zig", category="decision", source="extraction")
    )
    quote = next(path for path in cards.files() if path.startswith("artifacts/"))
    assert "> We decided to use Zig" in cards.text(quote)
    cards.edit(quote, "Zig", "Rust")
    events = await cards.count_events()
    await cards.sync()
    assert await cards.count_events() == events
    assert "Rust" in cards.text(quote)
    assert (await cards.record(number)).text == "We decided to use Zig"


# ── crashes and disks ────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_crash_between_file_and_note_is_no_edit(cards: CardHouse) -> None:
    """A card carries its own checksum: it is ours, whatever memory did in the meantime."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    await cards.learn(TEA.text)
    await cards.tree.sync_out()
    await cards.database.write(lambda c: record_file_rows.drop_row(c, path))
    await cards.forget(number)
    events = await cards.count_events()
    await cards.again().start()
    assert await cards.count_events() == events
    assert (await cards.record(number)).status == "forgotten"
    assert cards.card(number).startswith("archive/") and not [p for p in cards.files() if p.startswith("facts/")]
    await steady(cards)


async def test_a_full_disk_costs_nothing_but_time(cards: CardHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported, and made up for."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "_write_one", full)
        number = await cards.learn(TEA.text)
        await cards.tree.sync_out()
        assert [problem for problem in cards.tree.problems if "cannot be written (No space left on device)" in problem]
        assert number not in cards.cards()
    await cards.tree.sync_out()
    assert number in cards.cards()
    assert not cards.tree.problems


async def test_edits_made_while_nothing_ran_are_taken_in_at_the_start(cards: CardHouse) -> None:
    """Before the first turn."""
    number = await cards.tell(TEA)
    cards.edit(cards.card(number), "likes green", "likes white")
    await cards.again().start()
    assert await cards.texts() == ["Adrian likes white tea"]


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_turn_looks_at_the_last_days_and_the_rounds_at_the_rest(tmp_path: Path) -> None:
    """An edit of an old card is found by the slow round, so many files a step; one of today's before the next turn."""
    policy = replace(DEFAULT, files=FilesPolicy(scan_step_files=2))
    async with open_card_house(tmp_path, policy=policy) as house:
        old = []
        for n in range(5):
            old.append(await house.tell(replace(TEA, text=f"Old fact {n * 7919}")))
            house.clock.advance(days=7)
        new = await house.tell(TEA)
        await house.tree.start()
        assert not house.tree.record_files.has_changes("c")
        house.edit(house.card(new), "likes green", "likes white")
        house.edit(house.card(old[0]), "Old", "Very old")
        assert house.tree.record_files.has_changes("c")
        assert await house.tree.record_files.sync_in("c") == 1
        assert "Adrian likes white tea" in await house.texts()
        assert "Very old fact 0" not in await house.texts()
        steps = 0
        while "Very old fact 0" not in await house.texts() and steps < 10:
            await house.tree.scan()
            steps += 1
        assert "Very old fact 0" in await house.texts()


async def test_a_glance_is_as_cheap_however_full_a_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at the newest files of the last days, never at the whole of a large memory."""
    policy = replace(DEFAULT, files=FilesPolicy(hot_files=5))
    async with open_card_house(tmp_path, policy=policy) as house:
        for n in range(30):
            await house.learn(f"fact {n * 7919}")
        await house.tree.start()
        await house.tree.sync_in("c")
        looks = 0
        look = disk.peek

        def counted(path: str) -> object:
            nonlocal looks
            looks += 1
            return look(path)

        monkeypatch.setattr(disk, "peek", counted)
        assert not house.tree.record_files.has_changes("c")
        assert looks <= 2 * policy.files.hot_days + policy.files.hot_files
        monkeypatch.undo()
        os.utime(house.root / max(house.cards().values()), ns=(1, 1))
        await house.tree.sync_in("c")


async def test_a_copied_home_notes_its_files_anew_and_takes_in_only_what_was_edited(
    cards: CardHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files with other stamps and the same text cost no transaction each, and hide no edit among them."""
    records = [await cards.learn(f"fact {n * 7919}") for n in range(20)]
    await cards.tree.start()
    paths = cards.cards()
    for path in paths.values():
        copy = cards.root / f"{path}.copy"
        shutil.copy(cards.root / path, copy)
        copy.replace(cards.root / path)
    cards.write(paths[records[3]], cards.text(paths[records[3]]).replace("\nfact ", "\nmy own fact "))
    taken: list[str] = []
    reconcile = RecordFiles._reconcile

    async def counted(self: RecordFiles, path: str) -> int:
        taken.append(path)
        return await reconcile(self, path)

    monkeypatch.setattr(RecordFiles, "_reconcile", counted)
    assert await cards.sync() == 1
    assert taken == [paths[records[3]]]
    assert [record.text for record in await cards.everything() if "my own" in record.text]
    assert not cards.tree.record_files.has_changes("c")
    assert await cards.sync() == 0
    assert taken == [paths[records[3]]]


async def test_an_edit_of_a_checksum_or_of_a_line_end_alone_is_looked_at(cards: CardHouse) -> None:
    """A file whose text is as it was noted but for these is no copy of ours."""
    for n in range(3):
        await cards.learn(f"fact {n * 7919}")
    await cards.tree.start()
    first, second, *_ = cards.cards().values()
    cards.write(first, re.sub("checksum: .*", "checksum: c0", cards.text(first)))
    (cards.root / second).write_bytes(cards.text(second).replace("\n", "\r\n").encode())
    await cards.sync()
    assert "checksum: c0\n" not in cards.text(first)
    assert b"\r\n" in (cards.root / second).read_bytes()
    assert (await cards.database.read(lambda c: record_file_rows.row_at(c, second))).line_ending == "\r\n"  # type: ignore[union-attr]


async def test_what_is_known_of_cards_is_bounded(cards: CardHouse) -> None:
    """Neither many broken files nor many chats are held in memory, and what is gone leaves no row."""
    for number in range(250):
        cards.write(f"facts/{TODAY}/broken {number}.md", "---\nno end")
        (cards.root / f"chats/c{number}/facts/{TODAY}").mkdir(parents=True)
    await cards.sync()
    engine = cards.tree.record_files
    assert len(engine.problems) == len(engine._seen) == 200
    assert len(engine._recent) == 64
    assert not engine._again
    await cards.tree.scan()
    for number in range(250):
        (cards.root / f"facts/{TODAY}/broken {number}.md").unlink()
    cards.write(f"facts/{TODAY}/mine.md", "my password is hunter22x")
    await cards.sync()
    assert await cards.database.read(record_file_rows.count_files) == 1
    (cards.root / f"facts/{TODAY}/mine.md").unlink()
    await cards.sync()
    assert await cards.database.read(record_file_rows.count_files) == 0
    while engine._round:
        await cards.tree.scan()
    assert not engine._round
