"""Rerank in a bench: the model that kenobot itself would ask, and what its judgements came to."""

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import fmean

from kenobot.agent.experts import reranking
from kenobot.agent.prompt.prompt_service import request_marks
from kenobot.app import plugin_instances, wiring
from kenobot.core import plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, OverBudget, Rejected, RemoteError
from kenobot.storage.database import Database
from kenobot_evals.recall.metrics import percentiles

_log = logging.getLogger(__name__)

_SECONDS = 180.0  # what is measured here is what a model understands, not how fast it is: no reply waits for it
_NOBODY = (
    "--reranker model needs a provider that can read, and {name} goes by rules: set another up with `kenobot setup`, "
    "or name a home that has one, as in `kenobot --home DIR bench ...`."
)


@dataclass(slots=True)
class CountingReranker:
    """A `kenobot.ports.embedder.Reranker` without the day's tokens, one question after the other, that keeps count.

    questions: questions; unranked: those of them that keep the ranking without. name: of the model, as it says itself.
    marks: how often each was given; who gives one alone has not understood what was asked.
    """

    model: BudgetedModel
    name: str
    questions: int = 0
    unranked: int = 0
    tokens: int = 0
    seconds: list[float] = field(default_factory=list)  # bounded: the data of one run; turn
    marks: list[int] = field(default_factory=lambda: [0] * (reranking.MAX_MARK + 1))

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """See `kenobot.ports.embedder.Reranker`.

        Raises RemoteError when not one question could be asked, or never will be.
        """
        began = time.perf_counter()
        try:
            told = await request_marks(self.model, reranking.build_request(question, texts), len(texts), _SECONDS)
            if told is None:
                raise OverBudget("The budget for models is used up.")
            await self.model.settle(told.use)
        except (TimeoutError, RemoteError) as error:
            if isinstance(error, Rejected) or (isinstance(error, RemoteError) and not self.tokens):
                raise
            _log.warning("a question was not judged: %s", error or "it took too long")
            self.questions += 1
            self.unranked += 1
            return None
        self.questions += 1
        self.seconds.append(time.perf_counter() - began)
        self.tokens += told.use.tokens
        self.name = told.use.model or self.name
        self.unranked += told.marks is None
        for mark in told.marks or ():
            self.marks[round(mark * reranking.MAX_MARK)] += 1
        return told.marks

    @property
    def figures(self) -> dict[str, object]:
        """For programs. Tokens and seconds are means of a question; those that ran into the deadline are in neither."""
        p50, p95 = percentiles(self.seconds)
        return {
            "model": self.name,
            "asked": self.questions,
            "unjudged": self.unranked,
            "marks": dict(enumerate(self.marks)),
            "tokens": self.tokens,
            "tokens a question": self.tokens / max(1, len(self.seconds)),
            "mean s": fmean(self.seconds) if self.seconds else 0.0,
            "p50 s": p50,
            "p95 s": p95,
        }


@asynccontextmanager
async def open_reranker(home: Home, loaded: ResolvedSettings, clock: Clock) -> AsyncIterator[CountingReranker]:
    """Build the judge that the settings of a home come to. Raises ConfigError when nobody there can read."""
    parts = plugin_instances.load_providers(home, loaded, clock)
    database = Database.open(home.database, home.backups)
    try:
        _, model = wiring.build_models(loaded.settings, parts, clock)
        who = parts.cheap_provider or parts.provider
        if model is None:
            raise ConfigError(_NOBODY.format(name=f'"{who.name}"'))
        ledger = wiring.build_ledger(loaded.settings, database, clock)
        yield CountingReranker(BudgetedModel(model, ledger, "bench"), who.name)
    finally:
        await database.close()
        await plugins.close(parts.closable)
