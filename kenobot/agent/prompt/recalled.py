"""What memory adds to one message, beside the frame that every message of a conversation is shown.

It stands in the message's own context block and is stored with it, so the prompt's beginning stays as it is and the
same bytes are sent again with every later message.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.pack import Pack, group_by_subject
from kenobot.cognitive.recall.recall import Query, recall
from kenobot.ports.identity import Principal
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import StoredMessage
from kenobot.storage.inbox import PendingMessage

_NOTHING = (
    "_Beyond what is shown here, nothing is remembered that seems to be about the next message. When asked, say so; "
    "do not guess._"
)
_UNLIKELY = (
    "_Memory probably does not hold what the next message asks for; what follows only comes near it. Use it where it "
    "really answers; where it does not, say that this is not remembered, and do not guess._"
)
_DOUBTFUL = "_It is uncertain whether what follows answers the next message. Where it does not, say so; do not guess._"
_DOUBTS = {"none": _UNLIKELY, "low": _DOUBTFUL}
NO_MARKS: Mapping[int, float] = MappingProxyType({})
"""No memory was judged by anybody."""

_BEFORE = 2  # messages from which a short one borrows words


@dataclass(frozen=True, slots=True)
class RecalledSection:
    """The context block of a message, "" when there is nothing to say; and the pack it was made from."""

    text: str
    pack: Pack


def recall_for_message(
    connection: Connection,
    index: SideIndex,
    pending: PendingMessage,
    principal: Principal,
    lines: Sequence[StoredMessage],
    shown: Iterable[str],
    at: tuple[datetime, ZoneInfo],
    judged: Mapping[int, float],
) -> RecalledSection:
    """What is remembered for `pending` beyond what is `shown`. lines: the conversation on show. at: now, where.

    judged: as in a query.
    """
    now, zone = at
    pack = recall(
        connection,
        index,
        Query(
            text=pending.inbound.text,
            reach=principal.read_scopes,
            now=now,
            zone=zone,
            session=pending.session,
            preceding_text=" ".join(line.text for line in lines[-_BEFORE:]),
            prompt_text="".join(f"{text}\n" for text in shown if text),
            from_message=lines[0].id if lines else None,
            marks=judged,
        ),
    )
    return RecalledSection(render(pack), pack)


def render(pack: Pack) -> str:
    """A pack as the model is shown it."""
    sections = []
    if pack.memories:
        sections.append(f"### Remembered about this\n{group_by_subject(pack.memories)}")
    if pack.excerpts:
        sections.append("### Said earlier in this chat\n" + "\n".join(excerpt.line for excerpt in pack.excerpts))
    if not sections and pack.need == "full" and not pack.dropped.get("on show already"):
        return _NOTHING
    if sections and pack.answer_probability is not None and pack.level in _DOUBTS:
        sections.insert(0, _DOUBTS[pack.level])
    return "\n\n".join(sections)
