"""Tell which characters are shown as one: a letter with its accents, joined emoji, flags."""

import unicodedata

from kenobot.core import lazy

LONGEST_CLUSTER = 64  # characters of one letter with its marks; a longer one may be cut
_JOINER = "\u200d"
_EXTENDERS = lazy.regex("[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_REGIONAL = lazy.regex("[\U0001f1e6-\U0001f1ff]")


def is_joined(text: str, at: int) -> bool:
    """Return whether the characters on both sides of `at` are shown as one."""
    if not 0 < at < len(text):
        return False
    char = text[at]
    if unicodedata.category(char)[0] == "M" or _EXTENDERS.match(char) or text[at - 1] == _JOINER:
        return True
    if not (_REGIONAL.match(char) and _REGIONAL.match(text[at - 1])):
        return False
    run = at
    while run > max(0, at - LONGEST_CLUSTER) and _REGIONAL.match(text[run - 1]):
        run -= 1
    return (at - run) % 2 == 1


def last_whole(text: str, end: int) -> int:
    """Return the last place up to `end` between two characters; the last character of `text` may still grow."""
    at = min(end, len(text) - 1)
    floor = at - LONGEST_CLUSTER
    while at > max(0, floor) and is_joined(text, at):
        at -= 1
    return max(0, at)
