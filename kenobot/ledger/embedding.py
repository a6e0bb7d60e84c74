"""Count what servers are asked to embed. Their calls ride with other transactions: a query waits for no commit."""

from collections.abc import Callable, Sequence
from functools import partial

from kenobot.core.token_estimate import estimate_tokens
from kenobot.ledger.ledger import CallOrigin, Ledger
from kenobot.ports.provider import Usage
from kenobot.storage import model_calls
from kenobot.storage.connection import Connection

_MARKS = "@+"  # after which the id of an embedder says more than its model's name


class LedgerMeter:
    """The `kenobot.ports.embedder.EmbeddingMeter` of a home."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def reserve(self, model_id: str, texts: Sequence[str]) -> Callable[[int | None], None]:
        """See `kenobot.ports.embedder.EmbeddingMeter`."""
        provider, _, model = model_id.partition(":")
        for mark in _MARKS:
            model = model.partition(mark)[0]
        usage = Usage(sum(map(estimate_tokens, texts)))
        call = await self._ledger.open_for(CallOrigin("embedding"), provider, model, usage)
        await self._ledger.require_room(call)
        write, numbers = self._ledger.database.write_nowait, list[int]()
        write(lambda connection: numbers.append(model_calls.add_call(connection, call.row)))

        def settle(tokens: int | None) -> None:
            used = self._ledger.settle_usage(call, usage if tokens is None else Usage(tokens).within_reason())
            write(partial(_replace, numbers=numbers, row=used.row if used.tokens else None))

        return settle


def _replace(connection: Connection, numbers: list[int], row: model_calls.CallRow | None) -> None:
    """Settle the call that the first of `numbers` names; there is none where it could not be written."""
    for number in numbers[:1]:
        model_calls.replace_call(connection, number, row)
