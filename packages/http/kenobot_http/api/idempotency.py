"""Do what a request asks for once, however often it comes with the same Idempotency-Key."""

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Header
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kenobot.ports.sentences import Sentence
from kenobot.storage import api_keys
from kenobot.storage.api_keys import StoredReply
from kenobot.storage.connection import Connection
from kenobot_http.api.services import Caller

M = TypeVar("M", bound=BaseModel)

IdempotencyKey = Annotated[
    str,
    Header(
        max_length=200,
        pattern=r"^[!-~]*$",
        description="A name of your own for this request: sent again within a week, it is not done again",
    ),
]
REUSED = "api.key_reused"


async def do_once(
    caller: Caller, name: str, request: tuple[object, ...], model: type[M], work: Callable[[Connection], M]
) -> M:
    """Do `work` in one transaction, or return what it did before. Raises HTTPException, and what `work` raises.

    request: what tells requests apart. model: of what `work` returns: only numbers and fixed words, for it is kept.
    """
    digest = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    services, key = caller.services, caller.key.id

    def write(connection: Connection) -> M:
        before = api_keys.load_reply(connection, key, name) if name else None
        if before is not None:
            if before.digest != digest:
                raise HTTPException(409, Sentence(REUSED))
            return model.model_validate_json(before.body)
        done = work(connection)
        if name:
            stored = StoredReply(digest, 200, done.model_dump_json())
            api_keys.store_reply(connection, key, name, stored, services.clock.now())
        return done

    return await services.database.write(write)
