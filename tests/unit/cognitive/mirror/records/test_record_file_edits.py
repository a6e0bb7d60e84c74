"""What a person's edit of a card does: of its text, and of its front matter."""

import json
import re
from dataclasses import replace

import pytest

from kenobot.cognitive.store import records
from kenobot.storage.connection import Connection
from tests.unit.cognitive.mirror.records.record_file_samples import ANA, TEA, steady
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

# ── edits of the text ────────────────────────────────────────────────────────────────────────────────────────────


async def test_other_words_take_the_old_ones_place(cards: CardHouse) -> None:
    """The file becomes the new record's card, the old one's goes to the archive; the word is the owner's."""
    old = await cards.tell(ANA)
    path = cards.card(old)
    cards.edit(path, "lives in Lyon", "moved to Nice")
    assert await cards.sync() == 1
    new = next(record for record in await cards.live() if "Nice" in record.text)
    assert (new.text, new.trust, new.source, new.tags) == ("Ana moved to Nice", "owner", "edit", '["friends"]')
    assert cards.card(new.id) == path
    assert cards.card(old) == f"archive/{path}"
    assert (await cards.record(old)).status == "superseded"
    await steady(cards)


async def test_an_emptied_card_is_forgotten(cards: CardHouse) -> None:
    """Whoever deletes all the words wants them gone."""
    number = await cards.tell(TEA)
    cards.edit(cards.card(number), "Adrian likes green tea\n", "\n")
    await cards.sync()
    assert (await cards.record(number)).status == "forgotten"
    await steady(cards)


async def test_an_edit_and_a_change_of_memory_in_the_same_minute_both_live(cards: CardHouse) -> None:
    """The bot learned better while the person had the file open: neither's words are lost."""
    number = await cards.tell(TEA)
    cards.edit(cards.card(number), "green tea", "black coffee, strong")
    await cards.learn("Adrian drinks rooibos at night", replaces=number)
    await cards.sync()
    assert set(await cards.texts()) == {"Adrian drinks rooibos at night", "Adrian likes black coffee, strong"}
    await steady(cards)


async def test_a_secret_is_not_taken_in_and_the_file_is_left_to_its_owner(cards: CardHouse) -> None:
    """What it stood on is no longer said, though, and the file stays as it was saved."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    cards.edit(path, "Adrian likes green tea", "my password is hunter22x")
    saved = cards.text(path)
    await cards.sync()
    assert (await cards.record(number)).status == "forgotten"
    assert cards.text(path) == saved
    assert [problem for problem in cards.tree.problems if path in problem and "memory does not take it in" in problem]


async def test_a_scratchpad_follows_its_card(cards: CardHouse) -> None:
    """It holds one text, wherever that is edited."""
    number = await cards.learn("step 1", "chat:c", form="scratchpad", slot="working")
    await cards.tree.sync_out()
    cards.edit(cards.card(number), "step 1", "step 2")
    await cards.sync()
    assert (await cards.record(number)).text == "step 2"
    assert cards.text("working/c.md") == "step 2"
    await steady(cards)


# ── edits of the front matter ────────────────────────────────────────────────────────────────────────────────────


async def test_front_matter_is_set_as_the_owners_word(cards: CardHouse) -> None:
    """Subject, kind, tags, pin and shares; the text and whose it is stay. Editors write lists in many ways."""
    number = await cards.tell(ANA)
    path = cards.card(number)
    text = cards.text(path)
    text = re.sub(r"^subject: .*$", "subject: 'Ana María'", text, flags=re.MULTILINE)
    text = re.sub(r"^category: .*$", "category: relationship", text, flags=re.MULTILINE)
    text = re.sub(r"^tags: .*$", "tags:\n  - amigos\n- C++", text, flags=re.MULTILINE)
    text = re.sub(r"^pinned: .*$", "pinned: yes-please", text, flags=re.MULTILINE)
    cards.write(path, text)
    await cards.sync()
    assert [f'{path} is left alone: its front matter\'s pinned cannot be "yes-please".'] == list(cards.tree.problems)
    assert (await cards.record(number)).category == "fact"
    cards.write(path, text.replace("yes-please", "true"))
    await cards.sync()
    record = await cards.record(number)
    assert (record.subject, record.category, record.policy_class) == ("Ana María", "relationship", "protected")
    assert (json.loads(record.tags), record.text, record.status) == (["amigos", "C++"], ANA.text, "active")
    assert not cards.tree.problems
    assert '\ntags: ["amigos", "C++"]\n' in cards.text(path)
    await steady(cards)


async def test_keys_of_a_persons_own_are_kept(cards: CardHouse) -> None:
    """With their spelling, their lists and comments, through whatever memory writes later."""
    number = await cards.tell(ANA)
    path = cards.card(number)
    own = "rating: ★★★ # mine\naliases:\n  - Anita\n# a comment\n"
    cards.edit(path, "pinned: false\n", f"pinned: false\n{own}")
    assert await cards.sync() == 0
    assert own in cards.text(path)
    await cards.learn(ANA.text)  # a repeat: confidence and count change
    await cards.tree.sync_out()
    assert own in cards.text(path) and "\nseen: 2\n" in cards.text(path)
    await steady(cards)


async def test_what_memory_changed_meanwhile_is_not_taken_for_the_persons_change(cards: CardHouse) -> None:
    """Only what differs from what the card said when it was written is the person's wish."""
    number = await cards.tell(ANA)
    path = cards.card(number)
    cards.edit(path, "category: fact", "category: relationship")

    def retag(connection: Connection) -> None:
        from kenobot.cognitive.store.change import change
        from kenobot.ports.memory_changes import ChangeContext

        record = records.get(connection, number, ("owner",))
        assert record is not None
        change(connection, record, "tagged", {"tags": '["new"]'}, ChangeContext(cards.clock.now(), "sleep"))

    await cards.database.write(retag)
    await cards.sync()
    record = await cards.record(number)
    assert (record.category, record.tags) == ("relationship", '["new"]')


async def test_status_can_be_set_and_taken_back(cards: CardHouse) -> None:
    """Forgotten by its card, and brought back by its card."""
    number = await cards.tell(TEA)
    cards.edit(cards.card(number), "status: active", "status: forgotten")
    assert await cards.sync() == 1
    assert (await cards.record(number)).status == "forgotten"
    cards.edit(cards.card(number), "status: forgotten", "status: active")
    assert await cards.sync() == 1
    assert (await cards.record(number)).status == "active"
    assert cards.card(number).startswith("facts/")
    await steady(cards)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("---\nid: 1\ncategory: fact\n\nNo end", "its front matter has no end (a line with ---)"),
        ("---\nid: one\n---\n\nx", 'its front matter\'s id cannot be "one"'),
        ("---\nid 1\n---\n\nx", "line 2 of its front matter is not understood"),
        ("---\nconfidence: 7\n---\n\nx", "its front matter's confidence cannot be 7"),
        ("---\ntags: [a\n---\n\nx", "its front matter's tags is not understood"),
        ("---\nid: 1\nid: 2\n---\n\nx", "its front matter says id twice"),
    ],
)
async def test_broken_front_matter_is_reported_and_left_alone(cards: CardHouse, broken: str, why: str) -> None:
    """It is never written over, not even when memory changes; mended, it is taken in."""
    number = await cards.tell(TEA)
    path, whole = cards.card(number), cards.text(cards.card(number))
    cards.write(path, broken)
    await cards.learn(TEA.text)
    await cards.sync()
    await cards.again().start()
    assert cards.text(path) == broken
    assert list(cards.tree.problems) == [f"{path} is left alone: {why}."]
    assert await cards.texts() == [TEA.text]
    cards.write(path, whole.replace("likes green", "likes white"))
    await cards.sync()
    assert await cards.texts() == ["Adrian likes white tea"]
    assert not cards.tree.problems


async def test_other_encodings_are_known_or_left_alone(cards: CardHouse) -> None:
    """A byte-order mark is passed over; what is not UTF-8 is named, and no byte of it changes."""
    number = await cards.tell(TEA)
    path = cards.card(number)
    text = cards.text(path).replace("green tea", "té verde")
    for other in (text.encode("utf-16"), text.encode("latin-1")):
        (cards.root / path).write_bytes(other)
        await cards.sync()
        assert (cards.root / path).read_bytes() == other
        assert list(cards.tree.problems) == [f"{path} is not UTF-8 text: it is left alone."]
        assert await cards.texts() == [TEA.text]
    (cards.root / path).write_bytes(text.encode("utf-8-sig"))
    await cards.sync()
    assert await cards.texts() == ["Adrian likes té verde"]
    assert not cards.tree.problems


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
async def test_line_ends_are_no_edit_and_are_kept(cards: CardHouse, ends: str) -> None:
    """An editor that saves with its own line ends finds them again, whatever memory writes."""
    number = await cards.tell(replace(TEA, text="one\ntwo"))
    path = cards.card(number)
    cards.write(path, cards.text(path).replace("\n", ends))
    events = await cards.count_events()
    assert await cards.sync() == 0
    assert await cards.count_events() == events
    await cards.tell(replace(TEA, text="one\ntwo"))
    text = cards.text(path)
    assert "seen: 2" in text and text.count(ends) == len(re.split("\r\n|\r|\n", text)) - 1
    cards.write(path, text.replace("two", "three"))
    await cards.sync()
    assert await cards.texts() == ["one\nthree"]
    await steady(cards)
