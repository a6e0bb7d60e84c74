"""Links between records, unique by both ends and type: a repeat raises their confidence, silence lowers it.

A new record is linked to a few others of its scope: those about the same subject, those that the same conversation
brought in just before, and what it names as its cause. Fading is worked out when a link is read.
"""

import json
import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise

from kenobot.cognitive.beliefs.value import clamp, days_since
from kenobot.cognitive.policy.beliefs import GraphPolicy
from kenobot.cognitive.store import links
from kenobot.core import lazy
from kenobot.language.references import causal_phrase, names_previous_as_cause
from kenobot.language.words import fold, terms
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import Link, LinkType, Record
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

_EITHER_WAY = frozenset({"related", "entity", "time", "trace"})
_NAME = lazy.regex(r"[^\W_][\w'’+#-]*", re.UNICODE)
_NAMES = 12  # words of one text, and tags, that are looked up as names
_SELF = frozenset({"", "owner"})
DEFAULT = GraphPolicy()


def strengthen_link(
    connection: Connection,
    src: int,
    dst: int,
    type_: LinkType,
    at: datetime,
    why: str = "",
    *,
    weight: float = 1.0,
    policy: GraphPolicy = DEFAULT,
) -> Link:
    """Create a link, or raise the confidence of a known one, inside a transaction; returns it.

    weight: 0 to 1; the highest counts. Symmetric links are kept once. Raises ValueError for a link to itself.
    """
    if src == dst:
        raise ValueError(f"record {src} cannot be linked to itself")
    if type_ in _EITHER_WAY and src < dst:
        src, dst = dst, src
    known = links.get_link(connection, src, dst, type_)
    now = stamp(at)
    if known is None:
        made = _first_link(src, dst, type_, weight, now, policy)
    else:
        left = current_confidence(type_, known.confidence, days_since(at, known.last_at), policy)
        sure = raise_confidence(left, policy.growth_per_repeat)
        made = Link(src, dst, type_, max(weight, known.weight), sure, known.seen + 1, max(now, known.last_at))
    links.upsert_links(connection, [(made, why)])
    return made


def _first_link(src: int, dst: int, type_: LinkType, weight: float, now: str, policy: GraphPolicy) -> Link:
    return Link(src, dst, type_, weight, policy.first_confidence.get(type_, 1.0), 1, now)


def link_new_record(
    connection: Connection,
    record: Record,
    act: ChangeContext,
    policy: GraphPolicy = DEFAULT,
    *,
    alike: Iterable[tuple[int, float]] = (),
) -> list[Link]:
    """Link a record that was just made to older ones, in a transaction; returns the links.

    alike: ids of those that are like it, and how much. Of each other type it gets at most `links_per_type`.
    """
    subjects = _subjects(record)
    named = links.ids_about_subjects(connection, record.scope, subjects, record.id, policy.links_per_type)
    told = _list_told_before(connection, record, act, policy) if act.session else []
    found: list[tuple[LinkType, str, int, float]] = [
        *(("related", "alike", other, min(1.0, likeness)) for other, likeness in alike),
        *(("entity", f"both are about {subject}", other, 1.0) for other, subject in named),
        *((type_, why, other, 1.0) for type_, why, other in told),
    ]
    now = stamp(act.at)
    made = [(_first_link(record.id, to, type_, weight, now, policy), why) for type_, why, to, weight in found]
    links.upsert_links(connection, made)
    return [link for link, _ in made]


def _list_told_before(
    connection: Connection, record: Record, act: ChangeContext, policy: GraphPolicy
) -> list[tuple[LinkType, str, int]]:
    """List the records that the same conversation brought in just before one, and those that it names as its cause."""
    since = stamp(act.at - timedelta(minutes=policy.window_minutes))
    before = links.recently_created(connection, act.session, record.scope, since, record.id, 4 * policy.links_per_type)
    found: list[tuple[LinkType, str, int]] = [("time", "told together", other) for other, _ in before]
    found = found[: policy.links_per_type]
    if (phrase := causal_phrase(record.text)) is not None:
        found += [("causal", phrase, cause) for cause in _causes(record.text, before)[: policy.links_per_type]]
    return found


def _subjects(record: Record) -> list[str]:
    """List the subjects that a record may be about.

    Its own subject, its tags, and the words of its text that could be names.
    """
    words = [word for word in _NAME.findall(record.text) if not word[0].islower()][:_NAMES]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    named: Iterable[str] = (record.subject, *json.loads(record.tags)[:_NAMES], *words, *pairs)
    both = (form for name in named for form in (name, fold(name)))
    return [name for name in dict.fromkeys(both) if name not in _SELF]


def _causes(text: str, before: list[tuple[int, str]]) -> list[int]:
    """Return ids of earlier records, newest first, that share a word with `text`; "That's why …" names the last one."""
    words = set(terms(text))
    found = [other for other, told in before if words & set(terms(told))]
    if names_previous_as_cause(text) and before and before[0][0] not in found:
        found.insert(0, before[0][0])
    return found


def read_confidence(confidence: float | None) -> float:
    """Return a link's confidence as it was written; one that was written without any, or as no number, is sure."""
    return 1.0 if confidence is None or not math.isfinite(confidence) else clamp(confidence)


def raise_confidence(confidence: float | None, growth: float) -> float:
    """Return confidence after a repeat: never less than before, at most 1. A growth that is no number is none."""
    return min(1.0, read_confidence(confidence) + (max(0.0, growth) if math.isfinite(growth) else 0.0))


def silent_periods(days: float, policy: GraphPolicy = DEFAULT) -> int:
    """Count the whole periods of silence in `days` that take confidence away: the first one does not."""
    window = policy.grace_days
    return max(0, math.ceil(days / window) - 1) if window > 0 and math.isfinite(days) else 0


def decay_confidence(confidence: float | None, days: float, policy: GraphPolicy = DEFAULT) -> float:
    """Compute confidence after `days` of silence: after a grace period it sinks by steps to a floor, never below it.

    By a policy with a step or a floor that is no number it does not sink.
    """
    sure = read_confidence(confidence)
    if not (math.isfinite(policy.min_confidence) and math.isfinite(policy.loss_per_period)):
        return sure
    lowest = min(sure, clamp(policy.min_confidence))
    return max(lowest, sure - silent_periods(days, policy) * max(0.0, policy.loss_per_period))


def current_confidence(type_: str, confidence: float, days: float, policy: GraphPolicy = DEFAULT) -> float:
    """Compute the confidence that a link of a type has after `days` of silence; only observed types fade."""
    fades = type_ in policy.first_confidence
    return decay_confidence(confidence, days, policy) if fades else read_confidence(confidence)
