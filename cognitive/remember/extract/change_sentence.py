"""Read a sentence for what it changes: what it names, whom it is of, what it denies, and whether it ends something."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from kenobot.cognitive.remember.extract.undone import UNDONE
from kenobot.cognitive.text.completions import doing
from kenobot.cognitive.text.dates import WEEKDAYS
from kenobot.cognitive.text.lexicon import NEGATIONS, STOPWORDS, join_phrases, load_tables, word_set
from kenobot.cognitive.text.named_days import days_named
from kenobot.cognitive.text.relatives import RELATIVES
from kenobot.cognitive.text.words import fold, stems, words
from kenobot.core import lazy

TABLES = load_tables("kenobot.cognitive.remember.extract", "rules.toml")
"""The phrases and patterns by which plain statements are read."""

PHRASES = join_phrases(TABLES)
_ENDS = lazy.regex(rf"(?<!\w)(?:{PHRASES['changes']})(?!\w)")
_PERSON = lazy.regex(PHRASES["people"])
_NO_LONGER = lazy.regex(
    rf"(?<!\w)(?:{PHRASES['no_longer']})(?!\w)(?P<scope>.*?)(?= (?:por|porque|because)\b|[,;:.!]|$)"
)
_REVALUES = lazy.regex(rf"(?<!\w)(?:{PHRASES['revalues']})(?!\w)")
_CUES = (_ENDS, lazy.regex(rf"(?<!\w)(?:{PHRASES['no_longer']})(?!\w)"), _REVALUES)
UNDECIDED = lazy.regex(rf"(?<!\w)(?:{PHRASES['undecided']})(?!\w)")
_DENIED_VALUES = tuple(lazy.regex(rf"(?<!\w)(?:{pattern})") for pattern in TABLES["denied"]["patterns"])
_DENIES_NEXT = lazy.regex(rf"(?<!\w)(?:{PHRASES['denies']})(?!\w)(?: [\w']+){{0,3}} ?\Z")
SUBJECT = lazy.regex(
    rf"(?:(?:{PHRASES['determiners']}) )?(?P<subject>[^\W\d_][\w-]*'s [\w-]+|[^\W\d_][\w-]*(?: [\w-]+){{0,2}}?)"
    rf"(?:'s| (?:{PHRASES['subject_ends']}))(?!\w)"
)
_REPORTED = lazy.regex(
    r"(?:segun|according to) (?P<by>\w+(?: \w+){0,2}?),? (?:el|ella|ellos|ellas|he|she|they)\b"
    r"|(?:dice|dicen|dijo|cuenta) (?P<told>\w+(?: \w+){0,2}?) que\b(?= (?:el|ella|ya|se|le|ha|no)\b)"
    r"|(?P<says>\w+(?: \w+){0,2}?) (?:says|said|tells me|told me)(?: that)? (?=(?:he|she|they)\b|'|\W*\Z)"
)
_QUOTED = lazy.regex(r"[\"“«][^\"“”«»\s]*\s[^\"“”«»]*[\"”»]")  # more than a name; no part can be read in two ways
_CONTINUES = lazy.regex(r"(?:(?:y|and|pero|but|al final|ya|so) )*(?:ha|han|he|she|they|le|les|se|lo|la)\b")
_OWN = lazy.regex(
    r"(?i:\b(?:i|we|yo|nosotr[oa]s|hemos)\b|\bi'|\b(?:me|nos) (?:he|han|ha)\b)"
    r"|\b[Hh]e (?:l[oae]s? )?\w+(?:[ai]d|[ei]ch|[eru]t|st)o\b|\b\w{2,}[éí]\b|\b\w+[aei]mos\b"
)
OF_PERSON = lazy.regex(
    rf"(?:my|our|mis?|nuestr[oa]s?|el|la|los|las|the) (?:{PHRASES['people']})"
    r"(?!\w|['’](?!s (?:no longer|not|left|given|gone|stopped|quit|moved|sold|had)\b))"
)
NAMED_FIRST = lazy.regex(r"(?![A-ZÁÉÍÓÚ]\w*[’'])[A-ZÁÉÍÓÚ][\w-]+ ")
NAME = lazy.regex(r"(?<=\w )[A-ZÁÉÍÓÚÑ][\w-]+")
_OF = lazy.regex(r"([^\W\d_]{2,}) (?:del?|con|with|at) (?:el |la |los |las |the |my )?([^\W\d_]{2,})")
_KIND_OF = lazy.regex(r"\b(?:my|our|the|an?) ([^\W\d_]{2,}) ([^\W\d_]{2,})\b")
_TOKEN = lazy.regex(r"[^\W_](?:[\w-]|[.,:](?=\d))*")
_ENDING = lazy.regex(r"'(?:s|ll|ve|re|d|m)\b|n't\b")
_PARTS = lazy.regex(r"[,;:.!]\s+")
_REASON = lazy.regex(r"(?<=\w),? (?i:because|cos|due to|on account of|porque|ya que|puesto que|por culpa de)\b.*")
_CLAUSE = lazy.regex(r"[,;]\s+|\b(?:sino|but|pero)\b")
NUMBERS = word_set("statement_numbers") - {"one", "un", "una", "uno"}
_VAGUE = frozenset(PHRASES["vague"].split("|"))
EMPTY = STOPWORDS | NEGATIONS | NUMBERS | _VAGUE | frozenset(WEEKDAYS)
_MOVED_HOME = lazy.regex(r"\bmoved from (?:the )?(?P<was>[^\W\d_][\w-]*) to\b")
_FOR_SPEAKER = (" me", " nos")  # what the subject does is done to the speaker, whose affair it is
_DONE_TO = lazy.regex(r"\b[Ll]es? (?:[^\W\d_]+ ){1,5}a (?P<who>[A-ZÁÉÍÓÚÑ]\w+)")
_WITH_SPEAKER = lazy.regex(r"\b(?:and|y) (?:i|me|yo)\Z")
_SPEAKER = lazy.regex(
    r"(?:(?:so|and|well|pues|y|bueno) )?(?:i|we|yo|nosotr[oa]s)?(?: ?(?:just|finally|already|recently|officially|"
    r"actually|also|even|now|today|yesterday|hoy|ayer|al final|por fin|ya|recien))*"
)
FEW = 2
"""Content words up to which a correction stands for nothing by itself."""

Word = frozenset[str]
"""A word by its stems, and by the doing that it tells."""


@dataclass(frozen=True, slots=True)
class ChangeSentence:
    """What a sentence that changes something names.

    content: the words that name something. subject: those it begins with, where they are what it is about. scope: the
    words of what is so no longer, where it says that. modified: words with those that tell more closely which is meant.
    names: those written like one. denied: values that it says are wrong, and the days (ISO dates) among them. days: the
    other days. ends: it ends something; revalues: it has another value for something. is_own: it tells of its speaker,
    as far as it says; of_person: what another person does. corrects: it was introduced as putting something right.
    """

    plain: str
    content: tuple[Word, ...]
    subject: tuple[Word, ...]
    scope: tuple[Word, ...]
    modified: frozenset[tuple[Word, Word]]
    names: frozenset[Word]
    denied: frozenset[str]
    denied_days: frozenset[str]
    days: frozenset[str]
    ends: bool
    revalues: bool
    is_own: bool
    of_person: bool
    corrects: bool = False

    @property
    def is_bare(self) -> bool:
        """Return whether it says too little to stand by itself."""
        return len(self.content) <= FEW


def read_sentence(sentence: str, said: date, *, corrects: bool) -> ChangeSentence:
    """Read a sentence that changes something. corrects: it was introduced as putting something right."""
    plain = fold(sentence)
    reported = _REPORTED.search(plain)
    telling = _REASON.sub("", sentence)
    telling = telling if len(content_words(telling)) <= FEW else _telling_part(telling)
    subject = SUBJECT.match(plain)
    about = subject["subject"] if subject and not subject[0].endswith(_FOR_SPEAKER) else ""
    about = "" if _SPEAKER.fullmatch(about) else about
    alone = about and not _WITH_SPEAKER.search(about)
    if not about and (done_to := _DONE_TO.search(sentence)):
        about = fold(done_to["who"])
    if reported:
        about = next(filter(None, reported.groups()))
    came = UNDONE.sub(" ", plain)
    ended = _NO_LONGER.search(came)
    of_person = bool(reported or (alone and (OF_PERSON.match(plain) or NAMED_FIRST.match(sentence))))
    denied, content = _denied(plain), content_words(telling)
    if (of_person or not about) and (home := _MOVED_HOME.search(plain)) and home["was"] not in WEEKDAYS:
        # Who leaves a place was born there all the same; where they live is for the attributes to tell.
        denied, content = denied - {home["was"]}, tuple(word for word in content if home["was"] not in word)
    named = days_named(plain, said)
    off = [each for each in named if _is_denied(plain, each.start) or denied & set(words(plain[each.start : each.end]))]
    return ChangeSentence(
        plain=plain,
        content=content,
        subject=content_words(about),
        scope=content_words(ended["scope"], days=True) if ended else (),
        modified=modifiers(about) | belongings(sentence),
        names=frozenset(map(word_of, map(fold, NAME.findall(sentence)))),
        denied=denied,
        denied_days=frozenset(each.day.isoformat() for each in off),
        days=frozenset(each.day.isoformat() for each in named if each not in off),
        ends=bool(_ENDS.search(came) or ended),
        revalues=corrects or _REVALUES.search(plain) is not None,
        is_own=not about and not reported and bool(_OWN.search(telling) or not _CONTINUES.match(plain)),
        of_person=of_person,
        corrects=corrects,
    )


def without_quotations(text: str) -> str:
    """Return a text without what it quotes: others' words change nothing of their hearer's."""
    return _QUOTED.sub(" ", text)


def tells_change(plain: str) -> bool:
    """Return whether a folded text may end something or give it another value, and is sure of it."""
    return any(pattern.search(plain) for pattern in _CUES) and not UNDECIDED.search(plain)


def _is_denied(plain: str, at: int) -> bool:
    """Return whether the words right before a place of a sentence deny what stands there."""
    return _DENIES_NEXT.search(_CLAUSE.split(plain[:at])[-1]) is not None


def _telling_part(sentence: str) -> str:
    """The parts of a sentence, between commas, that tell of the change; the sentence, where they name nothing."""
    parts = _PARTS.split(sentence)
    for tells in (lambda part: _denied(part) - _VAGUE, tells_change):
        told = " ".join(part for part in parts if tells(fold(part)))
        denied = _denied(fold(told)) - _VAGUE
        if any(denied.isdisjoint(word) for word in content_words(told)):
            return told
    return sentence


def _denied(plain: str) -> frozenset[str]:
    """The values that a folded text says are wrong."""
    return frozenset(
        match["was"].strip("£$€.,:") for pattern in _DENIED_VALUES for match in pattern.finditer(plain)
    ) - {""}


@lru_cache(1024)
def word_of(plain: str) -> Word:
    """Return a folded word by its stems and its doing; a person by the word alone: two may share a stem."""
    is_person = plain in RELATIVES or _PERSON.fullmatch(plain)
    return frozenset({*((plain,) if is_person else stems(plain)), doing(plain)} - {""})


@lru_cache(512)
def stems_of(text: str) -> frozenset[str]:
    """Return the stems of what a text names."""
    return frozenset(stem for word in content_words(text) for stem in word)


@lru_cache(512)
def content_words(text: str, *, days: bool = False) -> tuple[Word, ...]:
    """Return the words of a text that name something: no functions, values, or words that only tell of a change.

    days: days of the week too.
    """
    plain = fold(text)
    doings = [word for word in words(plain) if doing(word)]
    for pattern in _CUES:
        plain = pattern.sub(" ", plain)
    empty = EMPTY - frozenset(WEEKDAYS) if days else EMPTY
    found = [word for word in _TOKEN.findall(_ENDING.sub("", plain)) if not word[0].isdigit() and len(word) > 1]
    return tuple(dict.fromkeys(word_of(word) for word in [*doings, *found] if word not in empty))


def modifiers(phrase: str) -> frozenset[tuple[Word, Word]]:
    """Return the words of a noun phrase, each with the one before it."""
    return frozenset((one, other) for one, other in pairwise(content_words(phrase)))


def belongings(text: str) -> frozenset[tuple[Word, Word]]:
    """Return what is said to be of something or with somebody, such as a class of piano: that, and what it is."""
    plain = fold(text)
    found = [(of, what) for what, of in (match.groups() for match in _OF.finditer(plain))]
    found += [(kind, what) for kind, what in (match.groups() for match in _KIND_OF.finditer(plain))]
    return frozenset((word_of(of), word_of(what)) for of, what in found if of not in EMPTY and what not in EMPTY)
