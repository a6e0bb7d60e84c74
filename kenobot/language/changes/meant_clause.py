"""Find the clause of a memory that a message is about, where it has several: the others go on holding."""

from datetime import date

from kenobot.core import lazy
from kenobot.language.changes.change_signs import compare_values, read_signs
from kenobot.language.changes.clauses import bare_clause, split_clauses
from kenobot.language.changes.likely_change import StandingStatement, find_most_likely

_LEAD = 0.2  # of the probability of a clause over the next, from which it alone is meant
_GOES_ON = lazy.regex(
    r"(?i:it(?:'s)?|its|ha(?:s|ve) been|been|who(?:se)?(?:'s)?|which|where|que|quien(?:es)?|cuy[oa]s?|donde)(?!\w)"
)  # of the thing that the clause before names


def find_clause(message: str, said: date, text: str) -> str:
    """Find the clause of a statement that a message is about, as it is written; "" for all of the statement.

    All of it is meant where the next clause says nothing without that one: "I've a landline, it's 0121 496".
    """
    clauses = [bare_clause(part) for part in split_clauses(text)]
    if len(clauses) < 2:
        return ""
    meant = _find_meant(message, said, clauses)
    return "" if any(_GOES_ON.match(each) for each in clauses[meant + 1 : meant + 2]) or meant < 0 else clauses[meant]


def _find_meant(message: str, said: date, clauses: list[str]) -> int:
    """Find the clause that a message is about; -1 where none is alone."""
    told = read_signs(message)
    known = [read_signs(clause) for clause in clauses]
    meets = [len(told.stems & each.stems) + 2 * (compare_values(told, each) == "another") for each in known]
    first, second, *_ = sorted(meets, reverse=True)
    if first > second:
        return meets.index(first)
    likely = find_most_likely(message, said, [StandingStatement(clause) for clause in clauses])
    return likely.place if likely is not None and likely.lead >= _LEAD else -1
