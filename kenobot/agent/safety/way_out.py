"""Close the ways out of a text: addresses that are new, and private words that the reader is told to pass on."""

from collections.abc import Sequence

from kenobot.agent.safety.relay import PrivateWords, asks_to_pass_on
from kenobot.agent.safety.trifecta import ShownTexts
from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls


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
