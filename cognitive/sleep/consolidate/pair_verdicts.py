"""Ask a model how pairs of records relate, a batch at a time, and read its answer strictly."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair
from kenobot.cognitive.sleep.plan.model_answers import find_object, one_line
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.ports.memory import Relation

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
_LINE = re.compile(r"\W*(\d{1,3})\s*[.):\]]\W*([a-z]+)\b", re.IGNORECASE)

QuestionBatch = tuple[ModelQuestion, tuple[RecordPair, ...]]


def question_batches(pairs: Sequence[RecordPair], view: NightView) -> list[QuestionBatch]:
    """The questions about these pairs, and what each is about. Pairs that were told apart before are left out."""
    policy = view.policy.consolidation
    asked = [pair for pair in pairs if not is_known_apart(view, pair)][: policy.max_pairs_asked]
    batches = [tuple(asked[start : start + policy.batch]) for start in range(0, len(asked), policy.batch)]
    return [(_question(batch), batch) for batch in batches]


def is_known_apart(view: NightView, pair: RecordPair) -> bool:
    """Whether two records were told apart by a reader of both as they are now."""
    at = pass_rows.told_apart_at(view.connection, *pair.ids)
    return bool(at) and at >= max(pair.one.updated, pair.other.updated)


def read_verdicts(view: NightView, asked: Sequence[QuestionBatch]) -> dict[tuple[int, int], Relation]:
    """The model's verdicts by pair; what it did not say clearly is missing."""
    return {
        batch[number - 1].ids: relation
        for question, batch in asked
        for number, relation in parse_relations(view.answer(question) or "", len(batch)).items()
    }


def parse_relations(answer: str, count: int) -> dict[int, Relation]:
    """The relations in an answer about pairs 1 to `count`; a pair with two different ones has none.

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
        f"Pair {number}, about {_about(pair)}:\n"
        f"> {one_line(pair.one.text, _LONGEST)}\n> {one_line(pair.other.text, _LONGEST)}"
        for number, pair in enumerate(batch, 1)
    ]
    return ModelQuestion(system_prompt("pairs"), "\n\n".join(shown), 100 + _TOKENS * len(batch))


def _about(pair: RecordPair) -> str:
    owner = pair.one.subject in ("", "owner")
    return "the owner of the memory" if owner else one_line(pair.one.subject, _LONGEST)
