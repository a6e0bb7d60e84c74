"""Commitments: a resolved one is kept for a while and then expires; an open one never goes by itself.

One is resolved when it was marked so, or when its owner says it again, in its very words, as done; the day is written
on it. What merely sounds like it is asked about, and so is, once, a commitment whose day has passed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta

from kenobot.cognitive.beliefs.lifecycle import due_on, find_resolution_day, note_resolved
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.pass_rows import RecentUtterance
from kenobot.cognitive.sleep.plan.changes import Change, expect, expire, question_about, update
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import tiers
from kenobot.language.calendar import local_day
from kenobot.language.completions import (
    completes,
    completion_sentences,
    find_completed_commitment,
    names_part,
    says_done,
)
from kenobot.language.facts.clause_rules import promises
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

OVERDUE = "overdue"
MAYBE_DONE = "maybe_done"
_FIRST_NIGHT = timedelta(days=30)  # how far back to look without an earlier night
_OVERLAP = timedelta(days=1)


def plan(view: NightView) -> Iterator[Change]:
    """Resolve commitments that are done, ask about the others, and expire those that were resolved long ago."""
    records = pass_rows.commitments(view.connection)
    days = {record.id: find_resolution_day(record, view.today, view.zone) for record in records}
    left_open = [record for record in records if days[record.id] is None]
    heard = list(_find_heard_of(view, left_open))
    resolved = [_resolve(record, day) for record, day, is_sure in heard if is_sure]
    yield from resolved
    done = {change.record for change in resolved}
    left_open = [record for record in left_open if record.id not in done]
    yield from _questions(view, left_open, [(record, day) for record, day, is_sure in heard if not is_sure])
    for record in records:
        day = days[record.id]
        if day is None or record.policy_class == "protected":
            continue
        end_of_day = datetime.combine(day, time(), view.zone) + timedelta(days=1)
        is_over = view.now - end_of_day >= timedelta(days=view.policy.pruning.keep_resolved_days)
        if is_over and not pass_rows.was_reverted(view.connection, record.id, "status", "expired"):
            reason, end = Sentence("reasons.resolved", day=day.isoformat()), record.valid_to or stamp(view.now)
            yield expire(record, reason, end, expect(record, "attributes", "tags", "updated"))


def _find_heard_of(view: NightView, open_records: Sequence[Record]) -> Iterator[tuple[Record, str, bool]]:
    """Find the open commitments that people may have called done since the last night, the day, and whether surely.

    Words that surely say so count, though others only sounded like it before.
    """
    since = view.now - _FIRST_NIGHT if view.since is None else view.since - _OVERLAP
    left = list(open_records)
    maybe: dict[int, tuple[Record, str]] = {}  # bounded: open commitments; night
    if not left:
        return
    for utterance in pass_rows.recent_utterances(view.connection, since, view.now, view.policy.pruning.max_searched):
        concerned = [record for record in left if _may_end(utterance, record)]
        day = local_day(datetime.fromisoformat(utterance.at), view.zone)
        for sentence in completion_sentences(utterance.text) if concerned else ():
            record = _find_meant(sentence, concerned, [each for each in concerned if each.id not in maybe])
            if record is None or pass_rows.was_ever_undone(view.connection, record.id, utterance.at):
                continue
            concerned.remove(record)
            if says_done(sentence, record.text):
                left.remove(record)
                maybe.pop(record.id, None)
                yield record, day, True
            else:
                maybe.setdefault(record.id, (record, day))
    yield from ((record, day, False) for record, day in maybe.values())


def _find_meant(sentence: str, concerned: Sequence[Record], unheard: Sequence[Record]) -> Record | None:
    """Find the commitment that a sentence says is done, and not only a part of it; by a guess one of `unheard`."""
    same = next((record for record in concerned if says_done(sentence, record.text)), None)
    if same is not None or not completes(sentence) or promises(sentence):
        return same
    place = find_completed_commitment(sentence, [record.text for record in unheard])
    return None if place is None or names_part(sentence, unheard[place].text) else unheard[place]


def _questions(view: NightView, left_open: Sequence[Record], heard: Sequence[tuple[Record, str]]) -> Iterator[Change]:
    """Ask once about each commitment that is overdue or sounds done; close the questions about those not open."""
    still_open = {record.id for record in left_open}
    overdue = {record.id for record in left_open if (due := due_on(record)) is not None and due < view.today}
    asked: dict[str, set[int]] = {OVERDUE: set(), MAYBE_DONE: set()}
    waiting = {record.id for record, _ in heard}
    for category, expected in ((OVERDUE, overdue), (MAYBE_DONE, still_open)):
        for question in pass_rows.records_of_form(view.connection, "question", category):
            about = tiers.list_derived_from(view.connection, question.id)
            if question.status == "active" and about.isdisjoint(expected):
                yield expire(question, Sentence("reasons.not_open"), stamp(view.now), touch=True)
            asked[category] |= about
            waiting |= about if question.status == "active" else set()
    for record, day in heard:
        if record.id not in asked[MAYBE_DONE]:
            yield _question(view, record, MAYBE_DONE, day, Sentence("reasons.sounds_done", day=day))
    for record in left_open:
        if record.id in overdue - asked[OVERDUE] - waiting:
            day = str(due_on(record))
            reason = Sentence("reasons.overdue", day=day)
            yield _question(view, record, OVERDUE, day, reason)


def _question(view: NightView, record: Record, category: str, day: str, reason: str) -> Change:
    language = pass_rows.language_about(view.connection, record)
    [question] = texts(category, language, text=one_line(record.text), day=day)
    expires = view.now + timedelta(days=view.policy.pruning.ask_overdue_days)
    return Change("asked", reason, (question_about(question, category, record, expires=expires),), record.id)


def _may_end(utterance: RecentUtterance, record: Record) -> bool:
    """Return whether words can speak of a commitment: later ones, in its scope, by its owner or whose memory it is."""
    own = utterance.trust == "owner" or record.scope.startswith("user:")
    later = utterance.at > record.created and not {*utterance.turns} & {*record.source_message_ids}
    return own and later and utterance.scope == record.scope


def _resolve(record: Record, day: str) -> Change:
    reason = Sentence("reasons.said_done", day=day)
    values = {"attributes": note_resolved(record, day)}
    return update(record, "resolved", reason, values, expect(record, "attributes"))


PASS = Pass("commitments", "prune", "asks which commitments are done, and lets go of those done long ago", plan)
