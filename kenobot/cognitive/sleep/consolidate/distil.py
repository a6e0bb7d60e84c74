"""Distil cold weeks: what lasts of one graduates to MEMORY.md or a ref file, and its summary leaves for the archive.

What recurs and what was learned the hard way lasts; a model may be asked instead. All else stays remembered as it is.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from kenobot.cognitive.mirror.paths import slug
from kenobot.cognitive.remember.week_text import days_of_week, is_own_words
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import tiers
from kenobot.language.salience import salience_signs
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_LASTING_CATEGORIES = frozenset({"decision", "lesson", "principle", "skill", "correction"})


def plan(view: NightView) -> Iterator[Change]:
    """Move the lasting facts and the summary of each cold week, one change a week."""
    for summary, facts in _cold_weeks(view):
        chosen = _by_model(facts, view)
        if chosen is None:
            chosen = [(record, "") for record in _by_rules(facts, view)]
        edits = [
            UpdateRecord(record.id, {"tier": tier, "updated": stamp(view.now)}, {"tier": record.tier})
            for record, tier in _place(chosen, summary.scope, view)
        ]
        name = summary.key.rpartition(":")[2]
        reason = Sentence("reasons.week_over", name=name, lasting=len(edits), count=len(facts))
        archived = UpdateRecord(summary.id, {"tier": tiers.ARCHIVE}, {"tier": tiers.DAILY})
        yield Change("distilled", reason, (*edits, archived), summary.id)


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask which facts of each cold week last."""
    return [_question(facts, view) for _, facts in _cold_weeks(view) if facts]


def _cold_weeks(view: NightView) -> Iterator[tuple[Record, list[Record]]]:
    """Yield the summaries of weeks that ended longer ago than `warm_days`, and the facts that may graduate."""
    last = view.days_ago(view.policy.sleep.warm_days + 1)
    for scope in tiers.all_scopes(view.connection):
        for summary in tiers.week_summaries(view.connection, scope):
            monday, sunday = days_of_week(summary.key.rpartition(":")[2])
            if sunday <= last:
                facts = tiers.list_logged_between(view.connection, scope, monday, sunday)
                yield summary, [record for record in facts if _may_graduate(record, view)]


def _may_graduate(record: Record, view: NightView) -> bool:
    """Return whether age may make a fact long-term memory: nothing said by others, ending by itself, or taken out."""
    lasting = record.category != "commitment" and record.expires is None
    if not is_own_words(record) or not lasting or record.verification == "disputed":
        return False
    return not pass_rows.was_reverted(view.connection, record.id, "tier", tiers.CORE)


def _by_rules(facts: Sequence[Record], view: NightView) -> list[Record]:
    """Return the facts that recur or were learned the hard way, the weightiest first, as many as a week may hand on."""
    policy = view.policy.decay
    lasting = [record for record in facts if _lasts(record, policy.lasting_from_mentions)]
    lasting.sort(key=lambda record: (-record.mentions, -record.importance, record.id))
    return lasting[: policy.max_lessons]


def _lasts(record: Record, recurring: int) -> bool:
    signs = set(salience_signs(record.text))
    hard_won = "lesson" in signs or {"error", "success"} <= signs
    return record.mentions >= recurring or record.category in _LASTING_CATEGORIES or hard_won


def _question(facts: Sequence[Record], view: NightView) -> ModelQuestion:
    policy = view.policy.decay
    return model_answers.question_about(facts[: policy.max_facts_shown], "distil", policy.line_chars, 600)


def _by_model(facts: Sequence[Record], view: NightView) -> list[tuple[Record, str]] | None:
    """Return the facts that a model chose, each with its topic; None without a usable answer."""
    policy = view.policy.decay
    answer = view.answer(_question(facts, view)) if facts else None
    read = model_answers.find_object(answer) if answer is not None else None
    items = read.get("lasting") if read is not None else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    ids = model_answers.parse_record_ids([item.get("entry") for item in items], facts[: policy.max_facts_shown])
    if ids is None:
        return None
    topics = {item["entry"]: item.get("topic") for item in items}
    chosen = [(record, topics[record.id]) for record in facts if record.id in ids][: policy.max_lessons]
    return [(record, topic if isinstance(topic, str) else "") for record, topic in chosen]


def _place(chosen: Sequence[tuple[Record, str]], scope: str, view: NightView) -> Iterator[tuple[Record, str]]:
    """Yield the tier of each: a ref file where there is one of its topic, or enough for one; else MEMORY.md."""
    known = tiers.ref_file_counts(view.connection, scope)
    topics = [slug(topic) for _, topic in chosen]
    counts = Counter(topics)
    for (record, _), topic in zip(chosen, topics, strict=True):
        has_file = bool(topic) and (topic in known or counts[topic] >= view.policy.decay.topic_file_from_facts)
        yield record, f"{tiers.REF}{topic}" if has_file else tiers.CORE


PASS = Pass("distil", "consolidate", "keeps what lasts of weeks that are over", plan, questions)
