"""The side index: it finds what is there, at once, in every script, and it can always be thrown away."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kenobot.cognitive.recall.index import backlog_rows, posting_rows, vector_rows
from kenobot.cognitive.recall.index.index import Indexer, SideIndex, count_unindexed
from kenobot.cognitive.store import boxes, events, records
from tests.unit.cognitive.recall.house import Memory


def _terms(memory: Memory) -> int:
    """How many words the index counts."""
    with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
        return int(connection.execute("SELECT count(*) FROM term").fetchone()[0])


async def test_what_was_just_stored_is_found_by_the_very_next_query(memory: Memory) -> None:
    """No waiting, no background work."""
    assert await memory.texts("where do I keep the ladder?") == []
    await memory.learn("The ladder stands in the garage")
    assert await memory.texts("where do I keep the ladder?") == ["The ladder stands in the garage"]


def test_nobody_makes_an_index_by_looking_into_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who asks a fresh home before anything was indexed gets nothing, and is not told of damage."""
    index = SideIndex(tmp_path / "index.db")
    assert index.read(lambda connection: connection.execute("SELECT * FROM room").fetchall(), []) == []
    assert not (tmp_path / "index.db").exists()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("用户喜欢喝绿茶", "绿茶"),
        ("Пользователь любит чай", "чай"),
        ("User visits the café daily", "cafe"),
        ("El usuario vive en Logroño", "¿en Logroño vives?"),
        ("يحب المستخدم القهوة", "القهوة"),
        ("Her team writes C++ and C#", "C#"),
        ("The deploy is green 🚀", "🚀"),
        ("I do not eat meat", "meat-free"),
        ("Las reuniones son los lunes", "reunión"),
        ("The user's websites were redesigned", "website redesign"),
        ("日本語のテストが好き", "テスト"),
    ],
)
async def test_every_script_and_word_form_is_found(memory: Memory, text: str, query: str) -> None:
    """Accents, endings, signs, emoji, and scripts without blanks."""
    await memory.learn("Something else altogether")
    await memory.learn(text)
    assert (await memory.texts(query, force=True))[:1] == [text]


@pytest.mark.parametrize("status", ["superseded", "expired", "forgotten", "invalidated", "archived"])
async def test_what_no_longer_lives_is_not_found(memory: Memory, status: str) -> None:
    """And what is forgotten leaves no word in the index."""
    record = await memory.learn("The zyzzyva sleeps")
    assert await memory.texts("zyzzyva")
    await memory.change(record, status, status=status)
    assert await memory.texts("zyzzyva") == []
    assert (_terms(memory) == 0) == (status == "forgotten")


async def test_what_is_erased_leaves_the_index_with_the_words_of_its_turns(memory: Memory) -> None:
    """Counts, lists and the pages of the file: nothing tells the words any more."""
    record = await memory.learn("The password hint is quokkaberry")
    await memory.say("psst, quokkaberry", 1)
    await memory.texts("quokkaberry")

    def purge(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM record WHERE id = ?", (record,))
        connection.execute("UPDATE message SET text = ''")
        ids = [row[0] for row in connection.execute("SELECT id FROM message")]
        events.add_event(connection, memory.now, "owner", "purged", record=record, data={"messages": [*ids]})

    await memory.database.write(purge)
    await Indexer(memory.database, memory.index).index_all()
    memory.index.close()
    files = [path for path in memory.path.parent.iterdir() if path.name.startswith("index.db")]
    assert not any(b"quokka" in path.read_bytes() for path in files)


async def test_a_changed_text_is_found_by_its_new_words_only(memory: Memory) -> None:
    """The old ones lead to it only when it is asked what was known then."""
    record = await memory.learn("The meeting is on Tuesday")
    await memory.texts("Tuesday")
    await memory.change(record, "replaced", text="The meeting is on Friday")
    assert await memory.texts("Friday") == ["The meeting is on Friday"]
    assert await memory.texts("Tuesday") == []


async def test_a_record_that_use_lifted_is_not_read_again_and_one_that_faded_is(memory: Memory) -> None:
    """Nearly each turn uses a record; only what may change its words, or that they stand there, is worth a look."""
    record = await memory.learn("The ladder stands in the garage")

    async def touched_since(event: int) -> list[int]:
        records, _ = await memory.database.read(
            lambda connection: backlog_rows.list_touched(connection, event, events.last_event(connection))
        )
        return records

    lifted = await memory.change(record, "lifecycle", lifecycle="validated")
    assert await touched_since(lifted - 1) == []
    faded = await memory.change(record, "lifecycle", lifecycle="archived", status="archived")
    assert await touched_since(faded - 1) == [record]
    await memory.database.write(lambda connection: connection.execute("UPDATE event SET data = '{\"erased\": true}'"))
    assert await touched_since(lifted - 1) == [record]  # nobody knows any more what it changed


async def test_an_index_made_anew_counts_what_the_one_before_counted(memory: Memory) -> None:
    """A box that still takes memories in is in neither: nothing told the older one of it."""

    def read_words() -> list[tuple[str, int]]:
        with closing(sqlite3.connect(memory.path)) as connection:
            return connection.execute("SELECT token, docs FROM term ORDER BY token").fetchall()

    first = await memory.learn("The lantern is in the mill")
    await memory.texts("lantern")

    def begin_box(connection: sqlite3.Connection) -> None:
        boxes.create_box(connection, records.require(connection, first, "owner"), memory.now, "telegram-1")

    await memory.database.write(begin_box)
    await memory.learn("The ladder is in the barn")
    await memory.texts("ladder")
    before = read_words()
    memory.index.close()
    memory.path.unlink()
    memory.index = SideIndex(memory.path)
    await Indexer(memory.database, memory.index).index_all()
    assert read_words() == before


async def test_a_long_turn_takes_less_room_in_the_index_than_in_the_conversation(memory: Memory) -> None:
    """It is found by any of its words all the same."""
    text = " ".join(f"sentence {number} tells of the old harbour and its lighthouse" for number in range(200))
    await memory.say("hello", 1, answer=f"{text} quokkaberry")
    assert [excerpt.turn.id for excerpt in (await memory.recall("the quokkaberry?", force=True)).excerpts] == [2]
    with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
        stored = connection.execute("SELECT max(length(terms)) FROM doc").fetchone()[0]
    assert stored < len(text) / 3


@pytest.mark.parametrize("damage", ["gone", "rubbish", "older", "torn", "scrambled"])
async def test_a_lost_or_damaged_index_is_made_anew(
    memory: Memory, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And finds what is new at once, whatever became of the file, also of one that breaks while it is open."""
    await memory.learn("The old boat is blue")
    await memory.texts("boat")
    if damage not in ("torn", "scrambled"):
        memory.index.close()
        memory.index = SideIndex(memory.path)
    with caplog.at_level(logging.ERROR):
        match damage:
            case "gone":
                memory.path.unlink()
            case "rubbish":
                memory.path.write_bytes(b"no database at all" * 1000)
            case "older":
                with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
                    connection.execute(f"PRAGMA user_version = {posting_rows.VERSION + 1}")
            case "torn":
                with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
                    connection.execute("DROP TABLE doc")
            case "scrambled":
                with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
                    connection.execute("UPDATE doc SET terms = x'0badc0de'")
        await memory.learn("The new boat is red")
        await memory.texts("boat")  # this one may have to notice first
        found = await memory.texts("boat")
    assert set(found) == {"The old boat is blue", "The new boat is red"}


async def test_an_index_of_another_database_is_not_believed(memory: Memory) -> None:
    """A backup that was put back has another past, and nothing of the lost one is found."""
    await memory.learn("The old boat is blue")
    await memory.texts("boat")
    await memory.database.write(lambda connection: connection.execute("DELETE FROM event"))
    memory.index.close()
    memory.index = SideIndex(memory.path)
    await memory.learn("The new boat is red")
    assert set(await memory.texts("boat")) == {"The old boat is blue", "The new boat is red"}


async def test_a_large_memory_is_filled_in_behind_while_the_new_is_found(memory: Memory) -> None:
    """The newest first, and in the end everything; how much is missing can be asked."""
    for number in range(400):
        await memory.learn(f"Entry {number} speaks of a walrus")
    assert await memory.texts("walrus") == []
    new = await memory.learn("The newest walrus")
    assert [m.record.id for m in (await memory.recall("walrus")).memories] == [new]
    assert await memory.database.read(lambda c: count_unindexed(memory.path, c)) >= 400
    await Indexer(memory.database, memory.index).index_all()
    assert await memory.database.read(lambda c: count_unindexed(memory.path, c)) == 0
    assert "Entry 3 speaks of a walrus" in await memory.texts("walrus entry 3")


async def test_a_flood_of_new_memories_keeps_the_newest_first(memory: Memory) -> None:
    """A query waits for three hundred of them, the rest comes in the background."""
    await memory.texts("anything at all")
    for number in range(450):
        await memory.learn(f"Fact {number} about otters")
    assert "Fact 449 about otters" in await memory.texts("otters 449")
    assert await memory.texts("otters 3", budget=5000) != []
    await Indexer(memory.database, memory.index).index_all()
    assert (await memory.texts("otters 3"))[0] == "Fact 3 about otters"


async def test_two_indexes_of_one_file_keep_each_other_up_to_date(memory: Memory) -> None:
    """The command line has its own while the bot runs."""
    other = SideIndex(memory.path)
    await memory.learn("The kettle is broken")
    await memory.texts("kettle")
    await memory.learn("The toaster is fine")
    await memory.database.read(other.catch_up)
    other.close()
    assert await memory.texts("toaster") == ["The toaster is fine"]


async def test_a_connection_serves_one_reader(memory: Memory) -> None:
    """However many queries, and neither an index that rests nor one made anew leaves any behind."""
    await memory.learn("The kettle is broken")
    for end in (memory.index.close_unused, memory.index.close):
        for number in range(20):
            await memory.texts(f"kettle {number}")
        assert 1 <= len(memory.index._readers) <= 2
        assert len(memory.index._free) == len(memory.index._readers)
        end()
        assert not memory.index._readers
        assert not memory.index._free
    assert await memory.texts("kettle") == ["The kettle is broken"]


async def test_counts_fall_back_to_nothing_when_everything_is_forgotten(memory: Memory) -> None:
    """How rare a word is says nothing about what is gone."""
    ids = [await memory.learn(f"Penguin {number} waddles") for number in range(5)]
    await memory.texts("penguin")
    for record in ids:
        await memory.change(record, "forgotten", status="forgotten")
    await memory.texts("penguin")
    with closing(sqlite3.connect(memory.path, isolation_level=None)) as connection:
        rooms = connection.execute("SELECT docs, words FROM room").fetchall()
    assert (_terms(memory), set(rooms)) == (0, {(0, 0)})


def test_the_newest_message_is_found_without_reading_the_memories_behind_it() -> None:
    """Of a home with many more memories than messages, whose documents have the higher numbers."""
    memories, read = 10_000, 0
    with closing(sqlite3.connect(":memory:")) as index:
        for statement in (posting_rows.SCHEMA + backlog_rows.SCHEMA).split(";\n"):
            index.execute(statement)
        documents = [(64 * number,) for number in range(1, memories)] + [(64 * number + 32,) for number in (3, 5)]
        index.executemany("INSERT INTO doc (id, room, terms) VALUES (?, 1, '')", documents)
        index.execute("INSERT INTO cursor (name, at) VALUES ('message', 6), ('event', 900)")

        def count() -> int:
            nonlocal read
            read += 1
            return 0

        index.set_progress_handler(count, 100)
        assert vector_rows.newest_turn(index) == 5
    assert read < 10
