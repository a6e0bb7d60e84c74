"""Out of sight everywhere, and back; and what a purge takes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kenobot.cognitive.control.forget import forget, plan_purge, purge, turns_telling
from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, records
from kenobot.language.fingerprint import key_of
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.times import stamp
from kenobot_testing.clock import START

NOW = AdmitContext(START, "2026-02-14", "owner", "telegram-1")
LATER = replace(NOW, at=START + timedelta(hours=1))
OWNER = ("owner", "chat:telegram-1")


def say(connection: Connection, turn: int, text: str, answer: str = "ok", scope: str = "owner") -> None:
    """A turn of the conversation."""
    for role, said in (("user", text), ("assistant", answer)):
        connection.execute(
            "INSERT INTO message (session, role, text, at, inbox_id, trust, scope) VALUES (?, ?, ?, ?, ?, 'owner', ?)",
            ("telegram-1", role, said, stamp(START), turn, scope),
        )


def learn(connection: Connection, text: str, turn: int | None = None, scope: str = "owner", **more: object) -> int:
    candidate = Candidate("note", scope, text, **more)  # type: ignore[arg-type]
    decision = admit(connection, candidate, replace(NOW, evidence=turn))
    assert decision.record is not None
    return decision.record


def veiled(connection: Connection) -> set[int]:
    return {row[0] for row in connection.execute("SELECT inbox_id FROM hidden_turn")}


async def test_the_turns_that_told_it_are_hidden_and_no_others(database: Database) -> None:
    """Those it was learned from, and later ones that say it again in any form; of this memory alone."""

    def work(connection: Connection) -> None:
        say(connection, 1, "I moved to Lisbon for good last year")
        say(connection, 2, "What about Porto?", "Porto is nice too")
        say(connection, 3, "Where did I move?", "You moved to LISBON")
        say(connection, 4, "He moved to Lisbon", scope="user:telegram-2")
        say(connection, 5, "Flights to Lisbon?", "From 40 euros")
        record = learn(connection, "Moved to Lisbon", 1)
        hidden = forget(connection, record, OWNER, LATER)
        assert hidden is not None
        assert set(hidden.turns) == {1, 3} == veiled(connection)
        undo(connection, hidden.event, OWNER, LATER)
        assert veiled(connection) == set()

    await database.write(work)


@pytest.mark.parametrize(
    ("record", "text", "told"),
    [
        ("Vive en Málaga con Íñigo", "Vives en Málaga, con tu amigo Íñigo", True),
        ("Vive en Málaga con Íñigo", "VIVO CON ÍÑIGO EN MÁLAGA", True),
        ("Vive en Málaga con Íñigo", "Málaga es bonita", False),
        ("他喜欢绿茶", "你喜欢绿茶", True),
        ("他喜欢绿茶", "红茶也很好", False),
        ("Uses C++ at work", "You work with C++", False),
        ("Uses C++ at work", "At work you use C++", True),
        ("Uses C++ at work", "At work you use C#", False),
        ("Adrian's salary is 90k euros", "You earn 90k euros a year as salary", True),
        ("Likes 🍕 with pineapple", "You like pineapple on 🍕", True),
    ],
)
async def test_what_tells_it_again(database: Database, record: str, text: str, told: bool) -> None:
    """In every script, with every sign, whatever the endings of words."""

    def work(connection: Connection) -> None:
        say(connection, 9, "hm?", text)
        number = learn(connection, record)
        known = records.get(connection, number, OWNER)
        assert known is not None
        assert turns_telling(connection, known) == ([9] if told else [])

    await database.write(work)


@pytest.mark.parametrize(
    ("record", "subject", "message"),
    [
        ("My sister Ana works at Google in Madrid", "ana", "My sister Eva works at Google in Madrid"),
        ("My sister Ana works at Google in Madrid", "", "My sister Eva works at Google in Madrid"),
        ("Ana trabaja en Google en Madrid", "ana", "Eva trabaja en Google en Madrid"),
        ("Mi piso de Madrid cuesta 700 euros al mes", "", "Mi piso de Madrid cuesta 800 euros al mes"),
        ("My flight from Madrid leaves on Friday at noon", "", "My flight from Madrid leaves on Sunday at noon"),
        ("I owe Carlos 3000 euros", "", "I owe Carlos 3.500 euros"),
        ("Therapy with Ruiz on Monday at 9:00", "", "therapy with Ruiz Monday at 10"),
        ("Therapy with Ruiz at 9:30", "", "therapy with Ruiz at a quarter to ten"),
        ("My brother Julio lives in Lugo", "", "My brother Pedro lives in Lugo"),
    ],
)
async def test_what_is_said_of_another_is_not_hidden(
    database: Database, record: str, subject: str, message: str
) -> None:
    """A message that has another name, number or day in it says something else, also before anything is learned of it;
    and so does the reply that quotes it."""

    def work(connection: Connection) -> None:
        say(connection, 1, record)
        say(connection, 2, message, f"I'll remember: “{message}”.")
        say(connection, 3, f"Remember this? {record}. {message}.")
        number = learn(connection, record, 1, subject=subject)
        assert forget(connection, number, OWNER, LATER)
        assert veiled(connection) == {1, 3}

    await database.write(work)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("I owe Carlos 3000 euros", "I owe Carlos 3.000 euros"),
        ("I owe Carlos 3000 euros", "I owe Carlos 3,000 euros"),
        ("I owe Carlos 3000 euros", "I owe Carlos €3000"),
        ("I owe Carlos 3000 euros", "I owe Carlos 3k euros"),
        ("Debo a Carlos 3000 euros", "le debo a Carlos tres mil euros"),
        ("Debo a Carlos 3,50 euros", "debo a Carlos 3.5€ euros"),
        ("I have 2 court dates in Lugo", "I have two court dates in Lugo"),
        ("Therapy with Ruiz on Monday at 9:00", "therapy with Ruiz Monday at 9"),
        ("Therapy with Ruiz on Monday at 9:30", "therapy with Ruiz on Monday at half past nine"),
        ("Terapia con Ruiz el lunes a las 9:30", "terapia con Ruiz los Lunes a las 9 y media"),
        ("My therapy is on Monday at 9", "as I said my therapy is on Mondays at 9am"),
        ("My therapy is on Monday at 9", "As I said, my therapy is on Mondays at 9 AM"),
        ("Therapy with Doctor Ruiz on Monday at 21h", "Therapy with Doctor Ruiz on Monday at 9pm"),
        ("My divorce therapy with Ruiz is on Monday", "My divorce therapy with Ruiz is tomorrow"),
        ("My court date is on 3 May 2026", "My court date is on May 3rd"),
    ],
)
async def test_what_says_it_again_with_a_number_or_day_written_otherwise_is_hidden(
    database: Database, record: str, message: str
) -> None:
    """Numbers are compared by value, days of the week in the singular, and two that are of different formats are none
    that differ."""

    def work(connection: Connection) -> None:
        say(connection, 1, record)
        say(connection, 2, message)
        number = learn(connection, record, 1)
        assert forget(connection, number, OWNER, LATER)
        assert veiled(connection) == {1, 2}

    await database.write(work)


@pytest.mark.parametrize(
    ("record", "other"),
    [
        ("Mi médico de cabecera es el doctor Ruiz", "Mi dentista de cabecera es el doctor Ruiz"),
        ("my sister ana works at google in madrid", "my sister eva works at google in madrid"),
    ],
)
async def test_what_told_another_memory_stays(database: Database, record: str, other: str) -> None:
    """A message that taught a live memory with the same words stays, its reply too, and a purge leaves it; what quotes
    the forgotten one beside it is hidden."""

    def work(connection: Connection) -> None:
        say(connection, 1, record)
        say(connection, 2, other, f"I'll remember: “{other}”.")
        first = learn(connection, record, 1)
        second = learn(connection, other, 2)
        plan = plan_purge(connection, first, OWNER)
        assert plan is not None
        assert plan.turns == (1,)
        say(connection, 3, "which ones?", f"“{record}” and “{other}”")
        known = records.get(connection, first, OWNER)
        assert known is not None
        assert turns_telling(connection, known) == [1, 3]
        assert forget(connection, second, OWNER, LATER)
        assert veiled(connection) == {2, 3}
        assert forget(connection, first, OWNER, LATER)
        assert veiled(connection) == {1, 2, 3}

    await database.write(work)


async def test_copies_go_along(database: Database) -> None:
    """What repeats it word for word, in this chat or within a longer text, but never in another's memory."""

    def work(connection: Connection) -> None:
        first = learn(connection, "the shelf mark is 7741-B")
        chat = learn(connection, "The shelf mark is 7741-B.", scope="chat:telegram-1")
        theirs = learn(connection, "the shelf mark is 7741-B", scope="user:telegram-2")
        pad = Candidate("scratchpad", "chat:telegram-1", "- ask Ana\n- the shelf mark is 7741-B", slot="working")
        working = admit(connection, pad, NOW).record
        hidden = forget(connection, first, OWNER, LATER)
        assert hidden is not None
        assert {copy.id for copy in hidden.copies} == {chat, working}
        status = dict(connection.execute("SELECT id, status FROM record").fetchall())
        assert status[theirs] == "active"
        undo(connection, hidden.event, OWNER, LATER)
        after = dict(connection.execute("SELECT id, status FROM record").fetchall())
        assert {after[first], after[chat], after[working or 0]} == {"active"}

    await database.write(work)


async def test_what_is_not_there_is_not_forgotten(database: Database) -> None:
    """Neither an unknown number, nor what is forgotten already, nor another's."""

    def work(connection: Connection) -> None:
        record = learn(connection, "likes tea", scope="user:telegram-2")
        assert not forget(connection, record, OWNER, LATER)
        assert not forget(connection, 99, OWNER, LATER)
        assert forget(connection, record, ("user:telegram-2",), LATER)
        assert not forget(connection, record, ("user:telegram-2",), LATER)
        assert plan_purge(connection, record, OWNER) is None

    await database.write(work)


async def test_a_purge_leaves_the_key_and_nothing_else(database: Database) -> None:
    """Rows, links, vectors and event texts go; a tombstone for every wording stays; old turns teach it no more."""

    def work(connection: Connection) -> None:
        say(connection, 1, "My salary is 90k euros", "Noted")
        record = learn(connection, "salary is 90k euros", 1)
        other = learn(connection, "likes tea")
        events.add_event(
            connection, START, "model", "weakened", record=other, data={"reason": "unlike “salary is 90k euros”"}
        )
        connection.execute("INSERT INTO vector (record_id, model, embedding) VALUES (?, 'toy', x'00')", (record,))
        doomed = plan_purge(connection, record, OWNER)
        assert doomed is not None
        assert doomed.turns == (1,)
        purge(connection, doomed, LATER)
        dump = "\n".join(connection.iterdump())
        assert "90k" not in dump.replace("My salary is 90k euros", ""), "the turn is the conversation's to blank"
        assert events.record_events(connection, record)
        keys = [row[0] for row in connection.execute("SELECT key FROM tombstone")]
        assert key_of("salary is 90k euros") in keys
        again = admit(
            connection,
            Candidate("note", "owner", "Salary is 90k euros.", source="extraction", evidence=(1,)),
            replace(LATER, actor="extraction"),
        )
        assert again.record is None
        assert learn(connection, "Salary is 90k euros", source="command"), "the owner may say it again"

    await database.write(work)
