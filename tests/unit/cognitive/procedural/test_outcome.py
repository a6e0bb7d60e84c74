"""How advice did, by what the person says next."""

import json
from datetime import timedelta

import pytest

from kenobot.cognitive.procedural.outcome import apply_outcome
from kenobot.cognitive.store import events
from kenobot.language.outcomes import Outcome, detect_outcome
from kenobot.ports.identity import Principal
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record

_OWNER = Principal("owner", ("owner", "chat:fake-1"), "owner", "owner")
_NOW = START + timedelta(minutes=2)

_WORKED = """
it worked|That worked, thanks!|yes, it works now|Fixed, thank you|that did the trick|problem solved|that solved it
funcionó|¡Funcionó, gracias!|ya funciona|eso lo arregló|Ya quedó resuelto|Sí, era eso|me sirvió|listo, se solucionó
Perfecto, ya me funciona|Genial, con eso ya va bien
"""
_FAILED = """
it didn't work|no, that didn't help|still failing|still the same error|no luck|it fails again|it's still broken
no funcionó|sigue fallando|sigue igual|No me sirvió|sigue dando 401|mismo error|tampoco funciona|nope, not working
"""
_NEITHER = """
does it work?|¿funciona?|if it works I will tell you|thanks|ok|voy a probar|I work at Acme|it should work
a ver si funciona|working on it|Mi trabajo no me gusta|no fue nada|the error is 401|"it worked" is what he said
si funciona te digo|it works but it still fails at night. No, it worked. It did not work|ojalá funcione
"""


@pytest.mark.parametrize(("wanted", "texts"), [("worked", _WORKED), ("failed", _FAILED), (None, _NEITHER)])
def test_outcomes_are_heard_in_both_languages(wanted: Outcome | None, texts: str) -> None:
    """What asks, hopes or says both says nothing."""
    each = [text.strip() for line in texts.strip().splitlines() for text in line.split("|")]
    assert {text: heard for text in each if (heard := detect_outcome(text)) != wanted} == {}


def test_a_long_text_is_about_something_else() -> None:
    """However it begins."""
    assert detect_outcome("it worked, " + "and so on " * 40) is None


def _pattern(connection: Connection, trigger: str, response: str) -> Record:
    return put_record(connection, f"{trigger} → {response}", form="procedure")


def _turn(connection: Connection, reply: str, *records: Record, inbox: int = 1) -> None:
    """A turn of the chat for which these patterns were shown."""
    data: dict[str, Json] = {"inbox": inbox, "practice": [{"record": record.id} for record in records]}
    events.add_event(connection, START, "recall", "recalled", session="fake-1", data=data)
    for role, text in (("user", "help"), ("assistant", reply)):
        connection.execute(
            "INSERT INTO message (session, role, text, at, inbox_id) VALUES ('fake-1', ?, ?, ?, ?)",
            (role, text, stamp(START), inbox),
        )


def test_a_good_outcome_lifts_confidence_and_a_bad_one_lowers_it() -> None:
    """Each as an event that can be undone; nobody's prompt is made anew for it."""
    with open_memory() as connection:
        record = _pattern(connection, "n8n 401", "resolved with query params")
        _turn(connection, "Usa query params en vez de headers.", record)
        assert apply_outcome(connection, "fake-1", "¡funcionó!", _OWNER, _NOW) == [record.id]
        now = get(connection, record.id)
        assert now.confidence == pytest.approx(0.7)
        assert now.changed_event == record.changed_event
        _turn(connection, "Use query params again.", record, inbox=2)
        apply_outcome(connection, "fake-1", "it didn't work", _OWNER, _NOW)
        assert get(connection, record.id).confidence == pytest.approx(0.5)
        rows = connection.execute("SELECT type, data FROM event WHERE type IN ('worked', 'failed') ORDER BY id")
        told = [(kind, json.loads(data)) for kind, data in rows]
        assert [(kind, data["inbox"], data["was"]) for kind, data in told] == [
            ("worked", 1, {"confidence": 0.6}),
            ("failed", 2, {"confidence": pytest.approx(0.7)}),
        ]


def test_a_reply_is_judged_once() -> None:
    """However often the person says thank you."""
    with open_memory() as connection:
        record = _pattern(connection, "n8n 401", "use query params")
        _turn(connection, "Use query params.", record)
        assert apply_outcome(connection, "fake-1", "it worked", _OWNER, _NOW) == [record.id]
        assert apply_outcome(connection, "fake-1", "it worked", _OWNER, _NOW) == []
        assert get(connection, record.id).confidence == pytest.approx(0.7)


def test_only_what_the_reply_used_is_judged() -> None:
    """A pattern that was on show, and of which the reply said nothing, did nothing."""
    with open_memory() as connection:
        record = _pattern(connection, "n8n 401", "use query params")
        _turn(connection, "Restart the server.", record)
        assert apply_outcome(connection, "fake-1", "it worked", _OWNER, _NOW) == []


@pytest.mark.parametrize(
    ("principal", "later"),
    [
        (Principal("guest", ("user:x",), "user:x", "guest"), timedelta(0)),
        (Principal("owner", ("owner",), "owner", "forward"), timedelta(0)),
        (_OWNER, timedelta(days=2)),
    ],
)
def test_who_does_not_see_it_quotes_it_or_comes_late_judges_nothing(principal: Principal, later: timedelta) -> None:
    """Another's memory, a forwarded text, and a reply of the day before."""
    with open_memory() as connection:
        record = _pattern(connection, "n8n 401", "use query params")
        _turn(connection, "Use query params.", record)
        assert apply_outcome(connection, "fake-1", "it worked", principal, _NOW + later) == []


def test_what_the_same_message_was_about_already_is_not_moved_twice() -> None:
    """ "That's right, it worked" is one yes."""
    with open_memory() as connection:
        record = _pattern(connection, "n8n 401", "use query params")
        _turn(connection, "Use query params.", record)
        assert apply_outcome(connection, "fake-1", "it worked", _OWNER, _NOW, [record.id]) == []
