"""Keep MEMORY.md lean: above a size, settled facts about one thing leave it for a ref file.

The file keeps a pointer to each (the mirror writes it), the state of things, and open items only: what its owner has
ticked off goes back to the log of its day. What a person wrote into MEMORY.md by hand stays there.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from kenobot.cognitive.mirror.paths import slug
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord, expect, update
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.store import tiers
from kenobot.core import lazy
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

_DONE = lazy.regex(r"\[[xX✓✔]\][ \t]")
_OPEN = lazy.regex(r"\[[ ]?\][ \t]")
_STATE = frozenset({"commitment", "goal", "constraint", "preference", "identity", "profile"})  # always at hand
_BY_HAND = ("edit", "command")
_OWNER = "owner"  # the actor of what a person does
_NAME = lazy.regex(r"[^\W_][\w+#.-]*[\w+#]", re.UNICODE)


def plan(view: NightView) -> Iterator[Change]:
    """Move what is done out, and above the policy's size the largest groups of settled facts, until it is lean."""
    for scope in tiers.all_scopes(view.connection):
        core = tiers.in_tier(view.connection, scope, tiers.CORE)
        left = []
        for record in core:
            if _DONE.match(record.text) and not pass_rows.was_reverted(view.connection, record.id, "tier", tiers.DAILY):
                reason = Sentence("reasons.done_is_unlisted")
                yield update(record, "filed", reason, {"tier": tiers.DAILY}, expect(record, "tier"))
            else:
                left.append(record)
        yield from _lean(scope, left, view)


def _lean(scope: str, core: Sequence[Record], view: NightView) -> Iterator[Change]:
    policy = view.policy.decay
    size = sum(len(record.text) for record in core)
    if size <= policy.lean_core_chars:
        return
    settled = stamp(view.now - timedelta(days=policy.settled_days))
    movers = tiers.last_tier_movers(view.connection, [record.id for record in core])
    by_hand = {number for number, (actor, _) in movers.items() if actor == _OWNER}
    movable = [r for r in core if _is_reference(r) and r.updated <= settled and r.id not in by_hand]
    known = tiers.ref_file_counts(view.connection, scope)
    for topic, group in _groups(movable, known, policy.min_group_facts):
        if size <= policy.lean_core_chars:
            return
        edits = [UpdateRecord(record.id, {"tier": f"{tiers.REF}{topic}"}, {"tier": tiers.CORE}) for record in group]
        reason = Sentence("reasons.settled_moved", count=len(edits), topic=topic)
        yield Change("filed", reason, tuple(edits))
        size -= sum(len(record.text) for record in group)


def _is_reference(record: Record) -> bool:
    """Return whether a fact is there to be looked up: not pinned, not a current state, not put there by hand."""
    return (
        record.policy_class != "protected"
        and record.category not in _STATE
        and record.source not in _BY_HAND
        and not _OPEN.match(record.text)
    )


def _groups(movable: Sequence[Record], known: Mapping[str, int], least: int) -> Iterator[tuple[str, Sequence[Record]]]:
    """Yield facts about one thing, by the name of their ref file, each fact once; the most text first.

    A thing that has a ref file already takes single facts, too.
    """
    left = {record.id: record for record in movable}
    topics = {record.id: _topics(record) for record in movable}
    while left:
        about: defaultdict[str, list[Record]] = defaultdict(list)
        for number, record in left.items():
            for topic in topics[number]:
                about[topic].append(record)
        enough = {topic: group for topic, group in about.items() if len(group) >= least or topic in known}
        if not enough:
            return
        best = max(enough, key=lambda topic: (sum(len(record.text) for record in enough[topic]), topic))
        yield best, enough[best]
        for record in enough[best]:
            del left[record.id]


def _topics(record: Record) -> list[str]:
    """Return the topics that a fact may be filed under: its subject, else its tags and the names in it."""
    subject = slug(record.subject) if record.subject not in ("", "owner") else ""
    if subject:
        return [subject]
    names = [word for at, word in enumerate(_NAME.findall(record.text)) if _is_name(word, first=at == 0)]
    counted = Counter(slug(name) for name in (*json.loads(record.tags), *names))
    return [topic for topic in counted if topic]


def _is_name(word: str, *, first: bool) -> bool:
    """Return whether a word looks like a name: a digit among letters, or a capital that begins no sentence."""
    if any(char.isdigit() for char in word):
        return any(char.isalpha() for char in word)
    return (not first and word[0].isupper()) or any(char.isupper() for char in word[1:])


PASS = Pass("hygiene", "consolidate", "keeps MEMORY.md lean", plan)
