"""Compare a message with a memory by signs of a change: its words, whom or what each is about, the values of both."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from re import Pattern

from kenobot.core import lazy
from kenobot.core.common_words import is_common_word
from kenobot.language.lexicon import NEGATIONS, STOPWORDS, join_phrases, load_tables, word_set
from kenobot.language.relatives import RELATIVES
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import question_in
from kenobot.language.words import fold, search_stems, words
from kenobot.ports.frozen import dataclass

_KEPT = 4096  # texts whose signs are kept
_TABLES = load_tables(__package__, "likely_change.toml")
_ROWS = {
    table: join_phrases(_TABLES, table)
    for table in ("cues", "doubts", "units", "values", "head", "own", "reserves", "no_telling", "matters")
}


def _patterns(table: str) -> dict[str, Pattern[str]]:
    return {name: lazy.regex(rf"(?<!\w)(?:{rows})(?!\w)") for name, rows in _ROWS[table].items()}


_CUES, _DOUBTS, _MATTERS = _patterns("cues"), _patterns("doubts"), _patterns("matters")
_AFFIRMS = lazy.regex(r"\bsí\b|(?<=ahora )si\b|(?<=ya )si\b", re.IGNORECASE)
_VALUES = {
    **{
        name: lazy.regex(rf"(?<![\w.,:])(\d+(?:[.,]\d+)*)[ -]?(?:{rows})(?!\w)")
        for name, rows in _ROWS["units"].items()
    },
    **{name: lazy.regex(rows) for name, rows in _ROWS["values"].items()},
}
_RESERVES = {
    **{name: lazy.regex(rf"(?<![\w'])(?:{PHRASES[name]})(?!\w)") for name in ("reports", "undecided")},
    **{name: lazy.regex(rows) for name, rows in _ROWS["reserves"].items()},
}
_NO_TELLING = (
    *(lazy.regex(rows) for rows in _ROWS["no_telling"].values()),
    lazy.regex(rf"(?<![\w'])(?:{PHRASES['reports']})\s*[:\"“«]"),
)
_NUMBER = lazy.regex(r"(?<!\w)\d+(?:[.,:]\d+)*")
_NAME = lazy.regex(
    r"(?<=[^.!?\s] )[A-ZÁÉÍÓÚÑ][\w-]+|\A[A-ZÁÉÍÓÚÑ][\w-]+(?='s| (?:is|has|lives|works|es|vive|ha|le|se)\b)"
)
_FIRST_NAME = lazy.regex(r"[A-ZÁÉÍÓÚÑ][^\W\d_]+")
_HEAD = lazy.regex(
    rf"(?:(?:{_ROWS['head']['opens']}) )*(?P<head>.*?)"
    rf"(?=(?<!\w)(?:{_ROWS['head']['verbs']})(?!\w)|{_ROWS['head']['verb_behind']}|[,;:.!?](?: |\Z)|\Z)"
)
_OWN_HEAD = lazy.regex(rf"(?:{_ROWS['own']['first']})(?!\w)")
_OWN = lazy.regex(rf"(?<!\w)(?:{_ROWS['own']['first']}|{_ROWS['own']['anywhere']})(?!\w)")
_FIRST_CLAUSE = lazy.regex(r"[^,;.!?]*")
_UNSPACED_DENIALS = ("不", "没", "沒")
_DENIES = lazy.regex(rf"(?<!\w)(?:{PHRASES['denies']})(?!\w)")
_VOID = STOPWORDS | NEGATIONS | word_set("change_void")
_EMPTY = "now ahora ya si do does again today hoy actually really also mas much mucho at all finally".split()
_OTHERS = word_set("change_others")


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs of a change in a text. cues, doubts: their names. values: figures by kind. stems: of its words.

    people: relations, and names as far as their letters tell. head: stems of whom or what it is about; head_people:
    those among them. own_head: that is its speaker; own: its first clause tells something of its speaker.
    denies: it has a word of denial. matters: those that it is about.
    """

    cues: frozenset[str]
    doubts: frozenset[str]
    values: Mapping[str, frozenset[str]]
    words: frozenset[str]
    stems: frozenset[str]
    people: frozenset[str]
    head: frozenset[str]
    head_people: frozenset[str]
    own_head: bool
    own: bool
    denies: bool
    matters: frozenset[str]


@lru_cache(_KEPT)
def read_signs(text: str) -> Signs:
    """Read the signs of a text."""
    plain = fold(text).replace("’", "'")
    values = {kind: found for kind, pattern in _VALUES.items() if (found := _figures(pattern, plain))}
    if bare := frozenset(_NUMBER.findall(plain)).difference(*values.values()):
        values["bare"] = bare
    told, names = _words(plain), {fold(name).removesuffix("'s") for name in _NAME.findall(text)}
    opening, clause = _HEAD.match(plain), _FIRST_CLAUSE.match(plain)
    start, head = (opening.start("head"), _words(opening["head"])) if opening is not None else (0, [])
    return Signs(
        frozenset(name for name, pattern in _CUES.items() if pattern.search(plain)),
        frozenset(name for name, pattern in _DOUBTS.items() if pattern.search(plain)),
        values,
        frozenset(told),
        _stems(told),
        _people(told) | names,
        _stems(head),
        _people(head) | names.intersection(head),
        _OWN_HEAD.match(plain, start) is not None,
        clause is not None and _OWN.search(clause[0]) is not None,
        _DENIES.search(plain) is not None,
        frozenset(name for name, pattern in _MATTERS.items() if pattern.search(plain)),
    )


def _words(plain: str) -> list[str]:
    return [word.removesuffix("'s") for word in words(plain)]


def _stems(found: Iterable[str]) -> frozenset[str]:
    return frozenset(
        stem for word in found if word not in _VOID and not word[0].isdigit() for stem in search_stems(word)
    )


def _people(found: Iterable[str]) -> frozenset[str]:
    return frozenset(RELATIVES.get(word, word) for word in found if word in RELATIVES or word in _OTHERS)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are no figures and no mere grammar."""
    return _stems(_words(fold(text).replace("’", "'")))


def value_spans(plain: str, kind: str) -> list[tuple[int, int]]:
    """Return where the values of a kind are in a folded text; "bare" are figures of no other kind."""
    if kind != "bare":
        return [found.span() for found in _VALUES[kind].finditer(plain)]
    taken = [found.span() for pattern in _VALUES.values() for found in pattern.finditer(plain)]
    bare = (found.span() for found in _NUMBER.finditer(plain))
    return [(start, end) for start, end in bare if not any(low < end and start < high for low, high in taken)]


def _figures(pattern: Pattern[str], plain: str) -> frozenset[str]:
    return frozenset(next((group for group in match.groups() if group), "") for match in pattern.finditer(plain))


def is_of_another(told: Signs, known: Signs) -> bool:
    """Return whether a message is about somebody of whom a memory tells nothing, or the memory is, of another."""
    strangers = told.head_people - known.people - known.words
    if strangers and not told.own:
        return True
    return bool(known.head_people) and told.own_head and not known.head_people & (told.people | told.words)


def tells_of_stranger(telling: str, told: Signs, known: Signs) -> bool:
    """Return whether a text begins with a name that a memory does not have, and has no word of change."""
    name = _FIRST_NAME.match(telling)
    if name is None or told.own or told.cues:
        return False
    plain = fold(name[0])
    return not is_common_word(plain) and plain not in known.words


def is_opposite(told: Signs, known: Signs) -> bool:
    """Return whether a message says in the words of a memory that it is not so, or is so."""
    same = bool(known.stems) and known.stems <= told.stems and told.stems - known.stems <= _stems(_EMPTY)
    return told.denies != known.denies and same


def denies_unspaced(one: str, other: str) -> bool:
    """Return whether two texts without spaces between words differ by a word of denial alone."""
    plain, longer = sorted((fold(one).rstrip("。.!！"), fold(other).rstrip("。.!！")), key=len)
    return any(longer.replace(mark, "", 1) == plain for mark in _UNSPACED_DENIALS if mark in longer)


def has_another_hour(told: Signs, known: Signs) -> bool:
    """Return whether a message has another hour for the matter of a memory, which holds from now on."""
    hours = told.values.get("time", frozenset()), known.values.get("time", frozenset())
    lasts = bool(told.cues & {"now", "altered"}) and told.doubts.isdisjoint(("once", "adds", "still"))
    return all(hours) and hours[0].isdisjoint(hours[1]) and bool(told.matters & known.matters) and lasts


def says_again(told: Signs, known: Signs) -> bool:
    """Return whether a message says again what a memory says, or a part of it."""
    is_part = bool(told.stems) and told.stems <= known.stems and told.denies == known.denies
    return is_part and compare_values(told, known) in ("same", "known", "none") and "over" not in told.cues


def is_telling(message: str) -> bool:
    """Return whether a message may tell of a change: it is no question, log line, time of day, direct speech."""
    plain = _fold_affirmed(message)
    return not any(pattern.search(plain) for pattern in _NO_TELLING) and not question_in(message)


def read_reserves(message: str) -> frozenset[str]:
    """Return the names of what keeps a message from being its speaker's plain word: a report, a condition, a quote."""
    plain = _fold_affirmed(message)
    return frozenset(name for name, pattern in _RESERVES.items() if pattern.search(plain))


def is_plain_telling(message: str) -> bool:
    """Return whether a message only tells: it asks nothing, sets no condition, reports nobody, tells no time of day."""
    return is_telling(message) and not read_reserves(message)


def _fold_affirmed(message: str) -> str:
    return fold(_AFFIRMS.sub("", message)).replace("’", "'")


def compare_values(told: Signs, known: Signs) -> str:
    """Name what the values of a message and of a memory have to do with each other."""
    both = told.values.keys() & known.values.keys()
    if any(not told.values[kind] & known.values[kind] for kind in both):
        return "another"
    if both:
        return "same"
    if told.values and known.values:
        return "unlike"
    return "told" if told.values else "known" if known.values else "none"


def _compare_people(told: Signs, known: Signs) -> str:
    if told.people & (known.people | known.words):
        return "same"
    if told.people and known.people:
        return "two"
    if told.people:
        return f"told {told.own}"
    return "known" if known.people else f"none {told.own}"


def _compare_heads(told: Signs, known: Signs) -> str:
    if told.head_people - known.people - known.words:
        return f"stranger {told.own}"
    if not told.head:
        return f"none {told.own_head}"
    part = "all" if told.head <= known.stems else "some" if told.head & known.stems else "no"
    return f"{part} {told.own_head} {known.own_head}"


def compare(told: Signs, known: Signs) -> Iterator[str]:
    """Iterate over the names of what a message and a memory have to do with each other."""
    values, people, heads = compare_values(told, known), _compare_people(told, known), _compare_heads(told, known)
    cue = "over" if "over" in told.cues else "value" if told.cues & {"now", "another", "altered"} else "none"
    rest = len((told.stems - told.head) & (known.stems - known.head))
    few, left = min(len(told.stems & known.stems), 2), min(rest, 2)
    yield "always"
    yield from (f"cue {name}" for name in told.cues or {"none"})
    yield from (f"doubt {name}" for name in told.doubts)
    yield from (f"with {name} {few}" for name in told.cues)
    yield from (f"doubt {name} {cue}" for name in told.doubts)
    yield f"shared {min(len(told.stems & known.stems), 4)}"
    yield f"of another {is_of_another(told, known)}"
    yield f"heads {heads}"
    yield f"heads {heads} {cue}"
    yield f"heads {heads} {values}"
    yield f"rest {left} {heads}"
    yield f"rest {left} {values}"
    yield f"rest {left} {cue}"
    yield f"heads meet {bool(told.head & known.head)} {bool(known.head - told.stems)} {bool(told.head - known.stems)}"
    yield f"values {values} {cue}"
    yield f"values {values} {'once' in told.doubts} {'adds' in told.doubts}"
    yield f"people {people} {cue}"
    yield f"all {cue} {left} {values}"
    if told.denies != known.denies:
        yield f"denies {told.denies} {few}"
    for kind in told.values.keys() & known.values.keys():
        yield f"kind {kind} {bool(told.values[kind] & known.values[kind])}"
