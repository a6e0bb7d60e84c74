"""Quote raw turns of the scopes within reach, where no memory is relevant enough."""

from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, MemoryQuery
from kenobot.cognitive.recall.results.render import shorten
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.text.quoting import quote_untrusted
from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import MessageRow

_BLOT = Redactor()  # what memory refused to keep may stand in the conversation
_READ = 6  # turns that are read for each that may be quoted: some are hidden, or in the prompt


def select_excerpts(
    connection: Connection, index: SideIndex, ranked: Sequence[RankedTurn], sieve: RecallFilter, room: int
) -> list[Excerpt]:
    """Select the most relevant turns that may be shown and fit into `room` tokens, best first."""
    query, policy = sieve.query, sieve.query.policy.recall
    limit = query.excerpt_limit or policy.max_excerpts
    near = [each for each in ranked if each.segment_relevance >= policy.min_relevance][: _READ * limit]
    if not near or room <= 1:
        return []
    kept = sieve.filter_turns(connection, index, [each.turn.message for each in near])
    chosen: list[Excerpt] = []
    for each in near:
        turn = kept.get(each.turn.message)
        if turn is None:
            continue
        line = shorten(_line(turn, query), min(room, policy.excerpt_tokens) - 1)
        tokens = estimate_tokens(line + "\n")
        if len(chosen) == limit or tokens > room:
            sieve.dropped["no room"] += 1
            continue
        room -= tokens
        chosen.append(Excerpt(turn, each.relevance, each.matched, line, tokens))
    return chosen


def _line(turn: MessageRow, query: MemoryQuery) -> str:
    """Render a turn as an item of a list, quoted where it is untrusted."""
    at = datetime.fromisoformat(turn.at).astimezone(query.zone)
    trust: Trust = turn.person_trust
    if trust == "guest" and any(scope.startswith("user:") for scope in query.scopes):
        trust = "owner"  # a guest in private is told their own words
    who = "you answered" if turn.role == "assistant" else "was said"
    where = " in another chat" if query.session not in ("", turn.session) else ""
    return f"- {at:%Y-%m-%d %H:%M} {who}{where}: {quote_untrusted(_BLOT(turn.text), trust)}"
