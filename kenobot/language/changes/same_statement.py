"""Find the statement that a sentence ends for sure: the same statement, denied or with another value (ADR 44).

Both are compared word by word. A sentence ends a statement only where it has a word of change ("now", "ya no", "no
longer", "actually"), names its subject, and differs in nothing but one value of the same kind and unit, in a denial, or
in the value of one single-valued attribute. Questions, conditions, quotations and reported speech end nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import dropwhile

from kenobot.core import lazy
from kenobot.language.changes.clauses import bare_clause, split_clauses, without_clause
from kenobot.language.claims import claims, is_of_speaker
from kenobot.language.clock_times import time_named
from kenobot.language.colloquial import write_out
from kenobot.language.dates import MONTHS, WEEKDAYS
from kenobot.language.fingerprint import is_same_or_more_exact
from kenobot.language.lexicon import STOPWORDS, word_set
from kenobot.language.named_days import days_named
from kenobot.language.relatives import RELATIVES, is_of_namesake
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.attribute_statements import AttributeStatement, is_single_valued, read_attribute
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import question_in, read_core
from kenobot.language.words import fold, words
from kenobot.ports.frozen import dataclass

_KEPT = 2048  # texts whose reading is kept: each memory is compared with every sentence that has a word of change
_LONGEST = 300  # characters of a sentence that may end something
_LONGEST_VALUE = 6  # words
_MARKS = " .,;:!¡¿…\"'«»“”()"


def _phrase(*names: str) -> str:
    return rf"(?<![\w'])(?:{'|'.join(PHRASES[name] for name in names)})(?!\w)"


_NOW, _FOR_A_WHILE = lazy.regex(_phrase("lasting", "now")), lazy.regex(_phrase("for_a_while"))
_LASTING = lazy.regex(_phrase("lasting"))
_NO_LONGER = lazy.regex(_phrase("no_longer"))
_ANY_MORE = lazy.regex(r"(?<!\w)(?:any ?more|any longer)(?!\w)")
_CHANGED_TO = lazy.regex(_phrase("changed_to"))
_REPORTS, _UNDECIDED = lazy.regex(_phrase("reports")), lazy.regex(_phrase("undecided"))
_QUOTES = lazy.regex(r"[\"“«”»]|(?:^|\s)['‘](?=\w)|^[ \t]{0,3}(?:>|```|~~~)")
_DENIES = lazy.regex(_phrase("denies"))
_TAIL = lazy.regex(r",\s+|;\s+|\s+(?:but|sino|pero)\s+")
_TOKEN = lazy.regex(r"[£$€]?\d[\w.,:/%€$£-]*|[^\W_](?:[\w'’-]*\w)?")
_EXPANDED = (
    (lazy.regex(r"\bi'm\b"), "i am"),
    (lazy.regex(r"\b(we|you|they)'re\b"), r"\1 are"),
    (lazy.regex(r"\b(i|we|you|they)'ve\b"), r"\1 have"),
    (lazy.regex(r"\b(?:do|does)(?:n't| not)\b"), "not"),
    (lazy.regex(r"\b(is|are|was|were|has|have|can|did)(?:n't|not)\b"), r"\1 not"),  # what was not so once may be so
    (lazy.regex(r"(?<=\w)'s(?= (?:not|no longer|called|named|on|at|in|with|now|[£$€]?\d)|$)"), " is"),
)
_EMPTY = word_set("same_statement_empty")
_NUMBERS = word_set("statement_numbers") - {"one", "un", "una", "uno"}
_UNITS = word_set("units")
_POINTING = word_set("pointing_words")
_COPULAS = frozenset("is am are es son soy se llama llaman called named cuesta costs".split())
_HOLDING = STOPWORDS | _COPULAS | word_set("statement_owner") | frozenset("we our nuestro nuestra not no".split())
_WEEKDAYS, _FREQUENCY = frozenset(WEEKDAYS), word_set("statement_frequency")
_WHEN = _WEEKDAYS | frozenset(MONTHS) | word_set("statement_dates") | _FREQUENCY
_RESTRICTS, _ADDS = lazy.regex(_phrase("restricts")), lazy.regex(_phrase("adds_beside"))
_STOP = lazy.regex(r"[.!?…\n]")
_ADDED = word_set("same_statement_added")
_FEW = 4  # words of a sentence that adds to the one before it: "Mondays too"
_EACH_DAY = lazy.regex(rf"\blos (?:{'|'.join(WEEKDAYS)})\b(?:(?:,| y| e| o) (?:los )?(?:{'|'.join(WEEKDAYS)})\b)*")
_A_DAY = lazy.regex(rf"\b(?:{'|'.join(WEEKDAYS)})\b")
_THIRD = lazy.regex(
    r"(?:ya |ahora |no )*(?:vive|trabaja|tiene|es|esta|estudia|toca|habla|juega|toma|cobra|gana|entra|sale)\b"
)
_OWN = lazy.regex(
    r"(?<!\w)(?:i|we|my|our|me|mi|mis|yo|nos|nuestr[oa]s?|vivo|trabajo|tengo|cumpli|soy|calzo|peso|mido|cobro|gano|pago|tomo"
    r"|entro|salgo|uso|debo|ahorro|corro|duermo|estudio)(?!\w)"
)
_CHANGED = lazy.regex(
    r"(?P<what>.+?)(?: has| is| ha| se ha)? (?:changed|cambio|cambiado), (?:(?:now|ahora) )?"
    r"(?P<is>it is|it's|ahora es|es|now) (?P<value>.+)"
)
_NOT_THAT = lazy.regex(
    r"(?P<what>.+?) (?:is|are|es|son|se llaman?) (?P<value>.+?),? (?:and |y )?(?:not|no) (?P<was>[^,;]+)"
)
_IT_IS = lazy.regex(  # "she's Spanish" may be told of whom the statement names
    r"(?:(?:it|that|this)(?: is|'s)|(?:he|she|they)(?: is|'s| are)(?= called| named| \d)|is|are|es|son|se llaman?)"
    r" (?:called |named )?(?P<value>.+)"
)
_WE_DO_OR_DID = lazy.regex(r"\w+[ai]mos\b")  # "no cenamos a las 8" may tell of last night
_AN_HOUR = lazy.regex(r"\b(?:at|from|till|until|a las?|desde las?|hasta las?) \d")
_FIGURE_VALUE = lazy.regex(r"[£$€]?\d[\d.,:/ -]*")
_NAME_VALUE = lazy.regex(r"[A-ZÁÉÍÓÚÑ][\w.'’-]*(?: (?:[A-ZÁÉÍÓÚÑ][\w.'’-]*|de|del|la|las|los|el|of|the|and|y))*")
_WE = lazy.regex(r"\b(?:we|our|us|nosotr[oa]s|nuestr[oa]s?|nos|vivimos|residimos)\b")
_TAKES_PLACE = lazy.regex(r"\b(?:moved|relocated|mud\w+)\b")  # to a house, a phone, a service: which is asked about
_KIN = lazy.regex(rf"\b(?:[Mm]y|[Oo]ur|[Mm]i|[Nn]uestr[oa]) (?:{'|'.join(sorted(RELATIVES))}) (?=[A-ZÁÉÍÓÚÑ])")
_DETERMINERS = frozenset("the a an el la los las un una my our mi mis nuestro nuestra his her their su sus".split())
_OF_OWN = frozenset("my our mi nuestro nuestra".split())
_TIME_WORDS = _NUMBERS | frozenset(
    "one una half past quarter to am pm h hs noon midnight o'clock y media cuarto menos de mañana tarde noche".split()
)
_ORDINAL = lazy.regex(r"\d+(?:st|nd|rd|th|º|ª|o|a)")
_NAME = lazy.regex(r"[A-ZÁÉÍÓÚÑ][\w.'’-]*")


@dataclass(frozen=True, slots=True)
class EndedStatement:
    """A statement that a sentence ends. place: in the sequence that was compared. part: its sentence, "" for all."""

    place: int
    part: str = ""


def has_word_of_change(text: str) -> bool:
    """Return whether a text has a word of change, or denies one value and names another."""
    plain = fold(text)
    if any(pattern.search(plain) for pattern in (_NOW, _NO_LONGER, _CHANGED_TO, _ANY_MORE)):
        return True
    return bool(_DENIES.search(plain) and _TAIL.search(plain))


def is_added(told: str, message: str) -> bool:
    """Return whether a message says of what it tells that it holds as well: "Also, …", or behind it "Mondays too"."""
    before, _, after = message.partition(told)
    more = (*split_sentences(told)[1:], *split_sentences(after.lstrip(_MARKS))[:1])
    few = (each for each in more if len(words(each)) <= _FEW)
    opening = _STOP.split(before)[-1]
    return any(_ADDS.search(fold(each)) for each in (*few, opening))


def is_plain_telling(message: str) -> bool:
    """Return whether a message only tells: it asks nothing, sets no condition, quotes and reports nobody."""
    plain = fold(message)
    barred = (_REPORTS, _UNDECIDED, _QUOTES, _FOR_A_WHILE)
    return not any(pattern.search(plain) for pattern in barred) and not question_in(message)


def find_ended(
    sentence: str, said: date, known: Sequence[str], *, corrects: bool = False, adds: bool = False
) -> EndedStatement | None:
    """Find the statement that a sentence of a plain telling ends; None where none, or more than one, is the same.

    known: oldest first. corrects: the sentence was introduced as a correction. adds: see `is_added`.
    """
    if len(sentence) > _LONGEST:
        return None
    read = (
        _read_telling(text, said, corrects=corrects, adds=adds or besides)
        for text, besides in _pieces(sentence).items()
    )
    tellings = [each for each in read if each is not None]
    if not tellings:
        return None
    found: list[EndedStatement] = []
    for place, statement in enumerate(known):
        for part in list_parts(statement):
            by = [telling.text for telling in tellings if _ends(telling, part, said)]
            if by and not any(
                is_of_namesake(text, each, known) for text in (sentence, *by) for each in (statement, part)
            ):
                found.append(EndedStatement(place, part if part != statement else ""))
    same = {fold(each.part or known[each.place]).strip(_MARKS) for each in found}
    return found[-1] if len(same) == 1 else None


@lru_cache(_KEPT)
def list_parts(statement: str) -> tuple[str, ...]:
    """Return the parts of a statement that can end alone: its sentences, and clauses whose rest has a subject."""
    parts = _sentence_parts(statement)
    clauses = [bare_clause(clause) for clause in split_clauses(statement)]
    alone = [each for each in clauses if len(clauses) > 1 and _names_subject(without_clause(statement, each))]
    return tuple(dict.fromkeys((*parts, *alone)))


@lru_cache(_KEPT)
def _sentence_parts(text: str) -> tuple[str, ...]:
    """Split a statement into its sentences without end marks; the statement alone, where it is one."""
    parts = [bare for part in split_sentences(text) if (bare := part.strip(_MARKS))]
    return tuple(parts) if len(parts) > 1 else (text,)


@dataclass(frozen=True, slots=True)
class _Telling:
    """A sentence with a word of change. tokens: without that word and without a denial. denies: it ends the same words.

    corrected: the same for the clause that a correction of two clauses denies, () for none.
    """

    text: str
    tokens: tuple[str, ...]
    denies: bool
    corrected: tuple[str, ...]
    attribute: AttributeStatement | None


def _pieces(text: str) -> Mapping[str, bool]:
    """Map the sentences of a text, and the claims of each, any of which may end something, to whether they add.

    A clause before a comma is one, if what follows neither restricts it nor says when: "Ava is 8 now, how time flies".
    """
    found: dict[str, bool] = {}
    for sentence in split_sentences(text):
        head, _, tail = sentence.partition(", ")
        is_alone = tail and not _RESTRICTS.match(fold(tail)) and not any(map(_is_repeated, words(tail)))
        for each in (sentence, *(part.text for part in claims(sentence))):
            found.setdefault(each, _ADDS.search(fold(each)) is not None)
        if is_alone:
            found.setdefault(head, found[sentence])
    return found


def _is_repeated(word: str) -> bool:
    return word.removesuffix("s") in _WEEKDAYS or word in _WEEKDAYS or word in _FREQUENCY


def _read_telling(text: str, said: date, *, corrects: bool, adds: bool) -> _Telling | None:
    """Read a text with a word of change; None for any other. adds: it holds beside what was so before."""
    plain = _expand(text)
    if not _has_subject(text, plain):
        return None
    if changed := _CHANGED.fullmatch(plain):  # "the code has changed, it's 4471"
        plain = f"{changed['what']} {'es' if changed['is'].endswith('es') else 'is'} now {changed['value']}"
    corrected = _read_correction(plain, text, said)
    lasts = _LASTING.search(plain) and _DENIES.search(plain)  # "no tengo coche ahora" may be so for a day
    ends = bool(_NO_LONGER.search(plain) or _ANY_MORE.search(plain) or lasts)
    changes = corrects or ends or bool(_NOW.search(plain) or _CHANGED_TO.search(plain))
    if (not changes and not corrected) or (adds and not ends):
        return None
    rest = _without_change(_CHANGED_TO.sub(" is ", plain))
    tokens = _tokens(_DENIES.sub(" ", rest) if ends else rest)
    return _Telling(text, tokens if changes else (), ends, corrected, read_attribute(text) if changes else None)


def _read_correction(plain: str, text: str, said: date) -> tuple[str, ...]:
    """Return the tokens of the statement that "X is not Y, it is Z" or "X is Z, not Y" says is wrong; () for none."""
    if instead := _NOT_THAT.fullmatch(plain):
        return _tokens(_without_change(f"{instead['what']} {instead['was']}"))
    mark = _TAIL.search(plain)
    head = plain[: mark.start()] if mark is not None else ""
    denied = _DENIES.sub(" ", head)
    if mark is None or denied == head or _WE_DO_OR_DID.search(head):
        return ()
    tokens = _tokens(_without_change(denied))
    rest = _without_change(_CHANGED_TO.sub(" is ", plain[mark.end() :])).strip()
    old, new = _strip_common(*_split_values(tokens, rest, mark[0].strip()))
    is_value = old and new and _common_kind(_kind(old, text, said), _kind(new, text, said))
    return tokens if is_value else ()


def _split_values(tokens: tuple[str, ...], instead: str, mark: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the value that a statement denies, and the one that `instead` names behind "it is" or the same verb.

    mark: what stands between them; a value stands alone behind "but". Both () for other words: why it is not so.
    """
    if found := _IT_IS.fullmatch(instead):
        verbs = [at for at, token in enumerate(tokens) if token in _COPULAS]
        return (tokens[verbs[-1] + 1 :], _tokens(found["value"])) if verbs else ((), ())
    new = _tokens(instead)
    if _count_common(tokens, new):
        return tokens, new
    if new and new[0] in tokens:
        return tokens[tokens.index(new[0]) :], new
    bare = mark in ("but", "sino") and bool(new)
    at = -2 if bare and new[-1] in _UNITS else -1
    return (tokens[at:], new) if bare else ((), ())


def _strip_common(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take from two values the words with which both begin, prepositions, and the units with which both end."""
    same = _count_common(old, new)
    old, new = tuple(dropwhile(STOPWORDS.__contains__, old[same:])), new[same:]
    while old and new and old[-1] == new[-1] and old[-1] in _UNITS:
        old, new = old[:-1], new[:-1]
    return old, new


def _without_change(plain: str) -> str:
    return _ANY_MORE.sub(" ", _NOW.sub(" ", plain))


def _ends(telling: _Telling, part: str, said: date) -> bool:
    """Return whether a telling is the same statement as a part of memory, denied or with another value."""
    known, tokens = _read_known(part)
    if len(tokens) < 2:
        return False
    if tokens[0] in _OF_OWN and not _has_determiner(telling.text):
        tokens = tokens[1:]
    if telling.corrected and _is_denied(_without_copulas(telling.corrected), _without_copulas(tokens)):
        return True
    if telling.denies:
        return _is_denied(telling.tokens, tokens)
    if _has_other_attribute_value(telling, known):
        return True
    return _differ_in_value(telling, tokens, known, said)


@lru_cache(_KEPT)
def _read_known(part: str) -> tuple[str, tuple[str, ...]]:
    """Read a sentence of memory without its openings; no tokens for one that denies, guesses or names no subject."""
    part = write_out(part)
    part = read_core(part).told or part
    plain = _expand(part)
    unsure = _DENIES.search(plain) or _UNDECIDED.search(plain) or not _has_subject(part, plain)
    return part, () if unsure else _tokens(_NOW.sub(" ", plain))


def _is_denied(denied: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    """Return whether a statement says the denied words, and besides only when, or that it holds too."""
    denied, tokens = (tuple(each for each in one if each not in _ADDED) for one in (denied, tokens))
    rest = tokens[len(denied) :]
    return len(denied) > 1 and tokens[: len(denied)] == denied and all(_is_when(token) for token in rest)


def _without_copulas(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(token for token in tokens if token not in _COPULAS)


def _is_when(token: str) -> bool:
    return token in _WHEN or token.removesuffix("s") in _WHEN


def _comes_round(token: str) -> bool:
    return token in _FREQUENCY or (token not in _WEEKDAYS and token.removesuffix("s") in _WEEKDAYS)


def _has_other_attribute_value(telling: _Telling, part: str) -> bool:
    """Return whether a statement gives the same single-valued attribute of the same subject another value, alone."""
    told, known = telling.attribute, read_attribute(part)
    if told is None or known is None or _TAKES_PLACE.search(fold(telling.text)):
        return False
    ends = (text.rstrip(_MARKS).removesuffix(" now").removesuffix(" ahora") for text in (telling.text, part))
    if not all(end.endswith(each.value) for end, each in zip(ends, (told, known), strict=True)):
        return False
    if not told.subject and not (
        _is_own(telling.text) and _is_own(part) and _is_plural(telling.text) == _is_plural(part)
    ):
        return False
    same = known.attribute == told.attribute and fold(known.subject) == fold(told.subject)
    if not same or not is_single_valued(told.attribute) or is_same_or_more_exact(known.value, told.value):
        return False
    shape = _shape(told.value)
    return shape == _shape(known.value) and (shape != "words" or told.attribute.startswith("favourite")) and bool(shape)


def _differ_in_value(telling: _Telling, tokens: tuple[str, ...], part: str, said: date) -> bool:
    """Return whether two statements have the same words but for one value of the same kind behind the subject."""
    mine = telling.tokens
    head = _count_common(mine, tokens)
    tail = min(_count_common(mine[::-1], tokens[::-1]), len(mine) - head, len(tokens) - head)
    new, old = mine[head : len(mine) - tail], tokens[head : len(tokens) - tail]
    if not new or not old or max(len(new), len(old)) > _LONGEST_VALUE or not head:
        return False
    new, old, unit = _without_unit(new, old, telling.text)
    after = (*unit, *mine[len(mine) - tail :])
    if all(token in _HOLDING for token in (*mine[:head], *after)) and not (_is_age(mine) and _is_age(tokens)):
        return False
    kind = _common_kind(_kind(new, telling.text, said), _kind(old, part, said))
    if kind in ("name", "address"):
        named = [token for token in mine[:head] if token not in _HOLDING]
        return not after and mine[head - 1] in _COPULAS and bool(named) and is_single_valued(named[-1])
    behind_verb = not tail or after[0] in _UNITS or _is_own(part) or not _COPULAS.isdisjoint(mine[:head])
    return bool(kind) and behind_verb


def _without_unit(
    new: tuple[str, ...], old: tuple[str, ...], text: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Take the unit from an old value of which the new one, no hour by its text, has none; return both and the unit."""
    if len(old) > 1 and old[-1] in _UNITS and _UNITS.isdisjoint(new) and not _AN_HOUR.search(fold(text)):
        return new, old[:-1], old[-1:]
    return new, old, ()


def _common_kind(one: str, other: str) -> str:
    """Return the kind that two values have in common, "" for none: a figure alone may be money or an hour."""
    kinds = {one, other}
    if len(kinds) == 1:
        return one
    return max(kinds, key=len) if "number" in kinds and kinds & {"time", "£", "$", "€"} else ""


def _kind(value: tuple[str, ...], text: str, said: date) -> str:
    """Return the kind of a value in a text: number, time, day, ordinal, code, address, name, or a currency's sign.

    "days" of what comes round, as "Mondays" does; "" for any other words.
    """
    plain = " ".join(value)
    if signs := [sign for sign in "£$€" if sign in plain]:
        return signs[0]
    if all(token in _NUMBERS or token.replace(".", "").replace(",", "").isdigit() for token in value):
        return "number"
    if all(token in _TIME_WORDS or token[0].isdigit() for token in value) and time_named(f"at {plain}"):
        return "time"
    if len(value) == 1 and _ORDINAL.fullmatch(plain):
        return "ordinal"
    if any(map(_comes_round, value)) and all(map(_is_when, value)):
        return "days"
    if all(_is_when(token) for token in value) or any(
        (day.start, day.end) == (0, len(plain)) for day in days_named(plain, said)
    ):
        return "day"
    if len(value) == 1 and any(char.isdigit() for char in plain):
        return "code"
    names = frozenset(fold(name.strip(_MARKS)) for name in _NAME.findall(text))
    if all(token in names or token[:1].isdigit() for token in value):
        return "address" if any(token[:1].isdigit() for token in value) else "name"
    return ""


def _has_determiner(text: str) -> bool:
    """Return whether a text begins with an article or a possessive."""
    return fold(text).split(" ", 1)[0] in _DETERMINERS


def _is_own(text: str) -> bool:
    """Return whether a text is about its speaker, or what is the speaker's own."""
    return is_of_speaker(text) or _OWN.search(fold(text)) is not None


def _is_age(tokens: tuple[str, ...]) -> bool:
    """Return whether tokens are "I am" and a number, and nothing else."""
    return len(tokens) == 3 and tokens[:2] == ("i", "am") and tokens[2].isdigit()


def _names_subject(text: str) -> bool:
    return bool(text) and (text[0].isupper() or is_of_speaker(text) or _has_determiner(text))


def _is_plural(text: str) -> bool:
    return _WE.search(fold(text)) is not None


def _shape(value: str) -> str:
    """Return the shape of an attribute's value: a figure, a name or words; "" for one with more words beside it."""
    if any(char.isdigit() for char in value):
        return "figure" if _FIGURE_VALUE.fullmatch(value) else ""
    if not value[:1].isupper():
        return "words"
    return "name" if _NAME_VALUE.fullmatch(value) else ""


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the tokens with which two sequences begin alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _has_subject(text: str, plain: str) -> bool:
    """Return whether a text names whom or what it is about: no pronoun, and no Spanish verb without a subject."""
    first = plain.split(" ", 1)[0].split("'", 1)[0]
    return bool(first) and first not in _POINTING and not _THIRD.match(plain) and (is_of_speaker(text) or " " in plain)


@lru_cache(_KEPT)
def _expand(text: str) -> str:
    """Fold a text without marks at its ends, write out English contractions, and tell "los lunes" from "el lunes"."""
    plain = fold(_KIN.sub("", text)).replace("’", "'").strip(_MARKS)
    plain = _EACH_DAY.sub(lambda days: _A_DAY.sub(r"\g<0>s", days[0]), plain)
    for pattern, whole in _EXPANDED:
        plain = pattern.sub(whole, plain)
    return plain


@lru_cache(_KEPT)
def _tokens(plain: str) -> tuple[str, ...]:
    """Split an expanded text into its words, without articles and the prepositions of places and times."""
    found = (token.strip(".,:-") for token in _TOKEN.findall(plain))
    return tuple(token for token in found if token and token not in _EMPTY)
