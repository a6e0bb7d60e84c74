"""`/lost`: what the owner says about memory files that went all at once and were written again."""

from collections.abc import Sequence
from dataclasses import replace

from kenobot.cognitive import losses, store
from kenobot.cognitive.forget import hide
from kenobot.cognitive.losses import Loss
from kenobot.cognitive.policies.hands import HandsPolicy
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.store import Record
from kenobot.commands import Order
from kenobot.db import Connection
from kenobot.language import Language
from kenobot.memory_hands import ByHand, Hands, listed, since
from kenobot.memory_sentences import ago, tell
from kenobot.ports import OWNER_SCOPE, Inbound, Principal

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
        loss = losses.held(connection)
        if loss is None:
            return tell("lost_none", language)
        wish = order.rest.strip().lower()
        if wish in _KEEP:
            losses.settle(connection)
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
        """Forget some of it as one decision: so many that the others who talk to the bot need not wait."""
        some = records[: self._policy.at_once]
        occasion, first, count = self._hands.occasion(order), 0, 0
        for record in some:
            hidden = hide(connection, record.id, order.principal.reads, occasion, reason="its file was deleted")
            if hidden is not None:
                first = first or hidden.event
                occasion = replace(occasion, part_of=first)
                count += 1 + len(hidden.copies)
        left = [record.id for record in records[len(some) :]]
        elsewhere = set(loss.records) - store.by_ids(connection, loss.records, order.principal.reads).keys()
        losses.settle(connection, (*left, *sorted(elsewhere)))
        if not first:
            return tell("lost_elsewhere" if elsewhere else "lost_none", language)
        said = tell("lost_forgotten", language, count=count, event=first)
        return f"{said}\n\n{tell('lost_left', language, count=len(left))}" if left else said
