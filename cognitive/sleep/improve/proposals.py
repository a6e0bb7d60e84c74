"""What would make the bot better, as proposals: from the figures of the night and from what happened lately.

Nothing of it is done here: the owner approves or rejects. Only what the owner and the bot themselves said goes into a
proposal; what others wrote could put words into a rule.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from kenobot.cognitive.compact.summary_rows import GAP
from kenobot.cognitive.policy.proposals import ImprovePolicy
from kenobot.cognitive.sleep import sleep_store, upkeep_store
from kenobot.cognitive.sleep.errors.classify import OWN
from kenobot.cognitive.sleep.errors.errors import MARK
from kenobot.cognitive.sleep.improve import statistics
from kenobot.cognitive.sleep.improve.statistics import Figures
from kenobot.cognitive.sleep.improve.words import Words, words_in
from kenobot.cognitive.sleep.plan.changes import Change, Propose
from kenobot.cognitive.sleep.plan.passes import Pass, View
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


def plan(view: View) -> Iterator[Change]:
    """Everything worth a proposal that was not proposed yet."""
    policy = view.policy.improve
    since = view.now - timedelta(days=policy.days)
    room = policy.pending - proposals.waiting(view.connection)
    words = words_in("es" if _speaks_spanish(view.connection) else "en")
    for part in _all(view, since, policy, words):
        if room <= 0:
            return
        if not proposals.is_known(view.connection, part.key) and not _is_nagging(view.connection, part):
            room -= 1
            yield Change("proposed", part.text, (part,))


def _all(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    yield from _errors(view, since, policy, words)
    yield from _corrections(view, since, policy, words)
    yield from _violations(view, since, policy, words)
    yield from _grades(view, since, policy, words)
    yield from _settings(view, since, policy, words)
    yield from _figures(view, policy)


def _is_nagging(connection: Connection, part: Propose) -> bool:
    """Whether the same advice of another time waits still, or was turned down."""
    return part.kind == "setting" and proposals.is_unwelcome(connection, part.key.rpartition(":")[0] + ":")


def _quarter(now: datetime) -> str:
    return f"{now.year}-q{(now.month + 2) // 3}"


def _speaks_spanish(connection: Connection) -> bool:
    counts = proposals.tongues(connection, OWNER_SCOPE)
    return counts.get("es", 0) > counts.get("en", 0)


# ── what happened lately ─────────────────────────────────────────────────────────────────────────────────────────


def _errors(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    """Trouble of one class again and again: of our own, the lesson as a rule; of others', a word about it."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in upkeep_store.told_since(view.connection, since, view.now):
        if record.scope == OWNER_SCOPE and record.trust in _OWN:
            for tag in json.loads(record.tags):
                found[_kind(tag)].append(record.id)
    lessons = proposals.lessons(view.connection, OWNER_SCOPE, since)
    for kind in sorted(OWN):
        if len(found[kind]) >= policy.errors and lessons:
            lesson = store.get(view.connection, lessons[0], (OWNER_SCOPE,))
            if lesson is not None and lesson.trust in _OWN:
                instruction = " ".join(lesson.text.split())[:_LONGEST]
                title, text = words.errors(kind, len(found[kind]))
                payload: dict[str, Json] = {"category": "lessons", "instruction": instruction}
                key = f"lesson:{hashlib.sha256(instruction.encode()).hexdigest()[:16]}"
                evidence = _evidence([lesson.id, *found[kind]])
                yield Propose(key, "rule", title, f"{text} {instruction}", payload, evidence)
    if len(found["external"]) >= policy.errors:
        title, text = words.outside(len(found["external"]))
        key = f"errors:external:{_quarter(view.now)}"
        yield Propose(key, "setting", title, text, {"setting": "provider.fallbacks"}, _evidence(found["external"]))


def _corrections(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    """One kind of fact that had to be put right again and again: a rule to check it first."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, held in proposals.put_right(view.connection, OWNER_SCOPE, since):
        for name in json.loads(held).keys() - _NOT_FACTS:
            found[name].append(number)
    for name, numbers in sorted(found.items()):
        if len(numbers) >= policy.corrections:
            title, text, instruction = words.corrections(name, len(numbers))
            payload: dict[str, Json] = {"category": "memory", "instruction": instruction}
            yield Propose(f"corrections:{name}", "rule", title, text, payload, _evidence(numbers))


def _violations(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    """A pattern that rules.json forbids and that keeps coming: the same as an instruction."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, told in proposals.told(view.connection, proposals.BROKEN, since):
        patterns = told.get("patterns")
        for pattern in patterns if isinstance(patterns, list) else ():
            found[str(pattern)].append(number)
    for pattern, events in sorted(found.items()):
        if len(events) >= policy.violations:
            title, text, instruction = words.violations(pattern, len(events))
            payload: dict[str, Json] = {"category": "communication", "instruction": instruction}
            key = f"violation:{hashlib.sha256(pattern.encode()).hexdigest()[:16]}"
            yield Propose(key, "rule", title, text, payload, {"events": [*events[:_MOST_EVIDENCE]]})


def _grades(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    """A flaw that many replies have: a preference that says so."""
    graded = proposals.grades(view.connection, since)
    counts = Counter(signal for signals in graded for signal in set(signals))
    for signal in ("excessive_hedging", "high_repetition"):
        if len(graded) >= policy.replies and counts[signal] >= policy.share * len(graded):
            title, text, preference = words.flaw(signal, counts[signal], len(graded))
            yield Propose(
                f"flaw:{signal}", "preference", title, text, {"text": preference}, {"replies": counts[signal]}
            )


def _settings(view: View, since: datetime, policy: ImprovePolicy, words: Words) -> Iterator[Propose]:
    """Settings that would help."""
    searched, crowded = proposals.searches(view.connection, since)
    if searched >= policy.searches and 2 * crowded > searched:
        title, text = words.crowded(crowded, searched)
        key = f"settings:memory_tokens:{_quarter(view.now)}"
        evidence: dict[str, Json] = {"searches": searched, "without room": crowded}
        yield Propose(key, "setting", title, text, {"setting": "context.memory_tokens"}, evidence)
    lost = 0
    for _, told in proposals.told(view.connection, GAP, since):
        kinds = told.get("kinds")
        lost += sum(count for count in kinds.values() if isinstance(count, int)) if isinstance(kinds, dict) else 0
    if lost >= policy.gaps:
        title, text = words.lost(lost)
        key = f"settings:summary_tokens:{_quarter(view.now)}"
        yield Propose(key, "setting", title, text, {"setting": "compaction.summary_tokens"}, {"gaps": lost})


# ── the figures of the night ─────────────────────────────────────────────────────────────────────────────────────


def _figures(view: View, policy: ImprovePolicy) -> Iterator[Propose]:
    """What the figures of this night say; that nothing was remembered only if something was said."""
    since = view.since or view.now - timedelta(days=1)
    figures = figures_of(view, since)
    replies = proposals.replies(view.connection, since)
    given = statistics.advise(figures, policy)
    for advice in given:
        if advice.name == "idle" and not replies:
            continue
        key = f"figures:{advice.name}:{_quarter(view.now)}"
        evidence: dict[str, Json] = {"why": advice.evidence, "priority": advice.priority, "replies": replies}
        yield Propose(key, "setting", advice.observation, advice.suggestion, {}, evidence)
    reflection = statistics.reflect(figures, policy)
    if figures.episodes <= policy.episodes:
        return  # too little was said to tell anything of how it is learned from
    said = {advice.name for advice in given}
    for adjustment in reflection.adjustments:
        if _TWINS.get(adjustment.kind) in said:
            continue
        key = f"figures:{adjustment.kind}:{_quarter(view.now)}"
        insights: list[Json] = [*reflection.insights]
        yield Propose(key, "setting", adjustment.insight, adjustment.suggestion, {}, {"insights": insights})


def figures_of(view: View, since: datetime) -> Figures:
    """What this night came to so far."""
    run = sleep_store.last(view.connection, "running")
    done = {passed.name: passed.done for passed in sleep_store.passed(view.connection, run.id)} if run else {}
    told = list(upkeep_store.told_since(view.connection, since, view.now))
    return Figures(
        episodes=len(told),
        facts=done.get("promote", 0),
        patterns=done.get("patterns", 0),
        errors=sum(any(_kind(tag) in OWN for tag in json.loads(record.tags)) for record in told),
        lessons=proposals.done_tonight(view.connection, run.id, "learned") if run else 0,
        abandoned=done.get("scratchpads", 0),
        patterns_pruned=done.get("practice", 0),
    )


def _kind(tag: object) -> str:
    """The class of trouble that a tag tells of; "" for any other tag."""
    return str(tag).removeprefix(MARK) if str(tag).startswith(MARK) else ""


def _evidence(records: list[int]) -> dict[str, Json]:
    numbers: list[Json] = [*dict.fromkeys(records)]
    return {"records": numbers[:_MOST_EVIDENCE]}


PASS = Pass("proposals", "improve", "lays before the owner what would make the bot better", plan)
