"""Cache values within a number and a size."""

from collections.abc import Callable, Hashable, Iterable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """Cache the values made last. For several threads; a value may be made twice at the same time.

    entries: the most values. size: the most of all values together, as `size_of` measures each; the newest value stays
    however large.
    """

    def __init__(self, entries: int, size: int, size_of: Callable[[V], int]) -> None:
        self._entries = entries
        self._size = size
        self._size_of = size_of
        # bounded: by number and size; test_cached_values_are_kept_within_a_number_and_a_size
        self._values: dict[K, V] = {}
        self._used = 0
        self._lock = Lock()

    def get_all(self, keys: Iterable[K], make: Callable[[K], V]) -> list[V]:
        """Return the value of each key, as `get` does."""
        values = self._values
        return [values.get(key) or self.get(key, make) for key in keys]

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """Return the value of `key`, which `make` makes of it when there is none."""
        value = self._values.get(key)
        if value is None:
            value = make(key)
            self.put(key, value)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value of `key`; None when there is none."""
        return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value for `key`, in the place of one that there is."""
        with self._lock:
            if key in self._values:
                self._used -= self._size_of(self._values.pop(key))
            self._values[key] = value
            self._used += self._size_of(value)
            while len(self._values) > self._entries or (self._used > self._size and len(self._values) > 1):
                self._used -= self._size_of(self._values.pop(next(iter(self._values))))
