"""Recognise words by which a person takes back what they said, or asks to have none of a message remembered."""

from kenobot.core import lazy
from kenobot.language.statements.rule_tables import PHRASES
from kenobot.language.statements.sentence_core import fold_text

_LONGEST = 120  # characters of words that only take back
_LONGEST_TEXT = 4000  # characters of a text that are searched
_OPENING = (
    rf"(?:(?:{PHRASES['openings']}|no|nah|nada|ya|oops|ups|uy|perdon|perdona|sorry|wait|espera|actually|mejor|kenobot"
    r"|jaja\w*|haha\w*|lol|on second thoughts?|pensandolo bien)\W+)*"
)
_ASKS_TO = (
    r"(?:(?:can|could|would|will) you (?:please |just )?|you (?:can|should) |i(?:'d| would) like you to |"
    r"i want you to |"
    r"(?:me )?(?:puedes|podrias|podes) |haz el favor de )?(?:please |just |por favor )?"
)
_TAKES_BACK = lazy.regex(
    rf"\W*{_OPENING}{_ASKS_TO}(?:{PHRASES['takes_back']}|{PHRASES['is_not_to_be_kept']})"
    rf"(?:\W+(?:{PHRASES['polite']}|now|then|ya|ahora|mejor|entonces|jaja\w*|haha\w*|lol))*\W*"
)
_KEEPS_NOTHING = lazy.regex(
    r"(?:^|[.!?,;:(\n—–-]\s*|\b(?:and|but|so|y|pero|please|por favor) )"
    rf"(?:{PHRASES['keeps_nothing']})"
)


def takes_back(text: str) -> bool:
    """Return whether a text only takes back what its speaker said before it: "scratch that", "olvídalo"."""
    return len(text) <= _LONGEST and _TAKES_BACK.fullmatch(fold_text(text)) is not None


def keeps_nothing(text: str) -> bool:
    """Return whether a text asks that nothing of it be remembered: "don't save this: …", "no te acuerdes de eso"."""
    return _KEEPS_NOTHING.search(fold_text(text[:_LONGEST_TEXT])) is not None
