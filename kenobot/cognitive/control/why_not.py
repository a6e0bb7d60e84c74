"""Explain why something was not remembered: never stored, not eligible, eligible and not shown, or shown and unused.

Looks for what a person names among all that is stored, of any scope and status, then follows it through the search for
the last message that was answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from kenobot.cognitive.control.find import OverlapSieve, search_index
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import MemoryQuery
from kenobot.cognitive.recall.results.trace import RecallTrace
from kenobot.cognitive.recall.scoring.turn_candidates import TurnCandidates, gather_candidates
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.recall.search.recall import recall
from kenobot.cognitive.store import records
from kenobot.cognitive.store.change import tombstone_time
from kenobot.language.fingerprint import key_of
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.question import parse_question
from kenobot.language.question.search_terms import parse_query
from kenobot.language.words import fold, words
from kenobot.ports.explanations import AbsenceExplanation, FoundItem, ReplyExplanation
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.recall import SourceKind
from kenobot.storage import message_rows, prompt_prefix
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names

_LEAST = 0.6  # share of the named words that what is meant has
_READ = 2000  # records, and messages, that may have one of the words
_READ_BESIDE_INDEX = 500  # of these, which an index may not know yet
_SEARCHED = 50  # records, and messages, that an index finds
_MOST_MESSAGES = 100_000  # of the newest
_BEGINNING = 4  # letters by which texts are looked through
_BEFORE = 3  # items that are named as shown or ranked before
_ASKING = frozenset(
    """
    remember remembered recall know knew forget forgot said told mention why recuerdas recordar recordaste recuerda
    acuerdas acordaste sabes sabias olvidaste dije conte dicho contado
    """.split()
)


def explain_absence(
    connection: Connection,
    index: SideIndex | None,
    text: str,
    query: MemoryQuery,
    reply: ReplyExplanation | None,
    reach: Scopes,
) -> AbsenceExplanation:
    """Explain why `text` was not remembered in the last reply.

    query: as its message is searched for; its text is used where there is no reply. reach: where it is looked for.
    """
    item = _find(connection, index, text, reach, query.reach, reply)
    question = reply.question if reply is not None and reply.question else text
    if item is None:
        scopes = scope_names(query.reach) or (OWNER_SCOPE,)
        erased = any(tombstone_time(connection, scope, key_of(text)) for scope in scopes)
        return AbsenceExplanation("never_stored", reason="erased" if erased else "", question=question)
    if reason := _against(connection, index, item, query):
        return AbsenceExplanation("not_eligible", item, reason, question)
    if reply is not None and _was_shown(connection, item, reply):
        return AbsenceExplanation("unused", item, question=question)
    if reply is not None and item.at > reply.at:
        return AbsenceExplanation("not_eligible", item, "later", question)
    return _follow(connection, index, item, replace(query, text=question))


# ── what is stored ───────────────────────────────────────────────────────────────────────────────────────────────────


def _find(
    connection: Connection,
    index: SideIndex | None,
    text: str,
    reach: Scopes,
    own: Scopes,
    reply: ReplyExplanation | None,
) -> FoundItem | None:
    """Find the record or message that matches `text` best: first in reach of the chat, live, told by itself.

    Of those that match as well, one that the reply was shown, then a record, then the newest.
    """
    said = " ".join(word for word in words(text) if fold(word) not in _ASKING) or text
    pieces = [fold(word)[:_BEGINNING] for word in words(said) if word not in STOPWORDS] or [fold(said)[:_BEGINNING]]
    pieces, sieve, scopes = list(dict.fromkeys(pieces)), OverlapSieve(said, _LEAST), scope_names(own)

    asked_in = reply.turn if reply is not None else None

    def value(item: FoundItem) -> tuple[bool, bool, bool, float]:
        repeats = item.record is not None and item.record.form == "summary"  # what other memories tell
        return (scopes is None or item.scope in scopes, item.is_live, not repeats, item.overlap)

    read = _READ if index is None else _READ_BESIDE_INDEX
    newest = records.iterate_containing(connection, pieces, reach, read)
    talk = message_rows.iterate_containing(connection, pieces, _MOST_MESSAGES, read)
    older, older_talk = _search_older(index, said, reach) if index is not None else ([], [])
    found = [
        *_records(connection, sieve, newest, older, reach),
        *_turns(connection, sieve, talk, older_talk, reach, asked_in),
    ]
    best = max(found, key=value, default=None)
    if best is None or not best.is_live:  # the index finds none of those that ended
        ended = records.iterate_containing(connection, pieces, reach, _READ, ended=True)
        found += _records(connection, sieve, ended, (), reach)
        best = max(found, key=value, default=None)
    if best is None:
        return None
    alike = [item for item in found if value(item) == value(best)]
    alike = [*filter(lambda item: reply is not None and _was_shown(connection, item, reply), alike)] or alike
    return max(alike, key=lambda item: (item.kind == "record", item.at))


def _search_older(index: SideIndex, said: str, reach: Scopes) -> tuple[Sequence[int], Sequence[int]]:
    """Search the index for records and messages, however old, that share most words with a text, the best first."""
    query = parse_query(parse_question(said), "")
    gather = partial(gather_candidates, scopes=scope_names(reach), query=query, near={}, policy=DEFAULT.recall)
    talk = index.read(gather, TurnCandidates())
    turns = sorted(talk.held, key=lambda message: (-talk.worth(talk.held[message]), -message))
    return search_index(index, said, reach, _SEARCHED), turns[:_SEARCHED]


def _records(
    connection: Connection, sieve: OverlapSieve, texts: Iterable[tuple[int, str]], others: Sequence[int], reach: Scopes
) -> list[FoundItem]:
    """Read the records that say enough of it. others: ids of such as have not been read."""
    likely = [number for number, text in texts if sieve.measure(text)]
    known = records.by_ids(connection, [*likely, *others], reach).values()
    return [
        FoundItem("record", each.id, each.text, each.scope, each.created, share, each)
        for each in known
        if each.form != "box" and (share := sieve.measure(each.text))
    ]


def _turns(
    connection: Connection,
    sieve: OverlapSieve,
    texts: Iterable[tuple[int, str]],
    others: Sequence[int],
    reach: Scopes,
    asked_in: int | None,
) -> list[FoundItem]:
    """Read people's messages that say enough of it, but for commands and the question itself. others: as above."""
    likely = [number for number, text in texts if sieve.measure(text)]
    return [
        FoundItem(
            "turn",
            each.id,
            each.line.text,
            each.effective_scope,
            each.at,
            share,
            session=each.session,
            hidden=each.hidden,
        )
        for each in message_rows.messages_by_id(connection, [*likely, *others], scope_names(reach))
        if each.role == "user" and not each.text.startswith("/") and each.inbox_id != asked_in
        if (share := sieve.measure(each.text))
    ]


def _against(connection: Connection, index: SideIndex | None, item: FoundItem, query: MemoryQuery) -> str:
    """Return the reason why the chat may not be shown something; "" when it may."""
    if (scopes := scope_names(query.reach)) is not None and item.scope not in scopes:
        return "out of reach"
    if item.record is not None and item.record.status != "active":
        return item.record.status
    trace = RecallTrace()
    sieve = RecallFilter(replace(query, trace=trace))
    if item.record is not None:
        kept = bool(sieve.filter_records(connection, [item.number]))
    else:
        kept = bool(sieve.filter_turns(connection, index, [item.number])) if index is not None else True
    return "" if kept else str(trace.dropped.get((item.kind, item.number), "not live"))


# ── what was shown ───────────────────────────────────────────────────────────────────────────────────────────────────


def _was_shown(connection: Connection, item: FoundItem, reply: ReplyExplanation) -> bool:
    if item.kind == "record":
        return any(used.record_id == item.number for used in reply.used_memories)
    prefix = prompt_prefix.load_prefix(connection, reply.session)
    is_here = item.session == reply.session
    if is_here and prefix is not None and item.number >= prefix.first_message:
        return True  # it stands in the conversation that the prompt shows
    told = recall_rows.recall_events(connection, reply.session, reply.turn)
    return any(item.number in cast("list[object]", event.get("turns") or []) for event in told)


def _follow(connection: Connection, index: SideIndex | None, item: FoundItem, query: MemoryQuery) -> AbsenceExplanation:
    """Search for the question again, and tell where the item came out."""
    if index is None:
        return AbsenceExplanation("not_shown", item, "no search", query.text)
    trace = RecallTrace()
    report = recall(connection, cast("SideIndex", _AsItStands(index)), replace(query, force=True, trace=trace))
    key = (item.kind, item.number)
    place = trace.ranked.get(key)
    ahead = [
        other for other, each in sorted(trace.ranked.items(), key=lambda pair: pair[1].rank)
        if other[0] == item.kind and place is not None and each.rank < place.rank
    ]  # fmt: skip
    shown: list[tuple[SourceKind, int]] = [("record", each.record.id) for each in report.memories] + [
        ("turn", each.turn.id) for each in report.excerpts
    ]
    names: list[tuple[SourceKind, int]] = ahead[:_BEFORE] or [each for each in shown if each != key][:_BEFORE]
    reason = str(trace.dropped.get(key, "")) or ("outranked" if place is not None else "not found")
    reason = "found now" if key in shown else reason
    looked_at = sum(kind == item.kind for kind, _ in trace.ranked)
    texts = tuple(_text(connection, kind, number, query.reach) for kind, number in names)
    return AbsenceExplanation(
        "not_shown", item, reason, query.text, place.rank if place else 0, looked_at, tuple(filter(None, texts))
    )


def _text(connection: Connection, kind: SourceKind, number: int, reach: Scopes) -> str:
    if kind == "record":
        record = records.get(connection, number, reach)
        return f"#{number} {record.text}" if record is not None else ""
    rows = message_rows.messages_by_id(connection, [number], scope_names(reach))
    return rows[0].line.text if rows else ""


class _AsItStands:
    """An index that learns nothing: of a transaction under way it must not."""

    def __init__(self, index: SideIndex) -> None:
        self._index = index

    def catch_up(self, truth: Connection) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)
