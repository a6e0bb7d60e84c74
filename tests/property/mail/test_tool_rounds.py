"""The steps of a turn's tools tell, after any crash, what was run and what is to be run."""

from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.tool_rounds import first_number, restore
from kenobot.ports.provider import Reply, ToolCall, ToolResult
from kenobot.storage.turn_steps import TurnStep

_CALL = st.builds(ToolCall, st.sampled_from(["c1", "c2"]), st.just("look"), st.just({}))  # ids may come again
_CALLING = st.lists(_CALL, min_size=1, max_size=3).map(lambda calls: Reply("x", "tool_use", calls=tuple(calls)))
_PIECES = st.tuples(st.lists(st.just(Reply("cut", "max_tokens")), max_size=2), _CALLING).map(lambda p: (*p[0], p[1]))
_ROUND = _PIECES.map(
    lambda pieces: ToolRound(pieces, tuple(ToolResult(c.id, f"r{n}") for n, c in enumerate(pieces[-1].calls)))
)


def _journal(rounds: list[ToolRound], begins: list[bool]) -> list[tuple[int, TurnStep]]:
    """Write the steps of whole rounds, in the order in which a turn stores them. begins: also before which calls."""
    steps: list[tuple[int, TurnStep]] = []
    for index, each in enumerate(rounds):
        at = first_number(rounds[:index])
        steps += [(at + place, piece) for place, piece in enumerate(each.pieces)]
        at += len(each.pieces)
        for place, (call, result) in enumerate(zip(each.calls, each.results, strict=True)):
            if begins[(index + place) % len(begins)]:
                steps.append((at + 2 * place, call))
            steps.append((at + 2 * place + 1, result))
    return steps


@given(st.lists(_ROUND, max_size=4), st.lists(st.booleans(), min_size=1, max_size=3), st.data())
def test_a_journal_cut_anywhere_is_read_as_it_was_written(
    rounds: list[ToolRound], begins: list[bool], data: st.DataObject
) -> None:
    """Whole rounds come back as they were; of the one under way its pieces, its results, and what was begun."""
    steps = _journal(rounds, begins)
    kept = dict(steps[: data.draw(st.integers(0, len(steps)))])
    saved = restore(kept)
    assert list(saved.rounds) == rounds[: len(saved.rounds)]
    rest = rounds[len(saved.rounds) :]
    assert saved.pieces == (rest[0].pieces[: len(saved.pieces)] if rest else ())
    assert saved.journal.results == {at: step for at, step in kept.items() if isinstance(step, ToolResult)}
    assert saved.journal.stored == set(saved.journal.results)
    assert saved.journal.begun == {at for at, step in kept.items() if isinstance(step, ToolCall)}
    told = sum(len(each.pieces) for each in saved.rounds) + len(saved.pieces)
    assert told == sum(isinstance(step, Reply) for step in kept.values()), "a reply that was paid for is lost"
    assert len(kept) == len(steps) or len(saved.rounds) < len(rounds), "a round is taken for whole that is not"
