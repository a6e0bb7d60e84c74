"""`/lost`: what the owner says about memory files that went all at once and were written again."""

from collections.abc import Sequence

from kenobot.agent.commands.memory_base import ByHand, Hands, listed, since
from kenobot.agent.commands.memory_texts import ago, tell
from kenobot.agent.commands.registry import Order
from kenobot.cognitive.control import missing_files
from kenobot.cognitive.control.missing_files import Loss, Wish, forget_some
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.policy.control import HandsPolicy
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.records import Record
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection

_FORGET = frozenset({"forget", "olvida", "olvidar"})
_KEEP = frozenset({"keep", "guarda", "conserva", "guardar", "conservar"})


class Lost(ByHand):
    """`/lost` tells what was lost and held back; `/lost forget` forgets it after all, `/lost keep` lets it be."""

    names = ("lost", "perdidos")

    def __init__(self, hands: Hands, policy: HandsPolicy = DEFAULT.hands) -> None:
        super().__init__(hands)
        self._policy = policy

    def may(self, principal: Principal, inbound: Inbound) -> bool:
        """The files are the owner's."""
        return super().may(principal, inbound) and OWNER_SCOPE in principal.reads

    def run(self, connection: Connection, order: Order) -> str:
        language = self._hands.speak(order, self.names)
        loss = missing_files.held(connection)
        if loss is None:
            return tell("lost_none", language)
        wish = order.rest.strip().lower()
        if wish in _KEEP:
            missing_files.settle(connection)
            return tell("lost_kept", language)
        records = self._within_reach(connection, loss, order)
        if wish in _FORGET:
            return self._forget(connection, loss, records, order, language)
        age = ago(order.at - since(loss.at, order.at), language)
        lines = listed(records[: self._policy.offered], language)
        return tell("lost_some", language, count=loss.files, where=f"`{loss.where}`", age=age, lines=lines)

    def _within_reach(self, connection: Connection, loss: Loss, order: Order) -> list[Record]:
        """What is still remembered of it and may be forgotten here."""
        found = store.by_ids(connection, loss.records, order.principal.reads).values()
        return [record for record in found if record.status == "active"]

    def _forget(
        self, connection: Connection, loss: Loss, records: Sequence[Record], order: Order, language: Language
    ) -> str:
        """Forget it as one decision: some at once, the rest in the background, so that nobody waits for it."""
        some, rest = records[: self._policy.at_once], records[self._policy.at_once :]
        first = forget_some(connection, some, order.principal.reads, self._hands.occasion(order))
        elsewhere = set(loss.records) - store.by_ids(connection, loss.records, order.principal.reads).keys()
        missing_files.settle(connection, tuple(sorted(elsewhere)))
        if not first:
            return tell("lost_elsewhere" if elsewhere else "lost_none", language)
        left = tuple(record.id for record in rest)
        missing_files.wish(connection, Wish(first, left, order.principal.reads, order.inbound.session))
        return tell("lost_forgotten", language, count=len(records), event=first)
