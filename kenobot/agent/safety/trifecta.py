"""The lethal trifecta: private memory, untrusted text and a way out never meet in one turn.

With all three, a text from outside could tell the model to put memories into an address, which the person, or a client
that fetches previews, would open. The way out is cut: memory and the text stay readable. Tools that reach the network
are a way out as well.
"""

from collections.abc import Sequence
from dataclasses import replace

from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate


@dataclass(frozen=True, slots=True)
class Exposure:
    """The ingredients of a turn.

    private: the prompt shows memory, preferences or history. untrusted: it shows others' words than the speaker's.
    way_out: the reply could carry data out of the chat.
    """

    private: bool
    untrusted: bool
    way_out: bool


def limit_exposure(exposure: Exposure) -> Exposure:
    """Reduce `exposure` to what a turn may have."""
    return replace(exposure, way_out=exposure.way_out and not (exposure.private and exposure.untrusted))


@dataclass(frozen=True, slots=True)
class GuardResult:
    """A reply and its memories as they may leave the turn, and what was held back of them."""

    reply: str
    candidates: tuple[Candidate, ...]
    held: tuple[str, ...] = ()


def guard_reply(
    reply: str, candidates: Sequence[Candidate], exposure: Exposure, shown: ShownTexts, mark: str
) -> GuardResult:
    """Hold back what the model put together itself and could carry data out, of the reply and of its memories.

    That is addresses, and words that hide private ones where the reader is told to pass them on. exposure: `way_out`
    says whether there is one apart from these. shown: what stays: it carries nothing new. mark: the replacement.
    """
    texts = [reply, *(candidate.text for candidate in candidates)]
    untouched = GuardResult(reply, tuple(candidates))
    if limit_exposure(replace(exposure, way_out=True)).way_out:
        return untouched
    from kenobot.agent.safety.way_out import close_ways_out  # only where a turn shows both: few do

    closed, held = close_ways_out(texts, shown, mark)
    if not held:
        return untouched
    kept = zip(candidates, closed[1:], strict=True)
    return GuardResult(
        closed[0], tuple(replace(candidate, text=text) for candidate, text in kept), tuple(dict.fromkeys(held))
    )
