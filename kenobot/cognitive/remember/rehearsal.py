"""Admit a few made-up memories into a database in memory, so that the first real one finds its patterns compiled.

That would take a fifth of a second inside the transaction of a turn, for which every other write waits.
"""

from contextlib import closing
from datetime import datetime

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core import pacing
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection, copy_schema
from kenobot.storage.times import stamp

_SAID = (
    "My sister Marta, who is 34, lives in Lisbon and works as a nurse.",
    "My sister Marta no longer lives in Lisbon, because she moved to Porto in May.",
    "I like green tea, and I have to call the bank on Monday.",
    "Mi hermano Luis trabaja en Correos y vive en Vigo con su perro.",
    "Ya no me gusta el café, por eso tomo té.",
)


def rehearse(truth: Connection, at: datetime) -> None:
    """Admit made-up memories into an empty copy of the schema of `truth`. Blocks for some tenths of a second."""
    occasion = AdmitContext(at, stamp(at)[:10], "model", "rehearsal")
    with closing(copy_schema(truth)) as connection:
        for text in _SAID:
            pacing.step()
            admit(connection, Candidate("note", OWNER_SCOPE, text, tags=("family",)), occasion)
            admit(connection, Candidate("note", OWNER_SCOPE, text, source="extraction", by_rules=True), occasion)
