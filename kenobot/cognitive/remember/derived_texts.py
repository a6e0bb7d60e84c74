"""Have what was made of a memory follow it in the transaction that changes it: no text goes on saying what it said.

A week's summary is written anew of its facts; the profile puts the new words in the place of the old; a chat's summary
and a conclusion keep their words, with what holds now behind them. Each is an event of its own, which can be undone.
What people said and wrote stays as it is; the undo of a change to the memory makes these texts follow once more.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.remember import week_text
from kenobot.cognitive.store import links, records, tiers
from kenobot.cognitive.store.change import change
from kenobot.core import redaction
from kenobot.language.changes.former_words import Replacement, update_line, without_notes
from kenobot.language.fingerprint import key_of, normalise
from kenobot.language.summary import digest
from kenobot.language.summary.digest import Digest, SummaryLine
from kenobot.language.words import detect_language, terms
from kenobot.ports.identity import chat_scope, parse_trust, trust_rank
from kenobot.ports.memory import CONFIDED
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot.storage.times import stamp

FOLLOWED = "brought up to date"
"""The kind of event by which a text follows a memory."""

_CHATS, _NIGHTS = "compaction", "sleep"  # who writes these texts, and whose changes an undo in a chat does not mean
_ENDED = "status IN ('superseded', 'invalidated')"
_LATELY = 200  # ended records of a scope with which the lines of a new summary are compared
_BULLET = "- "


def follow_change(
    connection: Connection, former: Record, current: Record | None, act: ChangeContext, left: str = ""
) -> None:
    """Let texts made of a record follow what became of it.

    former: as it read before. current: what holds now, which may be the same record; None where nothing does.
    left: what the former still says, where only a part of it ended.
    """
    if former.form in records.HOLDERS or former.form == "summary":
        return
    replaced = _build_replacement(former, current, left)
    for summary in _chat_summaries(connection, former.scope):
        _follow_in_chat(connection, summary, replaced, current, act)
    sources = {former.id, current.id if current is not None else former.id}  # of an undo, the older one has the links
    numbers = {number for each in sources for number in links.ids_derived_from(connection, each)}
    made = records.by_ids(connection, sorted(numbers), (former.scope,)) if numbers else {}
    for record in made.values():
        if record.status != "active" or record.source != "sleep" or record.trust == "owner":
            continue  # a person's words, or what they have confirmed by their own
        if (record.form, record.category) == ("summary", "week"):
            _write_week(connection, record, former, current, act)
        elif record.form == "question" and not left:
            values = {"status": "expired", "valid_to": stamp(act.at), "updated": stamp(act.at)}
            _change(connection, record, values, Sentence("reasons.one_gone"), act, _NIGHTS)
        elif record.form not in records.HOLDERS and record.form not in ("question", "summary"):
            _follow_in_note(connection, record, _build_replacement(former, _select_shareable(current), left), act)


def bring_up_to_date(connection: Connection, session: str, held: Digest) -> Digest:
    """Put beside the lines of a chat's new summary what holds now of what older talk said."""
    scope = conversation.last_scope(connection, session)
    reach = tuple(dict.fromkeys((scope, chat_scope(session))))
    lines, said = held.lines, {term for line in held.lines for term in terms(line.text)}
    for record in reversed(records.select(connection, _ENDED, (), reach, order="id DESC", limit=_LATELY)):
        if not said.isdisjoint(terms(record.text)):
            current = records.successor(connection, record.id, reach)
            replaced = _build_replacement(record, current)
            lines = tuple(_follow_in_line(line, replaced, current) for line in lines)
    return replace(held, lines=lines)


def _build_replacement(former: Record, current: Record | None, left: str = "") -> Replacement:
    if current is None:
        return Replacement(former.id, former.text, former.id, left=left, lang=former.lang)
    return Replacement(former.id, former.text, current.id, current.text, left, current.lang or former.lang)


def _select_shareable(current: Record | None) -> Record | None:
    """Return what may be told in a note of the bot's own: no confidence, and nothing that is only quoted."""
    return None if current is None or current.needs_mark else current


def _chat_summaries(connection: Connection, scope: str) -> Iterator[Record]:
    """Yield the live summaries of the chats whose talk is remembered in a scope."""
    where = f"key = ? AND form = ? AND {records.LIVE}"
    for summary in records.select(connection, where, (digest.KEY, digest.FORM), ALL_SCOPES, scan_scope=False):
        session = summary.scope.removeprefix("chat:")
        if scope in (summary.scope, conversation.last_scope(connection, session)):
            yield summary


def _follow_in_chat(
    connection: Connection, summary: Record, replaced: Replacement, current: Record | None, act: ChangeContext
) -> None:
    held = digest.parse_digest(summary)
    after = replace(held, lines=tuple(_follow_in_line(line, replaced, current) for line in held.lines))
    if after == held:
        return
    values: dict[str, ColumnValue] = {"updated": stamp(act.at)}
    if held.text == summary.text:
        values |= {"text": after.text, "attributes": json.dumps(after.attributes, ensure_ascii=False)}
    else:  # a person has edited it
        values["text"] = "\n".join(update_line(row, replaced) for row in summary.text.split("\n"))
    _change(connection, summary, values, _reason(replaced), act, _CHATS)


def _follow_in_line(line: SummaryLine, replaced: Replacement, current: Record | None) -> SummaryLine:
    """Put beside a line what holds now; it is trusted as the least of both."""
    text = update_line(line.text, replaced)
    if text == line.text:
        return line
    other = parse_trust(current.trust, "forward") if current is not None else line.trust
    if current is not None and current.is_hearsay:
        other = "forward"
    return replace(line, text=text, trust=min(line.trust, other, key=trust_rank))


def _write_week(
    connection: Connection, week: Record, former: Record, current: Record | None, act: ChangeContext
) -> None:
    """Write a week's summary anew of the facts that it was made of, as they are now."""
    name = week.key.rpartition(":")[2]
    first, last = week_text.days_of_week(name)
    sources = tiers.list_derived_from(connection, week.id) | ({current.id} if current is not None else set())
    facts = [each for each in tiers.list_logged_between(connection, week.scope, first, last) if each.id in sources]
    reason = Sentence("reasons.source_changed", other=former.id)
    if not facts:
        values: dict[str, ColumnValue] = {"status": "expired", "valid_to": stamp(act.at), "updated": stamp(act.at)}
        _change(connection, week, values, Sentence("reasons.week_empty", week=name), act, _NIGHTS)
        return
    text = week_text.summary_by_rules(name, facts, DEFAULT.decay)[: DEFAULT.max_text_chars]
    if redaction.find_secret(text) is not None:
        return  # a recall passes it by, as a record that it was made of has ended
    attributes = {**week.attribute_map, week_text.WRITER: "rules", week_text.DIGEST: week_text.hash_facts(facts)}
    values = {
        "text": text,
        "attributes": json.dumps(attributes, ensure_ascii=False),
        "lang": detect_language(text),
        "updated": stamp(act.at),
    }
    if any(each.is_confided for each in facts) and not week.is_confided:
        values["tags"] = json.dumps([*json.loads(week.tags), CONFIDED])
    _change(connection, week, values, reason, act, _NIGHTS)
    if current is not None and any(each.id == current.id for each in facts):
        links.add_link(connection, week.id, current.id, "derived", stamp(act.at), _NIGHTS)


def _follow_in_note(connection: Connection, record: Record, replaced: Replacement, act: ChangeContext) -> None:
    text = "\n".join(_follow_line(line, replaced) for line in record.text.split("\n"))
    if text == record.text:
        return
    values: dict[str, ColumnValue] = {"text": text, "updated": stamp(act.at)}
    if not record.key.startswith("slot:"):
        values["key"] = key_of(text)
        if records.by_key(connection, record.scope, record.form, key_of(text)) is not None:
            return
    _change(connection, record, values, _reason(replaced), act, _NIGHTS)


def _follow_line(line: str, replaced: Replacement) -> str:
    """Return a line with the new words in the place of the former, where it has no others; else beside them."""
    bullet = _BULLET if line.startswith(_BULLET) else ""
    if replaced.current and normalise(without_notes(line.removeprefix(bullet))) == normalise(replaced.former):
        return bullet + " ".join(replaced.current.split())
    return update_line(line, replaced)


def _reason(replaced: Replacement) -> str:
    return Sentence("reasons.source_changed", other=replaced.former_number)


def _change(
    connection: Connection,
    record: Record,
    values: Mapping[str, ColumnValue],
    reason: str,
    act: ChangeContext,
    actor: str,
) -> None:
    """Change a text as a decision of its own: what undoes the change to the memory lets it follow again."""
    if all(getattr(record, name) == value for name, value in values.items() if name != "updated"):
        return
    change(connection, record, FOLLOWED, values, ChangeContext(act.at, actor, reason, act.session))
