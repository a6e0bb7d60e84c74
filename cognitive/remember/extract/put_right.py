"""Put right the value that somebody has just told, in few words: "no wait, it's blue", "no, perdona, en Getafe".

Only of what stands right before it: the words name nothing by which a memory could be found.
"""

from kenobot.cognitive.remember.extract.change_sentence import PHRASES
from kenobot.cognitive.text.words import fold, words
from kenobot.core import lazy

_MOST_WORDS = 4  # of a value
_VALUE = r"(?P<value>[^\s,.;:!?]+(?: [^\s,.;:!?]+){0,3})"
_INSTEAD = lazy.regex(
    rf"(?:(?P<is>(?:(?:it|that|he|she)(?:'s| is| was)|its|es|son|era|eran)\s+)|(?P<meant>{PHRASES['meant']})\s+"
    rf"|(?P<at>en|in|at)\s+)?{_VALUE}"
)
_NOT_BUT = lazy.regex(
    rf"(?:not|no)(?: es| era)?\s+(?P<old>\w+(?: \w+){{0,2}})(?:,|\s+(?:but|sino))\s*(?:es |it's |but |sino )?{_VALUE}"
)
_MEANT = lazy.regex(rf"\W*(?:(?:sorry|perdon|perdona|no|oops|ups|uy)\W+)*(?:{PHRASES['meant']}|correc(?:tion|cion))\b")
_TOLD = lazy.regex(rf"(?P<head>.*?\b(?:(?:is|are|was)(?: called| named)?|es|son|era|llamo|llama|llaman)\s+){_VALUE}")
_TOLD_AT = lazy.regex(rf"(?P<head>.*\b(?:en|in|at)\s+){_VALUE}")
_NO_VALUE = lazy.regex(rf"(?:{PHRASES['no_value']})(?!\w)|.*(?:ing|ando|iendo)\Z")


def names_what_was_meant(sentence: str) -> bool:
    """Return whether a correction begins with words that what was meant follows alone: "I meant Rob"."""
    return _MEANT.match(fold(sentence)) is not None


def with_value_put_right(statement: str, told: str, *, bare: bool = False) -> str:
    """Return a statement with the value that a correction of it, without its opening, names instead; "" for none.

    bare: the value may stand alone.
    """
    plain, known = fold(told).replace("’", "'"), fold(statement)
    if len(plain) != len(told) or len(known) != len(statement):
        return ""
    if (found := _NOT_BUT.fullmatch(plain)) is not None:
        at = known.find(found["old"])
        value = told[found.start("value") : found.end("value")]
        return f"{statement[:at]}{value}{statement[at + len(found['old']) :]}" if at >= 0 else ""
    found = _INSTEAD.fullmatch(plain)
    if found is None or _NO_VALUE.match(found["value"]) or len(words(found["value"])) > _MOST_WORDS:
        return ""
    old = (_TOLD_AT if found["at"] else _TOLD).fullmatch(known)
    if old is None or not (bare or found["is"] or found["meant"] or found["at"]):
        return ""
    return f"{statement[: old.start('value')]}{told[found.start('value') : found.end('value')]}"
