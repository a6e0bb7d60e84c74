"""Compare a draft with memory: what it repeats, contradicts, or relates to. Runs inside the deciding transaction."""

from dataclasses import dataclass

from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.remember import attribute_statements
from kenobot.cognitive.remember.conflicts import Conflict, resolve_contradiction, resolve_new_value
from kenobot.cognitive.remember.draft import RecordDraft
from kenobot.cognitive.remember.statement_relation import relation, repeat_veto
from kenobot.cognitive.store import records, term_index
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.claims import Claim, claims
from kenobot.cognitive.text.entity_names import is_same_or_more_exact, normalize_name, same_value
from kenobot.cognitive.text.lexicon import word_set
from kenobot.cognitive.text.similarity import Nearness, band_of, similarity
from kenobot.ports.memory import Relation
from kenobot.storage.connection import Connection

# A person can have several of these at a time: another one takes no place.
_SEVERAL = word_set("single_valued_not")
EVENT_CATEGORIES = frozenset({"commitment", "moment", "event", "action"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison. repeated: a record that says the same. later: one about what came after."""

    repeated: Record | None = None
    conflicts: tuple[Conflict, ...] = ()
    related: tuple[tuple[Record, float], ...] = ()
    later: Record | None = None


def compare(
    connection: Connection, made: RecordDraft, policy: AdmitPolicy, near: Nearness | None, but: int | None = None
) -> Comparison:
    """Compare a draft with its neighbours, except record `but`.

    Only notes repeat or contradict each other; a person's edit is never a repeat.
    """
    neighbours = _neighbours(connection, made, policy, near)
    if made.form != "note":
        return Comparison(related=_related(neighbours, policy))
    verdicts = {verdict.record: verdict.relation for verdict in made.candidate.verdicts}
    outdated = [pair for pair in _outdated(connection, made, verdicts) if pair[0].id != but]
    later = next(
        (record for record, _ in outdated if record.valid_from > made.said_at and not made.is_owner_word), None
    )
    if later is not None:
        return Comparison(later=later)
    disputes = {record.id: resolve_new_value(made, record, names, policy) for record, names in outdated}
    same: Record | None = None
    rest: list[tuple[Record, float]] = []
    for record, nearness, measured in _with_read(connection, made, neighbours, verdicts):
        if record.id in disputes or record.id == but:
            continue
        verdict = verdicts.get(record.id)
        found = _judge(made, record, nearness, measured, verdict, policy)
        denied = _denied(made, record, policy) if found != "repeat" and verdict != "independent" else ()
        if found == "contradiction" or denied:
            disputes[record.id] = resolve_contradiction(made, record, policy, denied)
        elif found == "repeat" and same is None and made.candidate.source != "edit":
            same = record
        else:
            rest.append((record, nearness))
    return Comparison(same, tuple(disputes.values()), _related(rest, policy))


def _judge(
    made: RecordDraft, record: Record, nearness: float, measured: bool, verdict: Relation | None, policy: AdmitPolicy
) -> Relation:
    """How a draft relates to one record. The word of somebody who read both counts, but a veto counts more."""
    if record.form != "note":
        return "independent"
    if verdict == "repeat" and not repeat_veto(record.text, made.text, read=True):
        return "repeat"
    if verdict in ("contradiction", "independent"):
        return verdict
    if _same_frame(made, record):
        return "repeat"
    band = band_of(nearness, policy)
    if band == "apart":
        return "independent"
    if band == "repeat" and measured and not repeat_veto(record.text, made.text, read=False):
        return "repeat"
    return relation(record.text, made.text)


def _denied(made: RecordDraft, record: Record, policy: AdmitPolicy) -> tuple[Claim, ...]:
    """Of a note that makes several claims, those that a draft says the opposite of."""
    parts = claims(record.text) if record.form == "note" else ()
    if len(parts) < 2:
        return ()
    near = (claim for claim in parts if band_of(similarity(claim.standalone_text, made.text), policy) != "apart")
    return tuple(claim for claim in near if relation(claim.standalone_text, made.text) == "contradiction")


def _same_frame(made: RecordDraft, record: Record) -> bool:
    """Whether both are plain statements of the same one thing, in whatever words or language."""
    told = {normalize_name(name): value for name, value in made.attributes.items()}
    said = {normalize_name(name): value for name, value in record.attribute_map.items() if name != "by"}
    if len(told) != 1 or told.keys() != said.keys():
        return False
    return all(same_value(said[name], told[name]) for name in told) and _is_plain(record.text) and _is_plain(made.text)


def _is_plain(text: str) -> bool:
    return attribute_statements.read_attribute(text) is not None


def _outdated(
    connection: Connection, made: RecordDraft, verdicts: dict[int, Relation]
) -> list[tuple[Record, tuple[str, ...]]]:
    """Notes that give the draft's subject another value for what there is one of, with the names of that."""
    if made.category in EVENT_CATEGORIES:
        return []
    found: dict[int, tuple[Record, list[str]]] = {}
    for name, value in made.attributes.items():
        plain = normalize_name(name)
        if not is_single_valued(name):
            continue
        for record in term_index.records_with_attribute(connection, made.scope, made.subject, name):
            said = next((held for known, held in record.attribute_map.items() if normalize_name(known) == plain), None)
            exempt = (
                record.form != "note" or record.category in EVENT_CATEGORIES or verdicts.get(record.id) == "independent"
            )
            if said is None or exempt or is_same_or_more_exact(said, value):
                continue
            found.setdefault(record.id, (record, []))[1].append(name)
    return [(record, tuple(names)) for record, names in found.values()]


def is_single_valued(attribute: str) -> bool:
    """Whether there is one value of an attribute at a time, so that another one takes its place."""
    plain = normalize_name(attribute)
    return plain not in _SEVERAL and plain.removesuffix("s") not in _SEVERAL


def _neighbours(
    connection: Connection, made: RecordDraft, policy: AdmitPolicy, near: Nearness | None
) -> dict[int, tuple[Record, float, bool]]:
    """Neighbours by id: the record, its similarity, and whether that was measured by meaning."""
    by_words = term_index.neighbours(connection, made.scope, made.subject, made.text, policy.max_neighbours)
    found = {record.id: (record, likeness, False) for record, likeness in by_words}
    if near is None:
        return found
    cosines = near(connection, made.scope, made.subject, made.text, policy.max_neighbours)
    for number, record in records.by_ids(connection, list(cosines), (made.scope,)).items():
        if record.status == "active" and record.subject == made.subject and record.form in ("note", "episode"):
            found[number] = (record, cosines[number], True)
    return dict(sorted(found.items(), key=lambda item: (-item[1][1], -item[0])))


def _with_read(
    connection: Connection,
    made: RecordDraft,
    neighbours: dict[int, tuple[Record, float, bool]],
    verdicts: dict[int, Relation],
) -> list[tuple[Record, float, bool]]:
    """The neighbours, and before them what somebody read who was shown it, if it still lives and is about the same."""
    read = records.by_ids(connection, [number for number in verdicts if number not in neighbours], (made.scope,))
    known = [
        (record, 0.0, False)
        for record in read.values()
        if record.status == "active" and record.subject == made.subject and record.form == "note"
    ]
    return [*known, *neighbours.values()]


def _related(
    found: dict[int, tuple[Record, float, bool]] | list[tuple[Record, float]], policy: AdmitPolicy
) -> tuple[tuple[Record, float], ...]:
    pairs = found if isinstance(found, list) else [(record, nearness) for record, nearness, _ in found.values()]
    return tuple((record, nearness) for record, nearness in pairs if nearness >= policy.related_from)[
        : policy.max_links
    ]
