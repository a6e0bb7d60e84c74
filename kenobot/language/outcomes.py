"""Detect in the words of a person how the last advice did."""

from typing import Literal

from kenobot.core import lazy
from kenobot.language.lexicon import load_phrases
from kenobot.language.words import fold

Outcome = Literal["worked", "failed"]

_LONGEST = 240  # characters; a longer message is about something else
_SENTENCE = lazy.regex(r"[.;!¡\n…—–]+")
_BUT = lazy.regex(r"(?:but|pero|though|aunque|except|salvo|sin embargo|however)\b")
_PHRASES = {
    kind: lazy.regex(rf"\b(?:{pattern})\b")
    for kind, pattern in load_phrases("kenobot.language", "outcomes.toml").items()
}
_YES = lazy.regex(r"\A(?:si|yes|yep|ok|vale)\s*[,.!]\s*")
_WISH = lazy.regex(
    r"\b(?:if|si|when|cuando|hope|espero|ojala|should|deberia|will|would|might|puede que|quiza|maybe|let's see|a ver)\b"
)


def fold_reply(text: str) -> str | None:
    """Fold a short reply for matching; None for a long text, a quotation or an empty one."""
    folded = fold(text).replace("’", "'").strip()
    return folded if folded and len(folded) <= _LONGEST and folded[0] not in '"«“>' else None


def detect_outcome(text: str) -> Outcome | None:
    """Detect how the last advice did, by a text in Spanish or English; None when it does not say."""
    found: set[Outcome] = set()
    for sentence in _SENTENCE.split(_YES.sub("", fold_reply(text) or "", count=1)):
        if "?" in sentence or _WISH.search(sentence):
            continue
        if _PHRASES["failed"].search(sentence):
            found.add("failed")
        elif _PHRASES["worked"].search(sentence):
            found.add("failed" if _BUT.search(sentence) and "still" in sentence else "worked")
    return found.pop() if len(found) == 1 else None
