"""Promote to MEMORY.md what stands out and states a fact; all else stays where it is, and is recalled as before.

Rules decide by the words. A model may lift what the rules miss, and takes nothing down. MEMORY.md says nothing twice,
and what its owner took back from there is not put there again.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from kenobot.cognitive.beliefs.value import is_salient, salience
from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.unjudged import UnjudgedRecords, is_own_word
from kenobot.cognitive.sleep.plan import model_answers
from kenobot.cognitive.sleep.plan.changes import Change, expect, update
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.store import list_file_rows, records, tiers
from kenobot.core import lazy
from kenobot.language.fingerprint import key_of
from kenobot.language.lexicon import phrases
from kenobot.language.markdown import list_layout
from kenobot.language.salience import salience_signs
from kenobot.language.similarity import SimilarTexts
from kenobot.language.statements.statement_relation import parse_statement, repeat_veto
from kenobot.language.words import fold
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection

PROMOTED = "promoted"
_NUMBER = lazy.regex(r"\d+")
_HEADING = lazy.regex(r"#{1,6}\s")
_ENTRY = lazy.regex(r"#{1,6}\s+[0-9]{1,2}:[0-9]{2}\s+[—–-]\s*")
_LABEL = lazy.regex(
    r"\A(?:lesson(?: learn(?:ed|t))?|learn(?:ed|t)|note|remember|tip|aprendid[oa]|aprend[ií]|lecci[oó]n|nota|recuerda"
    r"|ojo|consejo)\s*:\s+(?=\S)",
    re.IGNORECASE,
)
_STATEMENT = phrases("statement")


def plan(view: NightView) -> Iterator[Change]:
    """Promote what stands out of the new records, and what a model chose; then save the watermark."""
    unjudged = _list_unjudged(view)
    core = _CoreTexts(view)
    for record in unjudged.records():
        stands_out = _may_rise(record) and is_memorable(record.text, view)
        if stands_out and not pass_rows.select_moved_by_sleep(view.connection, [record.id], PROMOTED):
            yield from _promote(record, core, view)
    for batch, answer in unjudged.answers():
        chosen = model_answers.parse_record_ids(answer.get("lasting"), batch) or ()
        for record in batch:
            if record.id in chosen and core.add(record.scope, record.text):
                yield _to_core(record, {}, Sentence("reasons.model_found_lasting"))
    yield from unjudged.save_watermark()


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask which of the records that the rules leave where they are will last."""
    return _list_unjudged(view).questions()


def _list_unjudged(view: NightView) -> UnjudgedRecords:
    return UnjudgedRecords(view, "promote", _choose, 600, ("daily",))


def is_memorable(text: str, view: NightView) -> bool:
    """Return whether an entry stands out by its words and states a fact: the rule for MEMORY.md."""
    return is_salient(text, view.policy.value) and bool(fact_lines(text, view.policy.procedural))


def _may_rise(record: Record) -> bool:
    """Return whether a record could stand in MEMORY.md: no guess, nothing doubtful, no preference."""
    if record.tier != "daily" or record.expires is not None or record.verification == "disputed":
        return False
    return record.category != "preference" or record.scope != OWNER_SCOPE


# ── the rules ────────────────────────────────────────────────────────────────────────────────────────────────────


class _CoreTexts:
    """The texts of each scope's MEMORY.md, this night's promotions included."""

    def __init__(self, view: NightView) -> None:
        self._connection = view.connection
        self._least = view.policy.procedural.known_from_share
        self._scopes: dict[str, tuple[set[str], SimilarTexts]] = {}  # bounded: what MEMORY.md says; night

    def add(self, scope: str, text: str) -> bool:
        """Add a text; False when MEMORY.md says the same already: its words, or nearly, and no contradiction."""
        if scope not in self._scopes:
            keys, texts = self._scopes[scope] = set(), SimilarTexts()
            for line in _standing(self._connection, scope):
                keys.add(key_of(line))
                texts.add(line)
        keys, texts = self._scopes[scope]
        if key_of(text) in keys or any(_agree(other, text) for _, other in texts.find_similar(text, self._least)):
            return False
        keys.add(key_of(text))
        texts.add(text)
        return True


def _agree(one: str, other: str) -> bool:
    """Return whether two texts with the same words do not contradict each other."""
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False  # to tell that costs least
    return parse_statement(one).numbers == parse_statement(other).numbers and not repeat_veto(one, other, read=True)


def _standing(connection: Connection, scope: str) -> Iterable[str]:
    """Return the facts of a scope's MEMORY.md, and the lines that a person wrote there beside them."""
    yield from (record.text for record in tiers.in_tier(connection, scope, tiers.CORE))
    prose = [block for block in list_file_rows.core_layout(connection, scope) if isinstance(block, str)]
    for line in (line for block in prose for line in block.splitlines()):
        if line.strip() and not line.startswith("#"):
            yield list_layout.fact_text("core", line) or line.strip()


def _promote(record: Record, core: _CoreTexts, view: NightView) -> Iterator[Change]:
    """Move a record to MEMORY.md, a model's note without the word that announces it, unless that stands there."""
    in_words_of_model = record.form == "note" and (record.source == "tag" or record.trust == "model")
    text = without_label(record.text) if in_words_of_model else record.text
    if not core.add(record.scope, text):
        return
    values: dict[str, ColumnValue] = {}
    if text != record.text and records.by_key(view.connection, record.scope, record.form, key_of(text)) is None:
        values = {"text": text, "key": key_of(text)}
    signs = ", ".join(salience_signs(record.text))
    reason = Sentence("reasons.stands_out", signs=signs, salience=salience(record.text, view.policy.value))
    yield _to_core(record, values, reason)


def _to_core(record: Record, values: dict[str, ColumnValue], reason: str) -> Change:
    return update(record, PROMOTED, reason, {"tier": "core", **values}, expect(record, "tier", "text"))


# ── the lines of an entry that state facts, by the words that facts are told with, in Spanish and English ─────────


def statement_lines(text: str, policy: ProceduralPolicy = DEFAULT) -> list[str]:
    """Return the lines of an entry that are long enough to state something, without headings and times."""
    lines = (_ENTRY.sub("", line.strip(), count=1).strip() for line in text.splitlines())
    return [line for line in lines if len(line) > policy.statement_above_chars and not _HEADING.match(line)]


def fact_lines(text: str, policy: ProceduralPolicy = DEFAULT) -> list[str]:
    """Return the statements of an entry that say how things are."""
    return [line for line in statement_lines(text, policy) if _STATEMENT.search(fold(line))]


def without_label(text: str) -> str:
    """Return `text` without the word that announces it, such as "Learned:"."""
    return _LABEL.sub("", text, count=1)


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────


def _choose(view: NightView, entries: Sequence[Record]) -> list[Record]:
    """Return the entries that a model is asked about: those that the rules do not promote anyway."""
    moved = pass_rows.select_moved_by_sleep(view.connection, [record.id for record in entries], PROMOTED)
    own = [record for record in entries if record.id not in moved and is_own_word(record) and _may_rise(record)]
    stated = [record for record in own if statement_lines(record.text, view.policy.procedural)]
    return [record for record in stated if not is_memorable(record.text, view)]


PASS = Pass("promote", "consolidate", "puts what stands out into MEMORY.md", plan, questions)
