"""What stands out and states a fact belongs into MEMORY.md; what does not stays where it is, and is recalled as before.

Rules decide by the words. A model may lift what the rules miss, and takes nothing down. What stands in MEMORY.md
already is not said there twice; what its owner took back from there is not put there again.
"""

import re
from collections.abc import Iterator, Sequence

from kenobot.cognitive.beliefs.value import is_salient, salience, salience_signs
from kenobot.cognitive.mirror.lists import list_layout
from kenobot.cognitive.policy.procedural import ProceduralPolicy
from kenobot.cognitive.procedural.similar_texts import SimilarTexts
from kenobot.cognitive.remember.statement_relation import parse_statement, repeat_veto
from kenobot.cognitive.sleep.consolidate import watermark_rows
from kenobot.cognitive.sleep.consolidate.fact_lines import fact_lines, statement_lines, without_label
from kenobot.cognitive.sleep.consolidate.unjudged import UnjudgedRecords, batches_by_scope, is_own_word
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import Change, UpdateRecord
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import list_file_rows, records
from kenobot.cognitive.store.change import ColumnValue
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.fingerprint import key_of
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection

NAME = "promote"
PROMOTED = "promoted"
_NUMBER = re.compile(r"\d+")
_SYSTEM = (
    "You keep somebody's long-term memory. From entries of their notes you choose those that will still matter in "
    "months: lasting facts, decisions, preferences, lessons. Leave out what only tells of a day, small talk, and what "
    f"is over. {model_answers.QUOTED_DATA_NOTICE} "
    'Answer with one JSON object and nothing else: {"lasting": [numbers of entries]}.'
)


def plan(view: NightView) -> Iterator[Change]:
    """Promote what stands out of what came since the last time, then note how far this has come."""
    fresh = UnjudgedRecords(view, NAME, ("daily",))
    shelf = _Shelf(view)
    for record in fresh.records():
        if _may_rise(record) and is_memorable(record.text, view) and not _taken_back(view, record):
            yield from _promotion(record, shelf, view)
    asked, lasting = _verdicts(view, fresh.not_yet_asked(view.policy.procedural.max_entries_asked))
    for record in lasting:
        yield from _lift(record, shelf)
    yield from fresh.save_watermark(asked)


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Which of the entries that the rules leave where they are will last."""
    entries = UnjudgedRecords(view, NAME).not_yet_asked(view.policy.procedural.max_entries_asked)
    return [_question(batch, view) for batch in _batches(view, entries)]


def is_memorable(text: str, view: NightView) -> bool:
    """Whether an entry stands out by its words and states a fact: the rule for MEMORY.md."""
    return is_salient(text, view.policy.value) and bool(fact_lines(text, view.policy.procedural))


def _may_rise(record: Record) -> bool:
    """Whether an entry could stand in MEMORY.md: no guess, nothing doubtful, and no preference, which has its file."""
    if record.tier != "daily" or record.expires is not None or record.verification == "disputed":
        return False
    return record.category != "preference" or record.scope != OWNER_SCOPE


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Shelf:
    """What stands in each scope's MEMORY.md, this night's promotions included."""

    def __init__(self, view: NightView) -> None:
        self._connection = view.connection
        self._policy: ProceduralPolicy = view.policy.procedural
        self._said: dict[str, _Said] = {}

    def has(self, record: Record, text: str) -> bool:
        return self._of(record.scope).has(text, self._policy.known_from_share)

    def add(self, record: Record, text: str) -> None:
        self._of(record.scope).add(text)

    def _of(self, scope: str) -> "_Said":
        if scope not in self._said:
            said = self._said[scope] = _Said()
            for text in _standing(self._connection, scope):
                said.add(text)
        return self._said[scope]


class _Said:
    """What one MEMORY.md says."""

    def __init__(self) -> None:
        self._texts = SimilarTexts()
        self._keys: set[str] = set()

    def add(self, text: str) -> None:
        self._keys.add(key_of(text))
        self._texts.add(text)

    def has(self, text: str, least: float) -> bool:
        """Whether it says the same already: its words, or nearly, and nothing that speaks against it."""
        if key_of(text) in self._keys:
            return True
        return any(_agree(other, text) for _, other in self._texts.find_similar(text, least))


def _agree(one: str, other: str) -> bool:
    """Whether nothing tells that two texts with the same words say two things."""
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False  # to tell that costs least
    return parse_statement(one).numbers == parse_statement(other).numbers and not repeat_veto(one, other, read=True)


def _standing(connection: Connection, scope: str) -> Iterator[str]:
    """What MEMORY.md of a scope says: its facts, and the lines that a person wrote there beside them."""
    yield from (record.text for record in records.core_records(connection, scope))
    for block in list_file_rows.core_layout(connection, scope):
        if isinstance(block, str):
            yield from (
                list_layout.fact_text("core", line) or line.strip() for line in block.splitlines() if _says_much(line)
            )


def _says_much(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _promotion(record: Record, shelf: _Shelf, view: NightView) -> Iterator[Change]:
    """Into MEMORY.md with it, a note without the word that announces it; nothing when that stands there."""
    text = without_label(record.text) if record.form == "note" else record.text
    if shelf.has(record, text):
        return
    values: dict[str, ColumnValue] = {"tier": "core"}
    if text != record.text and records.by_key(view.connection, record.scope, record.form, key_of(text)) is None:
        values |= {"text": text, "key": key_of(text)}
    shelf.add(record, text)
    why = ", ".join(salience_signs(record.text))
    reason = f"it stands out ({why}: {salience(record.text, view.policy.value):.1f}) and states a fact"
    yield Change(PROMOTED, reason, (_edit(record, values),), record.id)


def _lift(record: Record, shelf: _Shelf) -> Iterator[Change]:
    if not shelf.has(record, record.text):
        shelf.add(record, record.text)
        yield Change(PROMOTED, "a model took it for something lasting", (_edit(record, {"tier": "core"}),), record.id)


def _edit(record: Record, values: dict[str, ColumnValue]) -> UpdateRecord:
    return UpdateRecord(record.id, values, {"tier": record.tier, "text": record.text})


def _taken_back(view: NightView, record: Record) -> bool:
    """Whether sleep put an entry into MEMORY.md before, and it does not stand there any more."""
    return bool(watermark_rows.moved_by_sleep(view.connection, [record.id], PROMOTED))


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _batches(view: NightView, entries: Sequence[Record]) -> list[tuple[Record, ...]]:
    """What a model is asked about: those of `entries` of which the rules do not say that they rise anyway."""
    moved = watermark_rows.moved_by_sleep(view.connection, [record.id for record in entries], PROMOTED)
    asked = [record for record in entries if record.id not in moved and _is_open(record, view)]
    return batches_by_scope(asked, view.policy.procedural.batch)


def _is_open(record: Record, view: NightView) -> bool:
    stated = is_own_word(record) and bool(statement_lines(record.text, view.policy.procedural))
    return stated and _may_rise(record) and not is_memorable(record.text, view)


def _question(batch: Sequence[Record], view: NightView) -> ModelQuestion:
    return ModelQuestion(
        _SYSTEM, model_answers.quote_records(batch, view.policy.procedural.entry_chars), answer_tokens=600
    )


def _verdicts(view: NightView, entries: Sequence[Record]) -> tuple[int | None, list[Record]]:
    """The newest record that need not be asked about any more, and what a model took for lasting.

    An answer that cannot be read lifts nothing. A question that nobody answered is put again in the next night, unless
    there is nobody to ask: then the rules have decided.
    """
    asked = entries[-1].id if entries else None
    lasting: list[Record] = []
    for batch in _batches(view, entries):
        answer = view.answer(_question(batch, view))
        if answer is None:
            if view.model_available and asked is not None:
                asked = min(asked, batch[0].id - 1)
            continue
        told = model_answers.parse_object(answer)
        chosen = model_answers.parse_record_ids(told.get("lasting"), batch) if told is not None else None
        lasting += [record for record in batch if chosen and record.id in chosen]
    return asked, lasting


PASS = Pass(NAME, "consolidate", "puts what stands out into MEMORY.md", plan, questions)
