"""Turn extracted facts into candidates for memory, and admit candidates one by one.

A fact goes to the scope of its speaker's words, with the least trust of the turns it is drawn from, or of those whose
words it repeats. A fact that a `<memory>` tag of the same turn has stored already is left out. An error while one is
admitted costs that candidate, not the transaction.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.extract.prompt import ExtractionBatch
from kenobot.language.calendar import local_day
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts.parse_facts import ExtractedFact
from kenobot.language.lexicon import NEGATIONS, STOPWORDS
from kenobot.language.provenance import AttributedText, Provenance, SpeechContext, find_quoted_passages, without_quotes
from kenobot.language.words import stems, words
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import QUOTED_TRUST, Trust, parse_trust, trust_rank
from kenobot.ports.memory import Candidate, Decision, RelationVerdict
from kenobot.ports.names import sanitize_name
from kenobot.ports.records import Record
from kenobot.ports.turns import ConversationTurn
from kenobot.storage.connection import Connection, in_savepoint


@dataclass(frozen=True, slots=True)
class ExtractedBatch:
    """A batch of turns of `session` and the facts extracted from it."""

    session: str
    batch: ExtractionBatch
    facts: tuple[ExtractedFact, ...]
    at: datetime
    zone: ZoneInfo
    policy: Policy


def build_candidates(reading: ExtractedBatch) -> list[tuple[Candidate, AdmitContext]]:
    """Build the candidates of a batch, in order, each with its admission context."""
    found: list[tuple[Candidate, AdmitContext]] = []
    witnesses = [set(record.source_message_ids) for record in reading.batch.known]
    for fact in reading.facts[: reading.policy.extract.max_facts]:
        told = _find_evidence(fact, reading.batch.turns)
        stored = _find_stored(fact, told, reading.batch, witnesses)
        new = stored is None or dict(fact.attributes).keys() - stored.attribute_map.keys()
        if stored is not None and (stored.scope != told[0].scope or not (new or fact.verdicts)):
            continue
        candidate = _candidate(fact, told, reading)
        if stored is not None:
            against = [each for each in candidate.verdicts if each.relation == "contradiction"]
            against = [each for each in against if each.record != stored.id]
            if not (new or against):
                continue
            # Its words, taken apart, and what they end.
            candidate = replace(candidate, text=stored.text, verdicts=tuple(against))
        found.append((candidate, _occasion(told, reading)))
    return found


def _find_evidence(fact: ExtractedFact, turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """Return the turns that a fact names as evidence; all of them when it names none: the least trust counts."""
    named = [turns[number - 1] for number in fact.evidence if number <= len(turns)]
    return [turn for turn in named or turns if not turn.hidden]


def _candidate(fact: ExtractedFact, told: Sequence[ConversationTurn], reading: ExtractedBatch) -> Candidate:
    heard = [AttributedText("model", record.text) for record in reading.batch.known if record.is_hearsay]
    trust = trust_of(fact.text, told, reading.batch.turns, heard)
    scope = told[0].scope
    return Candidate(
        form="note",
        scope=scope,
        text=fact.text,
        category=fact.category,
        source="extraction",
        trust=trust,
        subject=fact.subject or sanitize_name(told[0].speaker),
        attributes=fact.attributes,
        tags=tags_of_confidence((turn.text for turn in told), fact.tags),
        confidence=fact.confidence,
        importance=fact.importance,
        evidence=_witnesses(told),
        expires=_expiry(fact, told, reading),
        verdicts=_verdicts(fact, trust, scope, reading.batch.known),
        action=f"store_{fact.kind}" if fact.kind else "",
        by_rules=fact.by_rules,
    )


def _occasion(told: Sequence[ConversationTurn], reading: ExtractedBatch) -> AdmitContext:
    """Return the occasion of a fact: the day on which it was told, however much later it is extracted."""
    last = told[-1]
    return AdmitContext(
        reading.at,
        local_day(last.at, reading.zone),
        "extraction",
        reading.session,
        evidence=last.inbox_id,
        policy=reading.policy,
        said_at=last.at,
        speaker_name=last.label,
    )


def trust_of(
    text: str,
    told: Sequence[ConversationTurn],
    turns: Sequence[ConversationTurn],
    others: Sequence[AttributedText] = (),
) -> Trust:
    """Return the least trust of the turns that tell `text`, or of those whose words it repeats.

    others: further texts of the context.
    """
    least = min((turn.trust for turn in told), key=trust_rank)
    speakers = {(turn.account, turn.trust) for turn in told}
    own, strange = list[ConversationTurn](), list[ConversationTurn]()
    for turn in turns:
        is_own = (turn.account, turn.trust) in speakers and turn.trust != "forward"
        (own if is_own else strange).append(turn)
    foreign = [
        *others,
        *(AttributedText("forward", passage) for turn in own for passage in find_quoted_passages(turn.text)),
    ]
    foreign += [AttributedText(turn.answer_trust, turn.answer) for turn in own if turn.answer_trust in QUOTED_TRUST]
    for turn in strange:
        foreign += [AttributedText(turn.trust, turn.text), AttributedText(turn.trust, turn.answer)]
    if all(trust_rank(voice.trust) >= trust_rank(least) for voice in foreign):
        return least  # which holds for most conversations, and saves comparing words
    said = SpeechContext(
        trust=least,
        message="\n".join(without_quotes(turn.text) for turn in told if turn in own),
        earlier_messages=tuple(without_quotes(turn.text) for turn in own if turn not in told),
        model_replies=tuple(turn.answer for turn in own if turn.answer_trust not in QUOTED_TRUST),
        other_texts=tuple(foreign),
        has_quotes=any(find_quoted_passages(turn.text) for turn in told),
    )
    return min(least, Provenance(said).trust_of(text), key=trust_rank)


def _witnesses(told: Sequence[ConversationTurn]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(turn.inbox_id for turn in told if turn.inbox_id is not None))


def _expiry(fact: ExtractedFact, told: Sequence[ConversationTurn], reading: ExtractedBatch) -> datetime | None:
    """Return the end of the day the fact names, unless that was over when it was said."""
    if fact.expires is None or fact.expires < told[-1].at.astimezone(reading.zone).date():
        return None
    return datetime.combine(fact.expires + timedelta(days=1), time(), reading.zone).astimezone(UTC)


def _verdicts(fact: ExtractedFact, trust: Trust, scope: str, known: Sequence[Record]) -> tuple[RelationVerdict, ...]:
    """Keep the verdicts on memories of the same scope; a contradiction needs at least the memory's trust."""
    found: list[RelationVerdict] = []
    parts = dict(fact.ended_parts)
    for number, relation in fact.verdicts:
        record = known[number - 1] if number <= len(known) else None
        if record is None or record.scope != scope:
            continue
        weaker = trust_rank(trust) < trust_rank(parse_trust(record.trust, trust))
        if relation != "contradiction" or not weaker:
            found.append(RelationVerdict(record.id, relation, parts.get(number, "")))
    return tuple(found)


def _find_stored(
    fact: ExtractedFact, told: Sequence[ConversationTurn], batch: ExtractionBatch, heard_in: Sequence[set[int]]
) -> Record | None:
    """Return the memory in which a tag of the same turns has stored `fact`, perhaps for their chat only.

    heard_in: inbox rows of the turns that say each known memory.
    """
    witnesses = set(_witnesses(told))
    shown = dict(enumerate(batch.known, 1))
    repeated = [shown[number].id for number, relation in fact.verdicts if relation == "repeat" and number in shown]
    heard = zip(batch.known, heard_in, strict=True)
    own = [record for record, turns in heard if witnesses and witnesses <= turns]
    return next((record for record in own if record.id in repeated or _contains(record.text, fact.text)), None)


def _contains(whole: str, part: str) -> bool:
    """Return whether a text contains all content words of another, with the same negations."""
    one, other = words(whole), words(part)
    if (NEGATIONS & set(one)) != (NEGATIONS & set(other)):
        return False
    said = {stem for word in one for stem in stems(word)}
    meant = [word for word in other if word not in STOPWORDS]
    return bool(meant) and all(not said.isdisjoint(stems(word)) for word in meant)


def admit_isolated(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
    """Admit one candidate; one that cannot be written is discarded."""
    return in_savepoint(
        connection,
        "memory",
        lambda: admit(connection, candidate, occasion),
        lambda error: Decision("discarded", f"{type(error).__name__}: {error}"),
    )
