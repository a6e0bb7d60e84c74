"""What the bot's own replies show of it stands in IDENTITY.md, once, and its owner may take it out."""

import json
from datetime import timedelta

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.improve.reflections import PASS
from kenobot.cognitive.store import records
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import open_memory
from tests.nights import carry_out

_NIGHT = START + timedelta(hours=14)
_HEDGING = "- 2026-02-15: 20 of 20 answers hedge a lot"


def _replies(connection: Connection, *signals: str, count: int = 20, first: int = 1) -> None:
    """So many replies whose grades have these signals."""
    grade = json.dumps({"signals": signals})
    for number in range(first, first + count):
        connection.execute(
            "INSERT INTO turn (inbox_id, session, trace, stop_reason, model, grade, replied_at) "
            "VALUES (?, 'telegram-1', '', 'end', '', ?, ?)",
            (number, grade, stamp(START)),
        )


def _page(connection: Connection) -> str:
    record = records.slot_record(connection, "owner", "profile", "identity")
    return record.text if record is not None else ""


def _write(connection: Connection, text: str) -> None:
    told = Candidate("profile", "owner", text, source="edit", slot="identity")
    admit(connection, told, AdmitContext(START, "2026-02-14", "owner"))


def test_a_flaw_of_many_replies_is_noted_beneath_what_stands_there() -> None:
    """With its day and figures; what a person wrote on the page stays."""
    with open_memory() as connection:
        _write(connection, "# Reflections\n- I like short answers")
        _replies(connection, "excessive_hedging")
        [change] = carry_out(connection, PASS, _NIGHT)
        assert change.kind == "reflected"
        assert _page(connection) == f"# Reflections\n- I like short answers\n{_HEDGING}"


def test_a_flaw_is_noted_once_a_quarter() -> None:
    """Other figures are no news, another flaw is; after three months it is told again."""
    with open_memory() as connection:
        _replies(connection, "excessive_hedging")
        carry_out(connection, PASS, _NIGHT)
        _replies(connection, "excessive_hedging", "high_repetition", first=21)
        carry_out(connection, PASS, _NIGHT + timedelta(days=1))
        assert _page(connection).splitlines() == [_HEDGING, "- 2026-02-16: 20 of 40 answers repeat themselves"]
        _write(connection, "- 2025-10-01: 20 of 20 answers hedge a lot")
        carry_out(connection, PASS, _NIGHT + timedelta(days=2))
        assert "- 2026-02-17: 40 of 40 answers hedge a lot" in _page(connection)


def test_few_replies_and_good_ones_say_nothing() -> None:
    """No page is made."""
    with open_memory() as connection:
        _replies(connection, "excessive_hedging", count=5)
        _replies(connection, first=6, count=40)
        assert carry_out(connection, PASS, _NIGHT) == []
        assert _page(connection) == ""


def test_what_its_owner_took_back_is_not_noted_again() -> None:
    """The page stays as they left it."""
    with open_memory() as connection:
        _write(connection, "mine")
        _replies(connection, "high_repetition")
        carry_out(connection, PASS, _NIGHT)
        last = connection.execute("SELECT max(id) FROM event WHERE type = 'reflected'").fetchone()[0]
        undo(connection, last, ALL_SCOPES, AdmitContext(_NIGHT, "2026-02-15", "owner"))
        assert _page(connection) == "mine"
        assert carry_out(connection, PASS, _NIGHT + timedelta(days=1)) == []
