"""Commitments: a resolved one is kept for a while and then expires; an open one never goes by itself.

One is resolved when its owner says that it is done or called off, or when it was marked so. The day on which that was
said is written on the commitment. When its day has passed it is overdue, and asked about once.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta

from kenobot.cognitive.beliefs.lifecycle import RESOLVED_ATTRIBUTE, due_on, resolved_on
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.pass_rows import RecentUtterance
from kenobot.cognitive.sleep.plan.changes import Change, expire, question_about, unchanged, update
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import tiers
from kenobot.cognitive.store.records import Record, stamp
from kenobot.cognitive.text.calendar import local_day
from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS, alternatives, word_set
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

OVERDUE = "overdue"
_FIRST_NIGHT = timedelta(days=30)  # how far back to look without an earlier night
_OVERLAP = timedelta(days=1)
_LONGEST = 4000
_END = lazy.regex(r"(?<=[.!?…])\s+|\n+|;\s+|,\s+(?=(?:pero|but|y|and)\s)")
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_YES = lazy.regex(r"\s*(?:s[ií]|yes|yep|yeah|ok|okay|vale|bueno|hola|hey)\s*[,.!]\s*", re.IGNORECASE)
_AHEAD = lazy.regex(rf"\b(?:{alternatives('done_ahead')})\b|(?<!\besta )(?<!\bla )\bmañana\b")
_FUTURE = lazy.regex(r"\b\w+[aei]r(?:é|emos|án|ás|á)\b", re.IGNORECASE)  # enviaré, as against envié
_CALLED_OFF = lazy.regex(rf"\b(?:{alternatives('done_called_off')})\b")
_FINISHED = lazy.regex(rf"\b(?:{alternatives('done_finished')})\b")
_PAST = lazy.regex(
    rf"\b(?:i|we)(?:'ve| have| had)? (?:already |finally |just |also )?(?:{alternatives('done_verbs')})\b"
    r"|\b(?:he|hemos) \w+(?:ado|ido|cho|to|sto)\b"
    r"|\bacabo de \w+(?:ar|er|ir)(?:l[oea]s?)?\b"
)
_PRETERITE = lazy.regex(rf"\b(?:{alternatives('done_preterite')})\b")
_EMPTY = STOPWORDS | NEGATIONS | word_set("done_formula")
_NAME = lazy.regex(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑÜ][\w'’-]+")


def plan(view: NightView) -> Iterator[Change]:
    """Resolve commitments that are done, and expire those that were resolved long ago."""
    records = pass_rows.commitments(view.connection)
    days = {record.id: resolved_on(record, view.today, view.zone) for record in records}
    left_open = [record for record in records if days[record.id] is None]
    resolved = list(_newly_resolved(view, left_open))
    yield from resolved
    done = {change.record for change in resolved}
    yield from _questions(view, [record for record in left_open if record.id not in done])
    for record in records:
        day = days[record.id]
        if day is None or record.policy_class == "protected":
            continue
        end_of_day = datetime.combine(day, time(), view.zone) + timedelta(days=1)
        is_over = view.now - end_of_day >= timedelta(days=view.policy.pruning.keep_resolved_days)
        if is_over and not pass_rows.was_reverted(view.connection, record.id, "status", "expired"):
            reason, end = f"it was resolved on {day.isoformat()}", record.valid_to or stamp(view.now)
            yield expire(record, reason, end, unchanged(record, "attributes", "tags", "updated"))


def _newly_resolved(view: NightView, records: Sequence[Record]) -> Iterator[Change]:
    """Resolve the open commitments that people said are done since the last night."""
    since = view.now - _FIRST_NIGHT if view.since is None else view.since - _OVERLAP
    left = list(records)
    if not left:
        return
    for utterance in pass_rows.recent_utterances(view.connection, since, view.now, view.policy.pruning.max_searched):
        concerned = [record for record in left if _may_end(utterance, record)]
        for sentence in completion_sentences(utterance.text) if concerned else ():
            place = completed_commitment(sentence, [record.text for record in concerned])
            if place is None or pass_rows.was_ever_undone(view.connection, concerned[place].id, utterance.at):
                continue
            record = concerned.pop(place)
            left.remove(record)
            yield _resolve(record, local_day(datetime.fromisoformat(utterance.at), view.zone))


def _questions(view: NightView, left_open: Sequence[Record]) -> Iterator[Change]:
    """Ask once about each commitment that is overdue; close the questions about those that no longer are."""
    overdue = {record.id: record for record in left_open if (due := due_on(record)) is not None and due < view.today}
    for question in pass_rows.records_of_form(view.connection, "question", OVERDUE):
        about = tiers.derived_from_ids(view.connection, question.id)
        if question.status == "active" and about.isdisjoint(overdue):
            yield expire(question, "it is open no longer", stamp(view.now), touch=True)
        for number in about:
            overdue.pop(number, None)
    for record in overdue.values():
        yield _question(view, record)


def _question(view: NightView, record: Record) -> Change:
    day, language = due_on(record), "es" if record.lang == "es" else "en"
    [question] = texts("overdue", language, text=one_line(record.text), day=day)
    expires = view.now + timedelta(days=view.policy.pruning.ask_overdue_days)
    ask = question_about(question, OVERDUE, record, expires=expires)
    return Change("asked", f"its day, {day}, has passed, and nothing said that it is done", (ask,), record.id)


def _may_end(utterance: RecentUtterance, record: Record) -> bool:
    """Return whether words can speak of a commitment: later, in its scope, by its owner or whose memory it is."""
    own = utterance.trust == "owner" or record.scope.startswith("user:")
    return own and utterance.scope == record.scope and utterance.at > record.created


def _resolve(record: Record, day: str) -> Change:
    attrs = json.dumps({**json.loads(record.attributes), RESOLVED_ATTRIBUTE: day}, ensure_ascii=False)
    reason = f"on {day} it was said to be done, or called off"
    return update(record, "resolved", reason, {"attributes": attrs}, unchanged(record, "attributes"))


# ── what is said to be done, in Spanish and English: what is not understood leaves a commitment open ──────────────


def completion_sentences(text: str) -> list[str]:
    """The sentences of a text that may say that something is done. A text with quotations has none."""
    if _QUOTE.search(text[:_LONGEST]):
        return []
    parts = (_YES.sub("", part.strip(), count=1) for part in _END.split(text[:_LONGEST]))
    return [part for part in parts if part and len(part) <= 300 and not part.endswith(("?", "？")) and _completes(part)]


def completed_commitment(sentence: str, commitments: Sequence[str]) -> int | None:
    """The place of the commitment that a completion sentence is surely about."""
    stated, is_strong = _content(sentence), _says_finished(fold(sentence))
    if not stated:
        return None
    scores: list[tuple[int, int]] = []
    for place, commitment in enumerate(commitments):
        wanted = _content(commitment)
        shared = sum(not one.isdisjoint(other) for one in stated for other in wanted)
        enough = 1 if is_strong or len(wanted) == 1 else 2
        if shared >= enough and 2 * shared >= len(stated) and not _names_another(sentence, commitment):
            scores.append((shared, place))
    scores.sort(reverse=True)
    if not scores or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def _completes(sentence: str) -> bool:
    plain = fold(sentence)
    if _CALLED_OFF.search(plain):
        return True
    if _AHEAD.search(plain) or _FUTURE.search(sentence) or not NEGATIONS.isdisjoint(words(sentence)):
        return False
    return _says_finished(plain) or bool(_PAST.search(plain) or _PRETERITE.search(sentence))


def _says_finished(plain: str) -> bool:
    """Return whether the thing itself is said to be finished, so that the thing alone identifies the commitment."""
    return bool(_FINISHED.search(plain) or _CALLED_OFF.search(plain))


def _content(text: str) -> list[set[str]]:
    """The stems of each word of a sentence, without formulas and days."""
    plain = (word for word in words(text) if word not in _EMPTY and not word.startswith(("cancel", "anul")))
    return [set(stems(word)) for word in dict.fromkeys(plain) if not word.isdecimal()]


def _names_another(sentence: str, commitment: str) -> bool:
    """Return whether each has a name that the other has not: to call Ana is not to call Luis."""
    one, other = ({fold(name) for name in _NAME.findall(text)} for text in (sentence, commitment))
    return bool(one - set(words(commitment))) and bool(other - set(words(sentence)))


PASS = Pass("commitments", "prune", "notes which commitments are done, and lets go of those done long ago", plan)
