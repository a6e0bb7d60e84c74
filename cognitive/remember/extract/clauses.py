"""Split a statement into clauses, each as it is written, and take one of them out."""

from kenobot.cognitive.text.lexicon import load_phrases
from kenobot.core import lazy

_STARTS = load_phrases("kenobot.cognitive.remember.extract", "likely_change.toml", "clause")["starts"]
_BETWEEN = lazy.regex(
    rf"(?P<mark>[.!?;]+\s+|,\s+(?:and\s+|but\s+|y\s+|e\s+|pero\s+)?|\s+(?:and|but|y|e|pero)\s+)(?=(?i:{_STARTS})(?!\w))"
)


def split_clauses(text: str) -> list[str]:
    """Split a statement where a clause of its own begins; each as it is written, with what stands before the next."""
    ends = [found.start() for found in _BETWEEN.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def without_clause(text: str, clause: str) -> str:
    """Return a statement without one of its clauses, in its own words; "" where nothing or no such clause is left."""
    parts = split_clauses(text)
    left = [part for part in parts if bare_clause(part) != clause]
    if not left or len(left) == len(parts):
        return ""
    return "".join([bare_clause(left[0]) if len(left) == 1 or left[0] != parts[0] else left[0], *left[1:]]).strip()


def bare_clause(part: str) -> str:
    """Return a clause without the marks around it and the word that joins it to the one before."""
    found = _BETWEEN.match(f"{part}")
    return (part[found.end("mark") :] if found else part).strip(" .,;!…")
