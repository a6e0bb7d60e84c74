"""Compare the values that a draft gives to attributes with those that memory has for them.

Another value takes the place of one that is known by a reader's verdict; or where there is one at a time, and both
statements tell nothing else. All others stand beside each other.
"""

from collections.abc import Iterable, Mapping

from kenobot.cognitive.remember.draft import RecordDraft
from kenobot.cognitive.store import term_index
from kenobot.cognitive.store.tellers import is_of_group, select_told_by
from kenobot.language.fingerprint import is_same_or_more_exact, normalize_name
from kenobot.language.statements.attribute_statements import is_single_valued
from kenobot.language.statements.single_values import ValueStatement, takes_place
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Relation
from kenobot.ports.records import Record
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

EVENT_CATEGORIES = frozenset({"commitment", "moment", "event", "action"})


@dataclass(frozen=True, slots=True)
class ComparedValues:
    """A note with attributes that a draft has, too. outdated: those that the draft replaces. same: of equal values."""

    record: Record
    outdated: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


def compare_values(
    connection: Connection, made: RecordDraft, verdicts: Mapping[int, Relation], ended: int
) -> list[ComparedValues]:
    """Compare a draft with the notes that give its subject a value for what it gives one.

    verdicts: by record. ended: the record that its plain words end, 0 for none.
    """
    if made.category in EVENT_CATEGORIES:
        return []
    notes: dict[int, Record] = {}
    for name in filter(is_single_valued, made.attributes):
        found = term_index.records_with_attribute(connection, made.scope, made.subject, name)
        notes |= {record.id: record for record in found if _may_give_value(record, verdicts)}
    over = {ended, *(number for number, verdict in verdicts.items() if verdict == "contradiction")}
    own = {record.id for record in select_of_same_account(connection, made, notes.values())}
    compared = (
        _compare(made, record, is_over=record.id in over, may_end=record.id in own) for record in notes.values()
    )
    return [each for each in compared if each.outdated or each.same]


def select_of_same_account(connection: Connection, made: RecordDraft, known: Iterable[Record]) -> list[Record]:
    """Select the records of a group that the account alone told that tells a draft; all of them in private.

    All also for what the owner writes outside of the chat: by the command line or a page.
    """
    if not is_of_group(made.scope) or (made.is_owner_word and not made.evidence):
        return list(known)
    return select_told_by(connection, known, set(conversation.authors(connection, made.evidence).values()))


def _may_give_value(record: Record, verdicts: Mapping[int, Relation]) -> bool:
    told_apart = verdicts.get(record.id) == "independent"
    return record.form == "note" and record.category not in EVENT_CATEGORIES and not told_apart


def _compare(made: RecordDraft, record: Record, *, is_over: bool, may_end: bool) -> ComparedValues:
    outdated: list[str] = []
    same: list[str] = []
    said = {normalize_name(name): value for name, value in record.attribute_map.items()}
    for name, value in made.attributes.items():
        known = said.get(normalize_name(name))
        if known is None or not is_single_valued(name):
            continue
        if is_same_or_more_exact(known, value):
            same.append(name)
        elif is_over or (may_end and _takes_place(made, record, name, known)):
            outdated.append(name)
    return ComparedValues(record, tuple(outdated), tuple(same))


def _takes_place(made: RecordDraft, record: Record, name: str, known: str) -> bool:
    """Return whether a value of a draft takes the place of one of a record that no reader has compared with it."""
    subjects, others = (made.subject, made.candidate.subject), _others(made.attributes, name)
    told = ValueStatement(made.text, made.attributes[name], subjects, others, by_rules=name in made.guessed)
    others, by_rules = _others(record.attribute_map, name), record.source != "extraction"
    return takes_place(name, told, ValueStatement(record.text, known, (record.subject,), others, by_rules=by_rules))


def _others(attributes: Mapping[str, str], name: str) -> tuple[str, ...]:
    plain = normalize_name(name)
    return tuple(value for other, value in attributes.items() if normalize_name(other) != plain)
