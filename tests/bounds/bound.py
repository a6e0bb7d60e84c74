"""A row of the registry of what can grow."""

from dataclasses import dataclass

HERE = "tests/bounds"


@dataclass(frozen=True, slots=True)
class Bound:
    """what: a container as module.class.name, `table:` or `file:` and a name. by: what enforces the limit.

    For what is meant to grow, `limit` says by whose decision. test: where it is driven past its limit, or, for what
    grows, where it is shown to cost no memory and no time.
    """

    what: str
    limit: str
    by: str
    test: str
