"""Measure what a search found for a question, and have it judged."""

from collections.abc import Sequence

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, MemoryQuery, RecalledMemory
from kenobot.cognitive.recall.results.trace import JudgedTrace
from kenobot.cognitive.recall.search.found_items import ItemKey, item_key, item_text, only_asks
from kenobot.cognitive.recall.search.judge import MOST_JUDGED, WORDS_ALONE, answer_probability, speaker_probability
from kenobot.cognitive.recall.search.speakers import speaker_features
from kenobot.language.question.answer_features import JudgedItem, JudgedQuestion
from kenobot.language.question.answers import is_latin
from kenobot.language.question.question import Question
from kenobot.language.question.search_terms import ParsedQuery

Found = RecalledMemory | Excerpt


def judge_found(index: SideIndex, query: MemoryQuery, parsed: ParsedQuery, found: Sequence[Found]) -> float | None:
    """Estimate the probability that the first of what is shown answers the question; None where that is not known.

    Not of requests, nor of what only asks, nor of a question in other letters than Latin, nor, by words alone, of items
    in such, nor of talk of several people but where it is denied that it is the one asked about who says it.
    """
    if query.question.asks_for_work:
        return None
    talk = [each for each in found if isinstance(each, Excerpt)]
    if len(talk) == len(found) and (said := speaker_features(parsed, talk)) is not None:
        likely = speaker_probability(said)
        return likely if likely < query.policy.recall.none_below else None
    chosen = [each for each in found if not only_asks(each)][:MOST_JUDGED]
    quoted = [each for each in chosen if isinstance(each, Excerpt)]
    if quoted and all(each.turn.line.name for each in quoted):
        return None
    if not chosen or not query.question.is_latin:
        return None
    question, vectors = query.question, index.vectors
    if vectors is None or query.as_of is not None or not vectors.has_query_vector(query.text):
        if not all(is_latin(item_text(each)) for each in chosen):
            return None
        items = [JudgedItem(item_text(each), turn=isinstance(each, Excerpt)) for each in chosen]
        model, row, judged = WORDS_ALONE, None, JudgedQuestion(question, items)
    else:
        model, row = vectors.models[0], vectors.query_row(query.text)
        items = _measure(index, question, chosen)
        judged = JudgedQuestion(question, items, vectors.generality(query.text))
    if query.trace is not None:
        query.trace.judged = JudgedTrace(judged, tuple(item_key(each) for each in chosen), model, row)
    return answer_probability(judged, model, row)


def _measure(index: SideIndex, question: Question, items: Sequence[Found]) -> list[JudgedItem]:
    """Measure how near items are to a question and to each of its words."""
    whole = _nearness(index, question.text, items)
    near = {word.text: _nearness(index, word.text, items) for word in question.words}
    return [
        JudgedItem(
            item_text(each),
            whole.get(item_key(each), 0.0),
            {word: rows[item_key(each)] for word, rows in near.items() if item_key(each) in rows},
            isinstance(each, Excerpt),
            each.relevance,
        )
        for each in items
    ]


def _nearness(index: SideIndex, text: str, items: Sequence[Found]) -> dict[ItemKey, float]:
    """Measure how near items are to a text; nothing of those without a vector, or where the text has none."""
    if index.vectors is None:
        return {}
    keys = [item_key(each) for each in items]
    found: dict[ItemKey, float] = {}
    for shelf in ("record", "turn"):
        if numbers := [number for kind, number in keys if kind == shelf]:
            near = index.vectors.similarities(shelf, text, None, 0, also=numbers)
            found |= {(shelf, number): share for number, share in near.items()}
    return found
