"""Find the things that a question asks about: the nouns behind its articles and possessives, in Spanish and English.

"What is the code of the garage?" asks about a code and a garage; a memory of the boiler's code has only one of them.
"""

from kenobot.core import lazy
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.answers import is_type_word, type_words_in
from kenobot.language.question.relations import names_other_relationship
from kenobot.language.words import fold, stems, words

_BEFORE_NOUNS = frozenset(
    "the a an my our your his her their this el la los las un una unos unas mi mis nuestro nuestra nuestros nuestras "
    "tu tus su sus al del alguna algun any some".split()
)
_PARTS = lazy.regex(r"[\w'’-]+|[^\w\s]")
_LONGEST = 300  # characters of a question
_MOST = 4


def list_things(question: str) -> tuple[str, ...]:
    """List the nouns of a question, folded, without names and words such as "number": at most four, as they stand.

    Those of "the spare key of the car" are "spare", "key" and "car".
    """
    found: list[str] = []
    inside = False
    for part in _PARTS.findall(question[:_LONGEST]):
        word = fold(part).removesuffix("'s").removesuffix("’s")
        if word in _BEFORE_NOUNS:
            inside = True
        elif not word.isalpha() or word in STOPWORDS or part[0].isupper():
            inside = False
        elif inside and not is_type_word(word):
            found.append(word)
    return tuple(dict.fromkeys(found))[:_MOST]


def list_untold(question: str, text: str) -> tuple[str, ...]:
    """List the things of a question that a text has no word of, where it has another word of the question.

    Nothing where it shares none: such a text was found by its meaning as a whole.
    """
    said = frozenset(stem for word in words(fold(text)) for stem in stems(word))
    untold = tuple(each for each in list_things(question) if said.isdisjoint(stems(each)))
    if not untold:
        return ()
    asked = frozenset(stem for word in words(fold(question)) if word not in STOPWORDS for stem in stems(word))
    return untold if asked & said or type_words_in(question) & said or names_other_relationship(question, text) else ()
