"""Split a statement into clauses, each as it is written, and take one of them out."""

from kenobot.core import lazy
from kenobot.language.claims import claims
from kenobot.language.lexicon import load_phrases

_STARTS = load_phrases(__package__, "likely_change.toml", "clause")["starts"]
_BETWEEN = lazy.regex(
    rf"(?P<mark>[.!?;]+\s+|,\s+(?:and\s+|but\s+|y\s+|e\s+|pero\s+)?|\s+(?:and|but|y|e|pero)\s+)(?=(?i:{_STARTS})(?!\w))"
)
_NAMED = lazy.regex(  # "we have one car, a Skoda", "vamos a la playa, a Mar de Ajó"
    r"(?i:an?|the|my|our|el|la|los|las|una?|mis?|nuestr[oa]s?)\s[\w'-]+(?:\s(?:de|del|of)\s[\w'-]+){0,2}\W*(?=\Z|,)"
)
_ONLY_NAMES = lazy.regex(r"\A(?:(?i:my|our|the|mis?|nuestr[oa]s?|el|la|los|las)\s)?[\w'-]+(?:,\s[A-ZÁÉÍÓÚÑ][\w-]+)?\Z")


def split_clauses(text: str) -> list[str]:
    """Split a statement where a clause of its own begins; each as it is written, with what stands before the next.

    What only names somebody or something is no clause: "mi mujer, Rosalía", "my wife and I", "one car, a Skoda".
    """
    ends = [
        found.start()
        for found in _BETWEEN.finditer(text)
        if not _ONLY_NAMES.match(text[: found.start()]) and not _NAMED.match(text, found.end())
    ]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def without_clause(text: str, clause: str) -> str:
    """Return a statement without one of its clauses, in its own words; "" where nothing or no such clause is left.

    A clause that went on about the subject of that one gets its subject: "lives in Leeds and works as a vet".
    """
    left, mark = "", None
    parts = split_clauses(text)
    kept = [part for part in parts if bare_clause(part) != clause]
    for part in parts if len(kept) < len(parts) else ():
        own_mark, body = _split_mark(part)
        if part not in kept:
            mark = own_mark if mark is None else mark
            continue
        if mark is not None:
            body = f"{_with_subject(text, bare_clause(part))}{body[len(bare_clause(part)) :]}"
        left += f"{own_mark if mark is None else mark}{body}" if left else body
        mark = None
    return (bare_clause(left) if len(kept) == 1 else left).strip()


def _with_subject(text: str, clause: str) -> str:
    """Return a clause of a text with the subject that its sentence gives it."""
    found = next((each for each in claims(text) if f"{clause} ".startswith(f"{each.text} ")), None)
    return clause if found is None else f"{found.standalone_text}{clause[len(found.text) :]}"


def _split_mark(part: str) -> tuple[str, str]:
    """Split a clause from what joins it to the one before."""
    found = _BETWEEN.match(part)
    return (found["mark"], part[found.end("mark") :]) if found else ("", part)


def bare_clause(part: str) -> str:
    """Return a clause without the marks around it and the word that joins it to the one before."""
    return _split_mark(part)[1].strip(" .,;!…")
