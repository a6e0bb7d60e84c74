"""Find the clause of a memory that a message is about, where it has several: the others go on holding."""

from datetime import date

from kenobot.cognitive.remember.extract.change_signs import compare_values, read_signs
from kenobot.cognitive.remember.extract.likely_change import StandingStatement, most_likely
from kenobot.cognitive.text.lexicon import load_phrases
from kenobot.core import lazy

_STARTS = load_phrases("kenobot.cognitive.remember.extract", "likely_change.toml", "clause")["starts"]
_BETWEEN = lazy.regex(
    rf"(?P<mark>[.!?;]+\s+|,\s+(?:and\s+|but\s+|y\s+|e\s+|pero\s+)?|\s+(?:and|but|y|e|pero)\s+)(?=(?i:{_STARTS})(?!\w))"
)
_LEAD = 0.2  # of the probability of a clause over the next, from which it alone is meant


def split_clauses(text: str) -> list[str]:
    """Split a statement where a clause of its own begins; each as it is written, with what stands before the next."""
    ends = [found.start() for found in _BETWEEN.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def find_clause(message: str, said: date, text: str) -> str:
    """Find the clause of a statement that a message is about, as it is written; "" for all of the statement."""
    clauses = [_bare(part) for part in split_clauses(text)]
    if len(clauses) < 2:
        return ""
    told = read_signs(message)
    known = [read_signs(clause) for clause in clauses]
    meets = [len(told.stems & each.stems) + 2 * (compare_values(told, each) == "another") for each in known]
    first, second, *_ = sorted(meets, reverse=True)
    if first > second:
        return clauses[meets.index(first)]
    likely = most_likely(message, said, [StandingStatement(clause) for clause in clauses])
    return clauses[likely.place] if likely is not None and likely.lead >= _LEAD else ""


def without_clause(text: str, clause: str) -> str:
    """Return a statement without one of its clauses, in its own words; "" where nothing or no such clause is left."""
    parts = split_clauses(text)
    left = [part for part in parts if _bare(part) != clause]
    if not left or len(left) == len(parts):
        return ""
    return "".join([_bare(left[0]) if len(left) == 1 or left[0] != parts[0] else left[0], *left[1:]]).strip()


def _bare(part: str) -> str:
    found = _BETWEEN.match(f"{part}")
    return (part[found.end("mark") :] if found else part).strip(" .,;!…")
