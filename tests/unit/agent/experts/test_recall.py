"""A question is asked about once."""

from collections.abc import Callable, Sequence

from kenobot.agent.experts.recall import ModelQueryExpander
from kenobot.language.recall_need import is_question
from kenobot.ports.provider import Request


class CountingExpert:
    """An expert that answers each question with one query; None while `fails`."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False

    async def ask(self, request: Request, parse: Callable[[str], Sequence[str] | None]) -> Sequence[str] | None:
        self.asked += 1
        return None if self.fails else parse('{"queries": ["I row"]}')


async def test_queries_are_kept_within_a_number() -> None:
    """The same question is asked about once; the oldest of more than 64 is forgotten."""
    expert = CountingExpert()
    expander = ModelQueryExpander(expert, is_question)  # type: ignore[arg-type]
    for number in range(65):
        assert await expander.expand(f"Which sports did I do on day {number}?") == ("I row",)
    assert await expander.expand("Which sports did I do on day 64?") == ("I row",)
    assert expert.asked == 65
    await expander.expand("Which sports did I do on day 0?")
    assert expert.asked == 66
    assert len(expander._kept) == 64


async def test_a_failure_is_not_kept() -> None:
    """The next message may have better luck."""
    expert = CountingExpert()
    expander = ModelQueryExpander(expert, is_question)  # type: ignore[arg-type]
    expert.fails = True
    assert await expander.expand("Which sports did I do?") == ()
    expert.fails = False
    assert await expander.expand("Which sports did I do?") == ("I row",)
