"""Search memory for what helps to answer one message.

By words, subjects, meaning and links; filtered, each reason counted; scored by one function; without repeats; packed
by value for the tokens. Reads O(k) rows: k is bounded by the policy, never by the size of memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.candidates.by_meaning import find_by_meaning, replace_superseded
from kenobot.cognitive.recall.candidates.by_words import (
    LexicalHit,
    SearchLimits,
    find_mentioned,
    find_names,
    query_term_counts,
    search_documents,
    search_records,
)
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, FoundItem, MemoryQuery, RecalledMemory, SearchReport
from kenobot.cognitive.recall.results.render import render_memory, shorten, subject_heading
from kenobot.cognitive.recall.results.trace import QuestionKind
from kenobot.cognitive.recall.scoring.score import choose_most_valuable, diversify
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn, rank_turns
from kenobot.cognitive.recall.search import mixing, ranking
from kenobot.cognitive.recall.search.current_beside import put_current_beside
from kenobot.cognitive.recall.search.excerpts import select_excerpts
from kenobot.cognitive.recall.search.exchanges import quote_other_halves
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.recall.search.fit import is_told_together, keep_fitting, keep_on_topic, turns_fit
from kenobot.cognitive.recall.search.former import find_former
from kenobot.cognitive.recall.search.judge import (
    CONFIDENCE_LEVELS,
    answer_level,
    judge_found,
    relevance_level,
    talk_level,
)
from kenobot.cognitive.recall.search.one_thing import age_pairs, find_telling_memories, newer_first
from kenobot.cognitive.recall.search.ranking import SearchHits, rank_key
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.cognitive.store import records as store
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.question import answers
from kenobot.language.question.search_terms import ParsedQuery, parse_query, with_names
from kenobot.language.words import search_terms
from kenobot.ports.recall import ConfidenceLevel, ItemKey, Score
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names


def recall(connection: Connection, index: SideIndex, query: MemoryQuery) -> SearchReport:
    """Search for a message. Brings the index up to date first, so that what was just said is found."""
    policy = query.policy.recall
    need = "full" if query.force else query.question.need
    room = query.budget or policy.budget
    empty = SearchReport(need=need, budget=room)
    if need == "no_recall":
        return empty
    if need == "minimal":
        room = int(room * policy.minimal_share)
        query = replace(query, limit=max(1, int(query.most_memories * policy.minimal_share)))
    parsed, hits, similarities = _search(connection, index, query)
    relevance = {number: relevance_from_similarity(each, query.policy.meaning) for number, each in similarities.items()}
    query = replace(query, vector_relevance=relevance | dict(query.vector_relevance))
    sieve = RecallFilter(query)
    ranked = keep_on_topic(query.question, ranking.rank_records(connection, hits, sieve, similarities), sieve)
    if query.trace is not None:
        query.trace.add_records(ranked)
    question = _question_kind(index, query, hits)
    if question is not None:
        ranked = _keep_fitting(index, question, ranked, similarities, sieve)
    fresh, on_show = _split_by_prompt(ranked, sieve)
    if query.marks:
        fresh = ranked = _by_marks(fresh, query.marks, sieve)
    memories = sorted([*_pack(index, fresh, query, sieve, room), *on_show], key=rank_key)
    best = max((memory.relevance for memory in ranked), default=0.0)
    likely = best if query.marks and query.question.asks and (ranked or not on_show) else None
    turns: list[RankedTurn] = []
    if best < policy.strong_from or (query.question.asks and not query.marks):
        turns = _rank_turns(index, query, parsed, question, sieve)
    excerpts = select_excerpts(connection, index, turns, sieve, room) if turns else []
    found = _mix(ranked, memories, excerpts, query, sieve, room)
    found = _by_age(found, query) if question is not None else found
    memories = [each for each in found if isinstance(each, RecalledMemory)]
    excerpts = [each for each in found if isinstance(each, Excerpt)]
    best_excerpt = max((excerpt.relevance for excerpt in excerpts), default=0.0)
    by_turns = 0.0 if query.marks else best_excerpt  # shared words do not outweigh a reranker that found no answer
    best = best if memories else 0.0
    near = level = _level_by_nearness(best, likely if memories or likely is None else 0.0, by_turns, policy)
    if query.question.asks:
        if found and not query.marks:
            judged = judge_found(index, query, parsed, found)
            level, likely = _level_by_judge(judged, near, policy, measured=question is not None)
            level = level if memories else min(level, "medium", key=CONFIDENCE_LEVELS.index)
        if level == "none" and sieve.on_show.answer(query.question, policy):
            level = "low"
    halves = quote_other_halves(connection, index, found, turns, sieve, room)
    shown = [each for each in (*found, *halves) if not each.on_show]
    shown = put_current_beside(connection, shown, hits.past, sieve, room - sum(each.tokens for each in shown))
    left = room - sum(each.tokens for each in shown)
    former = find_former(connection, [each.record for each in memories], query, left)
    return replace(
        empty,
        level=level,
        near=near,
        score=max(best, best_excerpt),
        answer_probability=likely,
        shown=tuple(shown),
        query_terms=tuple(word.stems[0] for word in parsed.terms),
        subjects=tuple(sorted(hits.mentioned.subjects | ({"owner"} if hits.mentioned.first_person else set()))),
        dropped=sieve.drop_counts(),
        candidates=tuple(fresh[: 2 * query.most_memories]),
        former=former,
    )


def _keep_fitting(
    index: SideIndex,
    question: QuestionKind,
    ranked: Sequence[RecalledMemory],
    similarities: Mapping[int, float],
    sieve: RecallFilter,
) -> list[RecalledMemory]:
    """Return the memories that are about the question, with those told together measured by themselves."""
    beside = [each.record.id for each in ranked if is_told_together(each)]
    if beside and index.vectors is not None:
        near = index.vectors.similarities("record", sieve.query.text, None, 0, also=beside)
        similarities = {**similarities, **near}
    return keep_fitting(question, ranked, similarities, sieve)


def _level_by_nearness(best: float, likely: float | None, by_turns: float, policy: RecallPolicy) -> ConfidenceLevel:
    """Return how sure memory is by how near what was found comes. likely: by a reranker's marks, where it gave some."""
    by_memories = relevance_level(best, policy) if likely is None else answer_level(likely, policy)
    return max(by_memories, talk_level(by_turns, policy), key=CONFIDENCE_LEVELS.index)


def _level_by_judge(
    judged: float | None, near: ConfidenceLevel, policy: RecallPolicy, *, measured: bool
) -> tuple[ConfidenceLevel, float | None]:
    """Return the level by the probability of an answer, and that; what words alone judge is either denied or as near.

    measured: vectors were searched.
    """
    if judged is None or (not measured and judged >= policy.none_below):
        return max("low", near, key=CONFIDENCE_LEVELS.index) if judged else near, None
    return answer_level(judged, policy), judged


def _question_kind(index: SideIndex, query: MemoryQuery, hits: SearchHits) -> QuestionKind | None:
    """Describe the question; None for other messages, where no vectors are searched, and with a reranker's marks."""
    vectors = index.vectors
    if query.marks or query.as_of is not None or vectors is None or not query.question.asks:
        return None
    if not vectors.has_query_vector(query.text):
        return None
    kind = QuestionKind(vectors.models[0], hits.mentioned.first_person, vectors.generality(query.text))
    if query.trace is not None:
        query.trace.question = kind
    return kind


def _rank_turns(
    index: SideIndex, query: MemoryQuery, parsed: ParsedQuery, question: QuestionKind | None, sieve: RecallFilter
) -> list[RankedTurn]:
    """Rank the turns; none of them when they do not fit the question."""
    ranked = rank_turns(
        index,
        query.question,
        query.today,
        scope_names(query.reach),
        parsed,
        query.policy,
        whole=query.trace is not None,
    )
    if query.trace is not None:
        query.trace.add_turns(ranked)
    turns = ranked[: query.policy.recall.max_ranked_turns]
    if question is not None and not turns_fit(question, turns, query.policy.recall):
        sieve.dropped["irrelevant"] += len(turns)
        return []
    return turns


def similar_records(connection: Connection, index: SideIndex, text: str, reach: Scopes, limit: int) -> list[int]:
    """Find the live records within `reach` that share most words with a text, or are nearest in meaning, best first."""
    index.catch_up(connection)
    none: list[LexicalHit] = []
    found = index.read(partial(search_records, scopes=scope_names(reach), text=text, policy=DEFAULT.recall), none)
    alike = index.vectors.similar_records(text, scope_names(reach), limit) if index.vectors is not None else []
    both = zip_longest((each.id for each in found[: 2 * limit]), alike)
    numbers = list(dict.fromkeys(number for pair in both for number in pair if number is not None))
    known = store.by_ids(connection, numbers, reach)
    return [number for number in numbers if number in known and known[number].status == "active"][:limit]


def _search(
    connection: Connection, index: SideIndex, query: MemoryQuery
) -> tuple[ParsedQuery, SearchHits, dict[int, float]]:
    """Search for a message by its words, by names and by vectors; return it parsed, with the candidates."""
    vectors = index.vectors if index.vectors is not None and index.vectors.has_query_vector(query.text) else None
    index.catch_up(connection)
    parsed = parse_query(query.question.with_present, query.preceding_text)
    names: list[str] = []
    if relationships := query.question.relationships:
        names = index.read(lambda side: find_names(connection, side, query.reach, relationships), names)
        parsed = with_names(parsed, names)
    search = partial(_search_index, query=query, parsed=parsed, beside_vectors=vectors is not None)
    hits = replace(index.read(search, SearchHits()), names=names)
    similarities: dict[int, float] = {}
    if query.as_of is None:
        current = replace_superseded(connection, hits.records, hits.past, query.reach)
        hits = replace(hits, records=current)
        if vectors is not None:
            similarities = find_by_meaning(connection, vectors, query.text, query.reach, hits.records, query.policy)
    return parsed, hits, similarities


def _search_index(index: Connection, *, query: MemoryQuery, parsed: ParsedQuery, beside_vectors: bool) -> SearchHits:
    scopes, policy = scope_names(query.reach), query.policy.recall
    share = policy.share_beside_vectors if beside_vectors else 1.0
    partitions = posting_rows.partitions(index, scopes, ("record", "past"))
    counts = query_term_counts(index, partitions, parsed)
    live = [each for each in partitions if each.kind == "record" or query.as_of]
    records = search_documents(index, live, parsed, counts, policy, SearchLimits.of(policy, share))
    past: list[LexicalHit] = []
    if query.as_of is None:
        superseded = [each for each in partitions if each.kind == "past"]
        past = search_documents(index, superseded, parsed, counts, policy, SearchLimits.of_past(policy, share))
    known = scopes if scopes is not None else sorted({each.scope for each in posting_rows.all_partitions(index)})
    return SearchHits(records, past[: policy.max_past], find_mentioned(index, scopes, parsed), known)


# ── packing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _split_by_prompt(
    ranked: Sequence[RecalledMemory], sieve: RecallFilter
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Return what the prompt does not show yet, and what it shows already, which takes no room."""
    known = [memory for memory in ranked if memory.on_show]
    sieve.dropped["on show already"] += len(known)
    return [memory for memory in ranked if not memory.on_show], known


def _by_marks(
    memories: Sequence[RecalledMemory], marks: Mapping[int, float], sieve: RecallFilter
) -> list[RecalledMemory]:
    """Select the memories that help to answer by the reranker's marks."""
    kept = []
    for memory in memories:
        mark = marks.get(memory.record.id, 0.0)
        if mark > 0:
            valued = Score(memory.score.value + mark, {**memory.score.parts, "judged": mark}, memory.score.factor)
            kept.append(replace(memory, score=valued, relevance=mark))
    sieve.dropped["irrelevant"] += len(memories) - len(kept)
    return sorted(kept, key=rank_key)


def _pack(
    index: SideIndex, fresh: Sequence[RecalledMemory], query: MemoryQuery, sieve: RecallFilter, room: int
) -> list[RecalledMemory]:
    """Return what is shown, best first: no repeats, places kept for neighbours, and never more than fits."""
    policy = query.policy.recall
    limit = query.most_memories
    new = [*fresh[: 2 * limit], *[memory for memory in fresh[2 * limit :] if memory.path][: policy.reserved_for_linked]]
    held = _vocabularies(index, new)
    order = diversify(
        [(memory.score.value, said) for memory, said in zip(new, held, strict=True)], policy.diversity, limit
    )
    picked = [
        _add_line(memory, query)
        for memory in _with_reserved([new[at] for at in order], limit, policy.reserved_for_linked)
    ]
    if picked and room > 1 and picked[0].tokens > room:
        subject = picked[0].record.subject
        line = shorten(picked[0].line, room - _tokens("", subject))
        picked[0] = replace(picked[0], line=line, tokens=_tokens(line, subject))
    chosen = choose_most_valuable([(memory, memory.score.value, memory.tokens) for memory in picked], room)
    sieve.dropped["no room"] += len(picked) - len(chosen)
    sieve.dropped["outranked"] += len(fresh) - len(picked)
    return sorted(chosen, key=rank_key)


def _mix(
    ranked: Sequence[RecalledMemory],
    memories: Sequence[RecalledMemory],
    excerpts: Sequence[Excerpt],
    query: MemoryQuery,
    sieve: RecallFilter,
    room: int,
) -> list[FoundItem]:
    """Put memories and excerpts into one order, and drop the last that have no room.

    What the prompt shows already has its place in the order, so that less likely excerpts do not come for it. A memory
    stands in the place of a turn that says the same.
    """
    if not excerpts:
        return list(memories)
    features = mixing.mix_features(ranked, excerpts)
    if query.trace is not None:
        query.trace.mix_features = features
    share = mixing.memory_share(features)
    items: list[FoundItem] = [*memories, *excerpts]
    found = {each.key: each for each in items}
    order = mixing.in_one_order(
        [each.record.id for each in memories], [each.turn.id for each in excerpts], share, query.policy.recall
    )
    lines = query.limit + query.excerpt_limit or query.policy.recall.limit
    repeated = find_telling_memories(excerpts, memories)
    places: dict[ItemKey, None] = {}
    for (kind, number), _ in order:
        told = repeated.get(number) if kind == "turn" else None
        places["record" if told else kind, told or number] = None
    chosen: list[FoundItem] = []
    for item in list(places)[:lines]:
        each = found.get(item)
        if each is not None and each.tokens <= room:
            room -= each.tokens
            chosen.append(each)
        elif each is not None:
            sieve.dropped["no room"] += 1
    sieve.dropped["outranked"] += sum(not found[item].on_show for item in list(places)[lines:] if item in found)
    return chosen


def _by_age(shown: Sequence[FoundItem], query: MemoryQuery) -> list[FoundItem]:
    pairs = age_pairs(shown)
    if query.trace is not None:
        query.trace.before_age, query.trace.age_pairs = [each.key for each in shown], pairs
    return newer_first(shown, pairs)


def _vocabularies(index: SideIndex, memories: Sequence[RecalledMemory]) -> list[frozenset[str]]:
    """Return the words of each memory as the index knows them; at hand are those of memories found by their words."""
    lacking = [memory.record.id for memory in memories if not memory.terms]
    known: dict[int, frozenset[str]] = index.read(partial(posting_rows.record_terms, records=lacking), {})
    return [each.terms or known.get(each.record.id) or frozenset(search_terms(each.record.text)) for each in memories]


def _add_line(memory: RecalledMemory, query: MemoryQuery) -> RecalledMemory:
    """Add to a memory the line that shows it; its tokens cover the heading that it may need."""
    line = render_memory(memory.record, memory.current_confidence, query.zone)
    return replace(memory, line=line, tokens=_tokens(line, memory.record.subject))


def _tokens(line: str, subject: str) -> int:
    return estimate_tokens(f"{subject_heading(subject)}\n{line}\n")


def _with_reserved(ordered: Sequence[RecalledMemory], limit: int, reserved: int) -> list[RecalledMemory]:
    """Select the first `limit` of `ordered`; a few neighbours are never crowded out by memories found directly."""
    kept = list(ordered[:limit])
    linked = [memory for memory in ordered if memory.path][: min(reserved, limit // 4 or (limit > 1))]
    for memory in linked:
        if memory not in kept:
            crowd = [at for at, other in enumerate(kept) if not other.path]
            if not crowd:
                break
            kept.pop(crowd[-1])
            kept.append(memory)
    return kept


# ── further queries ──────────────────────────────────────────────────────────────────────────────────────────────


def recall_with_queries(connection: Connection, index: SideIndex, query: MemoryQuery) -> SearchReport:
    """Search for a message and for the further queries that it has, and put what they find into one order.

    By the places of each item in all of the searches (reciprocal rank fusion): what several find comes first.
    """
    first = recall(connection, index, query)
    if not query.also:
        return first
    alone = replace(query, also=(), preceding_text="", trace=None)
    others = [recall(connection, index, replace(alone, text=each)) for each in query.also]
    shown = _fuse([first, *others], query)
    candidates = {each.record.id: each for report in (first, *others) for each in report.candidates}
    level = first.level
    kind = query.question.answer_type
    able = any(not answers.lacks_answer(kind, query.text, each.text) for each in shown)
    if able and any(each.level != "none" for each in others):  # the first search may have found too little
        level = max("low", level, key=CONFIDENCE_LEVELS.index)
    return replace(
        first,
        level=level,
        score=max(report.score for report in (first, *others)),
        shown=tuple(shown),
        candidates=tuple(_fuse_candidates(shown, candidates))[: 2 * query.most_memories],
        former=next((report.former for report in (first, *others) if report.former), ()),
    )


def _fuse(reports: Sequence[SearchReport], query: MemoryQuery) -> list[FoundItem]:
    """Choose the items with the highest places in all reports, as many as one search shows, within its tokens."""
    policy, places, found = query.policy.recall, dict[ItemKey, float](), dict[ItemKey, FoundItem]()
    for report in reports:
        for place, each in enumerate(filter(_is_found_itself, report.shown), 1):
            places[each.key] = places.get(each.key, 0.0) + 1 / (policy.fusion_offset + place)
            found.setdefault(each.key, each)
    lines = query.limit + query.excerpt_limit or policy.limit
    room, chosen, quoted = reports[0].budget, list[FoundItem](), set[str]()
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


def _is_found_itself(each: FoundItem) -> bool:
    return not isinstance(each, Excerpt) or not each.beside


def _other_halves(reports: Sequence[SearchReport], chosen: Sequence[FoundItem], room: int) -> Iterator[Excerpt]:
    """Yield the other halves of the exchanges of which `chosen` has one, as far as `room` allows."""
    quoted = {each.turn.id for each in chosen if isinstance(each, Excerpt)}
    for each in (each for report in reports for each in report.excerpts):
        if each.beside in quoted and each.turn.id not in quoted and each.tokens <= room:
            room -= each.tokens
            quoted.add(each.turn.id)
            yield each


def _fuse_candidates(shown: Sequence[FoundItem], candidates: dict[int, RecalledMemory]) -> list[RecalledMemory]:
    """List the candidates of all searches, those that are shown first."""
    first = [each for each in shown if isinstance(each, RecalledMemory)]
    known = {each.record.id for each in first}
    return [*first, *(each for number, each in candidates.items() if number not in known)]
