"""Compare a draft with memory: what it repeats, contradicts, or relates to, and what becomes of older records.

The weight of a word is decided first: a guess, a guest or a web page ends nothing that the owner said or confirmed.
Then the evidence: a record with fewer than three supporting turns ends; one with more stays with less confidence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Literal

from kenobot.cognitive.beliefs import lifecycle
from kenobot.cognitive.beliefs.links import strengthen_link
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.cognitive.remember import derived_texts
from kenobot.cognitive.remember.draft import FACT_FORMS, RecordDraft, attributes_json
from kenobot.cognitive.remember.nearness import Nearness, band_of
from kenobot.cognitive.remember.new_values import ComparedValues, compare_values, select_of_same_account
from kenobot.cognitive.store import links, records, term_index
from kenobot.cognitive.store.change import change
from kenobot.language.changes.clauses import without_clause
from kenobot.language.changes.same_statement import find_ended, has_word_of_change, is_plain_telling
from kenobot.language.claims import Claim, claims, mentions_value, remove_claims, remove_values, with_outdated_note
from kenobot.language.fingerprint import OWNER_SUBJECT, key_of, normalize_name, same_value
from kenobot.language.named_days import days_named
from kenobot.language.relatives import calls_another, find_lost_relative, is_of_namesake
from kenobot.language.sentences import split_sentences, without_sentence
from kenobot.language.similarity import similarity
from kenobot.language.statements import attribute_statements
from kenobot.language.statements.statement_relation import relation, repeat_veto
from kenobot.language.words import detect_language, fold
from kenobot.language.words import words as words_of
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import QUOTED_TRUST
from kenobot.ports.memory import Relation
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.records import ColumnValue, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.times import stamp

Resolution = Literal["supersede", "invalidate", "weaken", "differ", "amend"]
"""What is done to the older record: another value took its place; it was wrong; it is less believed; nothing, both are
said; only what changed is taken from it, because it says more."""

_GUESSED = ("extraction", "sleep", "import")


@dataclass(frozen=True, slots=True)
class Conflict:
    """An older record and its resolution.

    outdated_attributes: names of attributes that the draft replaces.
    remaining_text: the record's text without them, "" to keep its text.
    """

    record: Record
    resolution: Resolution
    outdated_attributes: tuple[str, ...] = ()
    remaining_text: str = ""

    @property
    def ends_record(self) -> bool:
        """Return whether the older record is no longer remembered."""
        return self.resolution in ("supersede", "invalidate")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison. repeated: a record that says the same. later: one about what came after."""

    repeated: Record | None = None
    conflicts: tuple[Conflict, ...] = ()
    related: tuple[tuple[Record, float], ...] = ()
    later: Record | None = None


# ── what a draft repeats, contradicts, relates to ─────────────────────────────────────────────────────────────────


def compare(
    connection: Connection, made: RecordDraft, policy: AdmitPolicy, near: Nearness | None, but: int | None = None
) -> Comparison:
    """Compare a draft with its neighbours, except record `but`.

    Only notes repeat or contradict each other; a person's edit is never a repeat.
    """
    neighbours = _neighbours(connection, made, policy, near)
    related = _select_related([(record, nearness) for record, nearness, _ in neighbours.values()], policy)
    if made.form != "note":
        return Comparison(related=related)
    if made.candidate.by_rules:
        return Comparison(conflicts=tuple(_find_ended_by_rules(connection, made, policy)), related=related)
    verdicts = {verdict.record: verdict.relation for verdict in made.candidate.verdicts}
    parts = {verdict.record: verdict.part for verdict in made.candidate.verdicts}
    may_end = [each for each, *_ in neighbours.values() if each.id not in (*verdicts, but) and _may_end(each, made)]
    may_end = select_of_same_account(connection, made, may_end)
    own = {record.id for record in may_end}
    ended, ended_part = _find_plainly_ended(made, may_end)
    valued = [each for each in compare_values(connection, made, verdicts, ended) if each.record.id != but]
    outdated = _leave_out_namesakes(connection, made, valued, (record for record, *_ in neighbours.values()))
    later = next((each.record for each in outdated if each.record.valid_from > made.said_at), None)
    if later is not None and not made.is_owner_word:
        return Comparison(later=later)
    disputes = {
        each.record.id: resolve_new_value(made, (*each.outdated, *each.same), each.record, each.outdated, policy)
        for each in outdated
    }
    same: Record | None = None
    rest: list[tuple[Record, float]] = []
    read = records.by_ids(connection, [number for number in verdicts if number not in neighbours], (made.scope,))
    shown = [(record, 0.0, False) for record in read.values() if _is_named_by(record, made) and _may_end(record, made)]
    for record, nearness, measured in (*shown, *neighbours.values()):
        if record.id in disputes or record.id == but:
            continue
        verdict = verdicts.get(record.id)
        found = _judge(made, record, nearness, measured, verdict, policy)
        if verdict is None and found == "contradiction" and record.id not in own:
            found = "independent"
        may_deny = found != "repeat" and (verdict in ("repeat", "contradiction") or record.id in own)
        denied = _find_denied(made, record, policy) if may_deny else ()
        if verdict == "contradiction" and not denied and record.subject != made.subject:
            denied = _of_another(made, record)
        if record.id == ended and found != "contradiction":
            disputes[ended] = _resolve_by_rules(made, record, ended_part, policy)
        elif found == "contradiction" or denied:
            by_owner, part = made.is_owner_word, parts.get(record.id, "")
            disputes[record.id] = resolve_contradiction(made, record, policy, denied, part, by_owner=by_owner)
        elif found == "repeat" and same is None and made.source != "edit":
            same = record
        else:
            rest.append((record, nearness))
    if same is None and made.source != "edit":  # the same value told in other words, or another language
        alike = (each.record for each in valued if each.same and each.record.id not in disputes)
        same = next((each for each in alike if _may_end(each, made) and _same_frame(made, each)), None)
    return Comparison(same, tuple(disputes.values()), _select_related(rest, policy))


def _leave_out_namesakes(
    connection: Connection, made: RecordDraft, valued: Sequence[ComparedValues], near_by: Iterable[Record]
) -> list[ComparedValues]:
    """Leave out outdated records of a person of whom a draft may not tell, because another has the same name."""
    outdated = [each for each in valued if each.outdated]
    of_owner = term_index.neighbours(connection, made.scope, OWNER_SUBJECT, made.text) if outdated else ()
    others = (*near_by, *(each.record for each in valued), *(record for record, _ in of_owner))
    texts = [record.text for record in others]
    return [each for each in outdated if not is_of_namesake(made.text, each.record.text, texts)]


def _find_ended_by_rules(connection: Connection, made: RecordDraft, policy: AdmitPolicy) -> Iterator[Conflict]:
    """Resolve the contradictions that rules are sure of (ADR 44); the draft stays beside all other memories."""
    for verdict in made.candidate.verdicts:
        record = records.get(connection, verdict.record, (made.scope,))
        if record is not None and record.status == "active" and _may_end(record, made):
            yield _resolve_by_rules(made, record, verdict.part, policy)


def _resolve_by_rules(made: RecordDraft, record: Record, part: str, policy: AdmitPolicy) -> Conflict:
    """Return what becomes of a record that ends by rules. part: the one sentence of it that ends, "" for all."""
    found = resolve_contradiction(made, record, policy, part=part, by_owner=made.is_owner_word)
    if found.resolution == "invalidate" and (relative := find_lost_relative(record.text, made.text)):
        return Conflict(record, "amend", tuple(_list_gone_attributes(record, relative)), relative)
    # It was so until now: only a model may say that it was wrong.
    return replace(found, resolution="supersede") if found.resolution == "invalidate" else found


def _find_plainly_ended(made: RecordDraft, known: Sequence[Record]) -> tuple[int, str]:
    """Find the record that a draft ends in plain words, with the one sentence of it that ends; 0 for none (ADR 44)."""
    if made.source == "sleep" or not has_word_of_change(made.text) or not is_plain_telling(made.text):
        return 0, ""
    older = [record for record in known if record.valid_from <= made.said_at]
    older.sort(key=lambda record: (record.valid_from, record.id))
    ended = find_ended(made.text, date.fromisoformat(made.said_at[:10]), [record.text for record in older])
    return (older[ended.place].id, ended.part) if ended is not None else (0, "")


def _judge(
    made: RecordDraft, record: Record, nearness: float, measured: bool, verdict: Relation | None, policy: AdmitPolicy
) -> Relation:
    """Return how a draft relates to one record. The word of somebody who read both counts, but a veto counts more."""
    if not _may_end(record, made):
        return "independent"
    if verdict == "contradiction":
        return verdict
    if record.form != "note":
        return "independent"
    if verdict == "repeat" and not repeat_veto(record.text, made.text, read=True):
        return "repeat"
    if verdict == "independent":
        return verdict
    if _same_frame(made, record):
        return "repeat"
    band = band_of(nearness, policy)
    if band == "apart":
        return "independent"
    if band == "repeat" and measured and not repeat_veto(record.text, made.text, read=False):
        return "repeat"
    return relation(record.text, made.text)


def _may_end(record: Record, made: RecordDraft) -> bool:
    """Return whether words may end a record: a note, or a plan whose day lies ahead. What happened has happened."""
    planned = record.attribute_map.get("due", "") >= made.said_at[:10]
    return record.form == "note" or (record.form == "episode" and planned)


def _find_denied(made: RecordDraft, record: Record, policy: AdmitPolicy) -> tuple[Claim, ...]:
    """Find the claims of a note of several that a draft says the opposite of."""
    parts = claims(record.text) if record.form == "note" else ()
    if len(parts) < 2:
        return ()
    near = (claim for claim in parts if band_of(similarity(claim.standalone_text, made.text), policy) != "apart")
    return tuple(claim for claim in near if relation(claim.standalone_text, made.text) == "contradiction")


def _of_another(made: RecordDraft, record: Record) -> tuple[Claim, ...]:
    """Return the claims of a note that tells of somebody in passing, behind the one that names them."""
    parts = claims(record.text)
    named = next((at for at, claim in enumerate(parts) if _names(claim.standalone_text, made.subject)), len(parts))
    return tuple(parts[named + 1 :])


def _same_frame(made: RecordDraft, record: Record) -> bool:
    """Return whether both are plain statements of the same one thing, in whatever words or language."""
    told = {normalize_name(name): value for name, value in made.attributes.items()}
    if len(told) != 1:
        return False
    said = {normalize_name(name): value for name, value in _list_said(record).items()}
    if told.keys() != said.keys() or calls_another(record.text, made.text):
        return False
    return all(
        same_value(said[name], told[name])
        and attribute_statements.states_only(record.text, said[name])
        and attribute_statements.states_only(made.text, told[name])
        for name in told
    )


def _neighbours(
    connection: Connection, made: RecordDraft, policy: AdmitPolicy, near: Nearness | None
) -> dict[int, tuple[Record, float, bool]]:
    """Return neighbours by id: the record, its similarity, and whether that was measured by meaning."""
    by_words = term_index.neighbours(connection, made.scope, made.subject, made.text, policy.max_neighbours)
    found = {record.id: (record, likeness, False) for record, likeness in by_words}
    if near is None:
        return found
    cosines = near(connection, made.scope, made.subject, made.text, policy.max_neighbours)
    for number, record in records.by_ids(connection, list(cosines), (made.scope,)).items():
        if _is_alive(record, made) and record.form in FACT_FORMS:
            found[number] = (record, cosines[number], True)
    return dict(sorted(found.items(), key=lambda item: (-item[1][1], -item[0])))


def _is_alive(record: Record, made: RecordDraft) -> bool:
    """Return whether a record is live, and about the subject of a draft."""
    return record.status == "active" and record.subject == made.subject


def _is_named_by(record: Record, made: RecordDraft) -> bool:
    """Return whether a record that was read is live, and about the subject of a draft, or the owner's and names it."""
    if _is_alive(record, made):
        return True
    of_owner = record.status == "active" and record.subject == OWNER_SUBJECT
    return of_owner and _names(record.text, made.subject)


def _names(text: str, subject: str) -> bool:
    return set(words_of(subject)) <= set(words_of(text))


def _select_related(pairs: Sequence[tuple[Record, float]], policy: AdmitPolicy) -> tuple[tuple[Record, float], ...]:
    return tuple(pair for pair in pairs if pair[1] >= policy.related_from)[: policy.max_links]


# ── what becomes of the older records ────────────────────────────────────────────────────────────────────────────


def word_weight(words: Record | RecordDraft, policy: AdmitPolicy) -> int:
    """Weigh words: 3 the owner's, 2 others', 1 a guess, 0 a quotation. A guest owns their own scope."""
    if words.trust in QUOTED_TRUST:
        return 0
    if words.source in _GUESSED and words.confidence < policy.stated_from:
        return 1
    own = words.trust == "owner" or (words.trust == "guest" and words.scope.startswith("user:"))
    return 3 if own else 2


def may_displace(words: Record | RecordDraft, record: Record, policy: AdmitPolicy) -> bool:
    """Return whether words may take something away from a record, if they speak against it."""
    weight = word_weight(words, policy)
    if record.verification == "user_confirmed" or record.policy_class == "protected":
        return weight == 3
    return weight >= word_weight(record, policy)


def resolve_contradiction(
    words: Record | RecordDraft,
    record: Record,
    policy: AdmitPolicy,
    denied: Sequence[Claim] = (),
    part: str = "",
    *,
    by_owner: bool,
) -> Conflict:
    """Return what words that say the opposite of `record` do to it.

    denied: the claims of the record that they deny. part: the one sentence of it that they end. by_owner: by the
    owner's own hand.
    """
    if not may_displace(words, record, policy):
        return Conflict(record, "differ")
    if len(record.source_message_ids) >= policy.min_supporting_turns and not by_owner:
        return Conflict(record, "weaken")
    if part and part in record.text:
        left = without_clause(record.text, part) or without_sentence(record.text, part) or None
    else:
        left = remove_claims(record.text, denied) if denied else None
    if left is None or left == record.text or _stands_in(left, words.text):
        return Conflict(record, "invalidate")
    return Conflict(record, "amend", tuple(_list_gone_attributes(record, left)), left)


def _stands_in(text: str, whole: str) -> bool:
    """Return whether each sentence of a text stands in another text of several."""
    plain, parts = fold(whole), split_sentences(fold(text))
    return len(parts) < len(split_sentences(plain)) and all(part.strip(" .!…") in plain for part in parts)


def _list_gone_attributes(record: Record, left: str) -> Iterator[str]:
    """Yield the names of what a record says that its text no longer does, of which `left` is left."""
    for name, value in _list_said(record).items():
        if _tells(record, record.text, name, value) and not _tells(record, left, name, value):
            yield name


def _tells(record: Record, text: str, name: str, value: str) -> bool:
    """Return whether a text of a record has one of its values, or any day where that is the day it is due."""
    if name == "due":
        return bool(days_named(fold(text), date.fromisoformat(record.valid_from[:10])))
    return mentions_value(text, value)


def resolve_new_value(
    words: Record | RecordDraft, names: Iterable[str], record: Record, outdated: tuple[str, ...], policy: AdmitPolicy
) -> Conflict:
    """Return what words with attributes of these names do to a record with other values of `outdated`."""
    if not may_displace(words, record, policy):
        return Conflict(record, "differ", outdated)
    told = {normalize_name(name) for name in names}
    said = _list_said(record)
    rest = {name: value for name, value in said.items() if normalize_name(name) not in told}
    over = {name: value for name, value in said.items() if normalize_name(name) in told}
    left = remove_values(record.text, list(over.values()), rest.values())
    if left is not None and left != record.text:
        return Conflict(record, "amend", tuple(over), left)
    if not rest:
        relation_left = attribute_statements.find_relation(record.text)
        if relation_left:
            return Conflict(record, "amend", tuple(over), relation_left)
        return Conflict(record, "supersede", outdated)
    names = set(map(normalize_name, outdated))
    wrong = [value for name, value in over.items() if normalize_name(name) in names]
    marked = with_outdated_note(record.text, wrong, record.lang)
    return Conflict(record, "amend", outdated, marked if marked != record.text else "")


def _list_said(record: Record) -> dict[str, str]:
    return {name: value for name, value in record.attribute_map.items() if name != "by"}


def confidence_loss(record: Record, policy: AdmitPolicy) -> float:
    """Return what a contradiction takes from the confidence of a record: one voice among those that have spoken."""
    return min(policy.max_confidence_loss, 1 / (len(record.source_message_ids) + 1))


def contest_confidence(confidence: float, disputes: Sequence[Conflict], policy: AdmitPolicy) -> float:
    """Lower the confidence of a word by what it cannot take from the records that it speaks against."""
    short = [
        policy.max_confidence_loss - confidence_loss(dispute.record, policy)
        for dispute in disputes
        if dispute.resolution == "weaken"
    ]
    return max(min(policy.min_confidence, confidence), confidence - max(short, default=0.0))


def apply_conflict(
    connection: Connection, dispute: Conflict, winner: int, decision: ChangeContext, policy: Policy
) -> None:
    """Carry out a dispute that record `winner` is the newer side of, as part of `decision`."""
    record, resolution, known = dispute.record, dispute.resolution, policy.admit
    act = replace(decision, reason=Sentence("reasons.other_says_otherwise", other=winner))
    if dispute.ends_record:
        status = "superseded" if resolution == "supersede" else "invalidated"
        end_record(connection, record, status, decision, by=winner)
    elif resolution == "weaken":
        weaker = max(known.min_confidence, record.confidence - confidence_loss(record, known))
        support = Sentence("reasons.supported_otherwise", newer=winner, turns=len(record.source_message_ids))
        values = {"confidence": min(record.confidence, weaker)}
        change(connection, record, "weakened", values, replace(act, reason=support), shown=False)
        weakened = records.require(connection, record.id, record.scope)
        lifecycle.apply_event(connection, weakened, "contradicted", act, policy.value)
    elif resolution == "amend":
        _amend(connection, dispute, winner, act)
    if resolution != "supersede":
        strengthen_link(connection, winner, record.id, "contradicts", act.at, decision.reason, policy=policy.graph)


def _amend(connection: Connection, dispute: Conflict, winner: int, act: ChangeContext) -> None:
    """Take from a record what it is no longer right about; what it would say then may be remembered already."""
    record = dispute.record
    gone = {normalize_name(name) for name in dispute.outdated_attributes}
    kept = {name: value for name, value in record.attribute_map.items() if normalize_name(name) not in gone}
    values: dict[str, ColumnValue] = {"attributes": attributes_json(kept, record.by)}
    if dispute.remaining_text:
        key = key_of(dispute.remaining_text)
        if records.by_key(connection, record.scope, record.form, key) is not None:
            end_record(connection, record, "superseded", act, by=winner)
            return
        lang = detect_language(dispute.remaining_text)
        values |= {"text": dispute.remaining_text, "key": key, "lang": lang, "updated": stamp(act.at)}
    change(connection, record, "amended", values, act, shown=bool(dispute.remaining_text))
    if dispute.remaining_text:
        current = records.get(connection, winner, (record.scope,))
        derived_texts.follow_change(connection, record, current, act, dispute.remaining_text)


def end_record(
    connection: Connection, known: Record, status: str, act: ChangeContext, by: int | None = None, valid_to: str = ""
) -> int:
    """Take a live record out of what is remembered, as `status`; returns the event.

    by: what takes its place. valid_to: until when it was so, if not until now.
    """
    now = stamp(act.at)
    values = {"status": status, "valid_to": valid_to or now, "updated": now}
    event = change(connection, known, status, values, act, data={"from": known.status, "by": by})
    if by is not None:
        links.add_supersedes_link(connection, by, known.id, now, act.actor)
    if status != "forgotten":  # whoever forgets takes away what tells it
        current = records.get(connection, by, (known.scope,)) if by is not None else None
        derived_texts.follow_change(connection, known, current, act)
    return event


def _names_day(text: str, due: str) -> bool:
    return bool(days_named(fold(text), date.fromisoformat(due[:10])))


def keep_rest(connection: Connection, known: Record, left: str, act: ChangeContext) -> int:
    """Leave of a live record the words that still hold; returns the event. The day goes with the words that name it."""
    kept = {
        name: value
        for name, value in known.attribute_map.items()
        if name == "by" or not mentions_value(known.text, value) or mentions_value(left, value)
    }
    if (due := kept.get("due")) and _names_day(known.text, due) and not _names_day(left, due):
        del kept["due"]
    values: dict[str, ColumnValue] = {
        "text": left,
        "key": key_of(left),
        "lang": detect_language(left),
        "attributes": attributes_json(kept, known.by),
        "updated": stamp(act.at),
    }
    event = change(connection, known, "amended", values, act)
    derived_texts.follow_change(connection, known, records.get(connection, known.id, (known.scope,)), act, left)
    return event
