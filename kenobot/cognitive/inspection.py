"""Inspect memory: figures, the memories of a prompt, and searches with their reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes

if TYPE_CHECKING:
    from datetime import datetime

    from kenobot.cognitive.recall.results.memory import MemoryPack, MemoryQuery, SearchReport


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
        from kenobot.cognitive.recall.index.index import unindexed_count
        from kenobot.cognitive.remember.extract import buffer

        gaps, sessions = summary_rows.gap_counts(connection, reach), buffer.sessions_with_pending(connection)
        return {
            **collect_stats(connection, reach),
            "turns_waiting": sum(len(buffer.pending_turns(connection, session, 10_000)) for session in sessions),
            "summaries": {"live": summary_rows.count_summaries(connection, reach), "gaps": gaps.total(), **gaps},
            "index_lag": unindexed_count(index, connection) if index.exists() else None,
        }

    @staticmethod
    def load(connection: Connection, query: "MemoryQuery", *, searchable: bool) -> "MemoryPack":
        """Load what a prompt shows without a question. searchable: what does not fit can be searched for."""
        from kenobot.cognitive.recall.prompt.full_load import FullLoader

        return FullLoader().load(connection, query, searchable=searchable)

    @staticmethod
    def report_as_json(report: "SearchReport", question: str) -> dict[str, object]:
        """Write what a search found and left out, and why, for programs."""
        from kenobot.cognitive.recall.results.xray import as_json

        return as_json(report, question)

    @staticmethod
    def report_as_text(report: "SearchReport", question: str, *, markdown: bool = False) -> str:
        """Write the same for people. markdown: for a chat."""
        from kenobot.cognitive.recall.results.xray import as_markdown, as_text

        return as_markdown(report, question) if markdown else as_text(report, question)
