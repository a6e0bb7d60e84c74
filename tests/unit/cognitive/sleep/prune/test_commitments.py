"""Commitments: what is open stays, what its owner calls done is kept for a while."""

import json
from datetime import datetime, timedelta

import pytest

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.prune import commitments, endings
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record
from tests.nights import carry_out, play

_OWNERS: dict[str, str | float] = {"trust": "owner", "source": "tag", "confidence": 0.95}
_DAY = timedelta(days=1)
_DUE = json.dumps({"due": "2026-02-20"})


def _promise(text: str = "I have to send the report to Luis") -> dict[str, str | float]:
    return {**_OWNERS, "category": "commitment", "text": text}


def test_an_open_commitment_never_goes_by_itself() -> None:
    """Ten years later it is still open."""
    with open_memory() as connection:
        record = put_record(connection, columns=_promise())
        assert carry_out(connection, commitments.PASS, START + timedelta(days=3650), since=None) == []
        assert get(connection, record.id) == record


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("en", "Is it done? “I have to send the report to Luis” was due on 2026-02-20."),
        ("es", "¿Está hecho? «I have to send the report to Luis» era para el 2026-02-20."),
    ],
)
def test_one_whose_day_has_passed_is_overdue_and_asked_about_once(language: str, asked: str) -> None:
    """It stays open for ever; the question goes after two weeks, and does not come back."""
    with open_memory() as connection:
        record = put_record(connection, columns={**_promise(), "attributes": _DUE, "lang": language})
        assert carry_out(connection, commitments.PASS, START.replace(month=2, day=20)) == []
        [change] = carry_out(connection, commitments.PASS, START.replace(month=2, day=22))
        [question] = pass_rows.records_of_form(connection, "question", commitments.OVERDUE)
        assert (change.kind, question.text, question.status) == ("asked", asked, "active")
        assert carry_out(connection, commitments.PASS, START.replace(month=2, day=23)) == []
        play(connection, (endings.EXPIRY,), START.replace(month=4))
        assert carry_out(connection, commitments.PASS, START + 3650 * _DAY) == []
        assert get(connection, question.id).status == "expired"
        assert get(connection, record.id) == record


def test_the_question_closes_when_it_is_answered() -> None:
    """What is said, in its own words, to be done is asked about no longer, nor what is no longer remembered."""
    with open_memory() as connection:
        put_record(connection, columns={**_promise(), "attributes": _DUE})
        carry_out(connection, commitments.PASS, START + 10 * _DAY)
        [question] = pass_rows.records_of_form(connection, "question", commitments.OVERDUE)
        _say(connection, "I have to send the report to Luis: done", START + 11 * _DAY)
        done = carry_out(connection, commitments.PASS, START + 12 * _DAY)
        assert [change.kind for change in done] == ["resolved", "expired"]
        assert get(connection, question.id).status == "expired"


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ("I have to send the report to Luis", "I sent the report to Luis this morning."),
        ("I have to send the report to Luis", "The report is done!"),
        ("I have to book the flights to Rome", "We cancelled the flights to Rome"),
        ("Tengo que llamar a Ana el martes", "Sí, ya llamé a Ana."),
        ("Tengo que llamar a Ana el martes", "Al final ya no hace falta llamar a Ana"),
        ("Debo pagar el alquiler antes del viernes", "Acabo de pagar el alquiler"),
        ("Debo pagar el alquiler antes del viernes", "Listo lo del alquiler"),
        ("Renovar el pasaporte", "El pasaporte ya está renovado"),
    ],
)
def test_what_sounds_done_is_asked_about_once_and_stays_open(promise: str, said: str) -> None:
    """In Spanish and in English; no words but its own end a promise, however near they are."""
    with open_memory() as connection:
        record = put_record(connection, columns=_promise(promise))
        _say(connection, said, START + 3 * _DAY)
        [change] = carry_out(connection, commitments.PASS, START + 4 * _DAY, since=START)
        [question] = pass_rows.records_of_form(connection, "question", commitments.MAYBE_DONE)
        assert (change.kind, question.text) == (
            "asked",
            f"Is it done? “{promise}”: what was said on 2026-02-17 sounds like it.",
        )
        _say(connection, said, START + 9 * _DAY)
        assert carry_out(connection, commitments.PASS, START + 10 * _DAY) == []
        assert get(connection, record.id) == record


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ("call Dad", "Call dad: done"),
        ("call Dad", "Done: call Dad."),
        ("send the report to Luis", "[x] send the report to Luis"),
        ("llamar a Luis", "Hecho: llamar a Luis"),
        ("llamar a Luis", "llamar a Luis, hecho"),
        ("comprar el pan", "comprar el pan ✅"),
    ],
)
def test_its_own_words_with_done_end_it_and_ninety_days_later_it_leaves(promise: str, said: str) -> None:
    """The night that hears it writes the day on it."""
    with open_memory() as connection:
        record = put_record(connection, columns=_promise(promise))
        _say(connection, said, START + 3 * _DAY)
        [change] = carry_out(connection, commitments.PASS, START + 4 * _DAY, since=START)
        assert (change.kind, get(connection, record.id).attribute_map["resolved"]) == ("resolved", "2026-02-17")
        assert carry_out(connection, commitments.PASS, START + 90 * _DAY) == []
        [change] = carry_out(connection, commitments.PASS, START + 95 * _DAY)
        assert (change.kind, get(connection, record.id).status) == ("expired", "expired")


@pytest.mark.parametrize(
    "promise",
    [
        "I promised Bea a cake",
        "I promised to call Dad on Sunday",
        "I told Ana I'd send her the photos",
        "le he prometido a Ana una tarta",
        "quedé en pintar la valla",
        "prometí llamar a Luis el lunes",
        "I tried to call Dad",
        "I decided to call Dad",
    ],
)
def test_the_sentence_that_made_a_promise_neither_ends_it_nor_asks(promise: str) -> None:
    """Neither in the turn that made it nor said again later."""
    with open_memory() as connection:
        columns = {**_promise(promise), "source_messages": "[7]"}
        record = put_record(connection, columns=columns)
        _say(connection, promise, START + timedelta(seconds=1), inbox=7)
        if not promise.startswith("I told"):
            _say(connection, promise, START + _DAY, inbox=8)
        assert carry_out(connection, commitments.PASS, START + 2 * _DAY, since=None) == []
        assert get(connection, record.id) == record


@pytest.mark.parametrize(
    "said",
    [
        "I haven't sent the report to Luis yet",
        "Did I send the report to Luis?",
        "When I sent the report to Luis he was angry",
        "I will send the report to Luis tomorrow",
        "I sent the flowers to Marta",
        "I sent the report to Marta",
        "Marta sent the report to Luis",
        "> I sent the report to Luis",
        "Todavía no he mandado the report a Luis",
    ],
)
def test_what_does_not_surely_say_so_leaves_it_open(said: str) -> None:
    """Denied, asked, planned, quoted, or about something else."""
    with open_memory() as connection:
        record = put_record(connection, columns=_promise())
        _say(connection, said, START + 3 * _DAY)
        assert carry_out(connection, commitments.PASS, START + 4 * _DAY, since=START) == []
        assert get(connection, record.id) == record


def test_one_of_two_things_is_not_both() -> None:
    """A commitment of two tasks stays open when one of them is done."""
    with open_memory() as connection:
        put_record(connection, columns=_promise("I have to buy milk and call the bank"))
        _say(connection, "I called the bank", START + _DAY)
        assert carry_out(connection, commitments.PASS, START + 2 * _DAY, since=START) == []


def test_nobody_else_ends_the_owners_commitment_and_words_of_before_end_nothing() -> None:
    """A guest's words, words in another scope, hidden words, and words that are older than the promise."""
    with open_memory() as connection:
        put_record(connection, columns=_promise())
        done = "I sent the report to Luis"
        _say(connection, done, START - _DAY)
        _say(connection, done, START + _DAY, trust="guest")
        _say(connection, done, START + _DAY, scope="chat:telegram-5")
        _say(connection, done, START + _DAY, inbox=77)
        connection.execute("INSERT INTO hidden_turn (inbox_id, record_id) VALUES (77, 1)")
        assert carry_out(connection, commitments.PASS, START + 2 * _DAY, since=None) == []


def test_of_two_that_may_be_meant_none_is_ended() -> None:
    """It takes more than a guess to end a commitment."""
    with open_memory() as connection:
        for text in ("I have to send the report to Luis", "I have to write the report for Ana"):
            put_record(connection, columns=_promise(text))
        _say(connection, "The report is done", START + _DAY)
        assert carry_out(connection, commitments.PASS, START + 2 * _DAY) == []


def test_what_was_opened_again_by_hand_is_not_closed_by_the_same_words() -> None:
    """Whoever undoes the mark knows better."""
    with open_memory() as connection:
        record = put_record(connection, columns=_promise())
        _say(connection, "I have to send the report to Luis: done", START + _DAY)
        carry_out(connection, commitments.PASS, START + 2 * _DAY)
        event = connection.execute("SELECT id FROM event WHERE type = 'resolved'").fetchone()[0]
        undo(connection, event, ALL_SCOPES, AdmitContext(START + 2 * _DAY, "2026-02-16", "owner"))
        assert carry_out(connection, commitments.PASS, START + 2 * _DAY) == []
        assert get(connection, record.id).attribute_map == {}


def _say(
    connection: Connection,
    text: str,
    at: datetime,
    *,
    trust: str = "owner",
    scope: str = "owner",
    inbox: int | None = None,
) -> None:
    connection.execute(
        "INSERT INTO message (session, role, text, at, trust, scope, inbox_id) "
        "VALUES ('fake-1', 'user', ?, ?, ?, ?, ?)",
        (text, stamp(at), trust, scope, inbox),
    )
