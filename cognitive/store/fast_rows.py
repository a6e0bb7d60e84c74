"""Making many frozen dataclasses fast.

A frozen dataclass sets each of its fields by a call, which for a record of 34 costs several times what reading it from
the database does. Here an object of the same layout is filled by plain assignments and then becomes a frozen one.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields, make_dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")


def maker(kind: type[T]) -> Callable[..., T]:
    """What makes objects of `kind`, a frozen dataclass with slots and no defaults that are made anew, from its values.

    `kind` itself is not called, nor its `__post_init__`. Raises TypeError for any other class.
    """
    told = fields(cast("Any", kind))
    if any(each.default_factory is not MISSING or not each.init for each in told) or hasattr(kind, "__post_init__"):
        message = f"{kind.__name__} cannot be made from its values alone"
        raise TypeError(message)
    draft = make_dataclass(kind.__name__, [(each.name, object) for each in told], slots=True)

    def make(*values: object) -> T:
        made: Any = draft(*values)
        made.__class__ = kind
        return cast("T", made)

    try:
        make(*(None for _ in told))
    except TypeError:  # a Python that lays them out differently: slower, and as good
        return kind
    return make
