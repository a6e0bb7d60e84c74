"""Sum up days that are no longer hot, one summary a scope and week of the calendar.

A summary holds the surviving lines of its days, shortened, or what a model made of them. It grows as the days of its
week turn warm, also after missed nights, and loses what was superseded since. It is made of the facts, which stay as
they are: what it leaves out is still remembered. A model is asked once a week is whole. What a person wrote into a
week's file stays; new days are added below it.
"""

from collections.abc import Iterator, Sequence

from kenobot.cognitive.policy.sleep import DecayPolicy
from kenobot.cognitive.remember import week_text
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import AddLink, AdmitRecord, Change, UpdateRecord, expire
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import records, tiers
from kenobot.core import redaction
from kenobot.language import calendar
from kenobot.language.sanitize import sanitize
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_SUMMARY_TOKENS = 1_200


@dataclass(frozen=True, slots=True)
class _Week:
    """A week of a scope: its facts so far, and its summary.

    name: YYYY-Www. first, until: its first day, and its last that is warm. new: facts the summary was not made of.
    """

    name: str
    first: str
    until: str
    is_whole: bool
    facts: list[Record]
    summary: Record | None
    new: tuple[int, ...]

    @property
    def is_by_person(self) -> bool:
        return self.summary is not None and self.summary.trust == "owner"

    @property
    def is_by_model(self) -> bool:
        """Return whether a model has summed up just these facts."""
        attributes = self.summary.attribute_map if self.summary is not None else {}
        return attributes.get(week_text.WRITER) == "model" and attributes.get(week_text.DIGEST) == week_text.hash_facts(
            self.facts
        )


def plan(view: NightView) -> Iterator[Change]:
    """Write the summaries that are missing, or no longer say what their days say."""
    for week in _warm_weeks(view):
        change = _extend(week, view) if week.is_by_person else _sum_up(week, view)
        if change is not None:
            yield change


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask for the summary of each whole week that no model has summed up as it stands: the newest first."""
    open_weeks = [w for w in _warm_weeks(view) if not w.is_by_person and w.is_whole and not w.is_by_model]
    asked = (_summary_question(week.facts, view.policy.decay) for week in reversed(open_weeks))
    return [question for question in asked if question is not None]


def _warm_weeks(view: NightView) -> Iterator[_Week]:
    """Yield the weeks that may need a change.

    A summary that its owner forgot, and not a fact in it, is not made again.
    """
    last_warm = view.days_ago(view.policy.sleep.hot_days + 1)
    for scope in tiers.all_scopes(view.connection):
        names = {calendar.week_of(day) for day in tiers.daily_log_days(view.connection, scope, last_warm)}
        names |= {record.key.rpartition(":")[2] for record in tiers.week_summaries(view.connection, scope)}
        lost, unwanted = tiers.list_forgotten_weeks(view.connection, scope)
        for name in sorted((names | lost) - unwanted):
            first, last = week_text.days_of_week(name)
            until = min(last, last_warm)
            summary = records.slot_record(view.connection, scope, "summary", f"{tiers.WEEK}{name}")
            facts = tiers.list_logged_between(view.connection, scope, first, until)
            linked = tiers.list_derived_from(view.connection, summary.id) if summary is not None else set()
            new = tuple(record.id for record in facts if record.id not in linked)
            yield _Week(name, first, until, last <= last_warm, facts, summary, new)


def _sum_up(week: _Week, view: NightView) -> Change | None:
    summary, policy = week.summary, view.policy.decay
    if not week.facts:
        reason = Sentence("reasons.week_empty", week=week.name)
        return expire(summary, reason, stamp(view.now)) if summary is not None else None
    if summary is not None and not week.new and (summary.tier == tiers.ARCHIVE or week.is_by_model):
        return None
    question = _summary_question(week.facts, policy) if week.is_whole else None
    answer = view.answer(question) if question is not None else None
    written = _summary_by_model(week.name, week.facts, answer, policy) if answer is not None else None
    text = written or week_text.summary_by_rules(week.name, week.facts, policy)
    return _change(week, sanitize(text, view.policy.max_text_chars), "model" if written else "rules")


def _extend(week: _Week, view: NightView) -> Change | None:
    """Add new days below what a person wrote."""
    if not week.new:
        return None
    assert week.summary is not None
    added = [record for record in week.facts if record.id in week.new]
    below = week_text.list_by_day(added, view.policy.decay.line_chars)
    longest = view.policy.max_text_chars
    text = sanitize(f"{week.summary.text}\n\n{below}", longest + 1)
    return _change(week, text if len(text) <= longest else week.summary.text, "")


def _change(week: _Week, text: str, writer: str) -> Change | None:
    """Write a summary, or link its new facts. writer: "" for a person, whose words it then still is."""
    if redaction.find_secret(text) is not None:
        return None  # memory refuses it, in this night and in every other
    summary, reason = week.summary, Sentence("reasons.days_summed_up", week=week.name, until=week.until)
    if summary is not None and summary.text == text:
        links = tuple(AddLink(summary.id, number, "derived", reason) for number in week.new)
        return Change("summed up", reason, links, summary.id) if links else None
    candidate = Candidate(
        form="summary",
        scope=week.facts[0].scope,
        text=text,
        category="week",
        source="sleep",
        trust="model" if writer else "owner",
        slot=f"{tiers.WEEK}{week.name}",
        attributes=((week_text.WRITER, writer), (week_text.DIGEST, week_text.hash_facts(week.facts))) if writer else (),
        importance=0.3,
    )
    learn = AdmitRecord(candidate, derived_from=week.new, day=week.first)
    if summary is None:
        return Change("summed up", reason, (learn,))
    reopened = (UpdateRecord(summary.id, {"tier": tiers.DAILY}),) if summary.tier == tiers.ARCHIVE else ()
    return Change("summed up", reason, (*reopened, learn), summary.id)


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────


def _summary_question(facts: Sequence[Record], policy: DecayPolicy) -> ModelQuestion | None:
    """Ask for the summary of a week, shown own words only; None when there is too little to sum up."""
    own = [record for record in facts if week_text.is_own_words(record)]
    if len(own) < policy.model_from_facts:
        return None
    shown = week_text.select_weightiest(own, policy.max_facts_shown)
    return model_answers.question_about(shown, "weeks", policy.line_chars, _SUMMARY_TOKENS)


def _summary_by_model(name: str, facts: Sequence[Record], answer: str, policy: DecayPolicy) -> str | None:
    """Return a model's summary, and below it others' words, quoted; None when the answer is unusable."""
    read = model_answers.find_object(answer)
    summary = read["summary"] if read is not None and set(read) == {"summary"} else None
    if not isinstance(summary, str) or not summary.strip() or len(summary.strip()) > policy.max_summary_chars:
        return None
    summary = summary.strip()
    quoted = [record for record in facts if not week_text.is_own_words(record)]
    room, most = policy.week_chars - len(summary), len(quoted)
    while (below := week_text.list_by_day(quoted, policy.min_line_chars, most)) and len(below) > room and most:
        most //= 2
    return "\n\n".join(part for part in (f"# {name}", summary, below if len(below) <= room else "") if part)


PASS = Pass("weeks", "consolidate", "sums up days that are over as weeks", plan, questions)
