"""Propose what would make the bot better, from the figures of the night and from recent events.

Nothing of it is done here: the owner approves or rejects. Only what the owner and the bot themselves said goes into a
proposal; what others wrote could put words into a rule.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal

from kenobot.cognitive.policy.sleep import ProposalPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import pattern_of
from kenobot.cognitive.sleep import pass_rows, run_rows
from kenobot.cognitive.sleep.improve.errors import ERROR_TAG_PREFIX, OWN_ERRORS
from kenobot.cognitive.sleep.plan.changes import Change, ProposeChange
from kenobot.cognitive.sleep.plan.model_answers import one_line
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import proposals
from kenobot.cognitive.store import records as store
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record
from kenobot.skills.names import name_of
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

_OWN = ("owner", "model")
_NOT_FACTS = frozenset(("by", "due", "resolved", "status"))  # attributes that say nothing of their subject
_TWINS = {"memory_tagging": "no-patterns", "pattern_quality": "patterns-pruned"}  # they say much the same
_LONGEST = 300  # characters of a rule
_MOST_EVIDENCE = 50
_MOST_REPLIES = 5000


def plan(view: NightView) -> Iterator[Change]:
    """Propose what was not proposed yet, as far as the owner's list has room."""
    policy = view.policy.proposals
    ideas = _Proposals(view, policy, view.now - timedelta(days=policy.days), _owner_language(view.connection))
    recent = (ideas.errors(), ideas.corrections(), ideas.violations(), ideas.grades(), ideas.settings())
    skills = _propose_skills(view, ideas.language)
    room = policy.max_pending - proposals.count_pending(view.connection)
    for part in chain(*recent, skills, ideas.figures()):
        if room <= 0:
            return
        if not proposals.was_proposed(view.connection, part.key) and not _is_nagging(view.connection, part):
            room -= 1
            yield Change("proposed", part.text, (part,))


def _owner_language(connection: Connection) -> Literal["en", "es"]:
    """Return the language of most of the owner's memories."""
    counts = proposals.language_counts(connection, OWNER_SCOPE)
    return "es" if counts.get("es", 0) > counts.get("en", 0) else "en"


def _frequent_flaws(view: NightView) -> Iterator[tuple[str, int, int]]:
    """Yield the flaws that many recent replies have, each with how many of how many."""
    policy = view.policy.proposals
    since = stamp(view.now - timedelta(days=policy.days))
    grades = conversation.reply_grades(view.connection, since, _MOST_REPLIES)
    graded = [json.loads(grade).get("signals", []) for grade in grades]
    counts = Counter(str(signal) for signals in graded for signal in set(signals))
    for flaw in ("excessive_hedging", "high_repetition"):
        if len(graded) >= policy.replies and counts[flaw] >= policy.share * len(graded):
            yield flaw, counts[flaw], len(graded)


def _is_nagging(connection: Connection, part: ProposeChange) -> bool:
    """Return whether the same advice of another quarter waits still, or was rejected."""
    return part.kind == "setting" and proposals.is_pending_or_rejected(connection, part.key.rpartition(":")[0] + ":")


@dataclass(frozen=True, slots=True)
class _Proposals:
    """Collector of proposals. since: how far back events count. language: of the owner's memories."""

    view: NightView
    policy: ProposalPolicy
    since: datetime
    language: str

    def _rule(
        self, key: str, category: str, entry: str, evidence: Mapping[str, Json], **values: object
    ) -> ProposeChange:
        title, text, instruction = texts(entry, self.language, **values)
        payload: dict[str, Json] = {"category": category, "instruction": instruction}
        return ProposeChange(key, "rule", title, text, payload, evidence)

    def _setting(
        self, key: str, setting: str, entry: str, evidence: Mapping[str, Json], **values: object
    ) -> ProposeChange:
        title, text = texts(entry, self.language, **values)
        key = f"{key}:{_quarter(self.view.now)}"
        return ProposeChange(key, "setting", title, text, {"setting": setting}, evidence)

    # ── recent events ────────────────────────────────────────────────────────────────────────────────────────────

    def errors(self) -> Iterator[ProposeChange]:
        """Yield repeated errors of one class: of our own, the lesson as a rule; of others', a hint."""
        found: dict[str, list[int]] = defaultdict(list)
        for record in pass_rows.own_facts_since(self.view.connection, self.since, self.view.now):
            if record.scope == OWNER_SCOPE and record.trust in _OWN:
                for tag in json.loads(record.tags):
                    found[_error_class(tag)].append(record.id)
        for kind in sorted(OWN_ERRORS):
            lesson = self._newest_lesson(found[kind]) if len(found[kind]) >= self.policy.errors else None
            if lesson is not None:
                instruction = one_line(lesson.text, _LONGEST)
                title, text = texts(kind, self.language, count=len(found[kind]))
                evidence = _evidence([lesson.id, *found[kind]])
                key = f"lesson:{_digest(instruction)}"
                payload: dict[str, Json] = {"category": "lessons", "instruction": instruction}
                yield ProposeChange(key, "rule", title, f"{text} {instruction}", payload, evidence)
        external = found["external"]
        if len(external) >= self.policy.errors:
            evidence = _evidence(external)
            yield self._setting("errors:external", "provider.fallbacks", "outside", evidence, count=len(external))

    def _newest_lesson(self, errors: Sequence[int]) -> Record | None:
        """Return the newest lesson that was drawn from one of `errors`."""
        drawn = proposals.newest_lesson_from(self.view.connection, OWNER_SCOPE, errors, self.since)
        return store.get(self.view.connection, drawn, (OWNER_SCOPE,)) if drawn is not None else None

    def corrections(self) -> Iterator[ProposeChange]:
        """Yield a kind of fact that was corrected repeatedly: a rule to check it first."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, attributes in proposals.list_corrected_since(self.view.connection, OWNER_SCOPE, self.since):
            for name in json.loads(attributes).keys() - _NOT_FACTS:
                found[name].append(number)
        for name, numbers in sorted(found.items()):
            if len(numbers) >= self.policy.corrections:
                key, count, evidence = f"corrections:{name}", len(numbers), _evidence(numbers)
                yield self._rule(key, "memory", "corrections", evidence, name=name, count=count)

    def violations(self) -> Iterator[ProposeChange]:
        """Yield a pattern that rules.json forbids and that keeps coming: the same as an instruction."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, data in proposals.events_since(self.view.connection, proposals.RULE_BROKEN, self.since):
            patterns = data.get("patterns")
            for pattern in patterns if isinstance(patterns, list) else ():
                found[str(pattern)].append(number)
        for pattern, events in sorted(found.items()):
            if len(events) >= self.policy.violations:
                evidence: dict[str, Json] = {"events": [*events[:_MOST_EVIDENCE]]}
                key, count = f"violation:{_digest(pattern)}", len(events)
                yield self._rule(key, "communication", "violations", evidence, pattern=pattern, count=count)

    def grades(self) -> Iterator[ProposeChange]:
        """Yield a flaw that many replies have: a preference against it."""
        for signal, count, of in _frequent_flaws(self.view):
            title, text, preference = texts(signal, self.language, count=count, of=of)
            payload, evidence = {"text": preference}, {"replies": count}
            yield ProposeChange(f"flaw:{signal}", "preference", title, text, payload, evidence)

    def settings(self) -> Iterator[ProposeChange]:
        """Yield the setting that would help: more room for memories."""
        searched, crowded = proposals.search_counts(self.view.connection, self.since)
        if searched >= self.policy.searches and 2 * crowded > searched:
            evidence: dict[str, Json] = {"searches": searched, "without room": crowded}
            key, counts = "settings:memory_tokens", {"count": crowded, "of": searched}
            yield self._setting(key, "context.memory_tokens", "crowded", evidence, **counts)

    # ── the figures of the night ─────────────────────────────────────────────────────────────────────────────────

    def figures(self) -> Iterator[ProposeChange]:
        """Yield advice on this night; that nothing was remembered only if much was said."""
        view, quarter = self.view, _quarter(self.view.now)
        since = view.since or view.now - timedelta(days=1)
        figures = night_statistics(view, since)
        replies = conversation.count_replies(view.connection, stamp(since))
        given = [
            advice for advice in advise(figures, self.policy) if advice.name != "idle" or replies >= self.policy.replies
        ]
        for advice in given:
            evidence: dict[str, Json] = {"why": advice.evidence, "priority": advice.priority, "replies": replies}
            key = f"figures:{advice.name}:{quarter}"
            yield ProposeChange(key, "setting", advice.observation, advice.suggestion, {}, evidence)
        if figures.episodes <= self.policy.episodes_without_pattern:
            return  # too little was said to tell anything of how it is learned from
        insights, adjustments = reflect(figures, self.policy)
        for adjustment in adjustments:
            if _TWINS.get(adjustment.kind) not in {advice.name for advice in given}:
                key = f"figures:{adjustment.kind}:{quarter}"
                evidence = {"insights": [*insights]}
                yield ProposeChange(key, "setting", adjustment.insight, adjustment.suggestion, {}, evidence)


def _quarter(now: datetime) -> str:
    return f"{now.year}-q{(now.month + 2) // 3}"


def _error_class(tag: object) -> str:
    """Return the class of error that a tag holds; "" for any other tag."""
    return str(tag).removeprefix(ERROR_TAG_PREFIX) if str(tag).startswith(ERROR_TAG_PREFIX) else ""


def _evidence(records: Sequence[int]) -> dict[str, Json]:
    numbers: list[Json] = [*dict.fromkeys(records)]
    return {"records": numbers[:_MOST_EVIDENCE]}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ── patterns that proved themselves, as skills, which other programs can read as well ─────────────────────────────────


def _propose_skills(view: NightView, language: str) -> Iterator[ProposeChange]:
    """Propose each pattern of the owner's that worked often and failed seldom."""
    policy = view.policy.proposals
    counts = pattern_rows.outcome_counts(view.connection, policy.worked)
    found = store.by_ids(view.connection, sorted(counts), (OWNER_SCOPE,))
    for number, record in sorted(found.items()):
        pattern, (worked, failed) = pattern_of(record), counts[number]
        proved = failed <= policy.failed_share * (worked + failed)
        if pattern is None or record.status != "active" or record.trust not in _OWN or not proved:
            continue
        told = {"trigger": pattern.trigger, "response": pattern.response, "worked": worked, "tried": worked + failed}
        title, text, description, body = texts("skill", language, **told)
        name = name_of(fold(pattern.trigger), f"learned-{number}")
        key = f"skill:{_digest(record.text)}"
        payload = {"name": name, "description": description, "body": body}
        yield ProposeChange(key, "skill", title, text, payload, {"records": [number]})


# ── the figures of a night ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class NightStatistics:
    """Counts of what a night read and did. episodes: records it read. patterns_pruned: patterns that expired."""

    episodes: int = 0
    facts: int = 0
    patterns: int = 0
    errors: int = 0
    lessons: int = 0
    expired_scratchpads: int = 0
    patterns_pruned: int = 0


@dataclass(frozen=True, slots=True)
class Advice:
    """An observation and what could be done about it. name: identifies it."""

    name: str
    priority: Literal["low", "medium"]
    observation: str
    suggestion: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change that follows from an insight. kind: identifies it."""

    kind: str
    suggestion: str
    insight: str


def night_statistics(view: NightView, since: datetime) -> NightStatistics:
    """Return the figures of this night so far."""
    run = run_rows.last_run(view.connection, "running")
    done = {result.name: result.done for result in run_rows.pass_results(view.connection, run.id)} if run else {}
    facts = list(pass_rows.own_facts_since(view.connection, since, view.now))
    return NightStatistics(
        episodes=len(facts),
        facts=done.get("promote", 0),
        patterns=done.get("patterns", 0),
        errors=sum(any(_error_class(tag) in OWN_ERRORS for tag in json.loads(record.tags)) for record in facts),
        lessons=proposals.count_changes(view.connection, run.id, "learned") if run else 0,
        expired_scratchpads=done.get("scratchpads", 0),
        patterns_pruned=done.get("practice", 0),
    )


def advise(figures: NightStatistics, policy: ProposalPolicy) -> list[Advice]:
    """Advise on the figures of a night. Pure."""
    no_patterns = figures.episodes > policy.episodes_without_pattern and not figures.patterns
    idle = not (figures.episodes or figures.errors or figures.expired_scratchpads)  # pruned patterns are no life sign
    cases: tuple[tuple[str, bool, Literal["low", "medium"]], ...] = (
        ("no-patterns", no_patterns, "medium"),
        ("abandoned", figures.expired_scratchpads > policy.expired_scratchpads, "low"),
        ("patterns-pruned", figures.patterns_pruned > policy.patterns_pruned, "medium"),
        ("idle", idle, "low"),
    )
    numbers = asdict(figures)
    return [Advice(name, priority, *texts(name, "en", **numbers)) for name, applies, priority in cases if applies]


def reflect(figures: NightStatistics, policy: ProposalPolicy) -> tuple[list[str], list[Adjustment]]:
    """Return the insights that figures give into learning as a whole, and the adjustments that follow from them.

    Pure.
    """
    learned = figures.facts + figures.patterns
    cases = {
        "error_handling": figures.errors > 0 and not figures.lessons,
        "memory_tagging": figures.episodes > 0 and learned / figures.episodes < policy.few_results,
        "pattern_quality": figures.patterns_pruned > figures.patterns,
    }
    adjustments = [Adjustment(kind, *texts(kind, "en")) for kind, applies in cases.items() if applies]
    rate = texts("many-facts", "en", **asdict(figures)) if figures.facts > policy.many_facts else []
    return [*rate, *(each.insight for each in adjustments)], adjustments


PASS = Pass("proposals", "improve", "lays before the owner what would make the bot better", plan)
