"""`/missing`: ask the owner about memory files that vanished all at once and were restored."""

from collections.abc import Sequence

from kenobot.agent.commands.memory_base import MemoryCommand, MemoryCommandContext, numbered_lines, parse_past_time
from kenobot.agent.commands.memory_texts import time_ago_text
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.missing_files import MissingFiles, PendingForget, forget_batch
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection

_FORGET = frozenset({"forget", "olvida", "olvidar"})
_KEEP = frozenset({"keep", "guarda", "conserva", "guardar", "conservar"})


class MissingFilesCommand(MemoryCommand):
    """`/missing` lists what vanished; `/missing forget` forgets it after all, `/missing keep` settles it."""

    names = ("missing", "perdidos", "lost")

    def __init__(self, hands: MemoryCommandContext, policy: ControlPolicy = DEFAULT.control) -> None:
        super().__init__(hands)
        self._policy = policy

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        """The files are the owner's."""
        return super().is_allowed(principal, inbound) and OWNER_SCOPE in principal.read_scopes

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        loss = missing_files.open_loss(connection)
        if loss is None:
            return texts.MISSING_NONE(language)
        wish = order.arguments.strip().lower()
        if wish in _KEEP:
            missing_files.resolve_loss(connection)
            return texts.MISSING_KEPT(language)
        records = self._within_reach(connection, loss, order)
        if wish in _FORGET:
            return self._forget(connection, loss, records, order, language)
        age = time_ago_text(order.at - parse_past_time(loss.at, order.at), language)
        lines = numbered_lines(records[: self._policy.max_offered], language)
        return texts.MISSING_SOME(language, count=loss.files, where=f"`{loss.where}`", age=age, lines=lines)

    def _within_reach(self, connection: Connection, loss: MissingFiles, order: CommandCall) -> list[Record]:
        """What is still remembered of it and may be forgotten here."""
        found = store.by_ids(connection, loss.records, order.principal.read_scopes).values()
        return [record for record in found if record.status == "active"]

    def _forget(
        self,
        connection: Connection,
        loss: MissingFiles,
        records: Sequence[Record],
        order: CommandCall,
        language: Language,
    ) -> str:
        """Forget it as one decision: some at once, the rest in the background, so that nobody waits for it."""
        some, rest = records[: self._policy.max_forgotten_together], records[self._policy.max_forgotten_together :]
        first = forget_batch(connection, some, order.principal.read_scopes, self._hands.admit_context(order))
        elsewhere = set(loss.records) - store.by_ids(connection, loss.records, order.principal.read_scopes).keys()
        missing_files.resolve_loss(connection, tuple(sorted(elsewhere)))
        if not first:
            return (texts.MISSING_ELSEWHERE if elsewhere else texts.MISSING_NONE)(language)
        left = tuple(record.id for record in rest)
        missing_files.save_pending_forget(
            connection, PendingForget(first, left, order.principal.read_scopes, order.inbound.session)
        )
        return texts.MISSING_FORGOTTEN(language, count=len(records), event=first)
