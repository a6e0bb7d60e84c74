"""Extract facts without a model: plain statements of people about themselves.

A fact keeps the speaker's words, so that one stored by the same turn's `<memory>` tag is recognised.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib import resources
from typing import Literal

from kenobot.cognitive.remember.extract.parse_facts import TIERS, Category, ExtractedFact
from kenobot.cognitive.text.claims import claims
from kenobot.cognitive.text.lexicon import fill_parts, load_phrases
from kenobot.cognitive.text.named_days import day_named, names_year
from kenobot.cognitive.text.words import fold
from kenobot.core import lazy

Needs = Literal["", "day", "birthday"]

_LONGEST = 4000  # characters that are looked at; people do not introduce themselves in the middle of a document
_SENTENCES = 40
_LONGEST_SENTENCE = 300
_END = lazy.regex(r"(?<=[.!?…])\s+|\n+|;\s+")
_MARKS = " \t,.;:!¡¿…-—\"'«»“”"
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_PHRASES = load_phrases("kenobot.cognitive.remember.extract", "rules.toml")
_OPENINGS = lazy.regex(rf"(?:(?:{_PHRASES['openings']})\b[\s,:!.]*){{1,3}}")
_ASKS_TO_REMEMBER = lazy.regex(
    rf"(?:please |por favor )?(?:{_PHRASES['asks_to_remember']})(?: de)?(?: that| que)?\b[\s,:]*"
)
_REFERS_ELSEWHERE = lazy.regex(rf"(?:{_PHRASES['elsewhere']})\b(?!\s+(?:is|es)\b)|\W*\Z")
_CORRECTS = lazy.regex(rf"(?:{_PHRASES['corrects']})\s+")
_CLAUSES = lazy.regex(rf"\s*(?:,|;| y| e| and| pero| but)\s+(?=(?:{_PHRASES['clause_starts']})\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExtractionRule:
    """A pattern for the start of a folded clause, and the fact it makes.

    The groups `value` and `also` are cut from the text as written. attribute: name of the value; "favourite" and
    "relation" go on with the group `what` or `que`. needs: a day that is due, or the speaker's birthday.
    """

    pattern: re.Pattern[str]
    category: Category = "fact"
    attribute: str = ""
    needs: Needs = ""


def _load_rules() -> Iterator[ExtractionRule]:
    tables = tomllib.loads(resources.files(__package__).joinpath("rules.toml").read_text("utf-8"))
    for row in tables["rule"]:
        pattern = fill_parts("|".join(row.pop("patterns")), tables["parts"])
        first, group, others = pattern.partition("(?P<value>")  # a name may stand only once in a pattern
        pattern = first + group + others.replace("(?P<value>", "(?P<also>")
        yield ExtractionRule(lazy.regex(rf"(?:{pattern})(?!\w)"), **row)


_RULES = tuple(_load_rules())


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
    parts = [claim.standalone_text for part in _CLAUSES.split(told) for claim in claims(part)]
    clauses = [clause for clause in parts if clause.strip(_MARKS)]
    read = [fact for clause in clauses if (fact := _in_clause(clause.strip(_MARKS), said)) is not None]
    if asked and len(read) < len(clauses) and not _REFERS_ELSEWHERE.match(_folded(told.strip(_MARKS))):
        read = [_whole(told.strip(_MARKS), read)]
    for fact in read:
        yield replace(fact, category="correction") if corrects else fact


def _core(sentence: str) -> tuple[str, bool, bool]:
    """A sentence after its openings: what it says, whether it puts something right, whether it asks to remember."""
    corrects = asked = False
    for _ in range(4):
        sentence = sentence.strip(_MARKS)
        plain = _folded(sentence)
        opening = _CORRECTS.match(plain)
        corrects = corrects or opening is not None
        if opening is None and (opening := _ASKS_TO_REMEMBER.match(plain)) is not None:
            asked = True
        opening = opening or _OPENINGS.match(plain)
        if opening is None:
            break
        sentence = sentence[opening.end() :]
    return sentence, corrects, asked


def _in_clause(clause: str, said: date) -> ExtractedFact | None:
    plain = _folded(clause)
    if len(plain) != len(clause):  # then what is found in one cannot be cut from the other
        plain = clause.lower()
    for rule in _RULES:
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
