"""Extract facts from messages by rules, and name the memories that they end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kenobot.language.facts import heuristic
from kenobot.language.facts.heuristic import Message
from kenobot.language.facts.parse_facts import TIERS, ExtractedFact
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import NOTED_BY_RULES, Record
from kenobot.ports.turns import ConversationTurn


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """Facts extracted by rules. ended: the records that their verdicts name, by their place from 1."""

    facts: tuple[ExtractedFact, ...] = ()
    ended: tuple[Record, ...] = ()


def extract_by_rules(messages: Iterable[Message], known: Sequence[Record]) -> RuleFacts:
    """Extract the facts of messages, oldest first. known: live records that they may end, oldest first."""
    statements = [record.text for record in known]
    facts = heuristic.read_messages(messages, statements)
    numbers = {number: None for fact in facts for number, _ in fact.verdicts}
    places = {number: place for place, number in enumerate(numbers, 1)}
    told = tuple(_about_ended(fact, known, places) for fact in facts)
    return RuleFacts(told, tuple(known[number - 1] for number in numbers))


def join_rule_facts(parts: Iterable[RuleFacts]) -> RuleFacts:
    """Join what was extracted from the messages of several people, in the order in which it was said."""
    facts: list[ExtractedFact] = []
    ended: list[Record] = []
    for part in parts:
        facts += [_move_places(fact, len(ended)) for fact in part.facts]
        ended += part.ended
    return RuleFacts(tuple(sorted(facts, key=lambda fact: max(fact.evidence, default=0))), tuple(ended))


def mark_as_rules(facts: Iterable[ExtractedFact]) -> tuple[ExtractedFact, ...]:
    """Mark facts that rules noted where a model was to read them."""
    return tuple(replace(fact, tags=(*fact.tags, NOTED_BY_RULES)) for fact in facts)


def without_noted(
    facts: Iterable[ExtractedFact], turns: Sequence[ConversationTurn], noted: Iterable[Record]
) -> tuple[ExtractedFact, ...]:
    """Leave out what is only probably worth a note, of turns of which the reply has noted something.

    turns: those that facts name as evidence, by their place from 1. noted: the records of the replies' tags.
    """
    judged = {number for record in noted for number in record.source_message_ids}
    return tuple(
        fact
        for fact in facts
        if fact.confidence > TIERS["implied"]
        or fact.verdicts
        or judged.isdisjoint(turns[n - 1].inbox_id for n in fact.evidence)
    )


def _move_places(fact: ExtractedFact, by: int) -> ExtractedFact:
    """Count the places that a fact's verdicts name from further on."""
    verdicts = tuple((place + by, relation) for place, relation in fact.verdicts)
    return replace(fact, verdicts=verdicts, ended_parts=tuple((place + by, part) for place, part in fact.ended_parts))


def _about_ended(fact: ExtractedFact, known: Sequence[Record], places: Mapping[int, int]) -> ExtractedFact:
    """Number a fact's verdicts by the places of what they end, whose subject the fact has."""
    if not fact.verdicts:
        return fact
    subject = known[fact.verdicts[0][0] - 1].subject
    verdicts = tuple((places[number], relation) for number, relation in fact.verdicts)
    parts = tuple((places[number], part) for number, part in fact.ended_parts)
    return replace(fact, verdicts=verdicts, ended_parts=parts, subject="" if subject == OWNER_SUBJECT else subject)
