"""Extract problems and their solutions from texts by rules, in Spanish and English. Pure.

A sign of failure marks a problem, a word for its end a solution, unless it is hoped for, asked or denied.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from kenobot.core import lazy
from kenobot.language.lexicon import alternatives, load_phrases, word_set
from kenobot.language.problem_words import is_failure_word, keyword_coverage, keywords, stems_in
from kenobot.language.salience import salience_signs
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass

_CLAUSE = lazy.regex(r"\n+|\s*[—–;→]+\s*|\s+-+>?\s+|(?<=[.!…。！])\s+|(?<=[。！])")
_PHRASES = load_phrases("kenobot.language", "solutions.toml")
_SOLVED = lazy.regex(rf"(?<!\w)(?:{_PHRASES['solved']})(?!\w)", re.IGNORECASE)
_OPEN = word_set("not_solved")
_LOOKED_BACK = 3  # words
_LONGEST, _CLAUSES, _TAIL = 8_000, 60, 200  # characters, clauses, and characters before a solution that are looked at
_BLANKS = lazy.regex(r"[^\S\n]+")
_LEAST = 2  # words that name a problem: one alone would be found in every message
_LINKING = lazy.regex(rf"(?:[\s,:(]|(?<!\w)(?:{_PHRASES['linking']})(?!\w))+\Z", re.IGNORECASE)
_HOW = lazy.regex(
    r"\A(?P<word>\S+(?:\s+(?:out|around))?)\s+(?P<what>.+?)\s+(?P<how>(?:" + _PHRASES["how"] + r")\s.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION = lazy.regex(r"[¿？؟]|\?(?!\S*[\w=])")  # an address or a name of a parameter may hold the mark
_STORY = lazy.regex(alternatives("story"), re.IGNORECASE)
TRIGGER_CHARS, RESPONSE_CHARS = 160, 300  # of the longest problem and solution
_GROUNDED_FROM = 0.6  # share of the words of a model that the text itself must hold
_TRIM = " \t,.;:!-—–…"
_NO_SUBJECT = lazy.regex(
    r"\W*(?:(?:(?:i|we|they|he|she)(?:'ve| have| had)? )?(?:(?:finally|just|already) )?"
    r"(?:fix|solv|resolv|repair|sort|mend)(?:ed|e|s)? (?:it|this|that|them)\b"
    r"|(?:it|they|eso|esto|ello|aquello)\b"
    r"|(?:this|that)(?:'s| (?:is|was|went|did|does|keeps?|fail\w*|broke|stopped))\b|(?:this|that)\s*[:,]"
    r"|(?:ya )?(?:lo|la|los|las) (?:he |hemos |han )?(?:arregl|solucion|resol|resuel|repar)\w+"
    r"|(?:arreglad|solucionad|resuelt|reparad)[oa]s?\s*[:,])",
    re.IGNORECASE,
)
_HOLLOW = stems_in(" ".join(sorted(word_set("hollow"))))


@dataclass(frozen=True, slots=True)
class Solution:
    """A problem and what solved it."""

    trigger: str
    response: str


def lacks_subject(text: str) -> bool:
    """Return whether a text begins with what only points back: "it: error 13 went away", "lo arreglé"."""
    return _NO_SUBJECT.match(text) is not None


def find_solution(text: str) -> Solution | None:
    """Extract a problem and its solution; None when the text lacks either."""
    clauses = list(_clauses(text))
    for at, clause in enumerate(clauses):
        found = _resolution(clause)
        if found is None:
            continue
        for pair in filter(None, (_split_within(clause, found), _across(clauses, at))):
            trigger, response = trigger_of(pair[0]), _fit(pair[1], RESPONSE_CHARS)
            if trigger and _says_how(response, trigger):
                return Solution(trigger, response)
    return None


def mentions_failure(text: str) -> bool:
    return "error" in salience_signs(text)


def mentions_solution(text: str) -> bool:
    """Return whether `text` says that something is solved, and how."""
    return any(_resolution(clause) is not None for clause in _clauses(text))


def combine_texts(trouble: str, solution: str) -> Solution | None:
    """Combine the problem of one text with the solution of another; None when they are about two things."""
    trigger = next((found for clause in _clauses(trouble) if mentions_failure(clause)
                    if (found := trigger_of(clause))), "")  # fmt: skip
    response = next((clause for clause in _clauses(solution) if _resolution(clause) is not None), "")
    about = [word for word in keywords(trouble) if not is_failure_word(word)]
    there = stems_in(solution)
    if not trigger or all(there.isdisjoint(word) for word in about):
        return None
    response = _fit(response, RESPONSE_CHARS)
    return Solution(trigger, response) if _says_how(response, trigger) else None


def trigger_of(clause: str) -> str:
    """Strip a problem of the story around it; "" when that names nothing in particular."""
    bare = _STORY.sub("", clause, count=1).strip(_TRIM)
    clause = bare if len(keywords(bare)) >= _LEAST else clause.strip(_TRIM)
    named = keywords(clause)
    if len(named) < _LEAST or all(map(is_failure_word, named)) or lacks_subject(clause):
        return ""
    clause = _fit(clause, TRIGGER_CHARS)
    return clause if any(map(is_failure_word, keywords(clause))) else f"{clause} error"


def is_grounded(said: str, told: str) -> bool:
    """Return whether a wording by another keeps to the words of what was `told`."""
    return bool(keywords(said)) and keyword_coverage(said, f"{told} error") >= _GROUNDED_FROM


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _clauses(text: str) -> Iterator[str]:
    """Split a text into its first clauses."""
    plain = _BLANKS.sub(" ", unicodedata.normalize("NFC", text[:_LONGEST]))
    clauses = (clause for piece in _CLAUSE.split(plain) if (clause := piece.strip(_TRIM)))
    yield from islice(clauses, _CLAUSES)


def _resolution(clause: str) -> re.Match[str] | None:
    """Find where a clause says that something is solved; None when it does not, or denies, asks or hopes for it."""
    if _QUESTION.search(clause):
        return None
    for found in _SOLVED.finditer(clause):
        before = words(fold(clause[: found.start()]))[-_LOOKED_BACK:]
        if _OPEN.isdisjoint(before):
            return found
    return None


def _split_within(clause: str, found: re.Match[str]) -> tuple[str, str] | None:
    """Split one clause that tells both into problem and solution."""
    before, after = clause[: found.start()], clause[found.start() :]
    if mentions_failure(before):
        return before[:-_TAIL] + _LINKING.sub("", before[-_TAIL:]), after
    how = _HOW.match(after)
    if how is not None and mentions_failure(how["what"]):
        return how["what"], f"{how['word']} {how['how']}"
    return None


def _across(clauses: list[str], at: int) -> tuple[str, str] | None:
    """Pair the solution at `at` with the nearest clause that holds a problem only, the one before first.

    A clause that does not say how is continued by the next.
    """
    near = sorted(range(len(clauses)), key=lambda other: (abs(other - at), other))
    trouble = [other for other in near if other != at and mentions_failure(clauses[other])]
    trouble = [other for other in trouble if _resolution(clauses[other]) is None]
    if not trouble:
        return None
    response = clauses[at]
    following = at + 1
    if not _says_how(response, "") and following < len(clauses) and following not in trouble:
        response = f"{response}: {clauses[following]}"
    return clauses[trouble[0]], response


def _says_how(response: str, trigger: str) -> bool:
    """Return whether a solution says more than that there is one."""
    rest = _SOLVED.sub(" ", response)
    known = _HOLLOW if not trigger else _HOLLOW | stems_in(trigger)
    return any(not is_failure_word(word) and known.isdisjoint(word) for word in keywords(rest)) or (
        bool(trigger) and _says_how(response, "")
    )


def _fit(text: str, longest: int) -> str:
    """Clip `text` between words."""
    text = " ".join(text.split()).strip(_TRIM)
    if len(text) <= longest:
        return text
    return text[:longest].rpartition(" ")[0].strip(_TRIM) or text[:longest]
