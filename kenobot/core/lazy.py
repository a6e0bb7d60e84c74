"""Compile regular expressions at their first use: a process that answers one question needs few of those there are."""

import re
from typing import Any, cast

_COMPILED = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "flags",
    "groups",
    "groupindex",
)


class LazyPattern:
    """A `re.Pattern` that is compiled when a member other than `pattern` is first read, and holds its members then."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _COMPILED:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update({member: getattr(compiled, member) for member in _COMPILED})
        return self.__dict__[name]


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern, not compiled yet: one that cannot be compiled raises `re.error` at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
