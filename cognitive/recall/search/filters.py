"""Filter what a recall may show; count each reason to drop a candidate, so that an empty answer can be explained."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from kenobot.cognitive.beliefs.value import has_faded
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.candidates import recall_log
from kenobot.cognitive.recall.index.documents import SEARCHABLE_FORMS
from kenobot.cognitive.recall.results.memory import RecalledMemory
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.recall.results.trace import RecallTrace, SourceKind
from kenobot.cognitive.recall.scoring.score import hidden_by_lifecycle
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store import tiers
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.store.scopes import Scopes, chats_within
from kenobot.cognitive.text.calendar import parse_time, week_of
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import MessageRow

DropReason = Literal[
    "out of reach", "another form", "forgotten", "not live", "not valid then", "expired", "stale", "faded",
    "irrelevant", "on show already", "no room", "veiled", "on show as a turn", "taken back",
]  # fmt: skip


@dataclass(slots=True)
class RecallFilter:
    """Keep the candidates that may be shown to `reach`, as of `now` or `as_of`, and count the others by reason.

    prompt_text: what the prompt shows already.
    """

    reach: Scopes
    now: datetime
    policy: Policy
    as_of: datetime | None = None
    prompt_text: str = ""
    dropped: Counter[DropReason] = field(default_factory=Counter)  # bounded: the 12 reasons there are; turn
    trace: RecallTrace | None = None
    _seen: dict[int, bool] = field(default_factory=dict)  # bounded: what was read; turn

    def in_prompt(self, record: Record) -> bool:
        """Whether the prompt shows a record already."""
        if not self.prompt_text:
            return False
        if record.id not in self._seen:
            self._seen[record.id] = is_in_prompt(render_record(record), self.prompt_text)
        return self._seen[record.id]

    def filter_records(self, connection: Connection, ids: Sequence[int]) -> dict[int, Record]:
        """Read the records among `ids` that may be shown, as of `as_of`."""
        found = store.by_ids(connection, ids, self.reach)
        self.dropped["out of reach"] += len(set(ids)) - len(found)
        kept: dict[int, Record] = {}
        for number, record in found.items():
            seen = record
            if self.as_of is not None and record.status != "forgotten":
                seen = recall_log.record_as_of(connection, record, store.stamp(self.as_of))
            reason = self._against(seen, record)
            if reason is None and is_week_summary(record) and tiers.has_ended_source(connection, record.scope, number):
                reason = "not live"  # its text may repeat the ended record until the next night rewrites it
            if reason is None:
                kept[number] = seen
            else:
                self.drop("record", number, reason)
        return _ordered(kept, ids)

    def _against(self, seen: Record, today: Record) -> DropReason | None:
        if seen.form not in SEARCHABLE_FORMS:
            return "another form"
        if today.status == "forgotten":
            return "forgotten"
        if seen.status != "active":
            return "not live"
        if self.as_of is not None:
            if not was_valid_at(today, self.as_of):
                return "not valid then"
        elif today.expires is not None and (ends := parse_time(today.expires)) is not None and ends <= self.now:
            return "expired"
        if hidden_by_lifecycle(seen.lifecycle, self.policy.recall):
            return "stale"
        if self.as_of is None and has_faded(seen, self.now, self.policy.value):
            return "faded"
        return None

    def reachable_turns(self, connection: Connection, ids: Sequence[int]) -> dict[int, MessageRow]:
        """Read the turns among `ids` of chats within reach."""
        found = {row.id: row for row in conversation.messages_by_id(connection, ids, chats_within(self.reach))}
        self.dropped["out of reach"] += len(set(ids)) - len(found)
        return found

    def filter_turns(
        self,
        connection: Connection,
        found: Mapping[int, MessageRow],
        told: Mapping[int, Sequence[int]],
        from_message: int | None,
    ) -> dict[int, MessageRow]:
        """Select the turns that may be shown. told: records by the turn that they were learned from.

        from_message: the prompt shows messages from this one on. Turns of ended records are dropped.
        """
        states = recall_log.statuses(connection, {each for records in told.values() for each in records}, self.reach)
        kept: dict[int, MessageRow] = {}
        for number, said in found.items():
            learned = {states.get(record, "forgotten") for record in told.get(said.inbox_id or 0, ())}
            reason = self._against_turn(said, learned, from_message)
            if reason is None:
                kept[number] = said
            else:
                self.drop("turn", number, reason)
        return kept

    def _against_turn(self, said: MessageRow, learned: Set[str], from_message: int | None) -> DropReason | None:
        if said.hidden or "forgotten" in learned:
            return "veiled"
        if not said.text.strip():
            return "irrelevant"
        if from_message is not None and said.id >= from_message:
            return "on show as a turn"
        if self.as_of is not None:
            return "not valid then" if (parse_time(said.at) or self.as_of) > self.as_of else None
        return "taken back" if learned - {"active"} else None

    def drop(self, kind: SourceKind, number: int, reason: DropReason) -> None:
        """Count a dropped record or turn."""
        self.dropped[reason] += 1
        if self.trace is not None:
            self.trace.dropped[kind, number] = reason

    def drop_counts(self) -> dict[str, int]:
        """Counts of dropped candidates by reason."""
        return {reason: count for reason, count in self.dropped.items() if count > 0}


def was_valid_at(record: Record, at: datetime) -> bool:
    """Whether a record was valid at a moment."""
    begins = parse_time(record.valid_from) or parse_time(record.created)
    ends = parse_time(record.valid_to) if record.valid_to else None
    return (begins is None or begins <= at) and (ends is None or at < ends)


def is_week_summary(record: Record) -> bool:
    """Whether a record is the summary of a week."""
    return record.form == "summary" and record.category == "week"


def summarized_week(record: Record) -> str:
    """The week, YYYY-Www, of a summary."""
    return record.key.rpartition(":")[2]


def drop_covered_weeks(memories: Sequence[RecalledMemory], sieve: RecallFilter) -> list[RecalledMemory]:
    """Drop the summaries of weeks of which a fact was found itself."""
    told = {(each.record.scope, week_of(each.record.day)) for each in memories if not is_week_summary(each.record)}
    kept = [
        each
        for each in memories
        if not is_week_summary(each.record) or (each.record.scope, summarized_week(each.record)) not in told
    ]
    sieve.dropped["irrelevant"] += len(memories) - len(kept)
    return kept


def is_in_prompt(text: str, shown: str) -> bool:
    """Whether a prompt shows this text as an item of its own."""
    return text in shown and any(f"{mark} {text}{end}" in shown for mark in ("-", "—") for end in ("\n", " _("))


def _ordered(kept: dict[int, Record], ids: Sequence[int]) -> dict[int, Record]:
    return {number: kept[number] for number in dict.fromkeys(ids) if number in kept}
