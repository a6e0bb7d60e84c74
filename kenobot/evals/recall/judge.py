"""Who reads what recall found, in a bench: the model that kenobot itself would ask, and what its judgements came to."""

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import fmean

from kenobot.agent.model_router import Model
from kenobot.agent.prompt.reranker import ask
from kenobot.app import plugin_instances, wiring
from kenobot.cognitive.recall import reranking
from kenobot.core import plugins
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Loaded
from kenobot.evals.recall.measure import percentiles
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError, Rejected, RemoteError

_log = logging.getLogger(__name__)

_SECONDS = 180.0  # what is measured here is what a model understands, not how fast it is: no reply waits for it
_NOBODY = (
    "--reranker model needs a provider that can read, and {name} goes by rules: set another up with `kenobot setup`, "
    "or name a home that has one, as in `kenobot --home DIR bench ...`."
)


@dataclass(slots=True)
class Judge:
    """A `kenobot.ports.embedder.Reranker` without the day's tokens, one question after the other, that keeps count.

    asked: questions; unjudged: those of them that keep the ranking without. name: of the model, as it says itself.
    marks: how often each was given; who gives one alone has not understood what was asked.
    """

    model: Model
    name: str
    asked: int = 0
    unjudged: int = 0
    tokens: int = 0
    seconds: list[float] = field(default_factory=list)
    marks: list[int] = field(default_factory=lambda: [0] * (reranking.HIGHEST + 1))

    async def judge(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """See `kenobot.ports.embedder.Reranker`.

        Raises RemoteError when not one question could be asked, or never will be.
        """
        began = time.perf_counter()
        try:
            told = await ask(self.model, reranking.build(question, texts), len(texts), _SECONDS)
        except (TimeoutError, RemoteError) as error:
            if isinstance(error, Rejected) or (isinstance(error, RemoteError) and not self.tokens):
                raise
            _log.warning("a question was not judged: %s", error or "it took too long")
            self.asked += 1
            self.unjudged += 1
            return None
        self.asked += 1
        self.seconds.append(time.perf_counter() - began)
        self.tokens += told.tokens
        self.name = told.model or self.name
        self.unjudged += told.marks is None
        for mark in told.marks or ():
            self.marks[round(mark * reranking.HIGHEST)] += 1
        return told.marks

    @property
    def figures(self) -> dict[str, object]:
        """For programs. Tokens and seconds are means of a question; those that ran into the deadline are in neither."""
        p50, p95 = percentiles(self.seconds)
        return {
            "model": self.name,
            "asked": self.asked,
            "unjudged": self.unjudged,
            "marks": dict(enumerate(self.marks)),
            "tokens": self.tokens,
            "tokens a question": self.tokens / max(1, len(self.seconds)),
            "mean s": fmean(self.seconds) if self.seconds else 0.0,
            "p50 s": p50,
            "p95 s": p95,
        }


@asynccontextmanager
async def judge_of(home: Home, loaded: Loaded, clock: Clock) -> AsyncIterator[Judge]:
    """The judge that the settings of a home come to. Raises ConfigError when nobody there can read."""
    parts = plugin_instances.load_models(home, loaded, clock)
    everybody = (*parts.providers, *([parts.reader] if parts.reader is not None else []))
    try:
        every = wiring.model_of(loaded.settings, parts.providers, clock)
        model = wiring.thinking(loaded.settings, parts, every, clock)
        who = parts.reader or parts.provider
        if model is None:
            raise ConfigError(_NOBODY.format(name=f'"{who.name}"'))
        yield Judge(model, who.name)
    finally:
        await plugins.close(everybody)
