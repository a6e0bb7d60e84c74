"""Gets a turn its prompt: from memory as it is now, files that people just edited included, and by meaning too."""

from kenobot.clock import Clock
from kenobot.cognitive.mirror.tree import Tree
from kenobot.cognitive.recall.need import need
from kenobot.context import Context, ContextBuilder
from kenobot.db import Connection, Database
from kenobot.embedding import Embedding
from kenobot.inbox import Pending
from kenobot.ports import Principal


class Building:
    """Built by a reader of the database, which waits for nobody: what needs a model is asked for before.

    Whether anything is looked for shows only then; so it is guessed from the turn before, and where that was wrong the
    prompt is built once more.
    """

    def __init__(
        self, database: Database, builder: ContextBuilder, mirror: Tree, clock: Clock, embedding: Embedding
    ) -> None:
        self._database = database
        self._builder = builder
        self._mirror = mirror
        self._clock = clock
        self._embedding = embedding
        self._recalls = False

    async def __call__(self, pending: Pending, principal: Principal, *, narrow: bool = False) -> Context:
        """The prompt for a message; `narrow`: a much smaller one than usual."""
        builder = self._builder.narrowed() if narrow else self._builder
        guessed = self._recalls
        if guessed:
            await self._ask(pending)
        context = await self._build(builder, pending, principal)
        self._recalls = context.used.pack is not None
        if self._recalls and not guessed and await self._ask(pending):
            context = await self._build(builder, pending, principal)
        return context

    async def _ask(self, pending: Pending) -> bool:
        text = pending.inbound.text
        return need(text) != "no_recall" and await self._embedding.ask(text)

    async def _build(self, builder: ContextBuilder, pending: Pending, principal: Principal) -> Context:
        """Build the prompt; if a person edited a file that it shows, take that in first."""
        now = self._clock.now()
        edited = self._mirror.glance(pending.session)

        def build(connection: Connection) -> Context | None:
            if edited is None or edited():
                return None
            return builder.build(connection, pending, principal, now)

        context = await self._database.read(build) if edited is not None else None
        if context is None:
            await self._mirror.take_in(pending.session)
            context = await self._database.read(lambda connection: builder.build(connection, pending, principal, now))
        return context
