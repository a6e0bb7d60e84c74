"""Help recall by a model: further queries of a question, and marks of what was found. A reply waits for both."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from kenobot.agent.experts import further_queries, reranking
from kenobot.agent.experts.expert import Expert

_KEPT = 64


class ModelQueryExpander:
    """A `kenobot.ports.embedder.QueryExpander` that asks a model. concerns: which messages it is asked about."""

    def __init__(self, expert: Expert, concerns: Callable[[str], bool]) -> None:
        self._expert = expert
        self._concerns = concerns
        # bounded: the last 64 questions; test_queries_are_kept_within_a_number
        self._kept: OrderedDict[str, Sequence[str]] = OrderedDict()

    async def expand(self, question: str) -> Sequence[str]:
        """See `kenobot.ports.embedder.QueryExpander`."""
        if not self._concerns(question):
            return ()
        if (kept := self._kept.get(question)) is not None:
            return kept
        request = further_queries.build_request(question)
        found = await self._expert.ask(request, partial(further_queries.parse_queries, question=question))
        if found is None:
            return ()
        self._kept[question] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found


class ModelReranker:
    """A `kenobot.ports.embedder.Reranker` that asks a model."""

    def __init__(self, expert: Expert) -> None:
        self._expert = expert

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """See `kenobot.ports.embedder.Reranker`."""
        if not texts:
            return None
        request = reranking.build_request(question, texts)
        return await self._expert.ask(request, partial(reranking.parse_marks, count=len(texts)))
