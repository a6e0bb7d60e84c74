"""Classify a pair of near records by rules that only tell the same statement, and by a model that reads both.

They are one when their words are the same, but for case, marks and blanks, or when a reader of both says so and nothing
speaks against it. What rules take for a contradiction is a question, and all else that may be one is open.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.conflicts import word_weight
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.pairs.near_pairs import RecordPair
from kenobot.cognitive.sleep.plan.model_answers import find_object, one_line
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.core import lazy
from kenobot.language.fingerprint import normalise, same_value
from kenobot.language.similarity import similarity, topic_words
from kenobot.language.statements.attribute_statements import is_single_valued
from kenobot.language.statements.statement_relation import is_rearranged, parse_statement, relation, repeat_veto
from kenobot.language.words import fold
from kenobot.ports.memory import Relation
from kenobot.ports.records import Record

PairRelation = Literal["repeat", "contradiction", "independent", "open"]
"""open: the rules do not tell, and there is no verdict."""

# Besides what `meaning` leaves out, these can be left out of a statement, and it says the same.
_EMPTY = frozenset(
    "is are am be es son ser and y e to of de my our mi mis se name called named nombre llama llaman llamado "
    "llamada".split()
)
_ENDS = " .!?…。！？"
_SHORTEST = 2  # letters of a word of a line that do not count
_MARKS = lazy.regex(r"[\"'“”‘’«»`*_()\[\]]")

_RELATIONS: Mapping[str, Relation] = {
    "repeat": "repeat",
    "reinforcement": "repeat",
    "duplicate": "repeat",
    "contradiction": "contradiction",
    "independent": "independent",
    "compatible": "independent",
}
_TOKENS = 16  # of an answer about one pair
_LONGEST = 400  # characters of a memory that are shown
_LINE = lazy.regex(r"\W*(\d{1,3})\s*[.):\]]\W*([a-z]+)\b", re.IGNORECASE)

QuestionBatch = tuple[ModelQuestion, tuple[RecordPair, ...]]


def classify_pair(pair: RecordPair, verdict: Relation | None, policy: Policy) -> PairRelation:
    """Classify a pair. verdict: a reader's.

    A veto counts more than a verdict: what denies something, or tells another number or date, is never a repeat.
    """
    one, other = pair.one, pair.other
    if verdict in ("contradiction", "independent"):
        return verdict
    words = relation(one.text, other.text)
    if words == "contradiction":
        return "contradiction" if one.form == "note" else "independent"
    if not may_be_duplicates(one, other, policy):
        return "independent"
    if one.form == "episode":
        return "repeat" if one.day == other.day and is_same_statement(one.text, other.text) else "independent"
    if verdict == "repeat":
        return "repeat" if not repeat_veto(one.text, other.text, read=True) else "independent"
    if is_same_statement(one.text, other.text):
        return "repeat"
    return "independent" if repeat_veto(one.text, other.text, read=True) else "open"


def is_same_statement(one: str, other: str) -> bool:
    """Return whether two texts are the same words in the same order, but for case, marks and blanks."""
    return normalise(_MARKS.sub("", one)) == normalise(_MARKS.sub("", other))


def says_the_same_as_a_third(pair: RecordPair, policy: Policy) -> bool:
    """Return whether two records that each say the same as a third do so as well, as far as nothing tells otherwise."""
    one, other = pair.one, pair.other
    return (
        one.form == other.form == "note"
        and may_be_duplicates(one, other, policy)
        and similarity(one.text, other.text) >= policy.consolidation.duplicate_from
        and relation(one.text, other.text) != "contradiction"
        and not repeat_veto(one.text, other.text, read=False)
        and not is_rearranged(one.text, other.text)
    )


def may_be_duplicates(one: Record, other: Record, policy: Policy) -> bool:
    """Return whether nothing but their words could keep two records apart.

    Two values of an attribute, a disputed record beside an undisputed one, and the fuller words of a less credible
    source do.
    """
    if (one.verification == "disputed") != (other.verification == "disputed"):
        return False
    first, second = one.attribute_map, other.attribute_map
    for name in (first.keys() & second.keys()) - {"by"}:
        if not same_value(first[name], second[name]) and is_single_valued(name):
            return False
    fuller = max(one, other, key=lambda record: len(topic_words(record.text)))
    poorer = other if fuller is one else one
    if len(topic_words(fuller.text)) == len(topic_words(poorer.text)):
        return True
    return word_weight(fuller, policy.admit) >= word_weight(poorer, policy.admit)


def has_same_words(one: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, but for case, marks and stop words.

    Either half may come first: "Ana is my sister" and "my sister is called Ana".
    """
    a, b = _strip_words(one), _strip_words(other)
    return any(a[at:] + a[:at] == b for at in range(len(a))) and not repeat_veto(one, other, read=False)


def jaccard(one: str, other: str) -> float:
    """Share of the words of three letters or more of two lines that both have; 0 without such words."""
    a, b = _line_words(one), _line_words(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def _line_words(line: str) -> set[str]:
    return {word for word in line.casefold().rstrip(_ENDS).split() if len(word) > _SHORTEST}


def _strip_words(text: str) -> tuple[str, ...]:
    words = (word.removesuffix("'s") for word in parse_statement(text).content)
    return tuple(word for word in words if fold(word) not in _EMPTY)


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def question_batches(pairs: Sequence[RecordPair], view: NightView) -> list[QuestionBatch]:
    """Return the questions about these pairs, and what each is about. Pairs told apart as they are now are left out."""
    policy = view.policy.consolidation
    changed = [
        pair
        for pair in pairs
        if pass_rows.get_told_apart_time(view.connection, *pair.ids) < max(pair.one.updated, pair.other.updated)
    ]
    asked = changed[: policy.max_pairs_asked]
    batches = [tuple(asked[start : start + policy.batch]) for start in range(0, len(asked), policy.batch)]
    return [(_question(batch), batch) for batch in batches]


def parse_relations(answer: str, count: int) -> dict[int, Relation]:
    """Return the relations in an answer about pairs 1 to `count`; a pair with two different ones has none.

    The answer is JSON as asked for, or else lines such as "1) CONTRADICTION: why".
    """
    relations: dict[int, Relation | None] = {}
    for number, word in _statements(answer):
        relation = _RELATIONS.get(word.strip().strip(".!*_").lower())
        if relation is not None and 1 <= number <= count:
            relations[number] = relation if relations.setdefault(number, relation) == relation else None
    return {number: relation for number, relation in relations.items() if relation is not None}


def _statements(answer: str) -> Iterator[tuple[int, str]]:
    read = find_object(answer)
    if read is None:
        matches = (_LINE.match(line) for line in answer.splitlines())
        yield from ((int(match[1]), match[2]) for match in matches if match)
        return
    items = read.get("pairs")
    for item in items if isinstance(items, list) else ():
        match item:
            case {"pair": int(number), "relation": str(word)} if not isinstance(number, bool):
                yield number, word


def _question(batch: Sequence[RecordPair]) -> ModelQuestion:
    shown = [
        f"Pair {number}, about {_describe_subject(pair)}:\n"
        f"> {one_line(pair.one.text, _LONGEST)}\n> {one_line(pair.other.text, _LONGEST)}"
        for number, pair in enumerate(batch, 1)
    ]
    return ModelQuestion(system_prompt("pairs"), "\n\n".join(shown), 100 + _TOKENS * len(batch))


def _describe_subject(pair: RecordPair) -> str:
    owner = pair.one.subject in ("", "owner")
    return "the owner of the memory" if owner else one_line(pair.one.subject, _LONGEST)
