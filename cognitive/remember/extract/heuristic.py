"""Extract facts without a model: plain statements of people about themselves.

A fact keeps the speaker's words, so that one stored by the same turn's `<memory>` tag is recognised.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from kenobot.cognitive.remember.extract import rules
from kenobot.cognitive.remember.extract.parse_facts import TIERS, ExtractedFact
from kenobot.cognitive.remember.extract.rules import ExtractionRule
from kenobot.cognitive.text.claims import claims
from kenobot.cognitive.text.dates import day_named, names_year
from kenobot.cognitive.text.words import fold

_LONGEST = 4000  # characters that are looked at; people do not introduce themselves in the middle of a document
_SENTENCES = 40
_LONGEST_SENTENCE = 300
_END = re.compile(r"(?<=[.!?…])\s+|\n+|;\s+")
_MARKS = " \t,.;:!¡¿…-—\"'«»“”"
_QUOTE = re.compile(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)


def extract_facts(text: str, said: date, *, evidence: int = 1) -> list[ExtractedFact]:
    """Extract the facts that a person's own words state, each once. said: their day. evidence: turn number."""
    found: dict[str, ExtractedFact] = {}
    if _QUOTE.search(text[:_LONGEST]):
        return []
    for sentence in _END.split(text[:_LONGEST])[:_SENTENCES]:
        for fact in _in_sentence(sentence.strip(), said):
            found.setdefault(fold(fact.text), replace(fact, evidence=(evidence,)))
    return list(found.values())


def _in_sentence(sentence: str, said: date) -> Iterator[ExtractedFact]:
    if not sentence or len(sentence) > _LONGEST_SENTENCE or sentence.rstrip().endswith(("?", "？", ":")):
        return
    told, corrects, asked = _core(sentence)
    parts = [claim.standalone_text for part in rules.CLAUSES.split(told) for claim in claims(part)]
    clauses = [clause for clause in parts if clause.strip(_MARKS)]
    read = [fact for clause in clauses if (fact := _in_clause(clause.strip(_MARKS), said)) is not None]
    if asked and len(read) < len(clauses) and not rules.REFERS_ELSEWHERE.match(_folded(told.strip(_MARKS))):
        read = [_whole(told.strip(_MARKS), read)]
    for fact in read:
        yield replace(fact, category="correction") if corrects else fact


def _core(sentence: str) -> tuple[str, bool, bool]:
    """A sentence after its openings: what it says, whether it puts something right, whether it asks to remember."""
    corrects = asked = False
    for _ in range(4):
        sentence = sentence.strip(_MARKS)
        plain = _folded(sentence)
        opening = rules.CORRECTS.match(plain)
        corrects = corrects or opening is not None
        if opening is None and (opening := rules.ASKS_TO_REMEMBER.match(plain)) is not None:
            asked = True
        opening = opening or rules.OPENINGS.match(plain)
        if opening is None:
            break
        sentence = sentence[opening.end() :]
    return sentence, corrects, asked


def _in_clause(clause: str, said: date) -> ExtractedFact | None:
    plain = _folded(clause)
    if len(plain) != len(clause):  # then what is found in one cannot be cut from the other
        plain = clause.lower()
    for rule in rules.RULES:
        if (match := rule.pattern.match(plain)) is not None:
            return _fact(rule, match, clause, said)
    return None


def _fact(rule: ExtractionRule, match: re.Match[str], clause: str, said: date) -> ExtractedFact | None:
    fact = ExtractedFact(clause, rule.category, confidence=TIERS["explicit"])
    if rule.needs:
        return _dated(rule, fact, fold(clause), said)
    if not rule.attribute:
        return fact
    found = {name: clause[match.start(name) : match.end(name)] for name, text in match.groupdict().items() if text}
    value = (found.get("value") or found["also"]).strip(_MARKS)
    return replace(fact, attributes=((_attribute(rule, found), value),)) if value else fact


def _attribute(rule: ExtractionRule, found: Mapping[str, str]) -> str:
    """The name of an attribute, as `kenobot.cognitive.remember.attribute_statements` would call it."""
    what = " ".join(fold(found.get("what") or found.get("que") or "").split())
    return {"favourite": f"favourite {what}", "relation": what}.get(rule.attribute, rule.attribute)


def _dated(rule: ExtractionRule, fact: ExtractedFact, plain: str, said: date) -> ExtractedFact | None:
    """A birthday or a commitment; None when no day is named, or one that makes no sense."""
    if rule.needs == "birthday":
        born = day_named(plain, said, past=True)
        if born is None or born > said:
            return fact if " en " in plain or " in " in plain else None
        return replace(fact, attributes=(("birthday", born.isoformat() if names_year(plain) else f"{born:%m-%d}"),))
    due = day_named(plain, said)
    return replace(fact, attributes=(("due", due.isoformat()),)) if due is not None and due >= said else None


def _whole(text: str, read: list[ExtractedFact]) -> ExtractedFact:
    """A text that somebody asked to be remembered, whole, with what was understood of its parts."""
    attributes = tuple(dict(pair for fact in read for pair in fact.attributes).items())
    category = read[0].category if read else "fact"
    return ExtractedFact(text, category, attributes=attributes, confidence=TIERS["explicit"])


def _folded(text: str) -> str:
    return fold(text).replace("’", "'").replace("‘", "'")
