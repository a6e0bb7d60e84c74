"""Close the ways out of a text: addresses that are new, and private words that the reader is told to pass on."""

from collections.abc import Sequence

from kenobot.agent.safety.relay import PrivateWords, asks_to_pass_on
from kenobot.agent.safety.trifecta import ShownTexts
from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls
from kenobot.core import lazy

# A link, or code, in which some addresses are none; also in wide letters.
_SIGN = lazy.regex(r"[\[`｀]|[~～]{3}")
# Not a dot that is part of an address or a number, whatever blanks are around it.
_SENTENCE_END = lazy.regex(r"\n+|(?<=[^\W\d_])[.!?…]+[\"”»’')]*\s++(?![\[({@]|(?ai:at|arroba)\b)")
_CONTEXT = 20  # characters behind a number that may tell that it is a telephone's


def close_ways_out(texts: Sequence[str], shown: ShownTexts, mark: str) -> tuple[Sequence[str], int]:
    """Return the texts with `mark` in the place of each way out, and how many there were."""
    others = tuple(shown.others())
    is_asked = any(map(asks_to_pass_on, others))  # by the text itself: the reply need not say it again
    if not is_asked and not any(asks_to_pass_on(text) or find_urls(text) for text in texts):
        return texts, 0
    everything = tuple(shown.everything())
    known = SeenUrls(everything)
    private = PrivateWords(tuple(shown.private()), others, everything)
    closed, counts = zip(*(_close(text, known, private, mark, is_asked) for text in texts), strict=True)
    return closed, sum(counts)


def _close(text: str, known: SeenUrls, private: PrivateWords, mark: str, is_asked: bool) -> tuple[str, int]:
    closed, count = remove_urls(text, known, mark)
    if not is_asked and not asks_to_pass_on(closed):
        return closed, count
    pieces: list[str] = []
    at = 0
    for start, end in private.find(closed):
        pieces += closed[at:start], mark
        at, count = end, count + 1
    return "".join([*pieces, closed[at:]]), count


class OpenSentences:
    """Measures how much of a reply that is still being written can be shown where no way out may be opened.

    It is shown by sentences, each once the next has begun, because an address may begin in words that look harmless;
    and up to the sentence with the first way out, link or code.
    """

    def __init__(self, shown: ShownTexts) -> None:
        everything, others = tuple(shown.everything()), tuple(shown.others())
        self._known = SeenUrls(everything)
        self._private = PrivateWords(tuple(shown.private()), others, everything)

    def settled_length(self, text: str) -> int:
        sign = _SIGN.search(text)
        addresses = (address.start for address in find_urls(text) if not self._known(address.text))
        hidden = (start for start, _ in self._private.find(text))
        doubted = min((sign.start() if sign else len(text), *addresses, *hidden))
        ends = (match.end() for match in _SENTENCE_END.finditer(text, 0, doubted))
        return max((end for end in ends if end + _CONTEXT <= len(text)), default=0)
