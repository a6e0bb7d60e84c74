"""Tell what people say is done or called off, in Spanish and English, and which open task they mean by it.

What is not understood leaves a task open.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from kenobot.core import lazy
from kenobot.language.lexicon import NEGATIONS, STOPWORDS, alternatives, word_rows, word_set
from kenobot.language.sentences import split_sentences
from kenobot.language.words import fold, stems, words

_LONGEST = 4000  # characters of a text that are read
_LONGEST_SENTENCE = 300
_ALIKE = 0.1  # share of what a sentence names that a task has, times the share of the task, at least
_CLAUSE = lazy.regex(r",\s+(?=(?:pero|but|y|and)\s)")
_QUOTE = lazy.regex(r"^[ \t]{0,3}(?:>|```|~~~)", re.MULTILINE)
_YES = lazy.regex(r"\s*(?:s[ií]|yes|yep|yeah|ok|okay|vale|bueno|hola|hey)\s*[,.!]\s*", re.IGNORECASE)
_AHEAD = lazy.regex(rf"\b(?:{alternatives('done_ahead')})\b|(?<!\besta )(?<!\bla )\bmañana\b")
_FUTURE = lazy.regex(r"\b\w+[aei]r(?:é|emos|án|ás|á)\b", re.IGNORECASE)  # enviaré, as against envié
_CALLED_OFF = lazy.regex(rf"\b(?:{alternatives('done_called_off')})\b")
_FINISHED = lazy.regex(rf"\b(?:{alternatives('done_finished')})\b")
_PAST = lazy.regex(
    rf"(?:\b(?:i|we)(?:'ve| have| had)? (?:already |finally |just |also )?|\A(?:just |finally )?)"
    rf"(?:{alternatives('done_verbs')})\b"
    rf"|\b(?:{alternatives('done_given_back')})(?!\w)"
    r"|\b(?:he|hemos) \w+(?:ado|ido|cho|to|sto)\b"
    r"|\bacabo de \w+(?:ar|er|ir)(?:l[oea]s?)?\b"
)
_PRETERITE = lazy.regex(rf"\b(?:{alternatives('done_preterite')})\b")
_NOT_YET = lazy.regex(rf"\b(?:{alternatives('done_not_yet')})(?!\w)", re.IGNORECASE)
_DONE = (
    r"(?:(?:it's |that's |is |are |ya )?(?:all )?(?:done|finished)|(?:ya )?(?:est[aá]n? )?(?:hech|list|terminad)[oa]s?)"
)
_SAYS_DONE = lazy.regex(
    rf"\A\W*{_DONE}\s*[:—–-]\s*|[\s:,;—–-]+{_DONE}[\s.!…]*\Z|\A\W*\[[xX]\]\s+|\s*[✓✔✅☑]\W*\Z", re.IGNORECASE
)
_FORMULA = lazy.regex(r"\A(?:cancel|anul)|'s\Z|\As\Z")
_EMPTY = STOPWORDS | NEGATIONS | word_set("done_formula")
_JOINT = lazy.regex(r",?\s(?:and|y|e|&)\s(?!(?:i|yo)\b)", re.IGNORECASE)
_FIGURE = lazy.regex(r"\d+(?:[.,]\d+)*")
_DEBT, _PAYMENT = word_set("debt"), word_set("payment")
_NAME = lazy.regex(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑÜ][\w'’-]+")
_SAME_DOING = {word: f"={row.split()[0]}" for row in word_rows("same_doing") for word in row.split()}


def doing(word: str) -> str:
    """Return the name of what several words tell the doing of, such as owing and paying back; "" for none."""
    return _SAME_DOING.get(word, "")


def completion_sentences(text: str) -> list[str]:
    """Return the sentences of a text that may say that something is done. A text with quotations has none."""
    if _QUOTE.search(text[:_LONGEST]):
        return []
    clauses = (clause for sentence in split_sentences(text[:_LONGEST]) for clause in _CLAUSE.split(sentence))
    parts = (_YES.sub("", part.strip(), count=1) for part in clauses)
    return [
        part for part in parts if 0 < len(part) <= _LONGEST_SENTENCE and (completes(part) or _SAYS_DONE.search(part))
    ]


def find_completed_commitment(sentence: str, commitments: Sequence[str]) -> int | None:
    """Return the place of the commitment that a completion sentence seems to be about, or about a part of it."""
    telling = ", ".join(part for part in sentence.split(", ") if _is_done(part)) or sentence
    stated, is_strong = _content(telling), _says_finished(fold(telling))
    if not stated:
        return None
    scores: list[tuple[int, int]] = []
    for place, commitment in enumerate(commitments):
        wanted = _content(commitment)
        shared = sum(any(not one.isdisjoint(other) for other in wanted) for one in stated)
        enough = 1 if is_strong or len(wanted) == 1 else 2
        least = len(stated) if is_strong or len(stated) < 4 else len(stated) + 1
        alike = shared * shared >= _ALIKE * len(stated) * len(wanted)
        if shared >= enough and alike and 2 * shared >= least and not _is_of_another(sentence, commitment):
            scores.append((shared, place))
    scores.sort(reverse=True)
    if not scores or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def says_done(sentence: str, commitment: str) -> bool:
    """Return whether a sentence is a commitment in its very words, and says that it is done: "call Dad: done"."""
    rest = _SAYS_DONE.sub("", sentence, count=1)
    return rest != sentence and words(rest) == words(commitment)


def find_named_part(sentence: str, statement: str) -> str:
    """Return the one of two things that a statement joins which a sentence names alone: of milk and bread, the bread.

    "" where it names none of them, or both, or the statement joins none.
    """
    named = frozenset(stem for word in _content(sentence) for stem in word)
    parts = _JOINT.split(statement)
    for (first, one), (second, other) in pairwise((part, _content(part)) for part in parts):
        if one and other:
            ahead = not named.isdisjoint(one[-1])
            if ahead == named.isdisjoint(frozenset().union(*other[:2])):
                return _share(named, first if ahead else second)
    return ""


def names_part(sentence: str, statement: str) -> bool:
    """Return whether a sentence names only one of two things that a statement joins."""
    return bool(find_named_part(sentence, statement))


def _share(named: frozenset[str], part: str) -> str:
    """Return the words of a part of a statement from the first to the last that a sentence names.

    The part, for none.
    """
    told = part.split()
    at = [place for place, word in enumerate(told) if any(not named.isdisjoint(stem) for stem in _content(word))]
    return " ".join(told[at[0] : at[-1] + 1]).strip(" ,.;:!") if at else part.strip()


def completes(sentence: str) -> bool:
    """Return whether a sentence may say that something is done or called off."""
    plain = fold(sentence)
    if plain.rstrip().endswith(("?", "？")):
        return False
    if _CALLED_OFF.search(plain):
        return True
    if _AHEAD.search(plain) or _FUTURE.search(sentence):
        return False
    return any(_is_done(part) for part in sentence.split(", "))


def _is_done(part: str) -> bool:
    """Return whether a part of a sentence tells that something was done."""
    told = _NOT_YET.sub(" ", part)
    plain = fold(told)
    done = _says_finished(plain) or bool(_PAST.search(plain) or _PRETERITE.search(told))
    return done and NEGATIONS.isdisjoint(words(part))


def _says_finished(plain: str) -> bool:
    """Return whether the thing itself is said to be finished, so that the thing alone identifies the commitment."""
    return bool(_FINISHED.search(plain) or _CALLED_OFF.search(plain))


@lru_cache(512)  # the same tasks are compared with each sentence
def _content(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each word of a sentence, without formulas and days, and the doing that it tells."""
    plain = (word for word in words(text) if word not in _EMPTY or doing(word))
    found = (word for word in dict.fromkeys(plain) if not word.isdecimal() and not _FORMULA.search(word))
    return tuple(frozenset({*stems(word), doing(word)} - {""}) for word in found)


def _is_of_another(sentence: str, commitment: str) -> bool:
    """Return whether a sentence surely tells of something else than a commitment."""
    return _names_another(sentence, commitment) or _pays_another(fold(sentence), fold(commitment))


def _pays_another(sentence: str, commitment: str) -> bool:
    """Return whether a debt is not what a folded sentence says was paid: a part of it, a visit, a beer."""
    owed = words(commitment)
    if _DEBT.isdisjoint(owed):
        return False
    figures = {*_FIGURE.findall(commitment)}
    if figures and not figures.issuperset(_FIGURE.findall(sentence)):
        return True
    known = frozenset(stem for word in owed for stem in stems(word))
    return any(known.isdisjoint(stems(word)) for word in words(sentence) if _is_thing(word))


def _is_thing(word: str) -> bool:
    return not (word in _EMPTY or doing(word) or word in _PAYMENT or word[:1].isdigit())


def _names_another(sentence: str, commitment: str) -> bool:
    """Return whether each has a name that the other has not: to call Ana is not to call Luis."""
    one, other = ({fold(name) for name in _NAME.findall(text)} for text in (sentence, commitment))
    return bool(one - set(words(commitment))) and bool(other - set(words(sentence)))
