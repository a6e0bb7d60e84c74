"""What was said here and has not been read for memories yet, so that it can be forgotten all the same.

There is no record of it that could be forgotten. So one is made of its words, in the transaction that hides it: then
the turn that told it is veiled like any other, nobody learns from it later, and undo brings it back. What else that
turn told is read by rules first, because nobody will read it afterwards.
"""

import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from kenobot.agent.fact_candidates import Reading, candidates
from kenobot.cognitive.control.find import share
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import HandsPolicy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.extract import buffer, heuristic
from kenobot.cognitive.remember.extract.buffer import Turn
from kenobot.cognitive.remember.extract.prompt import Batch
from kenobot.cognitive.remember.occasion import Occasion
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.provenance import unquoted
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.names import plain_name
from kenobot.storage.connection import Connection

_SENTENCES = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_WHOLE = 1.0


@dataclass(frozen=True, slots=True)
class Said:
    """A turn that nobody has read yet, what of it may be meant, and how much of the request it says: 0 to 1."""

    turn: Turn
    text: str
    share: float

    @property
    def certain(self) -> bool:
        return self.share >= _WHOLE


def find(
    connection: Connection, wanted: str, session: str, reach: tuple[str, ...], policy: HandsPolicy = DEFAULT.hands
) -> Said | None:
    """The turn of a conversation that waits to be read and says most of `wanted`, the newest of equal ones."""
    best: Said | None = None
    for turn in reversed(buffer.newest(connection, session, policy.unread)):
        if turn.hidden or turn.inbox is None or turn.scope not in reach or turn.trust not in ("owner", "guest"):
            continue
        own = unquoted(turn.text).strip()
        said = share(wanted, own)
        if said >= policy.named and (best is None or said > best.share):
            best = Said(turn, _meant(wanted, own), said)
    return best


def learn(
    connection: Connection,
    said: Said,
    wanted: str,
    order: Occasion,
    zone: ZoneInfo,
    policy: HandsPolicy = DEFAULT.hands,
) -> int | None:
    """Make a record of what may be meant, and of what else its turn tells; the number of the first.

    None when it is not fit to be kept, as a password is.
    """
    turn = said.turn
    assert turn.inbox is not None
    rest = [
        fact
        for fact in heuristic.facts(unquoted(turn.text), turn.at.astimezone(zone).date())
        if share(wanted, fact.text) < policy.named
    ]
    batch = Batch((turn,), (), order.at.astimezone(zone).date())
    for candidate, occasion in candidates(Reading(order.session, batch, tuple(rest), order.at, zone, order.policy)):
        admit(connection, candidate, occasion)
    form: Form = "episode" if turn.scope.startswith("chat:") else "note"
    told = Candidate(
        form, turn.scope, said.text, source="extraction", trust=turn.trust, evidence=(turn.inbox,),
        subject=plain_name(turn.speaker),
    )  # fmt: skip
    day = local_day(turn.at, zone)
    when = Occasion(order.at, day, order.actor, order.session, turn.inbox, order.policy, turn.at, order.by)
    return admit(connection, told, when).record


def _meant(wanted: str, text: str) -> str:
    """The sentences of a text that say something of `wanted`."""
    sentences = [each.strip() for each in _SENTENCES.split(text) if each.strip()]
    return " ".join(each for each in sentences if share(wanted, each) > 0) or text
