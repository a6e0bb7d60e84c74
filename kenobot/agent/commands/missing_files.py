"""`/missing`: ask the owner about memory files that vanished all at once and were restored."""

from collections.abc import Sequence

from kenobot.agent.commands.base import ChatCommand, CommandContext, numbered_lines, time_ago_text
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.missing_files import PendingForget, forget_batch
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import ControlPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.storage.connection import Connection

_FORGET = frozenset({"forget", "olvida", "olvidar"})
_KEEP = frozenset({"keep", "guarda", "conserva", "guardar", "conservar"})


class MissingFilesCommand(ChatCommand):
    """`/missing` lists what vanished; `/missing forget` forgets it after all, `/missing keep` settles it."""

    names = ("missing", "perdidos", "lost")
    owner_only = True

    def __init__(self, context: CommandContext, policy: ControlPolicy = DEFAULT.control) -> None:
        super().__init__(context)
        self._policy = policy

    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        loss = missing_files.open_loss(connection)
        if loss is None:
            return texts.MISSING_NONE(language)
        wish = call.arguments.strip().lower()
        if wish in _KEEP:
            missing_files.resolve_loss(connection)
            return texts.MISSING_KEPT(language)
        records = store.by_ids(connection, loss.records, call.principal.read_scopes)
        live = [record for record in records.values() if record.status == "active"]
        if wish in _FORGET:
            elsewhere = tuple(sorted(set(loss.records) - records.keys()))
            return self._forget(connection, live, elsewhere, call, language)
        age = time_ago_text(loss.at, call.at, language)
        lines = numbered_lines(live[: self._policy.max_offered], language)
        return texts.MISSING_SOME(language, count=loss.files, where=f"`{loss.where}`", age=age, lines=lines)

    def _forget(
        self,
        connection: Connection,
        records: Sequence[Record],
        elsewhere: tuple[int, ...],
        call: CommandCall,
        language: Language,
    ) -> str:
        """Forget the files' records as one decision: a batch at once, the rest in the background."""
        reach, batch = call.principal.read_scopes, self._policy.max_forgotten_together
        event = forget_batch(connection, records[:batch], reach, self._context.admit_context(call))
        missing_files.resolve_loss(connection, elsewhere)
        if not event:
            return (texts.MISSING_ELSEWHERE if elsewhere else texts.MISSING_NONE)(language)
        rest = tuple(record.id for record in records[batch:])
        missing_files.save_pending_forget(connection, PendingForget(event, rest, reach, call.inbound.session))
        return texts.MISSING_FORGOTTEN(language, count=len(records), event=event)
