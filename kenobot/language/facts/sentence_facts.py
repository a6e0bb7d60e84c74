"""Read what a sentence tells alone: its clauses by rules, a day ahead, or what no rule reads and is worth a note."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from kenobot.core import lazy
from kenobot.core.common_words import is_common_word
from kenobot.language.changes.same_statement import has_word_of_change, is_plain_telling
from kenobot.language.facts.clause_rules import NAME_OR_FIGURE, is_past, read_clauses
from kenobot.language.facts.due_days import day_due
from kenobot.language.facts.lists import is_list, is_to_do
from kenobot.language.facts.parse_facts import TIERS, Category, ExtractedFact, FactKind
from kenobot.language.named_days import days_named
from kenobot.language.question.asking import asks_for_work
from kenobot.language.references import points_back
from kenobot.language.statements.classify import kind_of
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import (
    MARKS,
    QUOTED_FIRST,
    Core,
    asks,
    fold_text,
    is_statement,
    read_core,
)
from kenobot.language.statements.worth_noting import is_remark, is_worth_noting
from kenobot.language.words import fold

LONGEST_SENTENCE = 300
"""Characters up to which a sentence is read."""

_LEAST_WORDS = 4  # of a statement of a day ahead
_LEAST_NOTED = 3  # of one told in confidence, or noted
_MOST_STATED = 30  # of one that is noted for what it names
_FIRST_WORD = lazy.regex(r"[^\W\d_]{2,}")
_QUOTED = lazy.regex(r"\s*[\"“«][^\"“”«»]*[\"”»]\W*")
_TO_DO = lazy.regex(rf"(?:{PHRASES['to_do']})(?!\w)")
_GREETS_AS = lazy.regex(  # in small letters a name is one only behind a greeting, with nothing beside it
    r"\W*(?:hi|hiya|hey|hello|hola|buenas)\b\W*(?:i'm|soy|this is|aca|aqui) "
    r"(?P<name>[^\W\d_]{3,15})(?: (?:here|che))?\W*"
)
_FLEETING = lazy.regex(rf"(?:{PHRASES['fleeting']})")
_GUESSES = lazy.regex(rf"(?:{PHRASES['guesses']}) ")
_OWN = lazy.regex(r"(?<!\w)(?:i|i'm|i've|we|my|our|yo|me|nos|mis?|nuestr[oa]s?|soy|tengo|vivo|trabajo)(?!\w)")
_REFERS_ELSEWHERE = lazy.regex(rf"(?:{PHRASES['elsewhere']})\b(?!\s+(?:is|es)\b)|\W*\Z")


def read_facts(sentence: str, core: Core, said: date, *, confided: bool) -> Iterator[ExtractedFact]:
    """Read a sentence: its clauses by the rules, and the whole where that was asked for, or may end something.

    core: the sentence without its openings. confided: others must not learn of it. A fact that is only worth anything
    if it ends something is speculative.
    """
    told = core.told
    if not told:
        return
    if len(sentence) > LONGEST_SENTENCE:
        if core.asked:
            yield ExtractedFact(told, confidence=TIERS["explicit"])
        return
    if _tells_nothing(sentence, core):
        return
    if is_list(told):
        yield _list(told, said)
        return
    clauses = read_clauses(told, said)
    read = clauses.facts
    greets = _GREETS_AS.fullmatch(fold_text(sentence)) if not read else None
    if greets is not None and not is_common_word(greets["name"]):
        read = [ExtractedFact(told, attributes=(("name", greets["name"]),), confidence=TIERS["explicit"])]
    wanted = core.asked or (confided and len(told.split()) >= _LEAST_NOTED and is_statement(told))
    if wanted and clauses.left and not _REFERS_ELSEWHERE.match(fold_text(told)):
        read = [_read_whole(told, read, said, reminds=core.reminds)]
    elif clauses.together:
        read = [_read_whole(told, read, said, reminds=False)]
    elif not read and (fact := _ahead(told, said)) is not None:
        read = [fact]
    elif not read:
        read = read_unread(core, said)
    for fact in read:
        # What nothing tells the day or the doing of is how things are: it can be put right, and end.
        holds = kind_of(fact.text, fact.category, default="note") == "note"
        kind: FactKind = "note" if holds else fact.kind
        yield replace(fact, kind=kind, category="correction" if core.corrects else fact.category)


def _tells_nothing(sentence: str, core: Core) -> bool:
    """Return whether a sentence is a question, a heading, a quotation, or says only that something is forgotten."""
    if asks(sentence, core) or sentence.rstrip().endswith(":"):
        return True
    return not core.asked and bool(_QUOTED.fullmatch(sentence) or _FLEETING.match(fold_text(core.told)))


def read_unread(core: Core, said: date) -> list[ExtractedFact]:
    """Read what no rule reads: a fact where it is worth a note, one that only counts if it ends something, or none."""
    if guessed := _read_guess(core.told, said):
        return guessed
    stands = core.corrects and len(core.told.split()) >= _LEAST_WORDS and NAME_OR_FIGURE.search(core.told)
    if stands or is_noted(core.told):
        confidence = TIERS["explicit"] if stands else TIERS["implied"]
    elif core.corrects or has_word_of_change(core.told):
        confidence = TIERS["speculative"]
    else:
        return []
    return [ExtractedFact(core.told, attributes=day_due(core.told, said, first=1), confidence=confidence)]


def is_noted(told: str) -> bool:
    """Return whether a text that states something is worth a note, whoever is not quoted in it."""
    if len(told.split()) < _LEAST_NOTED or QUOTED_FIRST.match(told) or not is_statement(told):
        return False
    return is_worth_noting(told)


def states_something(text: str, *, of_known: bool) -> bool:
    """Return whether a text plainly tells of somebody or something named, or counted, or known: no request or remark.

    of_known: it is about what memory holds already. Such a text may be noted where nobody else reads it.
    """
    told = read_core(text.strip()).told
    if not 1 < len(told.split()) <= _MOST_STATED or not is_statement(told) or not is_plain_telling(text):
        return False
    if asks_for_work(text) or points_back(told) or _FLEETING.match(fold_text(told)):
        return False
    first = _FIRST_WORD.match(told)
    is_name = first is not None and first[0][0].isupper() and not is_common_word(fold(first[0]))
    return is_name or NAME_OR_FIGURE.search(told, 1) is not None or (of_known and not is_remark(told))


def _ahead(told: str, said: date) -> ExtractedFact | None:
    """Return a statement of a day that lies ahead, such as "on Thursday Gemma flies over"."""
    plain = fold_text(told)
    if not is_statement(told) or is_past(told) or len(plain) != len(told) or len(told.split()) < _LEAST_WORDS:
        return None
    due = day_due(told, said, first=1)
    rest = plain
    for named in reversed(days_named(plain, said)):
        rest = f"{rest[: named.start]} {rest[named.end :]}"
    if not due or len([word for word in rest.split() if word.strip(MARKS)]) < _LEAST_WORDS // 2:
        return None
    return ExtractedFact(told, "commitment", attributes=due, confidence=TIERS["explicit"])


def _list(told: str, said: date) -> ExtractedFact:
    category: Category = "commitment" if is_to_do(told) else "fact"
    return ExtractedFact(
        told, category, attributes=day_due(told, said, first=1), confidence=TIERS["explicit"], kind="note"
    )


def _read_guess(told: str, said: date) -> list[ExtractedFact]:
    """Read a guess about the speaker and theirs, or of a day ahead: kept as it was said, with no value of it."""
    guess = _GUESSES.match(fold_text(told))
    if guess is None:
        return []
    rest = told[guess.end() :].strip(MARKS)
    found = [fact for fact in read_clauses(rest, said).facts if fact.category != "correction"]
    ahead = _ahead(rest, said)
    is_of_own = _OWN.search(fold_text(rest)) is not None or NAME_OR_FIGURE.search(rest) is not None
    if ahead is None and not ((found or is_noted(rest)) and is_of_own):
        return []
    category = found[0].category if found else "fact"
    due = day_due(told, said, first=1) or (ahead.attributes if ahead is not None else ())
    return [ExtractedFact(told, category, attributes=due, confidence=TIERS["implied"])]


def _read_whole(text: str, read: list[ExtractedFact], said: date, *, reminds: bool) -> ExtractedFact:
    """Return a text that somebody asked to be remembered, whole, with what was understood of its parts."""
    attributes = tuple(dict(pair for fact in read for pair in fact.attributes).items())
    category = read[0].category if read else "fact"
    due = day_due(text, said)
    if reminds or (not read and (due or _TO_DO.match(fold_text(text)))):
        category, attributes = "commitment", attributes or due
    return ExtractedFact(text, category, attributes=attributes, confidence=TIERS["explicit"])
