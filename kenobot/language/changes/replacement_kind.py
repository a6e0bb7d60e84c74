"""Tell from the words of a message whether it replaced a memory because that had changed, or because it was wrong."""

from typing import Literal

from kenobot.core import lazy
from kenobot.language.fingerprint import normalise
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import fold_text, read_core
from kenobot.language.words import terms

ReplacementKind = Literal["change", "correction", "unknown"]

_CHANGES = lazy.regex(
    r"(?<![\w'])(?:now|nowadays|these days|from now on|any ?more|any longer|no longer|recently|lately|moved|relocated"
    r"|switched|changed|just (?:got|started|bought)|(?:i|we|he|she|they)(?: have| has)? (?:left|quit|started)"
    r"|stopped|gave up|became|since (?:today|yesterday|last|this|then)|ahora|ya (?!te|os|le|les)\w+|actualmente"
    r"|desde (?:hoy|ayer|ahora|este|esta|el)|ultimamente|hace poco|hoy en dia|a partir de|de ahora en adelante"
    r"|(?:me|nos|se) (?:(?:he|hemos|ha|han) )?mud\w+|acab\w+ de \w+|cambi(?:e|o|ado|amos)"
    r"|empece|empezado|deje|dejado|he pasado a|paso a)(?!\w)"
)
# Of what is new, rather than in a name: New York.
_NEW = lazy.regex(
    r"\b(?:[Nn]ew|[Nn]uev[oa]s?) (?=[a-zñáéíóú])"
    r"(?!(?:york|zealand|zelanda|orleans|delhi|jersey|mexico|méxico|england|guinea|year)\b)"
)
_NOT_THAT = lazy.regex(r",? (?:and |y )?(?:not|no|rather than|instead of|en (?:vez|lugar) de) (?P<was>[^,;.!?]+)\W*\Z")
_MISTAKES = lazy.regex(
    r"(?<!\w)(?:i meant|i mean|typo|misspelled|misheard|wrong|mistake[sn]?|queria decir|quise decir|quiero decir|errata"
    r"|me equivoque|me he equivocado|me confundi|error|mal dicho|nunca (?:he|ha|fui|fue|vivi)"
    r"|never (?:was|were|lived|had))(?!\w)"
)


def classify_replacement(former: str, current: str, message: str = "") -> ReplacementKind:
    """Return why a memory gave way: it changed, it was wrong, or its person did not say. message: that told `current`.

    Where the words say both, or neither, nobody can tell; nor where they only speak of a mistake, whichever it is.
    """
    sentences = [*split_sentences(current), *_select_telling(current, message)]
    corrects = any(_corrects(each, former) for each in sentences)
    changes = any(_tells_change(read_core(each).told or each) for each in sentences)
    if corrects == changes or (changes and any(_MISTAKES.search(fold_text(each)) for each in sentences)):
        return "unknown"
    return "correction" if corrects else "change"


def _select_telling(current: str, message: str) -> list[str]:
    """Select the sentences of a message that told a memory: those with most of its words, the only one of one."""
    sentences = split_sentences(message)
    if len(sentences) < 2:
        return sentences
    said, words = normalise(current), set(terms(current))
    shared = [len(words) + 1 if said in normalise(each) else len(words & set(terms(each))) for each in sentences]
    most = max(shared)
    return [each for each, count in zip(sentences, shared, strict=True) if most and count == most]


def _tells_change(sentence: str) -> bool:
    return bool(_CHANGES.search(fold_text(sentence)) or _NEW.search(sentence))


def _corrects(sentence: str, former: str) -> bool:
    """Return whether a sentence puts something right: it says so, or denies what was said before."""
    if read_core(sentence).corrects:
        return True
    denied = _NOT_THAT.search(fold_text(sentence))
    return denied is not None and set(terms(denied["was"])) <= set(terms(former)) and bool(terms(denied["was"]))
