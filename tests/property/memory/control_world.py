"""A chat with the owner and everything in which a fact of it may stand: for the machine of forgetting and erasing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from kenobot.agent.commands.command import Answer, CommandCall, CommandContext
from kenobot.agent.commands.forget import forget_memory
from kenobot.agent.commands.memory import undo_change
from kenobot.cognitive.control.find import find_memories, index_search
from kenobot.cognitive.control.unextracted import find_unextracted
from kenobot.cognitive.memory import Memory
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract import buffer
from kenobot.cognitive.store import records
from kenobot.gateway.access import Access
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate
from kenobot.ports.messages import Inbound
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from tests.memory_rows import full_load_query
from tests.unit.cognitive.mirror.house import ZONE

SESSION = "telegram-1"
CHAT = f"chat:{SESSION}"
REACH = ("owner", CHAT)
OWNER = Principal("owner", REACH, "owner", "owner")
SAYINGS = ["Ana{n}q likes {one} {two}", "Íñigo{n}q prefiere {one} {two}", "我喜欢 kq{n}q {one} {two}"]
State = Literal["said", "live", "hidden", "away", "purged"]
Snapshot = tuple[list[tuple[Any, ...]], ...]
Deed = Callable[[Connection, CommandCall], str]


@dataclass
class Fact:
    """What was said in a turn once. mark: a word that stands nowhere but where this is told.

    state: "said" and not read yet; "live" as a memory; "hidden", forgotten; "away": its making was undone; "purged".
    """

    number: int
    text: str
    turn: int
    record: int = 0
    state: State = "said"

    @property
    def mark(self) -> str:
        return f"zq{self.number}x"


def saying(number: int, pick: int) -> str:
    """A sentence of which no other says as much as half."""
    return SAYINGS[pick % len(SAYINGS)].format(n=number, one=f"zq{number}x", two=f"zw{number}y")


def told(connection: Connection, fact: Fact, at: str) -> None:
    """Fact said, and answered without repeating it."""
    connection.execute(
        "INSERT INTO inbox (id, channel, external_id, chat, session, sender, text, sent_at, received_at, trace, state, "
        "done_at) VALUES (?, 'telegram', ?, '1', ?, '1', ?, ?, ?, 't', 'answered', ?)",
        (fact.turn, str(fact.turn), SESSION, fact.text, at, at, at),
    )
    for role, text, trust in (("user", fact.text, "owner"), ("assistant", "Vale.", "model")):
        connection.execute(
            "INSERT INTO message (session, role, text, at, inbox_id, trust, scope) VALUES (?, ?, ?, ?, ?, ?, 'owner')",
            (SESSION, role, text, at, fact.turn, trust),
        )


def learn(connection: Connection, fact: Fact, occasion: AdmitContext) -> int:
    """What a reading of the turn makes of it."""
    candidate = Candidate("note", "owner", fact.text, source="extraction", evidence=(fact.turn,))
    decision = admit(connection, candidate, occasion)
    assert decision.action == "created" and decision.record is not None
    return decision.record


def order(rest: str, at: AdmitContext) -> CommandCall:
    """What the owner orders, with `rest` behind the command's name."""
    return CommandCall(Inbound("telegram", "0", "1", "1", f"/x {rest}", at.at), OWNER, rest, "en", at.at)


def commands(folder: Path, index: SideIndex) -> tuple[Deed, Deed]:
    """The chat's own commands: to forget, and to undo."""
    hands = CommandContext(ZONE, folder, Access({}), Memory(index), "en")
    return partial(_text, forget_memory, hands), partial(_text, undo_change, hands)


def _text(command: Answer, hands: CommandContext, connection: Connection, call: CommandCall) -> str:
    answer = command(connection, call, hands)
    return answer if isinstance(answer, str) else answer.text


def snapshot(connection: Connection) -> Snapshot:
    """All that hands on memory change, bookkeeping left out: what it means, what is hidden, and what was said."""
    queries = (
        "SELECT id, scope, form, key, text, status, tier, category FROM record WHERE form NOT IN ('box', 'entity') "
        "ORDER BY id",
        "SELECT inbox_id, record_id FROM hidden_turn ORDER BY 1, 2",
        "SELECT id, text, context FROM message ORDER BY id",
        "SELECT id, text FROM inbox ORDER BY id",
        "SELECT src, dst, type FROM link ORDER BY 1, 2, 3",
        "SELECT scope, key FROM tombstone ORDER BY 1, 2",
        "SELECT id, type, record_id FROM event WHERE type IN ('created', 'forgotten', 'undone', 'purged') ORDER BY id",
    )
    return tuple(connection.execute(query).fetchall() for query in queries)


def shown(connection: Connection, index: SideIndex, facts: Sequence[Fact], now: AdmitContext) -> str:
    """Whatever the owner or a prompt is shown of memory and talk, asked for each of `facts` by its own words."""
    pack = FullLoader().load(connection, full_load_query(REACH, CHAT, now.day, 60_000))
    parts = [pack["long_term"], pack["recent"], pack["chat"], pack["context"], *pack.texts]
    parts += [line.text for line in conversation.load_latest(connection, SESSION, 1000)]
    parts += [turn.text for turn in buffer.pending_turns(connection, SESSION, 1000) if not turn.hidden]
    parts += [record.text for record in records.list_records(connection, REACH, ("active",), (), 1000)]
    for fact in facts:
        found = recall(
            connection,
            index,
            MemoryQuery(text=fact.text, reach=REACH, now=now.at, force=True),
        )
        parts += [each.line for each in found.memories]
        parts += [each.line for each in found.excerpts]
        parts += [each.record.text for each in find_memories(connection, fact.text, REACH, search=index_search(index))]
        said = find_unextracted(connection, fact.text, SESSION, REACH)
        parts += [said.text] if said is not None else []
    return "\n".join(parts)


def waiting(connection: Connection) -> set[int]:
    """The turns that wait to be read for memories and may be."""
    return {
        turn.inbox_id for turn in buffer.pending_turns(connection, SESSION, 1000) if turn.inbox_id and not turn.hidden
    }


def recalled(connection: Connection, index: SideIndex, fact: Fact, now: AdmitContext) -> bool:
    """Whether the fact is found by its own words as a memory."""
    found = recall(connection, index, MemoryQuery(text=fact.text, reach=REACH, now=now.at, force=True))
    return any(each.record.id == fact.record for each in found.memories)


def status(connection: Connection, fact: Fact) -> State:
    """What has become of the fact's record."""
    record = records.get(connection, fact.record, REACH)
    if record is None:
        return "purged"
    known: dict[str, State] = {"active": "live", "forgotten": "hidden"}
    return known.get(record.status, "away")


def bytes_below(folder: Path, skip: Iterable[str] = ()) -> bytes:
    """Every byte of every file below a folder, but of those whose names begin with one of `skip`."""
    beginnings = tuple(skip)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join(path.read_bytes() for path in files if not (beginnings and path.name.startswith(beginnings)))
