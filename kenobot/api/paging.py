"""Page through rows, the newest first: a cursor holds the id of the last row of a page."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

R = TypeVar("R")
T = TypeVar("T")

FIRST = 2**62
"""The id before which the first page begins."""

Limit = Annotated[int, Query(ge=1, le=100, description="How many to return at most")]
Cursor = Annotated[str, Query(max_length=40, description="`next` of the page before this one; empty for the first")]


class Page(BaseModel, Generic[T]):
    """Some of many. next: the cursor of the page after this one; "" where there is none."""

    items: list[T]
    next: str = Field("", description="Cursor of the next page; empty on the last one")


def read_cursor(cursor: str) -> int:
    """Return the id below which a page begins. Raises HTTPException for what is no cursor of ours."""
    if not cursor:
        return FIRST
    try:
        number = int(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        raise HTTPException(422, "cursor: take it from `next` of the page before") from None
    return max(0, min(number, FIRST))


def page_of(rows: Sequence[R], limit: int, key: Callable[[R], int], shown: Callable[[R], T]) -> Page[T]:
    """Make a page of the first `limit` rows; one row more says that there is a next page."""
    kept = rows[:limit]
    after = base64.urlsafe_b64encode(str(key(kept[-1])).encode()).decode() if len(rows) > limit else ""
    return Page(items=[shown(row) for row in kept], next=after)
