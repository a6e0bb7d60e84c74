"""Quote raw turns of the scopes within reach, where no memory is relevant enough."""

from collections.abc import Sequence
from datetime import datetime

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, MemoryQuery
from kenobot.cognitive.recall.results.render import shorten
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.cognitive.text.quoting import quote_untrusted
from kenobot.core import lazy
from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.identity import Trust
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import MessageRow

_BLOT = Redactor()  # what memory refused to keep may stand in the conversation
_READ = 6  # turns that are read for each that may be quoted: some are hidden, or in the prompt
_SHORTEST = 40  # tokens of an excerpt, where many share the room
_CHARACTERS = 4  # of a token, at most
_MARGIN = 600  # characters behind a clip in which a secret that begins before it shows what it is
_WORD_END = lazy.regex(r"\s|\Z")


def select_excerpts(
    connection: Connection, index: SideIndex, ranked: Sequence[RankedTurn], sieve: RecallFilter, room: int
) -> list[Excerpt]:
    """Select the most relevant turns that may be shown and fit into `room` tokens, best first.

    A long turn is cut to its share of the room that is left, so that as many are shown as may be.
    """
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
        if len(chosen) == limit:
            sieve.dropped["no room"] += 1
            continue
        share = min(room, policy.excerpt_tokens, max(_SHORTEST, room // (limit - len(chosen))))
        line = shorten(_line(turn, query, share), share - 1)
        tokens = estimate_tokens(line + "\n")
        if tokens > room:
            sieve.dropped["no room"] += 1
            continue
        room -= tokens
        chosen.append(Excerpt(turn, each.relevance, each.matched, line, tokens))
    return chosen


def _line(turn: MessageRow, query: MemoryQuery, tokens: int) -> str:
    """Render as much of a turn as `tokens` may need as an item of a list, quoted where it is untrusted."""
    at = datetime.fromisoformat(turn.at).astimezone(query.zone)
    trust: Trust = turn.person_trust
    if trust == "guest" and any(scope.startswith("user:") for scope in query.scopes):
        trust = "owner"  # a guest in private is told their own words
    who = "you answered" if turn.role == "assistant" else "was said"
    where = " in another chat" if query.session not in ("", turn.session) else ""
    return f"- {at:%Y-%m-%d %H:%M} {who}{where}: {quote_untrusted(_redacted_head(turn.text, tokens), trust)}"


def _redacted_head(text: str, tokens: int) -> str:
    """Redact more than `tokens` of a text's beginning, up to the end of a word: half a secret would pass."""
    most = _CHARACTERS * tokens + _MARGIN
    end = _WORD_END.search(text, most)
    return _BLOT(text[: end.start()] if end is not None else text)
