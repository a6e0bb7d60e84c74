"""Distilling: when a week is cold, what lasts of it graduates to MEMORY.md or a ref file, and its summary leaves.

What lasts is what keeps coming back and what was learned the hard way. A model may be asked which that is. All else of
the week stays remembered as it is; nothing is thrown away here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from kenobot.cognitive.beliefs.value import salience_signs
from kenobot.cognitive.mirror.names import slug
from kenobot.cognitive.sleep import upkeep_rows
from kenobot.cognitive.sleep.consolidate import week_summary
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records, tiers
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day

_SYSTEM = (
    "You look through the notes of one week of a personal assistant, weeks later, and name those that its owner will "
    "still need in a year: lasting facts about people and things, decisions, lessons that were hard to learn, what "
    f"keeps coming back. Leave out what was true for that week only. {model_answers.QUOTED_DATA_NOTICE} "
    "Answer with one JSON object and "
    'nothing else: {"lasting": [{"entry": 12, "topic": "one word for what it is about, or empty"}]}.'
)
_LASTING_CATEGORIES = frozenset({"decision", "lesson", "principle", "skill", "correction"})
_FLEETING_CATEGORIES = frozenset({"commitment"})  # open items have their own end
_ANSWER_TOKENS = 600


def plan(view: NightView) -> Iterator[Change]:
    """One change a cold week: its lasting facts and its summary, each to where it goes."""
    for known, told in _cold(view):
        chosen = _by_model(told, view)
        if chosen is None:
            chosen = [(record, "") for record in _by_rules(told, view)]
        edits = [
            UpdateRecord(record.id, {"tier": tier, "updated": records.stamp(view.now)}, {"tier": record.tier})
            for record, tier in _placed(chosen, known.scope, view)
        ]
        name = known.key.rpartition(":")[2]
        reason = f"{name} is over: {len(edits)} of {len(told)} facts last, the others are kept"
        leaves = UpdateRecord(known.id, {"tier": tiers.ARCHIVE}, {"tier": tiers.DAILY})
        yield Change("distilled", reason, (*edits, leaves), record=known.id)


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """One for each cold week: which of its facts last."""
    asked = (_question(told, view) for _, told in _cold(view))
    return [question for question in asked if question is not None]


def _cold(view: NightView) -> Iterator[tuple[Record, list[Record]]]:
    """The summaries of weeks that ended longer ago than `warm_days`, and the facts that may graduate."""
    today = date.fromisoformat(local_day(view.now, view.zone))
    last = (today - timedelta(days=view.policy.sleep.warm_days + 1)).isoformat()
    for scope in tiers.all_scopes(view.connection):
        for known in tiers.week_summaries(view.connection, scope):
            week = week_summary.week_named(known.key.rpartition(":")[2])
            if week.last <= last:
                told = tiers.logged_between(view.connection, scope, week.first, week.last)
                yield known, [record for record in told if _may_graduate(record, view)]


def _may_graduate(record: Record, view: NightView) -> bool:
    """What others only said, and what ends by itself, never becomes long-term memory by age.

    What sleep has put there before and its owner took out again stays out.
    """
    lasting = record.category not in _FLEETING_CATEGORIES and record.expires is None
    doubted = record.verification == "disputed"
    if not week_summary.is_own_words(record) or not lasting or doubted:
        return False
    return not upkeep_rows.was_reverted(view.connection, record.id, "tier", tiers.CORE)


# ── what lasts ───────────────────────────────────────────────────────────────────────────────────────────────────


def _by_rules(told: Sequence[Record], view: NightView) -> list[Record]:
    """What keeps coming back and what was learned the hard way, the weightiest first, so many as a week may hand on."""
    policy = view.policy.decay
    lasting = [record for record in told if _lasts(record, policy.lasting_from_mentions)]
    lasting.sort(key=lambda record: (-record.seen, -record.importance, record.id))
    return lasting[: policy.max_lessons]


def _lasts(record: Record, recurring: int) -> bool:
    found = set(salience_signs(record.text))
    hard_won = "lesson" in found or {"error", "success"} <= found
    return record.seen >= recurring or record.category in _LASTING_CATEGORIES or hard_won


def _question(told: Sequence[Record], view: NightView) -> ModelQuestion | None:
    policy = view.policy.decay
    shown = model_answers.quote_records(told[: policy.max_facts_shown], policy.line_chars) if told else ""
    return ModelQuestion(_SYSTEM, shown, _ANSWER_TOKENS) if shown else None


def _by_model(told: Sequence[Record], view: NightView) -> list[tuple[Record, str]] | None:
    """What a model said lasts, each with its topic; None when it was not asked or said nothing that makes sense."""
    asked = _question(told, view)
    answer = view.answer(asked) if asked is not None else None
    said = model_answers.parse_object(answer) if answer is not None else None
    items = said.get("lasting") if said is not None else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    named = model_answers.parse_record_ids(
        [item.get("entry") for item in items], told[: view.policy.decay.max_facts_shown]
    )
    if named is None:
        return None
    topics = {item["entry"]: item.get("topic") for item in items}
    chosen = [(record, topics[record.id]) for record in told if record.id in named]
    return [(record, topic if isinstance(topic, str) else "") for record, topic in chosen][
        : view.policy.decay.max_lessons
    ]


def _placed(chosen: Sequence[tuple[Record, str]], scope: str, view: NightView) -> Iterator[tuple[Record, str]]:
    """The tier of each: a ref file where there is one of its topic, or enough for one; else MEMORY.md."""
    known = tiers.ref_file_counts(view.connection, scope)
    topics = [slug(topic) for _, topic in chosen]
    counts = Counter(topics)
    for (record, _), topic in zip(chosen, topics, strict=True):
        files = bool(topic) and (topic in known or counts[topic] >= view.policy.decay.topic_file_from_facts)
        yield record, f"{tiers.REF}{topic}" if files else tiers.CORE


PASS = Pass(
    name="distil",
    phase="consolidate",
    description="keeps what lasts of weeks that are over",
    plan=plan,
    questions=questions,
)
