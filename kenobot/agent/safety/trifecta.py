"""Private memory, untrusted text and a way out: never all three in one turn.

Who has all three can be robbed: a text from outside tells the model to put what it remembers into an address, and the
person, or a client that fetches previews, carries it out. Of the three the way out is cut: what the person knows and
what the person was sent stay readable. Tools that reach the network are a way out like an address.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kenobot.agent.safety.urls import SeenUrls, find_urls, remove_urls
from kenobot.ports.memory import Candidate


@dataclass(frozen=True, slots=True)
class Exposure:
    """What meets in a turn.

    private: the prompt shows memory, preferences or history. untrusted: it shows words of somebody else than the
    speaker. way_out: the reply could carry data to somebody who is not in the chat.
    """

    private: bool
    untrusted: bool
    way_out: bool


def allowed(exposure: Exposure) -> Exposure:
    """As much of `exposure` as a turn may have."""
    return replace(exposure, way_out=exposure.way_out and not (exposure.private and exposure.untrusted))


@dataclass(frozen=True, slots=True)
class GuardResult:
    """A reply and its memories as they may leave the turn, and how many addresses were cut out of them."""

    reply: str
    candidates: tuple[Candidate, ...]
    removed_urls: int


def guard_reply(
    reply: str, candidates: Sequence[Candidate], exposure: Exposure, shown: Callable[[], Iterable[str]], mark: str
) -> GuardResult:
    """Cut the ways out of a turn that must not have one: addresses that the model put together itself.

    exposure: `way_out` says whether there is one apart from addresses. shown: the texts of the prompt; an address that
    stands there says nothing new to whoever owns it, and stays. mark: what a cut address is replaced by. Memories are
    looked at too: an address kept now would be one that stands there tomorrow.
    """
    texts = [reply, *(candidate.text for candidate in candidates)]
    untouched = GuardResult(reply, tuple(candidates), 0)
    if allowed(replace(exposure, way_out=True)).way_out or not any(find_urls(text) for text in texts):
        return untouched
    known = SeenUrls(shown())
    count = 0
    closed: list[str] = []
    for text in texts:
        left, gone = remove_urls(text, known, mark)
        closed.append(left)
        count += gone
    if not count:
        return untouched
    kept = zip(candidates, closed[1:], strict=True)
    return GuardResult(closed[0], tuple(replace(candidate, text=text) for candidate, text in kept), count)
