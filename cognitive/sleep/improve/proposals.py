"""What would make the bot better, as proposals: from the figures of the night and from what happened lately.

Nothing of it is done here: the owner approves or rejects. Only what the owner and the bot themselves said goes into a
proposal; what others wrote could put words into a rule.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from kenobot.cognitive.compact.summary_rows import GAP_EVENT
from kenobot.cognitive.policy.proposals import ProposalPolicy
from kenobot.cognitive.sleep import run_rows, upkeep_rows
from kenobot.cognitive.sleep.errors.classify import OWN_ERRORS
from kenobot.cognitive.sleep.errors.errors import ERROR_TAG_PREFIX
from kenobot.cognitive.sleep.improve import statistics
from kenobot.cognitive.sleep.improve.proposal_texts import ProposalTexts, proposal_texts
from kenobot.cognitive.sleep.improve.statistics import NightStatistics
from kenobot.cognitive.sleep.plan.changes import Change, ProposeChange
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import proposals
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Json
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection

_OWN = ("owner", "model")
_NOT_FACTS = frozenset(("by", "due", "resolved", "status"))  # attributes that say nothing of their subject
_TWINS = {"memory_tagging": "no-patterns", "pattern_quality": "patterns-pruned"}  # they say much the same
_LONGEST = 300  # characters of a rule
_MOST_EVIDENCE = 50


def plan(view: NightView) -> Iterator[Change]:
    """Everything worth a proposal that was not proposed yet."""
    policy = view.policy.proposals
    since = view.now - timedelta(days=policy.days)
    room = policy.max_pending - proposals.count_pending(view.connection)
    words = proposal_texts("es" if _speaks_spanish(view.connection) else "en")
    for part in _all(view, since, policy, words):
        if room <= 0:
            return
        if not proposals.was_proposed(view.connection, part.key) and not _is_nagging(view.connection, part):
            room -= 1
            yield Change("proposed", part.text, (part,))


def _all(view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts) -> Iterator[ProposeChange]:
    yield from _errors(view, since, policy, words)
    yield from _corrections(view, since, policy, words)
    yield from _violations(view, since, policy, words)
    yield from _grades(view, since, policy, words)
    yield from _settings(view, since, policy, words)
    yield from _figures(view, policy)


def _is_nagging(connection: Connection, part: ProposeChange) -> bool:
    """Whether the same advice of another time waits still, or was turned down."""
    return part.kind == "setting" and proposals.is_pending_or_rejected(connection, part.key.rpartition(":")[0] + ":")


def _quarter(now: datetime) -> str:
    return f"{now.year}-q{(now.month + 2) // 3}"


def _speaks_spanish(connection: Connection) -> bool:
    counts = proposals.language_counts(connection, OWNER_SCOPE)
    return counts.get("es", 0) > counts.get("en", 0)


# ── what happened lately ─────────────────────────────────────────────────────────────────────────────────────────


def _errors(view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts) -> Iterator[ProposeChange]:
    """Trouble of one class again and again: of our own, the lesson as a rule; of others', a word about it."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in upkeep_rows.own_facts_since(view.connection, since, view.now):
        if record.scope == OWNER_SCOPE and record.trust in _OWN:
            for tag in json.loads(record.tags):
                found[_kind(tag)].append(record.id)
    lessons = proposals.lessons_since(view.connection, OWNER_SCOPE, since)
    for kind in sorted(OWN_ERRORS):
        if len(found[kind]) >= policy.errors and lessons:
            lesson = store.get(view.connection, lessons[0], (OWNER_SCOPE,))
            if lesson is not None and lesson.trust in _OWN:
                instruction = " ".join(lesson.text.split())[:_LONGEST]
                title, text = words.errors(kind, len(found[kind]))
                payload: dict[str, Json] = {"category": "lessons", "instruction": instruction}
                key = f"lesson:{hashlib.sha256(instruction.encode()).hexdigest()[:16]}"
                evidence = _evidence([lesson.id, *found[kind]])
                yield ProposeChange(key, "rule", title, f"{text} {instruction}", payload, evidence)
    if len(found["external"]) >= policy.errors:
        title, text = words.outside(len(found["external"]))
        key = f"errors:external:{_quarter(view.now)}"
        yield ProposeChange(
            key, "setting", title, text, {"setting": "provider.fallbacks"}, _evidence(found["external"])
        )


def _corrections(
    view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts
) -> Iterator[ProposeChange]:
    """One kind of fact that had to be put right again and again: a rule to check it first."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, held in proposals.corrected_since(view.connection, OWNER_SCOPE, since):
        for name in json.loads(held).keys() - _NOT_FACTS:
            found[name].append(number)
    for name, numbers in sorted(found.items()):
        if len(numbers) >= policy.corrections:
            title, text, instruction = words.corrections(name, len(numbers))
            payload: dict[str, Json] = {"category": "memory", "instruction": instruction}
            yield ProposeChange(f"corrections:{name}", "rule", title, text, payload, _evidence(numbers))


def _violations(
    view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts
) -> Iterator[ProposeChange]:
    """A pattern that rules.json forbids and that keeps coming: the same as an instruction."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, told in proposals.events_since(view.connection, proposals.RULE_BROKEN, since):
        patterns = told.get("patterns")
        for pattern in patterns if isinstance(patterns, list) else ():
            found[str(pattern)].append(number)
    for pattern, events in sorted(found.items()):
        if len(events) >= policy.violations:
            title, text, instruction = words.violations(pattern, len(events))
            payload: dict[str, Json] = {"category": "communication", "instruction": instruction}
            key = f"violation:{hashlib.sha256(pattern.encode()).hexdigest()[:16]}"
            yield ProposeChange(key, "rule", title, text, payload, {"events": [*events[:_MOST_EVIDENCE]]})


def _grades(view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts) -> Iterator[ProposeChange]:
    """A flaw that many replies have: a preference that says so."""
    graded = proposals.grade_signals(view.connection, since)
    counts = Counter(signal for signals in graded for signal in set(signals))
    for signal in ("excessive_hedging", "high_repetition"):
        if len(graded) >= policy.replies and counts[signal] >= policy.share * len(graded):
            title, text, preference = words.flaw(signal, counts[signal], len(graded))
            yield ProposeChange(
                f"flaw:{signal}", "preference", title, text, {"text": preference}, {"replies": counts[signal]}
            )


def _settings(
    view: NightView, since: datetime, policy: ProposalPolicy, words: ProposalTexts
) -> Iterator[ProposeChange]:
    """Settings that would help."""
    searched, crowded = proposals.search_counts(view.connection, since)
    if searched >= policy.searches and 2 * crowded > searched:
        title, text = words.crowded(crowded, searched)
        key = f"settings:memory_tokens:{_quarter(view.now)}"
        evidence: dict[str, Json] = {"searches": searched, "without room": crowded}
        yield ProposeChange(key, "setting", title, text, {"setting": "context.memory_tokens"}, evidence)
    lost = 0
    for _, told in proposals.events_since(view.connection, GAP_EVENT, since):
        kinds = told.get("kinds")
        lost += sum(count for count in kinds.values() if isinstance(count, int)) if isinstance(kinds, dict) else 0
    if lost >= policy.gaps:
        title, text = words.lost(lost)
        key = f"settings:summary_tokens:{_quarter(view.now)}"
        yield ProposeChange(key, "setting", title, text, {"setting": "compaction.summary_tokens"}, {"gaps": lost})


# ── the figures of the night ─────────────────────────────────────────────────────────────────────────────────────


def _figures(view: NightView, policy: ProposalPolicy) -> Iterator[ProposeChange]:
    """What the figures of this night say; that nothing was remembered only if something was said."""
    since = view.since or view.now - timedelta(days=1)
    figures = night_statistics(view, since)
    replies = proposals.count_replies(view.connection, since)
    given = statistics.advise(figures, policy)
    for advice in given:
        if advice.name == "idle" and not replies:
            continue
        key = f"figures:{advice.name}:{_quarter(view.now)}"
        evidence: dict[str, Json] = {"why": advice.evidence, "priority": advice.priority, "replies": replies}
        yield ProposeChange(key, "setting", advice.observation, advice.suggestion, {}, evidence)
    reflection = statistics.reflect(figures, policy)
    if figures.episodes <= policy.episodes_without_pattern:
        return  # too little was said to tell anything of how it is learned from
    said = {advice.name for advice in given}
    for adjustment in reflection.adjustments:
        if _TWINS.get(adjustment.kind) in said:
            continue
        key = f"figures:{adjustment.kind}:{_quarter(view.now)}"
        insights: list[Json] = [*reflection.insights]
        yield ProposeChange(key, "setting", adjustment.insight, adjustment.suggestion, {}, {"insights": insights})


def night_statistics(view: NightView, since: datetime) -> NightStatistics:
    """What this night came to so far."""
    run = run_rows.last_run(view.connection, "running")
    done = {passed.name: passed.done for passed in run_rows.pass_results(view.connection, run.id)} if run else {}
    told = list(upkeep_rows.own_facts_since(view.connection, since, view.now))
    return NightStatistics(
        episodes=len(told),
        facts=done.get("promote", 0),
        patterns=done.get("patterns", 0),
        errors=sum(any(_kind(tag) in OWN_ERRORS for tag in json.loads(record.tags)) for record in told),
        lessons=proposals.count_changes(view.connection, run.id, "learned") if run else 0,
        expired_scratchpads=done.get("scratchpads", 0),
        patterns_pruned=done.get("practice", 0),
    )


def _kind(tag: object) -> str:
    """The class of trouble that a tag tells of; "" for any other tag."""
    return str(tag).removeprefix(ERROR_TAG_PREFIX) if str(tag).startswith(ERROR_TAG_PREFIX) else ""


def _evidence(records: list[int]) -> dict[str, Json]:
    numbers: list[Json] = [*dict.fromkeys(records)]
    return {"records": numbers[:_MOST_EVIDENCE]}


PASS = Pass("proposals", "improve", "lays before the owner what would make the bot better", plan)
