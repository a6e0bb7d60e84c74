"""Read the clauses of a sentence by rules: statements of people about themselves, what is theirs, and their plans."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Literal

from kenobot.core import lazy
from kenobot.core.common_words import plausible_name
from kenobot.language.claims import claims
from kenobot.language.facts.due_days import day_due
from kenobot.language.facts.parse_facts import TIERS, Category, ExtractedFact
from kenobot.language.lexicon import STOPWORDS, fill_parts, phrases
from kenobot.language.named_days import day_named, names_year
from kenobot.language.relatives import RELATIVES
from kenobot.language.statements.attribute_statements import attribute_name
from kenobot.language.statements.rule_tables import PHRASES, TABLES
from kenobot.language.statements.sentence_core import MARKS, fold_text, is_statement, without_marks
from kenobot.language.statements.worth_noting import is_remark
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass

Needs = Literal["", "day", "birthday", "who", "person", "figure", "value", "stated", "accent"]

_ANY_DAY = date(2024, 1, 1)  # where only the kind of a fact counts
_IS = lazy.regex(r"(?:'s| (?:is|are|was|were|has|had|coming|going))\b")
_PAST = lazy.regex(rf"(?:(?:yo|i|we|nosotros) )?(?:{PHRASES['past']})(?!\w)")
NAME_OR_FIGURE = lazy.regex(r"\d|(?<=\s)[A-ZÁÉÍÓÚÑ][\w.-]+")
_TOLD_OF = phrases("told_of_people")
_NAMES_ONE = lazy.regex(
    r"(?:\bis|\bare|'s|\bcalled|\bes|\bson|\bllaman?) [A-ZÁÉÍÓÚÑ][^\W\d]+(?: [A-ZÁÉÍÓÚÑ][^\W\d]+)?\W*\Z"
)
_SOMEBODY = lazy.regex(
    rf"(?<!\w)(?:{PHRASES['people']}|baby|bebe|pets?|dog|cat|puppy|kitten|horse|perr[oa]|gat[oa])(?!\w)"
)
_NAME_OF_ANY = lazy.regex(r"(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bfrom )(?<!\ben )\b[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+")
_TO_DO = lazy.regex(rf"(?!dinner|supper|summer|winter|easter)(?:{PHRASES['to_do']})(?!\w)")
_DUTY = lazy.regex(rf"(?<!\w)(?:{PHRASES['duty']})(?!\w)")
_CLAUSES = lazy.regex(rf"\s*(?:,|;| y| e| and| pero| but)\s+(?=(?:{PHRASES['clause_starts']})\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExtractionRule:
    """A pattern for the start of a folded clause, and the fact it makes.

    The groups `value` and `also` are cut from the text as written. attribute: name of the value; "favourite" and
    "relation" go on with the group `what` or `que`. needs: a day that is due, the speaker's birthday, a name in the
    group `who` (person: one word that may be a name) or `value`, an accent at the end of `who`, or a name or figure
    anywhere.
    """

    pattern: re.Pattern[str]
    category: Category = "fact"
    attribute: str = ""
    needs: Needs = ""


def _load_rules() -> Iterator[ExtractionRule]:
    for row in TABLES["rule"]:
        patterns = row["patterns"]
        fields = {name: value for name, value in row.items() if name != "patterns"}
        # A name may stand only once in a pattern.
        for each in patterns if any("who" in pattern for pattern in patterns) else ["|".join(patterns)]:
            first, group, others = fill_parts(each, TABLES["parts"]).partition("(?P<value>")
            pattern = first + group + others.replace("(?P<value>", "(?P<also>")
            yield ExtractionRule(lazy.regex(rf"(?:{pattern})(?!\w)"), **fields)


_RULES = tuple(_load_rules())
_SINCE = lazy.regex(
    r"(?:but |pero )?(?:ahora|ya|por fin|now|these days|nowadays|finally)(?: ya)?(?: s[ií](?: que)?)?,? "
)


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """The facts of a sentence's clauses. left: a clause says nothing alone.

    together: a clause that says nothing alone states something with the others.
    """

    facts: list[ExtractedFact]
    left: bool
    together: bool


def read_clauses(told: str, said: date) -> ClauseReading:
    """Read the clauses of a sentence, each by the first rule that reads it."""
    clauses: list[str] = []
    facts: list[ExtractedFact | None] = []
    for part in _CLAUSES.split(told):
        alone = [bare for claim in claims(part) if (bare := without_marks(claim.standalone_text))]
        found = [_in_clause(clause, said) for clause in alone]
        if not all(clause in part for clause in alone):  # one of them lacks its subject: the words stay together
            found, alone = [_join_facts(without_marks(part), found)], [without_marks(part)]
        clauses, facts = [*clauses, *alone], [*facts, *found]
    read = [fact for fact in facts if fact is not None]
    left = [clause for clause, fact in zip(clauses, facts, strict=True) if fact is None]
    return ClauseReading(read, bool(left), together=bool(read) and any(map(is_statement, left)))


def _join_facts(text: str, facts: Sequence[ExtractedFact | None]) -> ExtractedFact | None:
    """Join what is read of a sentence's clauses into one fact with its whole text; None where nothing is read."""
    read = [fact for fact in facts if fact is not None]
    if not read:
        return None
    attributes = {name: value for fact in reversed(read) for name, value in fact.attributes}
    return replace(read[0], text=text, attributes=tuple(attributes.items()))


@lru_cache(512)  # a clause is read for its message, and again for the sentence behind it and the summary's check
def _in_clause(clause: str, said: date) -> ExtractedFact | None:
    plain = fold_text(clause)
    if len(plain) != len(clause):  # then what is found in one cannot be cut from the other
        plain = clause.lower()
    opening = _SINCE.match(plain)
    start = opening.end() if opening is not None else 0
    for rule in _RULES:
        match = rule.pattern.match(plain) or (rule.pattern.match(plain, start) if start else None)
        if match is not None and (fact := _fact(rule, match, clause, said)) is not None:
            return fact
    return None


def _fact(rule: ExtractionRule, match: re.Match[str], clause: str, said: date) -> ExtractedFact | None:
    category = "fact" if rule.category == "relationship" and not _is_of_people(clause) else rule.category
    fact = ExtractedFact(clause, category, confidence=TIERS["explicit"])
    if rule.needs in ("day", "birthday"):
        return _read_dated(rule, fact, clause, said)
    if rule.needs and (not is_statement(clause) or not _is_named(rule.needs, match, clause)):
        return None
    if not rule.attribute:
        # What a rule reads of a name or a figure is how things are.
        fact = replace(fact, kind="note" if rule.needs else "")
        return replace(fact, attributes=day_due(clause, said, first=1)) if _may_be_due(fact) else fact
    found = {name: clause[match.start(name) : match.end(name)] for name, text in match.groupdict().items() if text}
    value = (found.get("value") or found["also"]).strip(MARKS)
    if rule.attribute == "name":
        value = plausible_name(value)
        return replace(fact, attributes=(("name", value),)) if value else None
    return replace(fact, attributes=((_attribute(rule, found), value),)) if value else fact


def _is_of_people(clause: str) -> bool:
    """Return whether a clause tells who somebody is, and not what a card, a car or a code is."""
    if _TOLD_OF.search(fold(clause)) or not RELATIVES.keys().isdisjoint(words(clause)):
        return True
    return _NAMES_ONE.search(clause) is not None


def _is_named(needs: Needs, match: re.Match[str], clause: str) -> bool:
    """Return whether a clause has the name, or the figure, that a rule asks for."""
    if needs == "stated":
        return not is_past(clause)
    if needs == "accent":
        return clause[match.start("who") : match.end("who")].endswith("é")
    if needs == "figure":
        return NAME_OR_FIGURE.search(clause, 1) is not None
    group = "value" if needs == "value" else "who"
    names = clause[match.start(group) : match.end(group)].split()
    if needs == "person":
        return len(names) == 1 and fold(names[0]) not in STOPWORDS
    if not all(name[:1].isupper() or name in ("de", "del", "la") for name in names):
        return False
    # A capital at the head of a sentence is no name of itself: "Brain is soup".
    return not (len(names) == 1 and _IS.match(fold_text(clause[match.end(group) :])) and is_remark(clause))


def is_past(told: str) -> bool:
    """Return whether a text begins with what has happened."""
    return _PAST.match(fold_text(told)) is not None


def promises(sentence: str) -> bool:
    """Return whether a sentence gives a word that is still to be kept, though it does so in the past tense."""
    return any(fact.category == "commitment" for fact in read_clauses(sentence, _ANY_DAY).facts)


def is_duty(text: str) -> bool:
    """Return whether a commitment is something to do, and not something that takes place, such as an appointment."""
    plain = fold_text(text)
    gives_word = any(rule.category == "commitment" and not rule.needs and rule.pattern.match(plain) for rule in _RULES)
    return gives_word or _TO_DO.match(plain) is not None or _DUTY.search(plain) is not None


def names_somebody(told: str) -> bool:
    """Return whether a text names a person or a pet, as far as its words and capitals tell."""
    if _SOMEBODY.search(fold_text(told)):
        return True
    return any(fold(name[0]) not in STOPWORDS for name in _NAME_OF_ANY.finditer(told))


def _may_be_due(fact: ExtractedFact) -> bool:
    return fact.category in ("fact", "relationship", "commitment")


def _attribute(rule: ExtractionRule, found: Mapping[str, str]) -> str:
    return attribute_name(rule.attribute, " ".join((found.get("what") or found.get("que") or "").split()))


def _read_dated(rule: ExtractionRule, fact: ExtractedFact, clause: str, said: date) -> ExtractedFact | None:
    """Return a birthday or a commitment; None when no day is named, or one that makes no sense."""
    plain = fold(clause)
    if rule.needs == "birthday":
        has_year = names_year(plain)
        born = day_named(plain, said, past=has_year)
        if born is None or (has_year and born > said):
            return fact if " en " in plain or " in " in plain else None
        return replace(fact, attributes=(("birthday", born.isoformat() if has_year else f"{born:%m-%d}"),))
    due = day_due(clause, said)
    return replace(fact, attributes=due) if due else None
