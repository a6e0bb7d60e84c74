"""How a memory's words came about is told as it was."""

from typing import Any

from kenobot.agent.commands import browse
from kenobot.cli.memory.record_text import origin_text
from kenobot.ports.records import Record
from tests.cases import each

_NOTE = Record(1, "note", "fact", "owner", "Tea", "owner", "daily", "active", 1.0, 1, "", "", "", 0)
_ORIGINS = [
    ({"source": "tag"}, "tag"),
    ({"source": "command"}, "command"),
    ({"source": "edit"}, "edit"),
    ({"source": "extraction"}, "extraction"),
    ({"source": "import"}, "import"),
    ({"source": "sleep", "trust": "model", "form": "summary", "category": "week"}, "sleep"),
    ({"source": "sleep", "trust": "guest", "category": "meta"}, "sleep"),
    ({"source": "sleep", "trust": "owner", "form": "summary", "category": "week"}, "edit"),
    ({"source": "sleep", "trust": "model", "form": "summary", "category": "session"}, "chat"),
]


@each("values, origin", _ORIGINS)
def test_origins(values: dict[str, Any], origin: str) -> None:
    """A chat's summary is none of a night's, nor is a page that a person wrote over; each has words of its own."""
    assert _NOTE._replace(**values).origin == origin
    assert origin_text(origin) != origin
    assert origin in browse._ORIGINS
