"""Forget and purge memories.

To forget hides a fact at once and everywhere, reversibly: the record, the copies that repeat it word for word, and the
turns that told it. To purge erases it: the record and what it took the place of, with every wording, vector, link and
event text, and the turns that told it. What stays is the key of the words, without content, so that they are not
learned again from what is old. Copies of the database made before, the backups, hold what they held.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Protocol

from kenobot.cognitive.compact import summary_rows
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember.conflicts import end_record, keep_rest
from kenobot.cognitive.store import events, imported_talks, links, proposals, sleep_plans
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ERASED_TEXT, add_tombstones, all_wordings, delete_records, rewrite_event
from kenobot.core import lazy
from kenobot.language.changes.clauses import bare_clause, split_clauses, without_clause
from kenobot.language.fingerprint import key_of, normalise
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.statement_relation import tells_of_another
from kenobot.language.summary.digest import KEY as SUMMARY_KEY
from kenobot.language.words import fold, stems, terms, words
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import ChangeContext, ForgetResult, PurgePlan
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation, message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import Scopes
from kenobot.storage.times import stamp

_LEAST = 3  # letters of the piece of a word by which texts are looked through
_SHORTEST_QUOTE = 8  # characters: what is shorter stands in other texts by chance
_SLOT = "slot:"  # such a key stands for a place, whatever is in it
_LINES = ("note", "episode")
_OWN_NOTES = ("scratchpad", "profile", "summary")
_MADE_ASLEEP = frozenset({("summary", "week"), ("profile", "profile"), ("note", "meta"), ("question", "question")})
_COMPOUND = lazy.regex(r"^.$|['’.&/-]", re.ASCII)  # a word that comes in its parts as well, and one letter of such
_FEW = 3
_POLICY = DEFAULT.control
_OF_ANYBODY = frozenset(
    term
    for word in "owner user person dueño dueña usuario usuaria persona propietario said says told dice dijo".split()
    for term in stems(fold(word))
)


class Actor(Protocol):
    """Time and author of a change to memory; an `AdmitContext` is one."""

    @property
    def at(self) -> datetime: ...

    def change_context(self, reason: str) -> ChangeContext:
        """Return the author of a change."""
        ...


def is_said_only_by(connection: Connection, record: Record, author: str) -> bool:
    """Return whether every message that told `record`, in a group, is certainly this account's."""
    turns = record.source_message_ids
    written = conversation.authors(connection, turns)
    return bool(turns) and all(written.get(turn) == author for turn in turns)


def forget(
    connection: Connection,
    record: int,
    reach: Scopes,
    actor: Actor,
    *,
    names: Iterable[str] = (),
    reason: str = "",
    author: str = "",
    line_only: bool = False,
) -> ForgetResult | None:
    """Take a record out of sight, reversibly. None when there is no such live record within `reach`.

    names: what the person is called, which need not stand where the fact is told again. author: the account in a group
    whose copies and turns alone go with it; "" for everybody's. line_only: a person took its line out of a file, in
    which those that repeat it within other words still stand.
    """
    known = store.get(connection, record, reach)
    if known is None or known.status != "active":
        return None
    act = actor.change_context(reason)
    copies = [copy for copy in _copies(connection, known, reach) if not (line_only and copy.form in _LINES)]
    if author:
        copies = [copy for copy in copies if is_said_only_by(connection, copy, author)]
    copies += [week for week in _weeks(connection, [known], reach) if week.status == "active" and week not in copies]
    telling = _select_written_by(connection, author, turns_telling(connection, known, names=names))
    told = [*telling, *(turn for copy in copies for turn in copy.source_message_ids)]
    if known.key != SUMMARY_KEY:
        summary_rows.withdraw_summaries(connection, told, known.text, act.at)
    proposals.drop_pending_about(connection, [known.id, *(copy.id for copy in copies)], [known.text])
    event = end_record(connection, known, "forgotten", act)
    whole = act.part_of if act.part_of is not None else event
    part = ChangeContext(act.at, act.actor, Sentence("reasons.repeats", other=known.id), act.session, part_of=whole)
    for copy in copies:
        left = _rest_of(copy.text, known.text) if copy.form in _LINES else ""
        if left and store.by_key(connection, copy.scope, copy.form, key_of(left)) is None:
            keep_rest(connection, copy, left, part)
        else:
            end_record(connection, copy, "forgotten", part)
    turns = conversation.hide_turns(connection, telling, known.id)
    for copy in copies:
        sources = _select_written_by(connection, author, copy.source_message_ids)
        turns += conversation.hide_turns(connection, sources, copy.id)
    return ForgetResult(event, known, tuple(copies), tuple(dict.fromkeys(turns)))


def _select_written_by(connection: Connection, author: str, turns: Sequence[int]) -> Sequence[int]:
    """Select the turns that this account wrote; all of them for ""."""
    written = conversation.authors(connection, turns) if author else {}
    return [turn for turn in turns if written.get(turn) == author] if author else turns


def update_hidden_turns(connection: Connection, record: Record, at: datetime, author: str = "") -> None:
    """Let the turns that told `record` be hidden if it is forgotten, and shown if it is not.

    A summary of the conversation that tells what is hidden, or was made without what is shown again, is made anew.
    author: as in `forget`.
    """
    if record.status == "forgotten":
        turns = _select_written_by(connection, author, turns_telling(connection, record))
        conversation.hide_turns(connection, turns, record.id)
        summary_rows.withdraw_summaries(connection, turns, record.text, at)
    else:
        turns = conversation.unhide_turns(connection, record.id)
        summary_rows.withdraw_summaries(connection, turns, "", at)


def turns_telling(connection: Connection, record: Record, *, names: Iterable[str] = ()) -> list[int]:
    """Find the turns that told `record`: its evidence, and later turns of its scope that say all of it again.

    A turn says it again when it holds most of the words that mean something, whatever their endings; both of two. Not
    when it says that of somebody or something else: it has another name or number, or told a live record that has
    these words as well. The bot's own notes about a chat are told by no turn.
    """
    if record.form in _OWN_NOTES:
        return []
    if talk := imported_talks.turns_of_record(connection, record.id):
        return talk
    found = dict.fromkeys(record.source_message_ids)
    received = conversation.load_received_mail(connection, record.source_message_ids)
    gist = _Gist.of(record, [*names, *(mail.sender_name for mail in received.values() if mail.sender_name)])
    again: dict[int, list[MessageRow]] = {}
    for message in _iterate_saying(connection, record, gist):
        if message.inbox_id is not None and message.inbox_id not in found and not _is_of_another(record, message, gist):
            again.setdefault(message.inbox_id, []).append(message)
    others = _texts_of_others(connection, record, gist, again)
    for turn, said in again.items():
        if not all(_repeats_only(message, others.get(turn, ()), gist) for message in said):
            found[turn] = None
    return list(found)


@dataclass(frozen=True, slots=True)
class _Gist:
    """The content words of a record, each with its stems and what these begin with; and how many make a repetition."""

    words: Sequence[tuple[str, tuple[str, ...]]]
    beginnings: Sequence[str]
    least: float

    @classmethod
    def of(cls, record: Record, names: Iterable[str]) -> "_Gist":
        """Make the gist of a record. names: what its speakers are called."""
        wanted = _list_content_words(record, names)
        least = len(wanted) if len(wanted) < _FEW else _POLICY.repeats_from_share * len(wanted)
        return cls(wanted, [_beginning(word, its) for word, its in wanted], least)

    def is_in(self, text: str) -> bool:
        """Return whether a text has enough of the words."""
        folded = fold(text)
        if sum(map(folded.__contains__, self.beginnings)) < self.least:
            return False
        said = set(terms(text))
        return sum(bool(said.intersection(each)) for _, each in self.words) >= self.least


def _iterate_saying(connection: Connection, record: Record, gist: _Gist) -> Iterator[MessageRow]:
    """Iterate over the messages of a record's scope that have enough of its words."""
    telling = {each for each in gist.beginnings if len(each) >= _LEAST or (each and not each.isascii())}
    # So many of them that a text without any lacks too many words.
    pieces = sorted(telling, key=lambda each: (-len(each), each))[: int(len(gist.words) - gist.least) + 1]
    session = record.scope.partition(":")[2]
    limit = _POLICY.max_messages_searched
    if pieces:
        found = message_rows.messages_containing(connection, record.scope, session, pieces, limit)
        yield from (message for message in found if gist.is_in(message.text))


def _is_of_another(record: Record, message: MessageRow, gist: _Gist) -> bool:
    """Return whether each sentence that has enough of a record's words has another name, number or date in it."""
    sentences = [each for each in split_sentences(message.text) if gist.is_in(each)] or [message.text]
    return all(tells_of_another(record.text, each) for each in sentences)


def _texts_of_others(
    connection: Connection, record: Record, gist: _Gist, turns: Collection[int]
) -> dict[int, list[str]]:
    """List, by turn, what the other live facts say that it told and that have enough of a record's words; no copies."""
    if not turns:
        return {}
    numbers = store.newest_from_messages(connection, record.scope, turns, _POLICY.max_messages_searched)
    said, found = normalise(record.text), dict[int, list[str]]()
    for other in store.by_ids(connection, numbers, (record.scope,)).values():
        if other.id == record.id or other.form not in _LINES or other.source == "sleep":
            continue
        if said not in normalise(other.text) and gist.is_in(other.text):
            for turn in other.source_message_ids:
                found.setdefault(turn, []).append(other.text)
    return found


def _repeats_only(message: MessageRow, others: Sequence[str], gist: _Gist) -> bool:
    """Return whether a message has the words of a gist for one of these texts alone; of a reply its quotation is."""
    if not others or message.role == "user":
        return bool(others)
    rest = normalise(message.text)
    for other in others:
        rest = rest.replace(normalise(other), " ")
    return not gist.is_in(rest)


def _list_content_words(record: Record, names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Select the content words of a record, each with its stems, but those that only say whose fact it is."""
    subject = "" if record.subject == "owner" else record.subject
    whose = _OF_ANYBODY.union(*(terms(name, keep_stops=True) for name in (*names, subject)))
    spoken = [
        word for word in dict.fromkeys(words(record.text)) if word not in STOPWORDS and not _COMPOUND.search(word)
    ]
    left = [(word, stems(word)) for word in spoken if not whose.intersection(stems(word))]
    return left if len(left) > 1 or len(spoken) == 1 else []


def _beginning(word: str, found: tuple[str, ...]) -> str:
    """Cut a word to what it and its stems begin with alike: "salar" of salary, whose stem is salari."""
    first, last = min(word, *found), max(word, *found)
    end = next((at for at, letter in enumerate(first) if at >= len(last) or last[at] != letter), len(first))
    return first[:end]


def _copies(connection: Connection, record: Record, reach: Scopes) -> list[Record]:
    """Find live records within `reach` that repeat `record` word for word, alone or within a longer text."""
    text = record.text.strip()
    if len(text) < _SHORTEST_QUOTE:
        return []
    said = normalise(text)
    numbers = [number for number in store.ids_containing_text(connection, _line(text), reach) if number != record.id]
    found = [other for other in store.by_ids(connection, numbers, reach).values() if other.key != SUMMARY_KEY]
    return [other for other in found if other.status == "active" and said in normalise(other.text)]


def _rest_of(text: str, told: str) -> str:
    """Return the rest of a text without `told`: its other sentences, and other clauses of the sentence that says it."""
    said, kept = normalise(told), list[str]()
    for sentence in split_sentences(text):
        if said not in normalise(sentence):
            kept.append(sentence)
            continue
        clauses = (bare_clause(part) for part in split_clauses(sentence))
        clause = next((each for each in clauses if normalise(each) == said), "")
        if clause and (left := without_clause(sentence, clause)):
            kept.append(left)
    return " ".join(kept)


def _line(text: str) -> str:
    """Choose the longest stretch of ASCII in a text, or the text: what can be found whatever its case."""
    return max(re.findall(r"[\x20-\x7e]{8,}", text), key=len, default=text)


def plan_purge(connection: Connection, record: int, reach: Scopes) -> PurgePlan | None:
    """Plan what a purge of `record` erases; None when there is no such record, of any status, within `reach`."""
    known = store.get(connection, record, reach)
    if known is None:
        return None
    older = store.by_ids(connection, links.list_superseded(connection, known), reach)
    twins = _copies(connection, known, reach)
    same = [twin for twin in twins if normalise(twin.text) == normalise(known.text)]
    others = {other.id: other for other in (*older.values(), *same) if other in same or other.status != "active"}
    ids = [known.id, *others]
    texts = {text for said in all_wordings(connection, ids, reach).values() for text in said if text.strip()}
    made = {number for each in ids for number in links.ids_derived_from(connection, each)} - set(ids)
    made |= {twin.id for twin in twins} - set(ids)
    remaining = store.by_ids(connection, sorted(made), reach)
    turns = [turn for each in (known, *others.values()) for turn in turns_telling(connection, each)]
    retold = {other.id: other for other in summary_rows.summaries_telling(connection, turns, texts)}
    retold |= {week.id: week for week in _weeks(connection, [known, *others.values()], reach)}
    return PurgePlan(
        record=known,
        others=tuple(others.values()),
        turns=tuple(dict.fromkeys(turns)),
        wordings=tuple(sorted(texts, key=lambda text: (-len(text), text))),
        derived=tuple(other for other in remaining.values() if other.status == "active" and other.id not in retold),
        resummarized=tuple(other for other in retold.values() if other.id not in ids),
    )


def _weeks(connection: Connection, records: Sequence[Record], reach: Scopes) -> list[Record]:
    """Find what sleep made of these records, of any status, in whatever words: it is made anew of what is left."""
    numbers = {number for record in records for number in links.ids_derived_from(connection, record.id)}
    found = store.by_ids(connection, sorted(numbers), reach).values()
    return [other for other in found if (other.form, other.category) in _MADE_ASLEEP and other.trust != "owner"]


def purge(connection: Connection, plan: PurgePlan, actor: Actor, messages: Sequence[int] = ()) -> int:
    """Erase what `plan_purge` found, inside a transaction; returns the event that says so, without content.

    The words of the turns stand in the conversation, which is not memory's to write: `kenobot.storage.erasure`
    blanks them first and says which `messages` these were, so that the index drops them too.
    """
    act = actor.change_context(Sentence("reasons.owner_erased"))
    now = stamp(act.at)
    for record in plan.records:
        texts = all_wordings(connection, [record.id], (record.scope,)).get(record.id, set())
        keys = {key_of(text) for text in texts if text.strip()}
        keys |= set() if record.key.startswith(_SLOT) else {record.key}
        add_tombstones(connection, record.scope, keys, now)
        conversation.hide_turns(connection, plan.turns, record.id)
    delete_records(connection, [record.id for record in (*plan.records, *plan.resummarized)])
    proposals.redact_proposals(connection, [record.id for record in plan.records], plan.wordings)
    for text in plan.wordings:
        _redact_events(connection, text)
    sleep_plans.delete_all_plans(connection)
    for record in (*plan.others, *plan.resummarized):
        events.add_event(connection, act.at, act.actor, "purged", session=act.session, record=record.id)
    told: dict[str, Json] = {"reason": act.reason, "messages": [*messages]}
    record = plan.record
    return events.add_event(connection, act.at, act.actor, "purged", session=act.session, record=record.id, data=told)


def _redact_events(connection: Connection, text: str) -> None:
    """Take `text` out of what other events tell, such as the reasons of decisions; not out of the middle of a word."""
    spelled = json.dumps(text, ensure_ascii=False)[1:-1]
    pattern = lazy.regex(rf"(?<!\w){re.escape(text)}(?!\w)")
    for happening in events.events_containing(connection, spelled):
        blotted = _redact(dict(happening.data), pattern)
        assert isinstance(blotted, dict)
        rewrite_event(connection, happening.id, blotted)


def _redact(told: Json, pattern: re.Pattern[str]) -> Json:
    match told:
        case str():
            return pattern.sub(ERASED_TEXT, told)
        case list():
            return [_redact(each, pattern) for each in told]
        case dict():
            return {name: _redact(value, pattern) for name, value in told.items()}
        case _:
            return told
