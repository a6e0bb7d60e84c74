"""Quote raw turns of the chats within reach, where no memory is relevant enough."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.results.memory import Excerpt
from kenobot.cognitive.recall.results.render import shorten
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.store.scopes import scope_names
from kenobot.cognitive.text.quoting import quote_untrusted
from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import MessageRow

_BLOT = Redactor()  # what memory refused to keep may stand in the talk
_READ = 6  # turns that are read for each that may be quoted: some are veiled, or on show


@dataclass(frozen=True, slots=True)
class ExcerptLimits:
    """How much is quoted. from_message: the first message that the prompt shows."""

    tokens: int
    turns: int
    zone: ZoneInfo
    from_message: int | None = None


def select_excerpts(
    connection: Connection,
    found: Sequence[RankedTurn],
    sieve: RecallFilter,
    told: Callable[[Sequence[int]], Mapping[int, Sequence[int]]],
    wanted: ExcerptLimits,
    policy: RecallPolicy,
) -> list[Excerpt]:
    """Select the most relevant turns, best first. told: records by the turn that they were learned from."""
    room, zone = wanted.tokens, wanted.zone
    near = [each for each in found if each.segment_relevance >= policy.min_relevance][: _READ * wanted.turns]
    if not near or room <= 1:
        return []
    known = sieve.reachable_turns(connection, [each.turn.message for each in near])
    inboxes = [said.inbox_id for said in known.values() if said.inbox_id is not None]
    kept = sieve.filter_turns(connection, known, told(inboxes), wanted.from_message)
    chosen: list[Excerpt] = []
    for each in near:
        said = kept.get(each.turn.message)
        if said is None:
            continue
        line = shorten(_line(said, zone, sieve), min(room, policy.excerpt_tokens) - 1)
        tokens = estimate_tokens(line + "\n")
        if len(chosen) == wanted.turns or tokens > room:
            sieve.dropped["no room"] += 1
            continue
        room -= tokens
        chosen.append(Excerpt(said, each.relevance, each.matched, line, tokens))
    return chosen


def _line(said: MessageRow, zone: ZoneInfo, sieve: RecallFilter) -> str:
    """Render a turn as an item of a list, quoted where it is untrusted."""
    at = datetime.fromisoformat(said.at).astimezone(zone)
    trust: Trust = said.person_trust
    if trust == "guest" and any(scope.startswith("user:") for scope in scope_names(sieve.reach) or ()):
        trust = "owner"  # a guest in private is told their own words
    who = "you answered" if said.role == "assistant" else "was said"
    return f"- {at:%Y-%m-%d %H:%M} {who}: {quote_untrusted(_BLOT(said.text), trust)}"
