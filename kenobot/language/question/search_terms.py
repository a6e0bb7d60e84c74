"""Read in a question which words, names and people to search for."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kenobot.core import lazy
from kenobot.core.i18n import find_language
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.question import Question
from kenobot.language.words import fold, search_stems, words
from kenobot.ports.frozen import dataclass

_FIRST, _LAST = 80, 40  # words of a long message that are looked at: people say what it is about at either end
_LONGEST_NAMING = 120  # words of a message in which names are looked for
_LONGEST_NAME = 3  # words of the longest name
_UNSPACED_NAMES = (2, 3, 4)
_FIRST_PERSON = frozenset(
    "i i'm im i've i'd i'll me my mine myself we our ours yo mi mis mio mia mios mias me conmigo nosotros nosotras "
    "nuestro nuestra nuestros nuestras soy tengo vivo".split()
)

_FEW_WORDS = 3  # a message with fewer words borrows those of the turn before
_BORROWED_WEIGHT = 0.4  # of such words
_NAMING_WEIGHT = 0.1  # of "called", where a name is asked for: a call to the dentist does not name one
_CALLED = frozenset("called llama llaman llamo llamas llamaba".split())
_WORD = lazy.regex(r"([^\W_]+)(['’]s\b)?")
_PRONOUNS = {"en": ("I", "my"), "es": ("yo", "mi")}
_NO_PRONOUN = ("", "")  # in other languages the name is left out
_NAME = lazy.regex(r"[^\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerm:
    """A word that is looked for, by any of its stems. weight: 1, or less when it was only said before.

    Each is one of its message and no other, which is what a dictionary of them goes by.
    """

    stems: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """Terms and names of a message."""

    terms: tuple[QueryTerm, ...]
    names: tuple[str, ...] = ()
    first_person: bool = False


def parse_query(question: Question, before: str) -> ParsedQuery:
    """Parse a message. A short one, such as "and hers?", borrows words of the text before it."""
    own = question.said
    naming = _CALLED if question.answer_type == "name" else frozenset[str]()
    found = {_stems(word): _NAMING_WEIGHT if word in naming else 1.0 for word in _ends(own)}
    if len(found) < _FEW_WORDS:
        for word in _ends(words(before)):
            found.setdefault(_stems(word), _BORROWED_WEIGHT)
    speaker = any(word in _FIRST_PERSON for word in own)
    return ParsedQuery(
        tuple(QueryTerm(each, weight) for each, weight in found.items()), name_spans(question.text), speaker
    )


def with_names(query: ParsedQuery, names: Sequence[str]) -> ParsedQuery:
    """Add the names of people whom a query means without naming them."""
    held = {word.stems for word in query.terms}
    fresh = [QueryTerm(each) for each in dict.fromkeys(map(_stems, map(fold, names))) if each not in held]
    return replace(query, terms=(*query.terms, *fresh), names=(*query.names, *map(name_key, names)))


def _ends(said: Sequence[str]) -> list[str]:
    """Select the distinct content words; of very many the first and the last.

    What is left of a genitive is none: the "s" of "my brother's name" would match that of every other.
    """
    genitives = {"s"} if any(word.endswith("'s") for word in said) else set[str]()
    meant = list(dict.fromkeys(word for word in said if word not in STOPWORDS and word not in genitives))
    return meant if len(meant) <= _FIRST + _LAST else meant[:_FIRST] + meant[-_LAST:]


def name_key(text: str) -> str:
    """Normalise a name for comparison: folded, only its letters and digits, one blank between words."""
    return " ".join(_NAME.findall(fold(text)))


def name_spans(text: str) -> tuple[str, ...]:
    """List every span of a message that may be a name, as a name key."""
    parts = name_key(" ".join(fold(text).split()[:_LONGEST_NAMING])).split()
    spans = [
        " ".join(parts[at : at + size]) for size in range(1, _LONGEST_NAME + 1) for at in range(len(parts) - size + 1)
    ]
    long = [part for part in parts if not part.isascii()]
    spans += [
        part[at : at + size] for part in long for size in _UNSPACED_NAMES for at in range(len(part[:64]) - size + 1)
    ]
    return tuple(dict.fromkeys(spans))


def in_first_person(text: str, names: Collection[str]) -> str:
    """Rephrase a question about a speaker as they would: "What did Ann cook?" as "What did I cook?".

    Speakers say "I" where a question about them has a name, and the vector of a name lies near to whatever names them.
    names: as `name_key` writes them.
    """
    if not names:
        return text
    subject, possessive = _PRONOUNS.get(find_language(text) or "", _NO_PRONOUN)
    said = list(_WORD.finditer(text))
    keys = [name_key(word[1]) for word in said]
    parts, end, at = list[str](), 0, 0
    while at < len(said):
        sizes = range(_LONGEST_NAME, 0, -1)
        size = next((size for size in sizes if " ".join(keys[at : at + size]) in names), 0)
        if size:
            last = said[min(at + size, len(said)) - 1]
            parts += [text[end : said[at].start()], possessive if last[2] else subject]
            end = last.end()
        at += size or 1
    return " ".join(f"{''.join(parts)}{text[end:]}".split())


def _stems(word: str) -> tuple[str, ...]:
    return tuple(stem.replace("'", "’") for stem in search_stems(word))
