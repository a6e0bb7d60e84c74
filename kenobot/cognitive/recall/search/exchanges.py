"""Quote the other half of exchanges with the assistant: the reply to what a person said, or what a reply answers.

What a message goes on with mostly stands in a reply, and is found by the request for it: the two share few words.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from kenobot.cognitive.recall.index import conversation_rows
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn, TurnRow
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.excerpts import is_echo, render_turn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.connection import Connection

_SHORTEST = 40  # tokens of a quotation


def quote_other_halves(
    connection: Connection,
    index: SideIndex,
    found: Sequence[RecalledMemory | Excerpt],
    ranked: Sequence[RankedTurn],
    sieve: RecallFilter,
    room: int,
) -> list[Excerpt]:
    """Quote the other halves of the exchanges of which `found` has one, the best first.

    room: tokens of all that is shown.
    """
    room -= sum(each.tokens for each in found)
    query = sieve.query
    if not query.quotes_exchanges or room < _SHORTEST:
        return []
    excerpts = {each.turn.id: each for each in found if isinstance(each, Excerpt)}
    seen = {each.turn.message: each for each in ranked}
    heads = [
        number
        for number, each in excerpts.items()
        if not each.on_show and not each.turn.line.name and _is_found(seen[number])
    ]
    if not heads:
        return []
    halves = _find_other_halves(index, [seen[number].turn for number in heads])
    wanted = {head: number for head, number in halves.items() if number not in excerpts}
    kept = sieve.filter_turns(connection, index, list(wanted.values()))
    chosen: list[Excerpt] = []
    quoted = {each.turn.text for each in excerpts.values()}
    for head, number in wanted.items():
        turn = kept.get(number)
        if room < _SHORTEST:
            break
        if turn is None or turn.line.name or turn.text in quoted or sieve.shows_turn(turn):
            continue
        if turn.role == "assistant" and is_echo(turn, excerpts[head].turn.text, query.question):
            continue
        each = seen.get(number)
        matched = each.matched if each is not None else ()
        line = render_turn(turn, query, matched, min(room, query.policy.recall.reply_tokens))
        tokens = estimate_tokens(line + "\n")
        room -= tokens
        quoted.add(turn.text)
        relevance, near = (each.relevance, each.near) if each is not None else (0.0, None)
        chosen.append(Excerpt(turn, relevance, matched, line, tokens, near, beside=head))
    return chosen


def _is_found(each: RankedTurn) -> bool:
    """Return whether a turn was found by its own words or meaning, and not as the neighbour of one that was."""
    return bool(each.matched) or each.near is not None


def _find_other_halves(index: SideIndex, turns: Sequence[IndexedTurn]) -> Mapping[int, int]:
    """Find the message that is the other half of each turn's exchange, by the turn's message."""
    places = {(turn.segment, turn.position + (-1 if turn.by_bot else 1)): turn for turn in turns}
    rows = index.read(partial(conversation_rows.turns_at, places=places), list[TurnRow]())
    found = {places[each.segment, each.position]: each for each in map(IndexedTurn._make, rows)}
    return {turn.message: found[turn].message for turn in turns if turn in found and found[turn].by_bot != turn.by_bot}
