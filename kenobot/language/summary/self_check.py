"""The self-check after a compaction: what the turns said that neither the summary nor any memory holds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language import sentence_content as said
from kenobot.language.facts import heuristic
from kenobot.language.fingerprint import key_of
from kenobot.language.sentence_content import GapKind, TextCoverage
from kenobot.language.summary import rule_summary
from kenobot.language.summary.corrections import find_outdated_keys, no_pause
from kenobot.language.summary.digest import Digest, SummaryLine
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn

MemoryLookup = Callable[[ConversationTurn, str], Sequence[Record]]
"""The live memories, of where a turn's words go, that a sentence of it may be kept in."""

_COVERED_FROM = 0.6  # share of a sentence's words in one place from which it counts as kept there
_MOST_MISSING = 24  # items that a summary lists as missing
_LONGEST = 120  # characters of a sentence in the list
_BLOT = Redactor()


@dataclass(frozen=True, slots=True)
class Gap:
    """An item that is kept nowhere, and its turn."""

    kind: GapKind
    text: str
    trust: Trust
    turn: int | None


def find_gaps(
    turns: Sequence[ConversationTurn],
    digest: Digest,
    remembered: MemoryLookup,
    zone: ZoneInfo,
    pause: Callable[[], None] = no_pause,
) -> list[Gap]:
    """Find the names, numbers, days, decisions, open things and facts of `turns` that are not kept, each once."""
    found: dict[tuple[GapKind, str], Gap] = {}
    lines = [line.text for line in digest.lines]
    outdated = find_outdated_keys((), turns, zone, pause)
    summaries: dict[date, TextCoverage] = {}
    for turn in turns:
        day = turn.at.astimezone(zone).date()
        summed = summaries.get(day) or TextCoverage(lines, day, _COVERED_FROM)
        summaries[day] = summed
        for text, trust in rule_summary.split_by_trust(turn):
            for sentence in said.sentences(text):
                pause()
                lost = _find_lost(sentence, turn, trust, zone, summed)
                if not lost or key_of(sentence) in outdated:
                    continue
                memories = remembered(turn, sentence)
                texts = [" ".join([r.text, r.subject, *r.attribute_map.values(), r.tags]) for r in memories]
                held = TextCoverage(texts, day, _COVERED_FROM)
                for kind, item in lost:
                    if (kind, item) not in held:
                        found.setdefault((kind, item.casefold()), Gap(kind, _shorten(item), trust, turn.inbox_id))
    return list(found.values())


def add_missing(digest: Digest, found: Sequence[Gap], room: int) -> tuple[Digest, int]:
    """Add gaps to a summary's missing items, the newest within `room` tokens; returns also how many do not fit."""
    lines = [line.text.casefold() for line in digest.lines]
    items = [item for item in digest.missing if not any(item.text.casefold() in line for line in lines)]
    known = {item.text.casefold() for item in items}
    fresh = [SummaryLine(gap.text, gap.trust) for gap in found if gap.text.casefold() not in known]
    items = [*items, *fresh][-_MOST_MISSING:]
    while items and sum(estimate_tokens(item.text) + 1 for item in items) > room:
        del items[0]
    kept = {item.text.casefold() for item in items}
    return replace(digest, missing=tuple(items)), sum(gap.text.casefold() not in kept for gap in found)


def _find_lost(
    sentence: str, turn: ConversationTurn, trust: Trust, zone: ZoneInfo, summed: TextCoverage
) -> list[tuple[GapKind, str]]:
    """Find the gaps of a summary in a sentence: a whole decision, question or fact, else the details that it lost.

    Whether it states a fact is asked last, for that takes the longest.
    """
    is_kept = ("fact", sentence) in summed
    if said.is_decision(sentence):
        return [] if is_kept else [("decision", sentence)]
    if said.is_open(sentence) or (said.is_question(sentence) and said.leaves_unanswered(turn.answer)):
        return [] if is_kept else [("open", sentence)]
    parts: dict[GapKind, Sequence[str]] = {
        "date": said.dates(sentence),
        "number": said.numbers(sentence),
        "name": said.names(sentence),
    }
    lost = [(kind, part) for kind, found in parts.items() for part in found if (kind, part) not in summed]
    if is_kept and not lost:
        return []
    if trust in ("owner", "guest") and heuristic.extract_facts(sentence, turn.at.astimezone(zone).date()):
        return [] if is_kept else [("fact", sentence)]
    return lost


def _shorten(text: str) -> str:
    line = " ".join(_BLOT(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
