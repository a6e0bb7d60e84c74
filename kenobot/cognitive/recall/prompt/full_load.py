"""Load all of memory that fits, newest first, with a count of what does not.

Reads O(k) rows: k is what fits into the budget, never the size of the store.
"""

from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.recall.results.memory import MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import render_log_entry, render_record
from kenobot.cognitive.store import list_file_rows, tiers
from kenobot.cognitive.store import records as store
from kenobot.core.redaction import Redactor
from kenobot.core.sized_cache import SizedCache
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.language.quoting import index_line, index_target
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import chat_scope
from kenobot.ports.recall import MemoryEntry, Section
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection

_COARSE, _GRAIN = 1000, 50  # tokens
_LOGS_KEPT = 64
_LOGS_CHARACTERS = 8_000_000  # of all that is kept: a budget may be set very high
_BLOT = Redactor()  # what people keep in their own file beside the facts may hold a password
_ENTRY_TOKENS = 5  # no entry is shorter than its own heading, so this bounds how many rows can fit
_DAY_TOKENS = 5  # the heading of a day


@dataclass(frozen=True, slots=True)
class Scratchpad:
    """A chat's scratchpad and when it was last written."""

    text: str
    updated: datetime


class FullLoader:
    """Load memory for the beginning of a prompt. Daily logs are cached until they change. For several threads."""

    def __init__(self) -> None:
        self._logs = SizedCache[tuple[object, ...], MemoryPack](_LOGS_KEPT, _LOGS_CHARACTERS, _size)

    def load(self, connection: Connection, query: MemoryQuery, *, searchable: bool = False) -> MemoryPack:
        """Load what the scopes of `query` hold: MEMORY.md first, then the chat's own, then recent notes.

        searchable: a message can be searched for, so of notes that do not all fit only the latest are loaded.
        """
        chat, policy = chat_scope(query.session), query.policy
        others = tuple(scope for scope in query.scopes if scope != chat)
        budget = query.prefix_tokens
        core = _core(connection, others, int(budget * policy.long_term_share), "long_term")
        left = budget - estimate_tokens(core["long_term"])
        share = int(left * policy.chat_share)
        chat_core = _core(connection, [chat], share, "chat")
        chat_log = self._log(connection, (chat,), share, query, "chat", searchable=searchable)
        left -= estimate_tokens(chat_log["chat"]) + estimate_tokens(chat_core["chat"])
        recent = self._log(connection, others, left, query, "recent", searchable=searchable)
        profile = store.slot_record(connection, chat, "profile", "context")
        context = clip_to_tokens(render_record(profile, indent=""), policy.working_tokens) if profile else ""
        pack = MemoryPack({"context": context}, (core["long_term"],))
        return pack + core + chat_core + recent + chat_log

    def _log(
        self,
        connection: Connection,
        scopes: tuple[str, ...],
        budget: int,
        query: MemoryQuery,
        section: Section,
        *,
        searchable: bool,
    ) -> MemoryPack:
        budget = max(0, budget)
        if budget > _COARSE:
            budget -= budget % _GRAIN  # chats that leave about as much room share one log
        latest = min(budget, query.recent_tokens) if searchable else budget
        change = store.last_change(connection, scopes)
        key = (scopes, section, budget, latest, query.zone.key, change)
        return self._logs.get(key, lambda _: _notes(connection, scopes, (budget, latest), query, section))


def read_scratchpad(connection: Connection, chat: str, policy: Policy = DEFAULT) -> Scratchpad | None:
    """Read the scratchpad of a chat, if it has one that is not blank."""
    record = store.slot_record(connection, chat, "scratchpad", "working")
    if record is None:
        return None
    return Scratchpad(
        clip_to_tokens(render_record(record, indent=""), policy.working_tokens), datetime.fromisoformat(record.updated)
    )


def _size(log: MemoryPack) -> int:
    return sum(map(len, log.sections.values())) + sum(map(len, log.texts))


def _core(connection: Connection, scopes: Sequence[str], budget: int, section: Section) -> MemoryPack:
    """Load the MEMORY.md of these scopes, in the layout its owner gave it.

    Of ref files it shows the pointers; their facts count as left out, so that they are looked for.
    """
    pieces: list[str] = []
    listed: list[tuple[int, str]] = []
    filed = 0
    for scope in scopes:
        refs = tiers.ref_file_counts(connection, scope)
        records = {record.id: record for record in tiers.in_tier(connection, scope, tiers.CORE)}
        lines: list[str] = []
        already: set[str] = set()

        def add(record: Record, lines: list[str] = lines) -> None:
            lines.append(f"- {render_record(record)}")
            listed.append((record.id, lines[-1]))

        for block in list_file_rows.core_layout(connection, scope):
            if isinstance(block, str):
                lines.append(_BLOT(block.rstrip("\n")))
                already |= {name for line in block.splitlines() if (name := index_target(line)) is not None}
            elif block in records:
                add(records.pop(block))
        for record in records.values():
            add(record)
        lines += [index_line(name, count).rstrip("\n") for name, count in refs.items() if name not in already]
        filed += sum(refs.values())
        pieces.append("\n".join(lines).strip())
    text = "\n\n".join(piece for piece in pieces if piece)
    shown = clip_to_tokens(text, budget)
    if shown != text:
        shown = f"{shown.rpartition(chr(10))[0]}\n_(MEMORY.md goes on; the rest did not fit.)_"
        listed, every = [(number, line) for number, line in listed if line in shown], listed
        filed += len(every) - len(listed)
    entries = tuple(MemoryEntry(number, section) for number, _ in listed)
    return MemoryPack({section: shown}, entries=entries, omitted=filed)


def _notes(
    connection: Connection, scopes: Sequence[str], budgets: tuple[int, int], query: MemoryQuery, section: Section
) -> MemoryPack:
    """Load all notes of these scopes if they fit into the first of two budgets, else the latest.

    Of the first budget these take the share of all notes that would fit into it, and the second at least: the fewer of
    the notes are among them, the fewer questions they answer.
    """
    whole, latest = budgets
    total = sum(store.count_daily(connection, scope) for scope in scopes)
    if total * latest * _ENTRY_TOKENS < whole * whole:  # else the share is less
        pack = _daily(connection, scopes, whole, query, section, total)
        if latest >= whole or not pack.omitted:
            return pack
        latest = max(latest, whole * len(pack.entries) // total)
    return _daily(connection, scopes, latest, query, section, total)


def _daily(
    connection: Connection, scopes: Sequence[str], budget: int, query: MemoryQuery, section: Section, total: int
) -> MemoryPack:
    """Load daily logs, newest day first, entries of a day in the order they came. total: the number of notes."""
    limit = max(1, budget // _ENTRY_TOKENS) + 1
    days: dict[str, list[str]] = {}
    texts: list[str] = []
    entries: list[MemoryEntry] = []
    left = budget
    for scope in scopes:
        for record in store.newest_daily(connection, scope, limit):
            text = render_log_entry(record, query.zone)
            left -= estimate_tokens(f"{text}\n\n") + (0 if record.day in days else _DAY_TOKENS)
            if left < 0:
                break
            days.setdefault(record.day, []).append(text)
            texts.append(record.text)
            entries.append(MemoryEntry(record.id, section))
    logs = [f"### {day}\n" + "\n\n".join(reversed(days[day])) for day in sorted(days, reverse=True)]
    omitted = max(0, total - len(texts))
    return MemoryPack({section: "\n\n".join(logs)}, tuple(texts), tuple(entries), omitted)
