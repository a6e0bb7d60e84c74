"""Gets a turn its prompt: from memory as it is now, files that people just edited included, and by meaning too."""

from collections.abc import Mapping

from kenobot.agent.embedding_worker import EmbeddingWorker
from kenobot.agent.prompt.context_builder import ContextBuilder, PromptContext
from kenobot.agent.prompt.recalled import NO_MARKS
from kenobot.agent.prompt.reranker import rerank as judged_by
from kenobot.cognitive.mirror.memory_files import MemoryFiles
from kenobot.cognitive.text.recall_need import recall_need
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import Reranker
from kenobot.ports.identity import Principal
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox import PendingMessage


class PromptService:
    """Built by a reader of the database, which waits for nobody: what needs a model is asked for before.

    Whether anything is looked for shows only then; so it is guessed from the turn before, and where that was wrong the
    prompt is built once more.
    """

    def __init__(
        self,
        database: Database,
        builder: ContextBuilder,
        mirror: MemoryFiles,
        clock: Clock,
        embedding: EmbeddingWorker,
        reranker: Reranker | None = None,
    ) -> None:
        self._database = database
        self._builder = builder
        self._mirror = mirror
        self._clock = clock
        self._embedding = embedding
        self._reranker = reranker
        self._recalls = False

    async def __call__(self, pending: PendingMessage, principal: Principal, *, narrow: bool = False) -> PromptContext:
        """The prompt for a message; `narrow`: a much smaller one than usual."""
        builder = self._builder.reduced() if narrow else self._builder
        guessed = self._recalls
        if guessed:
            await self._ask(pending)
        context = await self._build(builder, pending, principal)
        self._recalls = context.used.pack is not None
        if self._recalls and not guessed and await self._ask(pending):
            context = await self._build(builder, pending, principal)
        if judged := await self._judged(pending, context):
            context = await self._build(builder, pending, principal, judged)
        return context

    async def _judged(self, pending: PendingMessage, context: PromptContext) -> Mapping[int, float]:
        """How much each of the memories that were found helps to answer, where somebody is there to read them."""
        pack = context.used.pack
        if self._reranker is None or pack is None:
            return {}
        return await judged_by(self._reranker, pending.inbound.text, pack)

    async def _ask(self, pending: PendingMessage) -> bool:
        text = pending.inbound.text
        return recall_need(text) != "no_recall" and await self._embedding.embed_query(text)

    async def _build(
        self,
        builder: ContextBuilder,
        pending: PendingMessage,
        principal: Principal,
        judged: Mapping[int, float] = NO_MARKS,
    ) -> PromptContext:
        """Build the prompt; if a person edited a file that it shows, take that in first."""
        now = self._clock.now()
        edited = self._mirror.has_changes(pending.session)

        def build(connection: Connection) -> PromptContext | None:
            if edited is None or edited():
                return None
            return builder.build(connection, pending, principal, now, judged)

        context = await self._database.read(build) if edited is not None else None
        if context is None:
            await self._mirror.sync_in(pending.session)
            context = await self._database.read(lambda c: builder.build(c, pending, principal, now, judged))
        return context
