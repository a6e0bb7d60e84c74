"""Search for a message and for its further queries, and put what they find into one order.

By the places of each memory and turn in all of the searches (reciprocal rank fusion): what several find comes first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, MemoryQuery, RecalledMemory, SearchReport
from kenobot.cognitive.recall.search.found_items import item_text
from kenobot.cognitive.recall.search.judge import CONFIDENCE_LEVELS
from kenobot.cognitive.recall.search.mixing import Item
from kenobot.cognitive.recall.search.recall import recall
from kenobot.language.question import answers
from kenobot.storage.connection import Connection


def recall_with_queries(connection: Connection, index: SideIndex, query: MemoryQuery) -> SearchReport:
    """Search for a message, and for the further queries that it has."""
    first = recall(connection, index, query)
    if not query.also:
        return first
    alone = replace(query, also=(), preceding_text="", trace=None)
    others = [recall(connection, index, replace(alone, text=each)) for each in query.also]
    shown = _fused([first, *others], query)
    candidates = {each.record.id: each for report in (first, *others) for each in report.candidates}
    level = first.level
    kind = query.question.answer_type
    able = any(not answers.lacks_answer(kind, query.text, item_text(each)) for each in shown)
    if able and any(each.level != "none" for each in others):  # the first search may have found too little
        level = max("low", level, key=CONFIDENCE_LEVELS.index)
    return replace(
        first,
        level=level,
        score=max(report.score for report in (first, *others)),
        shown=tuple(shown),
        candidates=tuple(_fused_candidates(shown, candidates))[: 2 * query.most_memories],
    )


def _fused(reports: Sequence[SearchReport], query: MemoryQuery) -> list[RecalledMemory | Excerpt]:
    """Choose the items with the highest places in all reports, as many as one search shows, within its tokens."""
    policy, places, found = query.policy.recall, dict[Item, float](), dict[Item, RecalledMemory | Excerpt]()
    for report in reports:
        for place, each in enumerate(filter(_is_found_itself, report.shown), 1):
            places[_item(each)] = places.get(_item(each), 0.0) + 1 / (policy.fusion_offset + place)
            found.setdefault(_item(each), each)
    lines = query.limit + query.excerpt_limit or policy.limit
    room, chosen, quoted = reports[0].budget, list[RecalledMemory | Excerpt](), set[str]()
    for item in sorted(found, key=lambda item: -places[item]):
        each = found[item]
        repeated = isinstance(each, Excerpt) and each.turn.text in quoted
        if len(chosen) == lines or repeated or each.tokens > room:
            continue
        room -= each.tokens
        chosen.append(each)
        if isinstance(each, Excerpt):
            quoted.add(each.turn.text)
    return [*chosen, *_other_halves(reports, chosen, room)]


def _is_found_itself(each: RecalledMemory | Excerpt) -> bool:
    return not isinstance(each, Excerpt) or not each.beside


def _other_halves(
    reports: Sequence[SearchReport], chosen: Sequence[RecalledMemory | Excerpt], room: int
) -> Iterator[Excerpt]:
    """Yield the other halves of the exchanges of which `chosen` has one, as far as `room` allows."""
    quoted = {each.turn.id for each in chosen if isinstance(each, Excerpt)}
    for each in (each for report in reports for each in report.excerpts):
        if each.beside in quoted and each.turn.id not in quoted and each.tokens <= room:
            room -= each.tokens
            quoted.add(each.turn.id)
            yield each


def _item(each: RecalledMemory | Excerpt) -> Item:
    return ("turn", each.turn.id) if isinstance(each, Excerpt) else ("record", each.record.id)


def _fused_candidates(
    shown: Sequence[RecalledMemory | Excerpt], candidates: dict[int, RecalledMemory]
) -> list[RecalledMemory]:
    """List the candidates of all searches, those that are shown first."""
    first = [each for each in shown if isinstance(each, RecalledMemory)]
    known = {each.record.id for each in first}
    return [*first, *(each for number, each in candidates.items() if number not in known)]
