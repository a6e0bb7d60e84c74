"""`recall(connection, index, query) -> Pack`: the way out of memory for one message.

Looked for by words, subjects, meanings and links; filtered, each reason counted; valued by one function; without
repeats; packed by value for the tokens. Reads O(k) rows: k is bounded by the policy, never by the size of memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import zip_longest
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import DEFAULT, Policy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall import by_meaning, confidence, full_load, ranking, relations, turn_ranking
from kenobot.cognitive.recall.by_words import (
    LexicalHit,
    ParsedQuery,
    SearchLimits,
    find_mentioned,
    parse_query,
    query_term_counts,
    search_documents,
    search_records,
    with_names,
)
from kenobot.cognitive.recall.excerpts import ExcerptLimits, select_excerpts
from kenobot.cognitive.recall.filters import RecallFilter
from kenobot.cognitive.recall.index import postings
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.pack import (
    Pack,
    RecalledMemory,
    answer_level,
    choose_most_valuable,
    confidence_level,
    render_memory,
    shorten,
    subject_heading,
)
from kenobot.cognitive.recall.ranking import SearchHits, rank_key
from kenobot.cognitive.recall.score import Score, diversify
from kenobot.cognitive.recall.trace import RecallTrace
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.scopes import Scopes, scope_names
from kenobot.cognitive.text.recall_need import is_question, recall_need
from kenobot.cognitive.text.words import terms
from kenobot.core.token_estimate import clip_to_tokens, estimate_tokens
from kenobot.ports.identity import chat_scope
from kenobot.storage.connection import Connection

_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Query:
    """What to recall, for whom, and within how many tokens.

    text: the message. preceding_text: what was said before it. reach: whose memory. session: the chat that asks; its
    scratchpad
    and profile come along when `whole`. budget, limit: 0 leaves them to the policy. as_of: what was known then instead
    of now. vector_relevance: how near each record's meaning is, 0 to 1, as a search by vectors found it. least: trusts
    that may be shown, None for all. prompt_text: what the prompt shows already. from_message: the first message that
    it shows. force: look also where the message calls for nothing. excerpt_limit: how many turns may be quoted; 0
    leaves it to the
    policy. marks: how much each record helps to answer, 0 to 1, as somebody said who read it; then no other is shown.
    trace: is told what became of everything.
    """

    text: str
    reach: Scopes
    now: datetime
    zone: ZoneInfo = _UTC
    session: str = ""
    preceding_text: str = ""
    budget: int = 0
    limit: int = 0
    as_of: datetime | None = None
    vector_relevance: Mapping[int, float] = field(default_factory=dict)
    least: frozenset[str] | None = None
    prompt_text: str = ""
    from_message: int | None = None
    whole: bool = False
    force: bool = False
    excerpt_limit: int = 0
    marks: Mapping[int, float] = field(default_factory=dict)
    trace: RecallTrace | None = None
    policy: Policy = DEFAULT


def recall(connection: Connection, index: SideIndex, query: Query) -> Pack:
    """What is remembered for a message. Brings the index up to date first, so that what was just said is found."""
    policy = query.policy.recall
    wanted = "full" if query.force else recall_need(query.text)
    pad, profile, room = _standing(connection, query, policy)
    bare = Pack(need=wanted, scratchpad=pad, profile=profile, budget=_budget(query, policy))
    if wanted == "no_recall":
        return bare
    if wanted == "minimal":
        room, query = int(room * policy.minimal_share), replace(query, limit=_less(query, policy))
    looked_for, found, near = _looked(connection, index, query)
    query = replace(query, vector_relevance={**near.relevance, **query.vector_relevance})
    sieve = RecallFilter(
        query.reach, query.now, query.policy, query.as_of, query.least, query.prompt_text, trace=query.trace
    )
    ranked = ranking.rank_records(connection, query, found, sieve, near.similarities)
    if query.trace is not None:
        query.trace.add_records(ranked)
    likely = (
        confidence.answer_probability(index, query.text, ranked, query.trace)
        if near.similarities and not query.marks
        else None
    )
    fresh = _fresh(ranked, sieve)
    if query.marks:
        fresh = ranked = _as_judged(fresh, query.marks, sieve)
    memories = _packed(index, fresh, query, sieve, room)
    best = max((memory.relevance for memory in ranked), default=0.0)
    if query.marks and is_question(query.text):
        likely = best if memories else 0.0
    quoted = []
    if best < policy.strong_from:
        left = room - sum(memory.tokens for memory in memories)
        today = query.now.astimezone(query.zone).date()
        whole = query.trace is not None
        said = turn_ranking.rank_turns(
            index, query.text, today, scope_names(query.reach), looked_for, query.policy, whole=whole
        )
        if query.trace is not None:
            query.trace.add_turns(said)
            said = said[: policy.max_ranked_turns]
        told = partial(_told, index)
        wanted_turns = ExcerptLimits(left, query.excerpt_limit or policy.max_excerpts, query.zone, query.from_message)
        quoted = select_excerpts(connection, said, sieve, told, wanted_turns, policy)
    said_so = max((excerpt.relevance for excerpt in quoted), default=0.0)
    by_talk = 0.0 if query.marks else said_so  # words that are alike do not outweigh who read, and found no answer
    best = max(best if memories else 0.0, said_so)
    return replace(
        bare,
        level=confidence_level(best, policy) if likely is None else answer_level(likely, by_talk, policy),
        score=best,
        answer_probability=likely,
        memories=tuple(memories),
        excerpts=tuple(quoted),
        query_terms=tuple(word.stems[0] for word in looked_for.terms),
        subjects=tuple(sorted(found.mentioned.subjects | ({"owner"} if found.mentioned.first_person else set()))),
        dropped=sieve.drop_counts(),
        candidates=tuple(fresh[: 2 * (query.limit or policy.limit)]),
    )


def similar_records(connection: Connection, index: SideIndex, text: str, reach: Scopes, limit: int) -> list[int]:
    """The live records within `reach` that share most words with `text`, and those nearest in meaning, best first."""
    index.catch_up(connection)
    none: list[LexicalHit] = []
    found = index.read(partial(search_records, scopes=scope_names(reach), text=text, policy=DEFAULT.recall), none)
    alike = index.vectors.similar_records(text, scope_names(reach), limit) if index.vectors is not None else []
    both = zip_longest((each.id for each in found[: 2 * limit]), alike)
    numbers = list(dict.fromkeys(number for pair in both for number in pair if number is not None))
    known = store.by_ids(connection, numbers, reach)
    return [number for number in numbers if number in known and known[number].status == "active"][:limit]


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _looked(
    connection: Connection, index: SideIndex, query: Query
) -> tuple[ParsedQuery, SearchHits, by_meaning.VectorHits]:
    """What is looked for, and what was found of it by words, by names and by meaning."""
    meaning = index.vectors if index.vectors is not None and index.vectors.has_query_vector(query.text) else None
    index.catch_up(connection)
    looked_for = parse_query(query.text, query.preceding_text, query.policy.recall)
    names: list[str] = []
    if bonds := relations.asked_relationships(query.text):
        names = index.read(lambda held: relations.find_names(connection, held, query.reach, bonds), names)
        looked_for = with_names(looked_for, names)
    found = index.read(partial(_search, query=query, looked_for=looked_for, beside=meaning is not None), SearchHits())
    found = replace(found, names=names)
    near = by_meaning.VectorHits()
    if query.as_of is None:
        found = replace(
            found, records=by_meaning.replace_superseded(connection, found.records, found.past, query.reach)
        )
        if meaning is not None:
            near = by_meaning.find_by_meaning(connection, meaning, query.text, query.reach, found.records, query.policy)
    return looked_for, found, near


def _search(index: Connection, *, query: Query, looked_for: ParsedQuery, beside: bool) -> SearchHits:
    """beside: meaning is looked at as well."""
    scopes, policy = scope_names(query.reach), query.policy.recall
    share = policy.share_beside_vectors if beside else 1.0
    effort = SearchLimits.for_live(policy, share)
    rooms = postings.partitions(index, scopes, ("record", "past"))
    standing = query_term_counts(index, rooms, looked_for)
    today = [each for each in rooms if each.kind == "record" or query.as_of]
    records = search_documents(index, today, looked_for, standing, effort, policy)
    past: list[LexicalHit] = []
    if query.as_of is None:
        gone = [each for each in rooms if each.kind == "past"]
        past = search_documents(index, gone, looked_for, standing, effort.for_past(policy, share), policy)
    known = scopes if scopes is not None else sorted({room.scope for room in postings.all_partitions(index)})
    return SearchHits(records, past[: policy.max_past], find_mentioned(index, scopes, looked_for), known)


def _told(index: SideIndex, inboxes: Sequence[int]) -> Mapping[int, Sequence[int]]:
    return index.read(partial(postings.records_by_turn, inboxes=inboxes), {})


# ── packing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _budget(query: Query, policy: RecallPolicy) -> int:
    return query.budget or policy.budget


def _less(query: Query, policy: RecallPolicy) -> int:
    return max(1, int((query.limit or policy.limit) * policy.minimal_share))


def _standing(connection: Connection, query: Query, policy: RecallPolicy) -> tuple[str, str, int]:
    """The scratchpad, the profile, and how much room they leave: the profile has no more than its own small cap."""
    room = _budget(query, policy)
    if not (query.whole and query.session):
        return "", "", room
    here = chat_scope(query.session)
    if here not in (scope_names(query.reach) or (here,)):
        return "", "", room
    pad = full_load.read_scratchpad(connection, here, query.policy)
    record = store.slot_record(connection, here, "profile", "context")
    scratch = _fitted(pad.text, room // 2) if pad is not None else ""
    profile = (
        _fitted(full_load.render_record(record, indent=""), min(policy.profile_tokens, room // 4)) if record else ""
    )
    return scratch, profile, room - sum(estimate_tokens(text) for text in (scratch, profile) if text)


def _fitted(text: str, room: int) -> str:
    return clip_to_tokens(text, room) if room > 1 else ""


def _fresh(ranked: Sequence[RecalledMemory], sieve: RecallFilter) -> list[RecalledMemory]:
    """What the prompt does not show already."""
    fresh = [memory for memory in ranked if not sieve.in_prompt(memory.record)]
    sieve.dropped["on show already"] += len(ranked) - len(fresh)
    return fresh


def _as_judged(
    memories: Sequence[RecalledMemory], judged: Mapping[int, float], sieve: RecallFilter
) -> list[RecalledMemory]:
    """Those of `memories` that help to answer, and how much, in the eyes of somebody who read them."""
    kept = []
    for memory in memories:
        mark = judged.get(memory.record.id, 0.0)
        if mark > 0:
            valued = Score(memory.score.value + mark, {**memory.score.parts, "judged": mark}, memory.score.factor)
            kept.append(replace(memory, score=valued, relevance=mark))
    sieve.dropped["irrelevant"] += len(memories) - len(kept)
    return sorted(kept, key=rank_key)


def _packed(
    index: SideIndex, fresh: Sequence[RecalledMemory], query: Query, sieve: RecallFilter, room: int
) -> list[RecalledMemory]:
    """What is shown, best first: no repeats, places kept for neighbours, and never more than fits."""
    policy = query.policy.recall
    limit = query.limit or policy.limit
    new = [*fresh[: 2 * limit], *[memory for memory in fresh[2 * limit :] if memory.path][: policy.reserved_for_linked]]
    held = _vocabularies(index, new)
    order = diversify(
        [(memory.score.value, said) for memory, said in zip(new, held, strict=True)], policy.diversity, limit
    )
    picked = [
        _lined(memory, query) for memory in _with_reserved([new[at] for at in order], limit, policy.reserved_for_linked)
    ]
    if picked and room > 1 and picked[0].tokens > room:
        subject = picked[0].record.subject
        line = shorten(picked[0].line, room - _tokens("", subject))
        picked[0] = replace(picked[0], line=line, tokens=_tokens(line, subject))
    chosen = choose_most_valuable([(memory, memory.score.value, memory.tokens) for memory in picked], room)
    sieve.dropped["no room"] += len(fresh) - len(chosen)
    return sorted(chosen, key=rank_key)


def _vocabularies(index: SideIndex, memories: Sequence[RecalledMemory]) -> list[frozenset[str]]:
    """The words of each memory as the index knows them, which are at hand only for what was found by its words."""
    lacking = [memory.record.id for memory in memories if not memory.terms]
    known: dict[int, frozenset[str]] = index.read(partial(postings.record_terms, records=lacking), {})
    return [each.terms or known.get(each.record.id) or frozenset(terms(each.record.text)) for each in memories]


def _lined(memory: RecalledMemory, query: Query) -> RecalledMemory:
    """`memory` with the line that shows it; its tokens cover the heading that it may need."""
    line = render_memory(memory.record, memory.current_confidence, query.zone)
    return replace(memory, line=line, tokens=_tokens(line, memory.record.subject))


def _tokens(line: str, subject: str) -> int:
    return estimate_tokens(f"{subject_heading(subject)}\n{line}\n")


def _with_reserved(ordered: Sequence[RecalledMemory], limit: int, reserved: int) -> list[RecalledMemory]:
    """The first `limit` of `ordered`, where a few neighbours are never crowded out by what was found directly."""
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


def records_of(pack: Pack) -> list[int]:
    """The records that a pack shows."""
    return [memory.record.id for memory in pack.memories]
