"""What a person does with memory by hand: forget, correct, look, take out and bring in."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from kenobot.agent.commands.command import duration_text
from kenobot.cognitive.control import export, history, stats_rows
from kenobot.cognitive.control.export_format import ImportFormatError
from kenobot.cognitive.control.find import resolve_reference
from kenobot.cognitive.control.forget import forget, plan_purge, purge
from kenobot.cognitive.mirror.paths import is_memory_file
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import events, links
from kenobot.cognitive.store import records as store
from kenobot.core import texts
from kenobot.core.i18n import Text
from kenobot.language.fingerprint import key_of
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import AmbiguousReference
from kenobot.storage.erasure import erase_turns
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp
from kenobot_testing.clock import START
from tests.conformance.cases import Adapter, Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.memory_rows import new_memory
from tests.scratch import scratch

_NOW = AdmitContext(START, "2026-02-14", "owner", "telegram-1")
_OWNER = (OWNER_SCOPE,)
_CATEGORY = {"factual": "fact", "procedural": "principle", "architectural": "decision"}


@contextmanager
def _memory() -> Iterator[sqlite3.Connection]:
    """An empty memory."""
    with closing(new_memory()) as connection:
        yield connection


@contextmanager
def _filled(case: Case) -> Iterator[tuple[sqlite3.Connection, dict[str, int]]]:
    """A memory that holds the beliefs and episodes of a case, and their numbers by the original's ids.

    An original's id becomes the record's key, by the beginning of which people may call it.
    """
    held = (case.input.get("store") or {}) if isinstance(case.input, dict) else {}
    with _memory() as connection:
        numbers = {belief["id"]: _put(connection, belief) for belief in held.get("beliefs", [])}
        for turn, episode in enumerate(held.get("episodes", []), 1):
            _say(connection, turn, episode.get("action", episode["id"]))
        yield connection, numbers


def _put(connection: sqlite3.Connection, belief: Mapping[str, Any]) -> int:
    at = stamp(START - timedelta(days=belief.get("age_days", 0)))
    values = {
        "form": "note",
        "category": _CATEGORY.get(belief.get("type", "factual"), belief.get("type", "fact")),
        "scope": OWNER_SCOPE,
        "text": belief.get("statement", belief["id"]),
        "source": "tag",
        "trust": "owner",
        "confidence": belief.get("confidence", 0.6),
        "importance": belief.get("importance", 5) / 10,
        "stability": belief.get("stability", 1.0),
        "status": belief.get("status", "active"),
        "subject": belief.get("subject", "owner"),
        "day": "2026-02-14",
        "key": belief["id"],
        "changed_event": 1,
        **dict.fromkeys(("valid_from", "created", "updated", "last_seen"), at),
    }
    sql = f"INSERT INTO record ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    cursor = connection.execute(sql, tuple(values.values()))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _say(connection: sqlite3.Connection, turn: int, text: str, answer: str = "ok") -> None:
    for role, said in (("user", text), ("assistant", answer)):
        connection.execute(
            "INSERT INTO message (session, role, text, at, inbox_id, trust, scope) "
            "VALUES ('telegram-1', ?, ?, ?, ?, 'owner', 'owner')",
            (role, said, stamp(START), turn),
        )


def _status(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, status FROM record").fetchall())


# ── by name ──────────────────────────────────────────────────────────────────────────────────────────────────────


def forgetting(case: Case) -> Outcome:
    """What is named is forgotten; what names nothing, or more than one thing, is refused and nothing happens."""
    with _filled(case) as (connection, numbers):
        before = _status(connection)
        try:
            record = resolve_reference(connection, case.input["args"]["id"], _OWNER, live=True)
        except AmbiguousReference as error:
            refused = {"error": str(error)}
            wanted = case.expected.get("error_matches", "")
            told = wanted in str(error).lower() or wanted == "ambiguous" or "kenobot" in case.expected
            return Checked(refused, {"nothing is forgotten": _status(connection) == before, "it says why": told})
        forget(connection, record.id, _OWNER, _NOW)
        after = _status(connection)
        if "status" in case.expected:
            return Compared({"status": after[record.key]}, {"status": case.expected["status"]})
        meant = next(iter(numbers))
        gone = [key for key, status in after.items() if status == "forgotten"]
        return Checked(gone, {"the one that was named, and no other": gone == [meant]})


def past(case: Case) -> Outcome:
    with _filled(case) as (connection, numbers):
        number = numbers[case.input["args"]["id"]]
        for name, kind in case.input["store"]["changes"]:
            events.add_event(connection, START, "model", kind, record=numbers[name])
        steps = history.history(connection, number, _OWNER)
        return Compared([step.kind for step in steps], case.expected["types"])


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def counted(case: Case) -> Outcome:
    with _filled(case) as (connection, _):
        found = stats_rows.collect_stats(connection, ALL_SCOPES)
        counts = found["by_status"]
        told = {
            "total": found["records"],
            "episodes": found["messages"] // 2,
            "avg_confidence": found["mean_confidence"],
            "oldest": found["oldest"],
            "newest": found["newest"],
            **{state: counts.get(state, 0) for state in ("active", "forgotten", "invalidated")},
        }
        wanted = {name: value for name, value in case.expected.items() if name != "why"}
        return Compared({name: told[name] for name in wanted}, wanted)


def listed(case: Case) -> Outcome:
    """The original wrote a file of what it was sure of; here `kenobot memory list --min-confidence` shows it."""
    args = case.input["args"]
    most = next((args[name] for name in ("max", "limit") if args[name] is not None), None)
    with _filled(case) as (connection, _):
        listed = store.list_records(connection, _OWNER, ("active",), ())
        found = [record for record in listed if record.confidence >= args["min_confidence"]][:most]
        wanted = {name: case.expected[name] for name in ("count", "ids") if name in case.expected}
        told: dict[str, Any] = {"count": len(found), "ids": [record.key for record in found]}
        return Compared({name: told[name] for name in wanted}, wanted)


def recollected(case: Case) -> Outcome:
    """What a prompt would hold for the query."""
    with _filled(case) as (connection, _), scratch() as folder:
        index = SideIndex(Path(folder) / "index.db")
        try:
            index.catch_up(connection)
            while index.index_backlog(connection, 1000):
                pass
            pack = recall(connection, index, MemoryQuery(case.input["query"], _OWNER, START, force=True))
        finally:
            index.close()
    shown = "\n".join([*(m.line for m in pack.memories), *(e.line for e in pack.excerpts)])
    if not any(case.input["store"].values()):
        return Checked(shown, {"it is known that nothing is remembered": pack.level == "none" and not shown})
    if "episodes" in case.input["store"]:
        return NotApplicable("found by meaning alone: there is no embedder")
    texts = [belief["statement"] for belief in case.input["store"]["beliefs"]]
    return Checked(shown, {f"it holds {text!r}": text in shown for text in texts})


def sensitive(case: Case) -> Outcome:
    return NotApplicable("ADR 5: who may know a thing is settled by its scope, not by a list of words in it")


def time_ago(case: Case) -> Outcome:
    return compare(case, duration_text(timedelta(milliseconds=case.input["ms"]), case.input["language"]))


def learned(case: Case) -> Outcome:
    sentences = {
        "fact": texts.LEARNED,
        "preference": Text("✓ I have saved your preference: {what}", "✓ He guardado tu preferencia: {what}"),
        "pattern": Text("✓ I have spotted a pattern: {what}", "✓ He identificado un patrón: {what}"),
    }
    return compare(case, sentences[case.input["type"]](case.input["language"], what=case.input["content"]))


# ── out and in ───────────────────────────────────────────────────────────────────────────────────────────────────


def _head(**counts: int) -> str:
    head = {"format": "kenobot-memory", "version": 1, "exported": "2026-01-01", "counts": counts}
    return json.dumps({"head": head})


def _lines(data: Mapping[str, Any], numbers: Mapping[str, int]) -> list[str]:
    """An original's export in our form: as much of it as a case gives."""
    lines = []
    for belief in data.get("beliefs", []):
        known = belief if isinstance(belief, dict) else {"id": belief}
        line = {
            "id": numbers[known["id"]],
            "form": "note",
            "scope": OWNER_SCOPE,
            "text": known.get("statement", known["id"]),
            "created": known.get("created_at", stamp(START)),
        }
        lines.append(json.dumps({"record": line}))
    for src, dst in data.get("belief_links", []):
        link = {"src": numbers[src], "dst": numbers[dst], "type": "related", "first_at": "2026-01-01"}
        lines.append(json.dumps({"link": {**link, "last_at": "2026-01-01"}}))
    lines += [
        json.dumps({"vector": {"record_id": numbers[name], "model": "toy", "embedding": "AACAPw=="}})
        for name in data.get("belief_embeddings", {})
    ]
    return [_head(), *lines]


def taken_out(case: Case) -> Outcome:
    """One line a thing, with its kind; the first says what follows."""
    with _filled(case) as (connection, _):
        lines = [json.loads(line) for line in export.export(connection, ALL_SCOPES, START)]
    head = lines[0]["head"]
    counts = head["counts"]
    wanted = {"record", "event", "link", "vector", "message", "hidden_turn", "tombstone"}
    return Checked(
        head,
        {
            "it has a version": head["version"] == 2,
            "it says when": bool(head["exported"]),
            "it names every kind": wanted <= counts.keys(),
            "nothing is missing": counts["record"] == 1
            and counts["message"] == 2
            and len(lines) == 1 + sum(counts.values()),
        },
    )


def refused(case: Case) -> Outcome:
    text = json.dumps(case.input.get("data"))
    with _memory() as connection:
        before = list(connection.iterdump())
        try:
            export.import_lines(connection, [text], _NOW, is_memory_file)
        except ImportFormatError as error:
            return Checked(
                str(error),
                {
                    "it names the line": str(error).startswith("line 1: "),
                    "nothing is brought in": list(connection.iterdump()) == before,
                },
            )
        return Checked("taken", {"it is refused": False})


def brought_in(case: Case) -> Outcome:
    data = case.input["data"]
    if isinstance(data, str):  # an export without the past of its beliefs
        data = {"beliefs": ["b1"]}
    with _filled(case) as (connection, held):
        names = [each["id"] if isinstance(each, dict) else each for each in data["beliefs"]]
        numbers = {name: held.get(name, at) for at, name in enumerate(names, 1)}
        report = export.import_lines(connection, _lines(data, numbers), _NOW, is_memory_file)
        records = store.by_ids(connection, list(numbers.values()), _OWNER)
        told: dict[str, Any] = {
            "beliefs": report.added["record"],
            "embeddings": report.added["vector"],
            "links": report.added["link"],
            "importance": next(iter(records.values())).importance * 10,
            "stability": next(iter(records.values())).stability,
            "statement": next(iter(records.values())).text,
            "error": None,
        }
    wanted = {name: value for name, value in case.expected.items() if name in told}
    return Compared({name: told[name] for name in wanted}, wanted)


def round_trip(case: Case) -> Outcome:
    """Out of one memory into another: every column but the number of the last change."""
    with _filled(case) as (one, numbers):
        one.execute(
            "UPDATE record SET verification = 'user_confirmed', tags = '[\"private\"]', attributes = '{\"by\": "
            '"Ana"}\''
        )
        one.execute("UPDATE record SET key = 'k' || id")
        if len(numbers) == 2:
            links.restore_supersedes_link(one, numbers["new"], numbers["old"], stamp(START))
            one.execute("UPDATE record SET status = 'superseded' WHERE id = ?", (numbers["old"],))
        one.executemany(
            "UPDATE record SET key = ? WHERE id = ?",
            [(key_of(t), n) for n, t in one.execute("SELECT id, text FROM record").fetchall()],
        )
        with _memory() as other:
            export.import_lines(other, list(export.export(one, ALL_SCOPES, START)), _NOW, is_memory_file)
            return Checked(
                _rows(other, "link"),
                {
                    f"every {table} comes back": _rows(one, table) == _rows(other, table)
                    for table in ("record", "link", "message")
                },
            )


def _rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """A table without the numbers that belong to one database."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    kept = [name for name in names if name not in ("changed_event", "context") and (table, name) != ("message", "id")]
    return connection.execute(f"SELECT {', '.join(kept)} FROM {table} ORDER BY 1, 2").fetchall()


def told_turn(case: Case) -> Outcome:
    """A forgotten fact surfaces from the turn that told it no more, is not learned from that, and can be erased."""
    text = case.input["steps"][0].removeprefix("remember ").strip("'")
    with _memory() as connection, scratch() as folder:
        _say(connection, 1, text)
        candidate = Candidate("note", OWNER_SCOPE, text, evidence=(1,))
        record = admit(connection, candidate, _NOW).record
        assert record is not None
        forget(connection, record, _OWNER, _NOW)
        index = SideIndex(Path(folder) / "index.db")
        try:
            later = replace(_NOW, at=START + timedelta(hours=1))
            query = MemoryQuery("what is my salary?", _OWNER, later.at, force=True)
            pack = recall(connection, index, query)
            again = admit(connection, replace(candidate, source="extraction"), later).record
            doomed = plan_purge(connection, record, _OWNER)
            assert doomed is not None
            purge(
                connection, doomed, later, erase_turns(connection, doomed.turns, doomed.wordings, OWNER_SCOPE).messages
            )
            held = "\n".join(connection.iterdump())
        finally:
            index.close()
    return Checked(
        {"shown": len(pack.memories) + len(pack.excerpts), "again": again},
        {
            "it does not surface": not pack.memories and not pack.excerpts,
            "it is not learned again from the same turn": again is None,
            "it can be erased": text not in held,
        },
    )


ADAPTERS: dict[str, Adapter] = {
    "context/": recollected,
    "export/shape": taken_out,
    "forget/": forgetting,
    "history/order": past,
    "import/": brought_in,
    "import/invalid": refused,
    "memory-file/": listed,
    "pai-bug/empty-prefix-forget": forgetting,
    "pai-bug/forget-leaves-episode": told_turn,
    "pai-bug/import-loses-trust": round_trip,
    "pai-bug/import-supersession-fk": round_trip,
    "pai-bug/prefix-wildcard": forgetting,
    "sensitivity": sensitive,
    "stats/": counted,
    "transparency.learning_feedback": learned,
    "transparency.time_ago": time_ago,
}
