"""Filter what a recall may show; count each reason to drop a candidate, so that an empty answer can be explained."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal

from kenobot.cognitive.beliefs.value import has_faded
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.documents import SEARCHABLE_FORMS
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryQuery, RecalledMemory
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.recall.scoring.score import is_hidden_by_lifecycle
from kenobot.cognitive.recall.search.on_show import ShownTexts
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers
from kenobot.language.calendar import parse_time, week_of
from kenobot.ports.recall import SourceKind
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import scope_names
from kenobot.storage.times import stamp

DropReason = Literal[
    "out of reach", "another form", "forgotten", "not live", "not valid then", "expired", "stale", "faded",
    "irrelevant", "on show already", "no room", "veiled", "on show as a turn", "taken back", "outranked",
]  # fmt: skip


@dataclass(slots=True)
class RecallFilter:
    """Keep the candidates that a query may show, and count the others by reason."""

    query: MemoryQuery
    dropped: Counter[DropReason] = field(default_factory=Counter)  # bounded: the 15 reasons there are; turn
    _seen: dict[int, bool] = field(default_factory=dict)  # bounded: what was read; turn
    on_show: ShownTexts = field(init=False)

    def __post_init__(self) -> None:
        self.on_show = ShownTexts(self.query.prompt_text)

    def in_prompt(self, record: Record) -> bool:
        """Return whether the prompt shows a record already."""
        if not self.query.prompt_text:
            return False
        if record.id not in self._seen:
            self._seen[record.id] = render_record(record) in self.on_show
        return self._seen[record.id]

    def shows_turn(self, turn: MessageRow) -> bool:
        """Return whether the prompt shows a turn already, or other words that say the same."""
        query = self.query
        if query.from_message is not None and turn.session == query.session and turn.id >= query.from_message:
            return True
        return bool(query.prompt_text) and self.on_show.say(turn.line.text)

    def filter_records(self, connection: Connection, ids: Sequence[int]) -> dict[int, Record]:
        """Read the records among `ids` that may be shown, in this order, with their values at the query's `as_of`."""
        found = store.by_ids(connection, ids, self.query.reach)
        self.dropped["out of reach"] += len(set(ids)) - len(found)
        kept: dict[int, Record] = {}
        for number in dict.fromkeys(ids):
            if (current := found.get(number)) is None:
                continue
            record, as_of = current, self.query.as_of
            if as_of is not None and current.status != "forgotten":
                record = recall_rows.record_as_of(connection, current, stamp(as_of))
            reason = self._against(record, current)
            if (
                reason is None
                and is_week_summary(current)
                and tiers.has_ended_source(connection, current.scope, number)
            ):
                reason = "not live"  # its text may repeat the ended record until the next night rewrites it
            if reason is None:
                kept[number] = record
            else:
                self.drop("record", number, reason)
        return kept

    def _against(self, record: Record, current: Record) -> DropReason | None:
        """Return the reason to drop a record, by its values at the query's `as_of` and today."""
        as_of, now, policy = self.query.as_of, self.query.now, self.query.policy
        if record.form not in SEARCHABLE_FORMS:
            return "another form"
        if current.status == "forgotten":
            return "forgotten"
        if record.status != "active":
            return "not live"
        if as_of is not None:
            if not was_valid_at(current, as_of):
                return "not valid then"
        elif current.expires is not None and (ends := parse_time(current.expires)) is not None and ends <= now:
            return "expired"
        if is_hidden_by_lifecycle(record.lifecycle, policy.recall):
            return "stale"
        if as_of is None and has_faded(record, now, policy.value):
            return "faded"
        return None

    def filter_turns(self, connection: Connection, index: SideIndex, ids: Sequence[int]) -> dict[int, MessageRow]:
        """Read the turns among `ids` that may be shown. Turns of ended records may not."""
        found = message_rows.messages_by_id(connection, ids, scope_names(self.query.reach))
        self.dropped["out of reach"] += len(set(ids)) - len(found)
        inboxes = [turn.inbox_id for turn in found if turn.inbox_id is not None]
        learned = index.read(partial(posting_rows.records_by_turn, inboxes=inboxes), dict[int, list[int]]())
        ids = list({record for records in learned.values() for record in records})
        statuses = recall_rows.statuses(connection, ids, self.query.reach)
        kept: dict[int, MessageRow] = {}
        for turn in found:
            ended = {statuses.get(record, "forgotten") for record in learned.get(turn.inbox_id or 0, ())} - {"active"}
            if (reason := self._against_turn(turn, ended)) is None:
                kept[turn.id] = turn
            else:
                self.drop("turn", turn.id, reason)
        return kept

    def _against_turn(self, turn: MessageRow, ended: Set[str]) -> DropReason | None:
        """Return the reason to drop a turn. ended: statuses of the records learned from it that are no longer live."""
        as_of = self.query.as_of
        if turn.hidden or "forgotten" in ended:
            return "veiled"
        if not turn.text.strip():
            return "irrelevant"
        if as_of is not None:
            return "not valid then" if (parse_time(turn.at) or as_of) > as_of else None
        return "taken back" if ended else None

    def drop(self, kind: SourceKind, number: int, reason: DropReason) -> None:
        """Count a dropped record or turn."""
        self.dropped[reason] += 1
        if self.query.trace is not None:
            self.query.trace.dropped[kind, number] = reason

    def drop_counts(self) -> dict[str, int]:
        """Return counts of dropped candidates by reason."""
        return {reason: count for reason, count in self.dropped.items() if count > 0}


def was_valid_at(record: Record, at: datetime) -> bool:
    """Return whether a record was valid at a moment."""
    begins = parse_time(record.valid_from) or parse_time(record.created)
    ends = parse_time(record.valid_to) if record.valid_to else None
    return (begins is None or begins <= at) and (ends is None or at < ends)


def is_week_summary(record: Record) -> bool:
    """Return whether a record is the summary of a week."""
    return record.form == "summary" and record.category == "week"


def week_of_summary(record: Record) -> str:
    """Return the week, YYYY-Www, of a summary."""
    return record.key.rpartition(":")[2]


def drop_covered_weeks(memories: Sequence[RecalledMemory], sieve: RecallFilter) -> list[RecalledMemory]:
    """Drop the summaries of weeks of which a fact was found itself."""
    weeks = {(each.record.scope, week_of(each.record.day)) for each in memories if not is_week_summary(each.record)}
    kept = [
        each
        for each in memories
        if not is_week_summary(each.record) or (each.record.scope, week_of_summary(each.record)) not in weeks
    ]
    sieve.dropped["irrelevant"] += len(memories) - len(kept)
    return kept
