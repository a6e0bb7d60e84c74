"""Page through rows, the newest first: a cursor holds the id of the last row of a page."""

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

R = TypeVar("R")
T = TypeVar("T")

LARGEST_ID = 10**15
"""Above every id, and exact in every program that reads JSON."""
FIRST = LARGEST_ID
"""The id before which the first page begins."""

Limit = Annotated[int, Query(ge=1, le=100, description="How many to return at most")]
Cursor = Annotated[
    str, Query(pattern=r"^([1-9][0-9]{0,14})?$", description="`next` of the page before this one; empty for the first")
]


class Page(BaseModel, Generic[T]):
    """Some of many. next: the cursor of the page after this one; "" where there is none."""

    items: list[T]
    next: str = Field("", description="Cursor of the next page; empty on the last one")


def read_cursor(cursor: str) -> int:
    """Return the id below which a page begins."""
    return int(cursor) if cursor else FIRST


def page_of(rows: Sequence[R], limit: int, key: Callable[[R], int], shown: Callable[[R], T]) -> Page[T]:
    """Make a page of the first `limit` rows; one row more says that there is a next page."""
    kept = rows[:limit]
    after = str(key(kept[-1])) if len(rows) > limit else ""
    return Page(items=[shown(row) for row in kept], next=after)
