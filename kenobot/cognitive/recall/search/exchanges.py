"""Quote the other half of exchanges with the assistant: the reply to what a person said, and what a reply answers.

What a message goes on with is mostly in a reply, which is found by what it was asked: the two share few words.
"""

from collections.abc import Sequence
from functools import partial

from kenobot.cognitive.recall.index import conversation_rows
from kenobot.cognitive.recall.index.conversation_rows import IndexedTurn
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, RecalledMemory
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.excerpts import render_turn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.connection import Connection

_SHORTEST = 32  # tokens of a quotation


def quote_other_halves(
    connection: Connection,
    index: SideIndex,
    found: Sequence[RecalledMemory | Excerpt],
    ranked: Sequence[RankedTurn],
    sieve: RecallFilter,
    room: int,
) -> list[Excerpt]:
    """Quote the other half of each exchange of which `found` has one, within `room` tokens, the best first."""
    heads = {each.turn.id: each for each in found if isinstance(each, Excerpt)}
    known = {each.turn.message: each for each in ranked}
    wanted = {_other_half(known[number].turn): number for number in heads if not heads[number].turn.line.name}
    if not wanted or room < _SHORTEST:
        return []
    turns = index.read(partial(conversation_rows.turns_at, places=wanted), list[IndexedTurn]())
    halves = {wanted[turn.segment, turn.position]: turn for turn in turns if turn.message not in heads}
    halves = {number: turn for number, turn in halves.items() if turn.by_bot != known[number].turn.by_bot}
    kept = sieve.filter_turns(connection, index, [turn.message for turn in halves.values()])
    chosen: list[Excerpt] = []
    left = [number for number in heads if number in halves and halves[number].message in kept]
    for at, number in enumerate(left):
        turn = kept[halves[number].message]
        share = room // (len(left) - at)
        if share < _SHORTEST or turn.line.name or sieve.shows_turn(turn):
            continue
        seen = known.get(turn.id)
        line = render_turn(turn, sieve.query, seen.matched if seen is not None else (), share)
        tokens = estimate_tokens(line + "\n")
        room -= tokens
        relevance, near = (seen.relevance, seen.near) if seen is not None else (0.0, None)
        chosen.append(Excerpt(turn, relevance, seen.matched if seen else (), line, tokens, near, beside=number))
    return chosen


def _other_half(turn: IndexedTurn) -> tuple[int, int]:
    """Return the segment and the position where the other half of a turn's exchange is, if anywhere."""
    return turn.segment, turn.position + (-1 if turn.by_bot else 1)
