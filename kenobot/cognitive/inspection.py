"""Inspect memory: figures, the memories of a prompt, and searches with their reasons."""

import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

if TYPE_CHECKING:
    from datetime import datetime

    from kenobot.cognitive.recall.results.memory import MemoryPack, MemoryQuery
    from kenobot.ports.browsing import Graph, GraphDetail
    from kenobot.ports.recall import PatternMatch


class Inspection:
    """Look at memory as a whole, and at what a search found; inside a transaction of the caller."""

    @staticmethod
    def strength(record: Record, at: "datetime") -> float:
        """Return how certain a memory is at a moment, from 0 to 1: its confidence, less what time took of it."""
        from kenobot.cognitive.beliefs import value

        return value.strength(record, at)

    @staticmethod
    def count(connection: Connection, reach: Scopes, index: Path) -> dict[str, Any]:
        """Count memories, links, events, summaries, turns that wait to be read, and what an index file lacks."""
        from kenobot.cognitive.compact import summary_rows
        from kenobot.cognitive.control.stats_rows import collect_stats
        from kenobot.cognitive.recall.index.index import count_unindexed
        from kenobot.cognitive.remember.extract import buffer

        gaps, sessions = summary_rows.gap_counts(connection, reach), buffer.sessions_with_pending(connection)
        return {
            **collect_stats(connection, reach),
            "turns_waiting": sum(len(buffer.pending_turns(connection, session, 10_000)) for session in sessions),
            "summaries": {"live": summary_rows.count_summaries(connection, reach), "gaps": gaps.total(), **gaps},
            "index_lag": count_unindexed(index, connection) if index.exists() else None,
        }

    @staticmethod
    def draw_graph(
        connection: Connection,
        reach: Scopes,
        detail: "GraphDetail",
        most_nodes: int,
        *,
        subject: str = "",
        with_edges: bool = True,
    ) -> "Graph":
        """Draw the newest memories with whom and what they are about. subject: of memories about it alone."""
        from kenobot.cognitive.control.graph import build_graph

        return build_graph(connection, reach, detail, most_nodes, subject=subject, with_edges=with_edges)

    @staticmethod
    def load(connection: Connection, query: "MemoryQuery", *, searchable: bool) -> "MemoryPack":
        """Load what a prompt shows without a question. searchable: what does not fit can be searched for."""
        from kenobot.cognitive.recall.prompt.full_load import FullLoader

        return FullLoader().load(connection, query, searchable=searchable)

    @staticmethod
    def match_patterns(connection: Connection, reach: Scopes, text: str, among: int) -> "list[PatternMatch]":
        """Match the newest `among` patterns with a text, the best first."""
        from kenobot.cognitive.procedural import pattern, pattern_rows
        from kenobot.ports.recall import PatternMatch

        known = pattern.patterns_of(pattern_rows.live_patterns(connection, reach, among))
        return [
            PatternMatch(fit.pattern.record.text, fit.coverage, fit.pattern.confidence)
            for fit in pattern.match_patterns(known, text)
        ]

    @staticmethod
    def count_vectors(connection: Connection, reach: Scopes, index: Path, model: str) -> dict[str, Any]:
        """Count the records and messages that a model has embedded, and those that wait; None where it is not known."""
        from kenobot.cognitive.recall.index import vector_rows

        records, placed = vector_rows.count_records(connection, reach, model)
        found: dict[str, Any] = {"vectors": {"placed": placed, "waiting": records - placed}, "turn_vectors": None}
        with contextlib.suppress(sqlite3.Error):  # there may be no index yet, or an older one
            with contextlib.closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True, timeout=2)) as opened:
                turns, placed = vector_rows.count_turns(opened, model)
            found["turn_vectors"] = {"placed": placed, "waiting": turns - placed}
        return found

    @staticmethod
    def last_event(connection: Connection) -> int:
        """Return the number of the newest event of memory."""
        from kenobot.cognitive.store import events

        return events.last_event(connection)
